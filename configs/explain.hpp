// SPDX-License-Identifier: Apache-2.0
/// Tables of keys and lists of entries, for the terminal and for docs/reference/.
#pragma once

#include <tcsolve/configs/schema/catalog.hpp>

#include <string>
#include <vector>

namespace tcsolve {

enum class TextStyle { terminal, markdown };

/// key, type, default, range, meaning: one row per key.
/// In the terminal's style lines are wrapped at `width` characters, 0: nowhere.
std::string key_table(std::vector<KeyDoc> const& rows, TextStyle style = TextStyle::terminal,
                      std::size_t width = 0);

/// name, meaning: one row per entry of the registry.
std::string entry_table(RegistryBase const& registry, TextStyle style = TextStyle::terminal,
                        std::size_t width = 0);

/// What `tcsolve --explain path` prints. `config` describes the whole config (describe<P>()).
/// "" is the table of all its keys; "output" those of one block; "solver" or "problem.generator"
/// the entries of that registry; "solver.gmres" the keys of one of them, "solver.gmres.restart" one
/// key. A name alone ("gmres", "restart") is looked for in all registries. Throws ConfigError for
/// an unknown path, naming the nearest.
std::string explain(std::vector<KeyDoc> const& config, Catalog const& catalog,
                    std::string const& path, TextStyle style = TextStyle::terminal,
                    std::size_t width = 0);

/// Markdown with a heading and a table for every entry of the registry: a page of docs/reference/.
std::string reference_page(RegistryBase const& registry);

}  // namespace tcsolve
