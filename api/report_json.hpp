// SPDX-License-Identifier: Apache-2.0
/// Reports as JSON text, for callers in other languages and for logs.
#pragma once

#include <string>

#include <tcsolve/api/setup_report.hpp>
#include <tcsolve/solvers/report.hpp>

namespace tcsolve {

/// One object on one line, with the names of result.json: outcome, reason, cause, converged,
/// solved, exit_code, message, iterations, residual, seconds, work, precision, choices, history.
/// NaN, and what was never computed, is null; infinity the text "inf". A row of `history` is
/// [iteration, norm, seconds, true residual].
std::string to_json(SolveReport const& report);
/// What the last set-up took, and what it made.
std::string to_json(SetupReport const& report);

}  // namespace tcsolve
