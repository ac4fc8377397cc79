// SPDX-License-Identifier: Apache-2.0
/// What `tcsolve info MATRIX --amg` adds: the levels that multigrid makes of the matrix.
#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

#include <tcsolve/matrix/csr.hpp>
#include <tcsolve/precond/hierarchy_facts.hpp>

namespace tcsolve {

struct LevelInfo {
  std::optional<HierarchyFacts> facts;
  std::string refused;  ///< why there are none
};

/// With the defaults of `amg`, on the host, set up for it, and a product of each level timed.
/// Throws MemoryError.
LevelInfo level_info(Csr<double> const& a);
/// Lines as those of `info`.
std::string text(LevelInfo const&);
/// As result.json has them; {"refused": why} where there are none.
nlohmann::ordered_json json(LevelInfo const&);

}  // namespace tcsolve
