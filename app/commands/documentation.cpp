// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/commands/documentation.hpp>

#include <tcsolve/app/config/sweep_config.hpp>
#include <tcsolve/configs/explain.hpp>
#include <tcsolve/core/error.hpp>
#include <tcsolve/io/atomic_file.hpp>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

namespace tcsolve {
namespace {

constexpr char const* generated =
    "<!-- SPDX-License-Identifier: Apache-2.0 -->\n"
    "<!-- Written by `tcsolve --reference docs/reference`; do not edit. -->\n\n";

constexpr auto style = TextStyle::terminal;

}  // namespace

std::size_t terminal_width() {
  constexpr std::size_t usual = 80, least = 40;
  winsize size{};
  if (::isatty(STDOUT_FILENO) && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return std::max<std::size_t>(least, size.ws_col);
  return usual;
}

std::string list_text(Registries const& registries) {
  std::string text;
  for (auto const& [kind, registry] : registries.catalog.registries())
    text += cat(text.empty() ? "" : "\n", entry_table(*registry, style, terminal_width()));
  return text + "\nKeys of one of them: tcsolve --explain solver.cg\n";
}

std::string explain_text(Registries const& registries, std::string const& path) {
  return explain(describe<SweepFile>(), registries.catalog, path, style, terminal_width());
}

void write_reference(Registries const& registries, std::filesystem::path const& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) throw Error(cat(folder.string(), ": can't be made: ", failed.message()));
  write_file(folder / "config.md",
             cat(generated, "# The config\n\n",
                 "File names in a config are relative to its directory, those given by `--set` and "
                 "the output directory to the working directory.\n\n",
                 key_table(describe<SweepFile>(), TextStyle::markdown)));
  for (auto const& [kind, registry] : registries.catalog.registries())
    write_file(folder / (kind + ".md"),
               cat(generated, "# ", kind, "\n\nThe entry is named by the key `",
                   registry->type_key(), "`.\n\n", reference_page(*registry)));
}

}  // namespace tcsolve
