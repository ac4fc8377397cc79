// SPDX-License-Identifier: Apache-2.0
/// Figures of a report that to_json() and result.json tell in the same words.
#pragma once

#include <optional>

#include <nlohmann/json_fwd.hpp>

#include <tcsolve/matrix/narrow.hpp>
#include <tcsolve/solvers/report.hpp>

namespace tcsolve {

/// NaN, and what was never computed, is null; infinity the text "inf".
nlohmann::ordered_json json_number(double v);

/// What the true residual is held against: tolerance, rhs_norm, backward_error, rowwise_error,
/// rows_unmet, attainable, condition; contractions, of the steps of iterative refinement.
nlohmann::ordered_json measures_json(SolveReport const& report);

/// The stretches of a solve by precision: values, vectors, iterations, why.
nlohmann::ordered_json precision_json(SolveReport const& report);

/// What became of a choice: outcome, iterations, true_residual, setup_seconds, solve_seconds.
nlohmann::ordered_json outcome_json(ChoiceReport const& choice);

/// What rounding has done to A: scaled, overflow, underflow, zeros, row_sum_change; null for
/// nothing.
nlohmann::ordered_json rounding_json(std::optional<NarrowFigures> const& figures);

}  // namespace tcsolve
