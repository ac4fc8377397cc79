// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/record/output_directory.hpp>

#include <tcsolve/core/error.hpp>
#include <tcsolve/io/atomic_file.hpp>

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <string_view>
#include <utility>
#include <vector>

namespace tcsolve {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr char const* solution_names[] = {"x.mtx", "x.npy"};  // by SolutionFormat

/// Whether both are one file that exists.
bool same_file(fs::path const& a, fs::path const& b) {
  std::error_code missing;
  return !a.empty() && fs::equivalent(a, b, missing) && !missing;
}

/// Whether a file is called as the part of some rank is.
bool is_part_name(std::string const& name) {
  constexpr std::string_view begin = "x.";
  if (!name.starts_with(begin) || !(name.ends_with(".mtx") || name.ends_with(".npy"))) return false;
  std::string const rank = name.substr(begin.size(), name.size() - begin.size() - 4);
  return !rank.empty() && rank.find_first_not_of("0123456789") == std::string::npos;
}

void remove_older_results(fs::path const& directory, InputFiles const& inputs) {
  std::vector<std::string> names{record::result_name, record::history_name, record::systems_name,
                                 solution_names[0],   solution_names[1],    record::plot_name,
                                 record::report_name};
  std::error_code failed;
  for (fs::directory_iterator at(directory, failed), end; !failed && at != end;
       at.increment(failed))
    if (std::string name = at->path().filename().string(); is_part_name(name))
      names.push_back(std::move(name));
  for (std::string const& name : names) {
    fs::path const file = directory / name;
    bool const is_input = same_file(inputs.matrix, file) || same_file(inputs.rhs, file) ||
                          same_file(inputs.x0, file) || same_file(inputs.solution, file) ||
                          same_file(inputs.rows, file) ||
                          std::ranges::any_of(inputs.batch, [&](fs::path const& input) {
                            return same_file(input, file);
                          });
    // A folder of that name is not ours.
    if (is_input || !fs::is_regular_file(fs::symlink_status(file, failed))) continue;
    if (!fs::remove(file, failed) && failed)
      throw Error(cat(file.string(), ": the result of an older run cannot be removed: ",
                      failed.message(), "; choose another directory with --output"));
  }
}

/// What result.json in a directory is about; empty where there is none.
std::string source_of_result(fs::path const& directory) {
  std::ifstream in(directory / record::result_name);
  Json const result = Json::parse(in, nullptr, false);
  Json const* at = &result;
  for (char const* const key : {"problem", "source"}) {
    if (!at->is_object() || !at->contains(key)) return "";
    at = &(*at)[key];
  }
  return at->is_string() ? at->get<std::string>() : "";
}

}  // namespace

char const* record::solution_name(OutputConfig const& output) {
  return solution_names[static_cast<int>(output.solution_format)];
}

std::string record::part_name(OutputConfig const& output, int rank) {
  std::string const whole = solution_name(output);
  return cat(whole.substr(0, 2), rank, whole.substr(1));
}

LockedDirectory::LockedDirectory(fs::path const& directory) {
  std::error_code failed;
  fs::create_directories(directory, failed);
  if (failed || !fs::is_directory(directory))
    throw Error(cat("the output directory ", directory.string(),
                    " can't be made: ", failed ? failed.message() : "a file of that name is there",
                    "; choose another with --output"));
  // Unlocked when the process ends, however it does.
  lock_ = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock_ >= 0 && ::flock(lock_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(lock_);
    throw Error(cat("another run writes into the directory ", directory.string(),
                    "; choose another with --output"));
  }
  fs::path const probe = directory / ".tcsolve-probe";
  try {
    write_file(probe, "");
  } catch (Error const& e) {
    std::string const text = e.what();
    std::size_t const reason = text.rfind(": ");
    throw Error(cat("the directory ", directory.string(), " is not writable",
                    reason == std::string::npos ? "" : text.substr(reason),
                    "; choose another with --output"));
  }
  fs::remove(probe, failed);
}

LockedDirectory::~LockedDirectory() {
  if (lock_ >= 0) ::close(lock_);
}

OutputDirectory::OutputDirectory(OutputConfig const& output, InputFiles const& inputs)
    : lock_(output.directory), replaced_(source_of_result(output.directory)) {
  remove_older_results(output.directory, inputs);
}

void require_inputs_to_stay(OutputConfig const& output, InputFiles const& inputs) {
  fs::path const directory = output.directory, solution = directory / record::solution_name(output);
  if (!output.writes_x() && !output.solution_parts) return;
  auto const replaced = [&](fs::path const& input) {
    if (!output.solution_parts) return same_file(input, solution);
    return is_part_name(input.filename().string()) &&
           same_file(input, directory / input.filename());
  };
  if (replaced(inputs.rows))
    throw ConfigError(cat("'output.rows': ", inputs.rows.string(),
                          " is where x would be written; choose another output directory"));
  for (auto const& [key, input] :
       {std::pair{"matrix", &inputs.matrix}, {"rhs", &inputs.rhs}, {"solution", &inputs.solution}})
    if (replaced(*input))
      throw ConfigError(cat("'problem.", key, "': ", input->string(),
                            " is where x would be written; choose another output "
                            "directory"));
  for (fs::path const& input : inputs.batch)
    if (replaced(input))
      throw ConfigError(cat("'problem.batch': ", input.string(),
                            " is where x would be written; choose another output "
                            "directory"));
}

}  // namespace tcsolve
