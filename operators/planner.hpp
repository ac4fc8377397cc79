// SPDX-License-Identifier: Apache-2.0
/// Which format a matrix should have: `operator: {format: auto}`.
///
///     Features const f = features(ctx, a);
///     Plan const plan = make_plan(f, {.applies = 500}, CostTable::shipped(ctx));
///     OperatorPtr<double> A = make_operator<double>(ctx, a, plan.taken(), plan.block);
///
/// For every format that can do what is asked, the time of a solver's steps and of the conversion
/// is predicted; the format with the least sum is taken. The choice is a function of the pattern,
/// the request and the cost table: it does not depend on how busy the machine is (on how much
/// memory is free it does, where that is scarce).
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tcsolve/formats/survey.hpp>
#include <tcsolve/operators/cost_model.hpp>

namespace tcsolve {

struct PlanRequest {
  Real values = Real::f64, vectors = Real::f64;
  double applies = 200;    ///< products that the conversion is to pay for
  bool transpose = false;  ///< A^T is needed too, which csr alone offers
  bool persistent = true;  ///< the step may run as one kernel where it is small enough
  /// Bytes that the operator, the CSR matrix that it is made from and what the conversion needs
  /// besides may take together; csr is taken whatever it needs.
  double memory = std::numeric_limits<double>::infinity();
};

/// One format and what it would cost, in microseconds.
struct Candidate {
  Format format = Format::csr;
  double bytes = 0;         ///< of the stored matrix
  double product = 0;       ///< y = A x
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
  Index block = 0;                    ///< of bsell: which of bsell_blocks; 0: not counted
  /// The first of them. csr is never excluded.
  Format taken() const { return candidates.front().format; }
};

Plan make_plan(Features const&, PlanRequest const&, CostTable const&);

/// The same decision for a matrix in the Context's space, of which no more is looked at than it
/// takes: lower bounds put the formats in an order, and as long as the first one's total is a
/// bound, what it depends on is looked at, cheapest first. With `format`, until that one's total is
/// known.
Plan make_plan(Context&, CsrView<double> const& a, Survey&, PlanRequest const&, CostTable const&,
               std::optional<Format> format = {});

/// The decision as a table, one line a format, the one taken first.
std::string text(Plan const&);

/// y = A x in one format, values stored as S. `block`: a plan's, where there is one, so that bsell
/// does not count again. Throws what the format's constructor throws.
template <class T, class S = T>
std::shared_ptr<LinearOperator<T>> make_operator(Context&, CsrView<S> const& a, Format,
                                                 Index block = 0);

/// The first of the plan's formats that make(format) can make, and a note of it. Values in fewer
/// bits, padding beyond what was foreseen or memory that has gone since (MatrixError, MemoryError)
/// pass a format over: then `all` gives the plan with all of the matrix looked at, and its next one
/// is tried. Throws what the last make() threw.
OperatorPtr<double> first_possible(Context&, Plan, std::function<OperatorPtr<double>(Format)> make,
                                   std::function<Plan()> all);

/// Median us of y = A x, x = 1, over 5 to 50 measurements for about `seconds`, each of as many
/// products in a row as take a millisecond.
template <class T>
double product_microseconds(Context&, LinearOperator<T> const& A, double seconds);

template <class T>
struct Tuned {
  OperatorPtr<T> best;
  Format taken = Format::csr;
  double seconds = 0;  ///< all that was spent
  /// Median us of a product of each format that was tried, in the order tried; NaN: refused.
  std::vector<std::pair<Format, double>> tried;
};
/// "dasp; measured in 0.4 s: dasp 63.1 us, csr 104 us".
template <class T>
std::string text(Tuned<T> const&);

/// Makes the operators of the best `most` candidates by make(format), one after another, times
/// products with each and keeps the fastest; MatrixError and MemoryError of `make` pass a format
/// over, and the next takes its place. Stops trying after `budget` seconds; what the plan takes is
/// tried in any case. The answer depends on the clock: two runs may differ. Throws what the last
/// make() threw when none could be made.
template <class T>
Tuned<T> autotune(Context&, Plan const&, double budget,
                  std::function<OperatorPtr<T>(Format)> const& make, int most = 3);

}  // namespace tcsolve
