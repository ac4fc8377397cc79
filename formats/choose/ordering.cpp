// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/formats/choose/ordering.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>

#include <tcsolve/core/host_memory.hpp>
#include <tcsolve/graph/reorder/cuthill_mckee.hpp>
#include <tcsolve/graph/reorder/graph_partition.hpp>
#include <tcsolve/io/plan_cache.hpp>

namespace tcsolve {
namespace {

/// An order must be better by more than what the model is off by.
constexpr double enough = 0.95;

/// The cheapest way to multiply by a matrix of these features.
Candidate best(Features const& f, OrderRequest const& request, CostTable const& table) {
  Plan const plan = make_plan(f, request.plan, table);
  return request.format ? plan.of(*request.format) : plan.candidates.front();
}

/// What an order could make of the accesses to x: tiles full, columns near each other. Padding,
/// blocks and diagonals count as they are.
Features with_x_for_free(Features f, FormatList const& among) {
  f.slices_wide = 0;
  f.medium_wide = 0;
  for (Fact const* fact : among.facts())
    if (fact->gather != nullptr) fact->gather(f);
  return f;
}

/// Bytes beside A while an order is made: P A P^T and scratch, in the Context's space; for METIS
/// the graph, its transposed pattern and METIS' own graphs on the host. And what comes after: a
/// matrix made of it, P b, P x, P and a staged copy.
bool fits(Context const& ctx, Reorder order, double rows, Offset of_a) {
  auto const entries = double(of_a);
  bool const here = ctx.space() == Space::host;
  double const moved = 2 * (12 * entries + 20 * rows) + 36 * rows;
  double const scratch = here ? 12 * entries + 48 * rows : 32 * entries + 180 * rows;
  double const metis = order == Reorder::metis ? 36 * entries + 64 * rows : 0;
  double const there = moved + (here ? std::max(scratch, metis) : scratch);
  return there < 0.9 * double(ctx.available_memory()) && metis < 0.9 * double(available_memory());
}

/// Adds the seconds until it goes.
class Clock {
 public:
  explicit Clock(double& sum) : sum_(sum) {}
  ~Clock() {
    using Seconds = std::chrono::duration<double>;
    sum_ += Seconds(std::chrono::steady_clock::now() - start_).count();
  }
  Clock(Clock const&) = delete;

 private:
  double& sum_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

class Choice {
 public:
  Choice(Context& ctx, Csr<double> const& a, OrderRequest const& request, CostTable const& table)
      : ctx_(ctx),
        a_(a),
        request_(request),
        table_(table),
        given_(request.given ? request.given : as_given(ctx, a).matrix) {}

  OrderedMatrix in(Reorder order) {
    Clock const clock(order_seconds_);
    if (order == Reorder::none) return unchanged();
    OrderedMatrix ready;
    std::shared_ptr<CsrStorage<double>> moved;
    auto const make = [&] { return reordering(ctx_, given_->view(), order, moved); };
    ready.order = request_.cache
                      ? reordering(Pattern(a_), order, *request_.cache, ready.cached, make)
                      : make();
    if (!moved)
      moved = std::make_shared<CsrStorage<double>>(permuted(ctx_, given_->view(), ready.order.P));
    ready.matrix = std::move(moved);
    return ready;
  }

  OrderedMatrix cheapest() {
    OrderedMatrix ready = unchanged();
    OrderPlan plan{request_.plan, table_.device, Reorder::none, {}};
    OrderCandidate none{Reorder::none, look(ready), 0, 0, ""};
    // A format that was asked for and cannot hold A as it is: any order that helps is taken.
    bool const holds = none.format.excluded.empty();
    none.total = holds ? none.format.total : std::numeric_limits<double>::infinity();
    double least = none.total;
    plan.candidates.push_back(std::move(none));
    std::optional<Locality> before;
    Survey of_a = *ready.survey;
    for (Reorder const order : {Reorder::rcm, Reorder::metis}) {
      OrderCandidate c = conceivable(order, of_a, least);
      if (c.excluded.empty() && !of_a.complete()) {  // bounds do not rule it out
        look_at_all(ready);
        of_a = *ready.survey;
        c = conceivable(order, of_a, least);
      }
      if (c.excluded.empty()) {
        OrderedMatrix other = in(order);
        look_at_all(other);
        before = other.order.before;
        c.format = best(other.survey->least(), request_, table_);
        c.total = c.format.excluded.empty() ? c.once + c.format.total
                                            : std::numeric_limits<double>::infinity();
        if (c.total < enough * least) {
          least = c.total, plan.taken = order;
          ready = std::move(other);
        }
      }
      plan.candidates.push_back(std::move(c));
    }
    if (plan.taken == Reorder::none && before) ready.order = {Reorder::none, {}, *before, *before};
    ready.plan = std::move(plan);
    return ready;
  }

