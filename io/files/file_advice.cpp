// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/io/files/file_advice.hpp>

#include <tcsolve/configs/schema/diagnostics.hpp>
#include <tcsolve/configs/schema/suggest.hpp>
#include <tcsolve/core/error.hpp>

#include <system_error>
#include <vector>

namespace tcsolve {
namespace fs = std::filesystem;

std::string file_advice(fs::path const& path) {
  std::string const given = path.string();
  if (given.starts_with("~") || given.find("/~/") != std::string::npos)
    return "; ~ is not expanded: write the whole path";
  if (given.find('$') != std::string::npos) return "; $ is not expanded: write the whole path";
  constexpr std::size_t most_looked_at = 10000;
  std::vector<std::string> beside;
  std::error_code failed;
  fs::path const folder = path.parent_path().empty() ? fs::path(".") : path.parent_path();
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    if (beside.size() == most_looked_at) break;
    beside.push_back(entry->path().filename().string());
  }
  std::string const near = nearest_file(path.filename().string(), beside);
  return near.empty() ? "" : cat("; did you mean '", shown(near), "'?");
}

}  // namespace tcsolve
