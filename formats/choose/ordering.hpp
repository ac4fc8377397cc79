// SPDX-License-Identifier: Apache-2.0
/// Which order a matrix should have: `operator: {reorder: auto}`.
///
///     OrderedMatrix const ready = ordered(ctx, a, {.plan = {.applies = 500}}, table);
///     OperatorPtr<double> A = make_operator<double>(ctx, ready.matrix->view(), format);
///
///     none    conversion + applies x step                     as make_plan() predicts for A
///     rcm     order + P A P^T + conversion + applies x step   the same for P A P^T
///     metis   likewise
///
/// The features of P A P^T are known only when it has been made. So an order is made only where
/// even free access to x would pay: A itself, padding and blocks as they are, with as few 8 x 8
/// tiles as its entries fill and no column beyond 16 bits; of A no more is looked at than that
/// takes (formats/choose/survey.hpp). What then has the least total is taken, an order in either
/// case only if it is less by 5 %, what the model is off by for the better formats. A format that
/// cannot hold A as it is takes the first order in which it holds it. The answer is a function of
/// the matrix, the request, the cost table and of whether this build has METIS; an order that a
/// cache spares is reckoned with all the same, so that a second run does what the first did.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tcsolve/formats/choose/planner.hpp>
#include <tcsolve/formats/choose/survey.hpp>
#include <tcsolve/graph/reorder/reordering.hpp>
#include <tcsolve/io/disk_cache.hpp>
#include <tcsolve/matrix/transfer.hpp>

namespace tcsolve {

struct OrderRequest {
  Reorder asked = Reorder::automatic;  ///< an order by name is made, whatever it costs
  PlanRequest plan;
  Format const* format = nullptr;    ///< the only one there is; null: the one that costs least
  DiskCache const* cache = nullptr;  ///< where orders are kept; null: nowhere
  /// A in the Context's space, where it lies there already; null: it is copied there.
  std::shared_ptr<CsrStorage<double> const> given;
};

/// One order and what it would cost, in microseconds.
struct OrderCandidate {
  Reorder order = Reorder::none;
  Candidate format;      ///< that A would take in this order
  double once = 0;       ///< the order and P A P^T
  double total = 0;      ///< once + conversion + applies x step
  std::string excluded;  ///< why it was not made; empty when it was
};

/// The decision: none first, then the others as they were looked at.
struct OrderPlan {
  PlanRequest request;
  std::string device;
  Reorder taken = Reorder::none;
  std::vector<OrderCandidate> candidates;
};

/// What an order is predicted to cost, P A P^T included.
double order_microseconds(Reorder, Features const&, CostTable const&);

/// The decision as a table, one line an order, the one taken first.
std::string text(OrderPlan const&);

/// A matrix in the order that was chosen, where operators are made of it.
struct OrderedMatrix {
  Reordering order;
  std::shared_ptr<CsrStorage<double> const> matrix;  ///< in the Context's space
  std::optional<Survey> survey;   ///< of it; none where nothing was to be decided
  std::optional<OrderPlan> plan;  ///< of `automatic`
  std::string cached;             ///< what the cache did, if there was one
  double order_seconds = 0;       ///< of all that it took: orders, taken or not, and P A P^T
};

/// A as it is, in the Context's space: copied there from `a`, on the host, or borrowed where that
/// is the Context's space; then `a` must outlive it.
OrderedMatrix as_given(Context&, Csr<double> const& a);

/// `a`, on the host, in the order asked for. Where that is `none`, or `automatic` finds nothing
/// better, `matrix` is A itself (as_given). Without a `format`, as much of it is looked at as the
/// choice of one takes. A matrix that is not
/// square is left alone by `automatic`; else throws what reordering() throws.
OrderedMatrix ordered(Context&, Csr<double> const& a, OrderRequest const&, CostTable const&);

}  // namespace tcsolve
