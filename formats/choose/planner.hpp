// SPDX-License-Identifier: Apache-2.0
/// Which format a matrix should have: `operator: {format: auto}`.
///
///     Features const f = features(ctx, a);
///     Plan const plan = make_plan(f, {.applies = 500}, CostTable::shipped(ctx));
///     OperatorPtr<double> A = make_operator<double>(ctx, a, plan.taken(), &plan.seen);
///
/// For every format that meets the request, the time of a solver's steps and of the conversion
/// is predicted; the format with the least sum is taken. The choice is a function of the pattern,
/// the request and the cost table: it does not depend on how busy the machine is (on how much
/// memory is free it does, where that is scarce).
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <tcsolve/formats/choose/cost_model.hpp>
#include <tcsolve/formats/survey.hpp>

namespace tcsolve {

/// One format and what it would cost, in microseconds.
struct Candidate {
  Format const* format = nullptr;
  double bytes = 0;         ///< of the stored matrix
  double product = 0;       ///< y = A x, all columns of a block
  double step = 0;          ///< a solver's step: the product, <x, A x>, updates of vectors
  bool persistent = false;  ///< as one kernel
  double conversion = 0;    ///< from CSR, once
  double total = 0;         ///< conversion + applies * step
  std::string excluded;     ///< why the format cannot be taken; empty when it can
  bool at_least = false;    ///< lower bounds, which sufficed: not all of the matrix was looked at
};

struct Plan {
  PlanRequest request;
  std::string device;                 ///< whose rates these are
  std::vector<Candidate> candidates;  ///< by total; those that are excluded last
  Survey seen;                        ///< of the matrix, as far as it took
  /// The first of them. csr is never excluded.
  Format const& taken() const { return *candidates.front().format; }
  /// Throws Unsupported for a format that was not among those to choose from.
  Candidate const& of(Format const&) const;
};

Plan make_plan(Features const&, PlanRequest const&, CostTable const&);

/// The same decision for a matrix in the Context's space, of which no more is looked at than it
/// takes: lower bounds put the formats in an order, and as long as the first one's total is a
/// bound, what it depends on is looked at, cheapest first. With `format`, until that one's total is
/// known.
Plan make_plan(Context&, CsrView<double> const& a, Survey&, PlanRequest const&, CostTable const&,
               Format const* format = nullptr);

/// The format that make_plan() takes, from fewer looks: no more of the matrix is looked at than it
/// takes until no other can be better, and totals may still be bounds.
Plan make_choice(Context&, CsrView<double> const& a, Survey&, PlanRequest const&, CostTable const&);

/// The decision as a table, one line a format, the one taken first.
std::string text(Plan const&);

/// The first of the plan's formats that make(format) can make, and a note of it. Values in fewer
/// bits, padding beyond what was foreseen or memory that has gone since (MatrixError, MemoryError)
/// pass a format over: then `all` gives the plan with all of the matrix looked at, and its next one
/// is tried. Throws what the last make() threw.
OperatorPtr<double> first_possible(Context&, Plan,
                                   std::function<OperatorPtr<double>(Format const&)> make,
                                   std::function<Plan()> all);

/// What repeated measurements came to.
struct Timing {
  double median = 0;  ///< us
  double spread = 0;  ///< (third quartile - first) / median
  /// Beyond this spread something else runs on the machine, and nothing follows from the median.
  static constexpr double too_much = 0.5;
};
/// Of Y = A X with so many columns, X = 1: 5 to 50 measurements for about `seconds`, each of as
/// many products in a row as take a millisecond.
template <class T>
Timing time_product(Context&, LinearOperator<T> const& A, double seconds, Index columns = 1);

template <class T>
struct Tuned {
  OperatorPtr<T> best;
  Format const* taken = nullptr;
  double seconds = 0;  ///< all that was spent
  double spread = 0;   ///< the largest of Timing::spread; beyond too_much the plan was followed
  /// Median us of a product of each format that was tried, in the order tried; NaN: refused.
  std::vector<std::pair<Format const*, double>> tried;
};
/// "xyz; measured in 0.4 s: xyz 63.1 us, csr 104 us".
template <class T>
std::string text(Tuned<T> const&);

/// Makes the operators of the best `most` candidates by make(format), one after another, and keeps
/// the one whose products are fastest; the plan's first one if the times scatter. Where make()
/// throws MatrixError or MemoryError, the next candidate is tried. No candidate but the first is
/// begun after `budget` seconds. The answer depends on the clock: two runs may differ. Throws what
/// the last make() threw when no operator could be made.
template <class T>
Tuned<T> autotune(Context&, Plan const&, double budget,
                  std::function<OperatorPtr<T>(Format const&)> const& make, int most = 3);

}  // namespace tcsolve