  /// What the choice of a format takes is looked at, where one is to be chosen.
  OrderedMatrix surveyed(OrderedMatrix ready) {
    if (!request_.format && !ready.survey) look(ready);
    ready.order_seconds = order_seconds_;
    return ready;
  }

 private:
  OrderedMatrix unchanged() const {
    OrderedMatrix ready;
    ready.order.measured = false;
    ready.matrix = given_;
    return ready;
  }

  /// As far as the cheapest way to multiply by it takes, which is returned.
  Candidate look(OrderedMatrix& ready) const {
    CsrView<double> const& a = ready.matrix->view();
    ready.survey = survey(ctx_, a, *request_.plan.among);
    Plan const plan = make_plan(ctx_, a, *ready.survey, request_.plan, table_, request_.format);
    return request_.format ? plan.of(*request_.format) : plan.candidates.front();
  }
  void look_at_all(OrderedMatrix& ready) const {
    if (!ready.survey) ready.survey = survey(ctx_, ready.matrix->view(), *request_.plan.among);
    ready.survey->look(ctx_, ready.matrix->view());
  }

  /// What an order could come to at best, least being the total so far.
  OrderCandidate conceivable(Reorder order, Survey const& seen, double least) const {
    Features const& f = seen.least();
    OrderCandidate c{order, best(with_x_for_free(f, *request_.plan.among), request_, table_),
                     order_microseconds(order, f, table_), 0, ""};
    c.total = c.once + c.format.total;
    c.excluded = why_not(c, least);
    return c;
  }
  /// Why an order is not even made.
  std::string why_not(OrderCandidate const& c, double least) const {
    bool const metis = c.order == Reorder::metis;
    if (metis && !metis_built()) return "not built";
    if ((metis ? table_.order.metis_entries : table_.order.serial_entries) == 0) return "no rates";
    char text[128];
    std::snprintf(text, sizeof text, "not worth it: %.4g ms to compute, %.4g ms total at best",
                  c.once / 1e3, c.total / 1e3);
    if (!(c.total < enough * least)) return text;
    if (!fits(ctx_, c.order, a_.rows, given_->view().entries)) return "too little memory";
    return "";
  }

  Context& ctx_;
  Csr<double> const& a_;
  OrderRequest const& request_;
  CostTable const& table_;
  std::shared_ptr<CsrStorage<double> const> given_;
  double order_seconds_ = 0;
};

}  // namespace

double order_microseconds(Reorder order, Features const& f, CostTable const& table) {
  if (order == Reorder::none) return 0;
  OrderRates const& rates = table.order;
  double const millions = double(f.entries) / 1e6;
  double const moving = rates.permute + rates.permute_entries * millions;
  if (order == Reorder::metis) return moving + rates.metis_entries * millions;
  bool const levels = rates.levels_entries > 0 && by_levels(f.entries, f.longest);
  return moving + (levels ? rates.levels + rates.levels_entries * millions
                          : rates.serial_entries * millions);
}

std::string text(OrderPlan const& plan) {
  char line[200];
  std::snprintf(line, sizeof line, "order for %.4g products, %s values, %s\n", plan.request.applies,
                name(plan.request.values), plan.device.c_str());
  std::string text = line;
  text += "  order    format   us product   us step   ms order   ms in all\n";
  auto const add = [&](OrderCandidate const& c) {
    if (c.excluded.empty())
      std::snprintf(line, sizeof line, "  %-8s %-6s %12.4g %9.4g %10.4g %11.4g\n", name(c.order),
                    c.format.format->name.c_str(), c.format.product, c.format.step, c.once / 1e3,
                    c.total / 1e3);
    else
      std::snprintf(line, sizeof line, "  %-8s %s\n", name(c.order), c.excluded.c_str());
    text += line;
  };
  for (OrderCandidate const& c : plan.candidates)
    if (c.order == plan.taken) add(c);
  for (OrderCandidate const& c : plan.candidates)
    if (c.order != plan.taken) add(c);
  return text;
}

OrderedMatrix as_given(Context& ctx, Csr<double> const& a) {
  OrderedMatrix ready;
  ready.order.measured = false;
  ready.matrix = std::make_shared<CsrStorage<double>>(ctx, a.view());
  return ready;
}

OrderedMatrix ordered(Context& ctx, Csr<double> const& a, OrderRequest const& request,
                      CostTable const& table) {
  Range const range(ctx, "reorder");
  bool const searches = request.asked == Reorder::automatic && a.rows == a.cols;
  bool const wanted = request.asked != Reorder::none && request.asked != Reorder::automatic;
  if (wanted) require_square(a);
  Choice choice(ctx, a, request, table);
  return choice.surveyed(searches ? choice.cheapest()
                                  : choice.in(wanted ? request.asked : Reorder::none));
}

}  // namespace tcsolve
