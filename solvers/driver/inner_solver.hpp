// SPDX-License-Identifier: Apache-2.0
/// A solver inside another one, as a block of its config says, on vectors of a type that stands
/// beside the block:
///
///     {type: refinement, vectors: fp32, solver: {type: cg, rtol: 1e-4}}
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <tcsolve/configs/registry.hpp>
#include <tcsolve/solvers/solver.hpp>

namespace tcsolve {

/// The solver of a block that has been read; vectors: in the place of the key that it may have.
/// Throws ConfigError where it has none.
std::unique_ptr<Solver> make_inner(Block const& solver, std::optional<VectorType> vectors);

/// Why a block cannot be an inner solver on such vectors, of a matrix stored so; "" where it can.
std::string check_inner(Block const& solver, std::optional<VectorType> vectors,
                        std::optional<Real> values);

}  // namespace tcsolve
