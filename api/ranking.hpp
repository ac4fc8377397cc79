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
/// Who has left solved is ranked by the time measured; who has not, by a prediction: the
/// residual goes on falling as it did in the second half of the iterations seen. Without a deadline
/// of its own that the fastest sets, `all`, each runs until it converges, fails or the time is up.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tcsolve/api/recipes.hpp>

namespace tcsolve {

/// What became of a candidate, the best first.
enum class Standing {
  solved,           ///< SolveReport::solved(): the program would exit with 0
  predicted,        ///< not finished; its residual falls
  precision_limit,  ///< as far as FP64 goes, and short of the tolerance
  slower,           ///< not finished: it took longer than the fastest
  stalled,          ///< not finished, and no end is to be seen
  failed,
  untried  ///< the time was up, or the race was cancelled
};
constexpr auto names(Standing) {
  return std::array{std::pair{Standing::solved, "solved"},
                    std::pair{Standing::predicted, "predicted"},
                    std::pair{Standing::precision_limit, "precision_limit"},
                    std::pair{Standing::slower, "slower"},
                    std::pair{Standing::stalled, "stalled"},
                    std::pair{Standing::failed, "failed"},
                    std::pair{Standing::untried, "untried"}};
}
constexpr char const* name(Standing s) { return names(s)[static_cast<std::size_t>(s)].second; }

/// "2.31 ms", "1.5 s".
std::string seconds_text(double seconds);

/// A configuration, how it did and what it will take.
struct RankedChoice {
  std::string solver, preconditioner;  ///< as a config writes them
  std::string reason;                  ///< why it was in the race
  std::string details;                 ///< of the preconditioner, as it was made
  std::string outcome;                 ///< of its last round, or why it could not be set up
  Standing standing = Standing::untried;
  bool converged = false;  ///< SolveReport::converged(): as result.json says it
  bool as_good = false;    ///< solved, and in at most 1.1 times the time of the fastest
  Index iterations = 0;    ///< made in its last round
  double setup = 0;        ///< seconds: plan, conversion, preconditioner and method; at least
  double solve = 0;        ///< seconds of its last round
  double rate = 1;         ///< of the residual from one iteration to the next
  double predicted = 0;    ///< seconds of set-up and solve to the tolerance; infinite: not known
  double predicted_iterations = 0;
  double bytes = 0;  ///< of matrix, preconditioner and the method's vectors, about

  bool solved() const { return standing == Standing::solved; }
  /// "{type: cg} with {type: ic}".
  std::string name() const { return solver + " with " + preconditioner; }
};

struct RankingParams {
  double rtol = 1e-8;
  /// After which no round begins. A round takes up to twice its limit, for set-up and solve, and
  /// what a library does in one call.
  double seconds = 60;
  bool all = false;  ///< no candidate leaves because another one was faster
  /// Called before each round of a candidate, and with `over` when it has left the race.
  std::function<void(RankedChoice const&, bool over)> watch;
};

/// The candidates for a matrix: methods that admit it with preconditioners, cheap set-ups first,
/// and what auto would take in turn (api/recipes.hpp). Cost: none.
std::vector<Recipe> candidates(MatrixFacts const&);

/// Candidates on A x = b from x = 0, the fastest first; after Context::cancel() what was found
/// until then. A and b on the host. Throws ShapeError where they do not fit, ConfigError for
/// params. Cost: rounds as above, up to as many times the best solve as there are candidates, and a
/// little more.
std::vector<RankedChoice> ranking(Context&, CsrView<double> const& a, std::span<double const> b,
                                  RankingParams const& params = {});

}  // namespace tcsolve
