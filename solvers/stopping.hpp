// SPDX-License-Identifier: Apache-2.0
/// When to stop: one set of keys for every solver. All limits are relative; scaling A and b by
/// powers of two changes nothing but the answer's scale.
#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

#include <tcsolve/configs/schema/field.hpp>
#include <tcsolve/core/judgement.hpp>
#include <tcsolve/core/precision.hpp>

namespace tcsolve {

constexpr auto names(Baseline) {
  return std::array{std::pair{Baseline::automatic, "auto"}, std::pair{Baseline::rhs, "rhs"},
                    std::pair{Baseline::initial, "initial"},
                    std::pair{Baseline::absolute, "absolute"}, std::pair{Baseline::rows, "rows"}};
}

/// For one method among others that may be tried: it is given up, as if max_iters were reached,
/// after so many iterations that take its norm to no less than `gain` of what it was.
struct Patience {
  int steps = 0;  ///< 0: no end to it
  double gain = 0.1;
  int from = 0;  ///< the iteration from which on they count: the norm may rise at first

  bool operator==(Patience const&) const = default;
};

struct StoppingParams {
  double rtol = 1e-8;
  double atol = 0;
  Baseline baseline = Baseline::automatic;
  int max_iters = 1000;
  double divtol = 1e5;
  double time_limit = std::numeric_limits<double>::infinity();
  int stagnation_window = -1;
  Patience patience = {};  ///< of callers in C++: no key
  /// A run with a narrow A or narrow vectors ends as precision_limit:values where its steps have
  /// seen a larger condition, or get nowhere (driver/condition_watch.hpp). No key either.
  double most_condition = std::numeric_limits<double>::infinity();

  bool operator==(StoppingParams const&) const = default;

  std::string check() const {
    return baseline == Baseline::absolute && atol == 0
               ? "'baseline: absolute' needs an 'atol' above 0: nothing would count as converged"
               : "";
  }

  static constexpr auto schema() {
    using P = StoppingParams;
    return std::tuple{
        field(&P::rtol, "rtol", between(0.0, 1.0),
              "converged when norm2(b - A x) <= max(rtol * baseline, atol), in FP64 with the "
              "original A"),
        field(&P::atol, "atol", non_negative(), "absolute tolerance, in the units of b"),
        field(
            &P::baseline, "baseline",
            "what rtol multiplies. rhs: norm2(b); initial: norm2(b - A x0); absolute: nothing, "
            "atol "
            "is all; rows: norm2(b), and for each row by itself abs(b_i) + sum_j abs(a_ij) * max_j "
            "abs(x_j), for rows of very different size, as of penalty boundary conditions; auto: "
            "rhs, but with solver auto rows where those of A differ by 1e6 and more"),
        field(&P::max_iters, "max_iters", non_negative(),
              "iterations in all, over every restart and every choice of auto"),
        field(&P::divtol, "divtol", above(1.0).or_infinite(),
              "diverged when the residual exceeds divtol * max(norm2(b), norm2(b - A x0))"),
        field(&P::time_limit, "time_limit", above(0.0).or_infinite(),
              "seconds a solve may take, with all its columns and what auto sets up in it"),
        field(&P::stagnation_window, "stagnation_window", at_least(-1),
              "stagnated when so many iterations bring no new best residual; 0 never, -1 chooses "
              "max(100, 10 n)")};
  }
};

/// When a row counts as met (solvers/driver/trial.hpp): to rtol of its own with `baseline: rows`;
/// otherwise it is worth a word where it is not met to half of the digits that the norm is, and not
/// because its unknowns are small beside the others.
inline RowRule row_rule(StoppingParams const& stopping, double tolerance, double rhs_norm) {
  if (stopping.baseline == Baseline::rows) return {stopping.rtol, stopping.rtol, stopping.atol};
  constexpr double least = 1e-15;
  double const met = tolerance / rhs_norm > least ? tolerance / rhs_norm : least;
  return {std::sqrt(met), met};
}

/// How the loop runs. Eager and graph give the same bits; persistent adds its sums in another
/// order.
enum class Execution { automatic, eager, graph, persistent };
constexpr auto names(Execution) {
  return std::array{std::pair{Execution::automatic, "auto"}, std::pair{Execution::eager, "eager"},
                    std::pair{Execution::graph, "graph"},
                    std::pair{Execution::persistent, "persistent"}};
}
constexpr char const* name(Execution execution) {
  return names(execution)[static_cast<std::size_t>(execution)].second;
}
/// The type of a method's own vectors. b, x and the residuals that decide are FP64 in any case.
enum class VectorType { fp64, fp32 };
constexpr auto names(VectorType) {
  return std::array{std::pair{VectorType::fp64, "fp64"}, std::pair{VectorType::fp32, "fp32"}};
}
constexpr Real real_of_vectors(VectorType v) {
  return v == VectorType::fp64 ? Real::f64 : Real::f32;
}
constexpr char const* vectors_doc =
    "type of the method's own vectors, and at the widest of the matrix that it multiplies by; x is "
    "corrected and `converged` judged in FP64 with the original A";
constexpr char const* execution_doc =
    "eager launches each step; graph lets the device repeat a recorded step; persistent runs the "
    "whole loop as one kernel; auto takes persistent for systems that stay in the device's cache, "
    "graph for larger ones, and eager where an operator cannot be recorded";

}  // namespace tcsolve
