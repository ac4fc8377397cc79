// SPDX-License-Identifier: Apache-2.0
/// Methods and preconditioners raced against each other on one system, for `tcsolve advise`.
///
///     round  limit     each candidate that is still in the race is set up and solves for `limit`
///       1    0.05 s    seconds, or for as long as the fastest took in all, whichever is less
///       2    0.2 s
///       3    0.8 s     A candidate leaves the race when it converges, when it fails, or when it
///       ...            has had as long as the fastest needed. A set-up that takes longer than
///                      a round is ended, and waits for a longer round.
///
/// Who has left converged is ranked by the time measured; who has not, by a prediction: the
/// residual goes on falling as it did in the second half of the iterations seen.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <tcsolve/api/choices.hpp>

namespace tcsolve {

struct RankingParams {
  double rtol = 1e-8;
  /// After which no round begins. A round takes up to twice its limit, for set-up and solve, and
  /// what a library does in one call.
  double seconds = 60;
};

/// A configuration, how it did and what it will take.
struct RankedChoice {
  std::string solver, preconditioner;  ///< as a config writes them
  std::string reason;                  ///< why it was in the race
  std::string details;                 ///< of the preconditioner, as it was made
  std::string outcome;                 ///< of its last round, or why it could not be set up
  bool converged = false;
  Index iterations = 0;  ///< made in its last round
  double setup = 0;      ///< seconds: matrix, preconditioner and method
  double solve = 0;      ///< seconds of its last round
  double rate = 1;       ///< of the residual from one iteration to the next
  double predicted = 0;  ///< seconds of set-up and solve to the tolerance; infinite: it fails
  double predicted_iterations = 0;
  double bytes = 0;  ///< of matrix, preconditioner and the method's vectors, about
};

/// The candidates for a matrix, cheap set-ups first: about as many as there are methods that admit
/// it times preconditioners. Cost: none.
std::vector<Choice> candidates(MatrixFacts const&);

/// Candidates on A x = b from x = 0, the fastest first. A and b on the host. Throws ShapeError
/// where they do not fit, ConfigError for params, Cancelled. Cost: rounds as above, up to as many
/// times the best solve as there are candidates, and a little more.
std::vector<RankedChoice> ranking(Context&, CsrView<double> const& a, std::span<double const> b,
                                  RankingParams const& params = {});

}  // namespace tcsolve
