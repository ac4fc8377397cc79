// SPDX-License-Identifier: Apache-2.0
/// What a solver may be asked to put between the caller's b and x and its own
/// (solvers/driver/solve_frame.hpp).
#pragma once

#include <memory>
#include <vector>

#include <tcsolve/graph/reorder/permutation.hpp>

namespace tcsolve {

/// An order and a nullspace. Neither: a driver works on the caller's b and x.
struct Framing {
  std::shared_ptr<Permutation const> order = nullptr;  ///< null: A has the caller's numbers
  /// Vectors of full rank that span the nullspace of A, in the caller's numbers.
  std::vector<std::vector<double>> nullspace = {};
};

}  // namespace tcsolve
