// SPDX-License-Identifier: Apache-2.0
/// Tables of everything a config may hold, for the terminal and for docs/reference/.
#pragma once

#include <tcsolve/app/config/registries.hpp>

#include <cstddef>
#include <filesystem>
#include <string>

namespace tcsolve {

/// Characters in a line of standard output: those of the terminal, 80 where it is none.
std::size_t terminal_width();
/// What `tcsolve --list` prints.
std::string list_text(Registries const&);
/// What `tcsolve --explain path` prints. Throws ConfigError for an unknown path.
std::string explain_text(Registries const&, std::string const& path);
/// Writes config.md and a page for each registry into `folder`, which is made if missing.
void write_reference(Registries const&, std::filesystem::path const& folder);

}  // namespace tcsolve
