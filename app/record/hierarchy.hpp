// SPDX-License-Identifier: Apache-2.0
/// The levels of a preconditioner in result.json, in `tcsolve info --json` and on the page.
#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

#include <tcsolve/precond/hierarchy_facts.hpp>

namespace tcsolve {

/// null where there are none.
nlohmann::ordered_json hierarchy_json(std::optional<HierarchyFacts> const&);

/// The levels as rows of a table, of hierarchy_json(), and what else it holds.
std::string hierarchy_html(nlohmann::ordered_json const&);

}  // namespace tcsolve
