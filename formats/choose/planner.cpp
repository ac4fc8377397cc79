// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/formats/choose/planner.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <limits>

#include <tcsolve/core/half.hpp>
#include <tcsolve/core/timed.hpp>
#include <tcsolve/kernels/vector_ops.hpp>

namespace tcsolve {
namespace {

/// Vectors that a step of CG reads or writes besides the product; of other methods a few more, of
/// which no format has.
constexpr double step_vectors = 10;
/// Those that a loop counts when it decides how it is run (KrylovSolver::record).
constexpr double loop_vectors = 5;

std::string why_not(Format const& format, Features const& f, PlanRequest const& request,
                    CostTable const& table) {
  bool const asked_too_much = request.transpose && !format.can.transpose;
  FormatRates const& rates = table.rates(format.name, request.values, request.vectors);
  if (format.converted && !asked_too_much && rates.product == Terms{} && rates.block == Terms{})
    return cat("no rates for ", format.name, " in this table; run tcsolve calibrate");
  return why_not(format, f, request);
}

/// Whether a persistent kernel has the product, and gains by it: of values and vectors of one type.
/// It has those of 16 bits with FP32 vectors too, but what they gain was not seen beyond the
/// smallest systems, where formats hardly differ.
bool multiplies_in_loop(Format const& format, PlanRequest const& request) {
  return format.can.persistent && request.values == request.vectors;
}

/// A step as one kernel; 0 where it is not offered. What a step touches beyond the cache comes from
/// the memory; a loop is one kernel up to the format's share of the cache (solvers/loop/execution).
double persistent_step(Format const& format, FormatLayout const& layout, Features const& f,
                       PlanRequest const& request, CostTable const& table) {
  RatesByType const& rates = table.of(format.name);
  double const bytes = layout.stored;
  double const vector = double(size_of(request.vectors)) * f.rows / 1e6;
  double const touched = bytes / 1e6 + step_vectors * vector;
  double const counted = bytes / 1e6 + loop_vectors * vector;
  if (rates.persistent == 0 || !request.persistent || request.columns > 1 ||
      !multiplies_in_loop(format, request) || counted > format.can.cache_share * table.cache)
    return 0;
  double const near = std::min(touched, table.cache);
  double const far = rates.persistent_memory > 0 ? rates.persistent_memory : table.pass_stream;
  double const walked = std::max(0.0, layout.walked - RatesByType::walked_at_once) / 1000;
  return rates.persistent + rates.persistent_stream * near + far * (touched - near) +
         rates.persistent_longest * walked;
}

Candidate candidate(Format const& format, Features const& f, PlanRequest const& request,
                    CostTable const& table) {
  FormatRates const& rates = table.rates(format.name, request.values, request.vectors);
  double const vector = double(size_of(request.vectors)) * f.rows / 1e6;
  Candidate c;
  c.format = &format;
  c.excluded = why_not(format, f, request, table);
  FormatLayout const layout = format.layout(f, request.values);
  c.bytes = layout.stored;
  double const k = request.columns;
  c.product =
      product_time(rates, work(format, f, request.values, request.vectors), request.columns);
  c.step = table.step + c.product + k * step_vectors * vector * table.pass_stream;
  if (!format.can.dot) c.step += table.pass + 2 * k * vector * table.pass_stream;
  double const one_kernel = persistent_step(format, layout, f, request, table);
  c.persistent = one_kernel > 0 && one_kernel < c.step;
  if (c.persistent) c.step = one_kernel;
  if (format.converted)
    c.conversion = rates.convert + rates.convert_entries * double(f.entries) / 1e6 +
                   rates.convert_rows * f.rows / 1e6;
  c.total = c.conversion + request.applies * c.step;
  return c;
}

Plan plan_for(Survey const& seen, PlanRequest const& request, CostTable const& table) {
  Plan plan{request, table.device, {}, seen};
  for (Format const& format : *request.among)
    plan.candidates.push_back(candidate(format, seen.least(), request, table));
  std::stable_sort(plan.candidates.begin(), plan.candidates.end(),
                   [](Candidate const& a, Candidate const& b) {
                     if (a.excluded.empty() != b.excluded.empty()) return a.excluded.empty();
                     return a.total < b.total;
                   });
  return plan;
}

/// Whether no format can be better than the plan's first one, whatever is not known: the first at
/// its worst, the others at their best. Tiles are as many for all of them. Totals of formats that
/// do not store them are linear in their number, where no step is one kernel: its two ends suffice.
bool is_sure(Plan const& plan, PlanRequest const& request, CostTable const& table) {
  Features const least = plan.seen.least(), most = plan.seen.most();
  if (!candidate(plan.taken(), most, request, table).excluded.empty()) return false;
  auto const total = [&](Format const& format, Features f, Offset tiles) {
    Candidate const bound = candidate(format, f, request, table);
    f.tiles = tiles;
    Candidate const with = candidate(format, f, request, table);
    bool const linear = with.bytes == bound.bytes && !request.persistent;
    return linear ? with.total : bound.total;
  };
  for (Offset const tiles : {least.tiles, most.tiles}) {
    double const first = total(plan.taken(), most, tiles);
    for (Candidate const& c : plan.candidates)
      if (c.excluded.empty() && c.format != &plan.taken() && total(*c.format, least, tiles) < first)
        return false;
  }
  return true;
}

/// The cheapest feature that a format's cost depends on and that is not computed yet; null: none.
Fact const* next_fact(Format const& format, Survey const& seen) {
  auto const unknown = [&](Fact const* fact) { return !seen.knows(*fact); };
  auto const next = std::ranges::find_if(format.facts, unknown);
  if (next != format.facts.end()) return *next;
  return unknown(&tiles_fact) ? &tiles_fact : nullptr;
}

}  // namespace

Candidate const& Plan::of(Format const& format) const {
  auto const at = std::ranges::find(candidates, &format, &Candidate::format);
  if (at == candidates.end())
    throw Unsupported(cat(format.name, " is not among the formats of this plan"));
  return *at;
}

Plan make_plan(Features const& f, PlanRequest const& request, CostTable const& table) {
  return plan_for(Survey(f), request, table);
}

Plan make_plan(Context& ctx, CsrView<double> const& a, Survey& seen, PlanRequest const& request,
               CostTable const& table, Format const* format) {
  for (;;) {
    Plan plan = plan_for(seen, request, table);
    Features const most = seen.most();
    for (Candidate& c : plan.candidates) {
      Candidate const worst = candidate(*c.format, most, request, table);
      c.at_least = c.total != worst.total || c.bytes != worst.bytes || c.excluded != worst.excluded;
    }
    Candidate const& first = format ? plan.of(*format) : plan.candidates.front();
    Fact const* const next = next_fact(*first.format, seen);
    if (!first.at_least || next == nullptr) return plan;
    seen.look(ctx, a, *next);
  }
}

Plan make_choice(Context& ctx, CsrView<double> const& a, Survey& seen, PlanRequest const& request,
                 CostTable const& table) {
  for (;;) {
    Plan plan = plan_for(seen, request, table);
    Fact const* const next = next_fact(plan.taken(), seen);
    if (next == nullptr || is_sure(plan, request, table)) return plan;
    seen.look(ctx, a, *next);
  }
}

std::string text(Plan const& plan) {
  char line[160];
  std::string const columns =
      plan.request.columns > 1 ? cat(" with ", plan.request.columns, " columns") : "";
  std::snprintf(line, sizeof line, "format for %.4g products%s, %s values, %s\n",
                plan.request.applies, columns.c_str(), name(plan.request.values),
                plan.device.c_str());
  std::string text = line;
  text += "  format   MB stored   us product   us step   us conversion   ms in all\n";
  for (Candidate const& c : plan.candidates) {
    if (c.excluded.empty())
      std::snprintf(line, sizeof line, "  %-6s %11.4g %12.4g %9.4g %15.4g %11.4g%s%s\n",
                    c.format->name.c_str(), c.bytes / 1e6, c.product, c.step, c.conversion,
                    c.total / 1e3, c.persistent ? "   one kernel" : "",
                    c.at_least ? "   at least" : "");
    else
      std::snprintf(line, sizeof line, "  %-6s %11.4g   %s\n", c.format->name.c_str(),
                    c.bytes / 1e6, c.excluded.c_str());
    text += line;
  }
  return text;
}

OperatorPtr<double> first_possible(Context& ctx, Plan plan,
                                   std::function<OperatorPtr<double>(Format const&)> make,
                                   std::function<Plan()> all) {
  std::vector<Format const*> refused;
  auto const usable = [&](Candidate const& c) {
    return c.excluded.empty() && std::ranges::find(refused, c.format) == refused.end();
  };
  for (;;) {
    Format const* const format = std::ranges::find_if(plan.candidates, usable)->format;
    auto const pass_over = [&](Error const& e) {
      refused.push_back(format);
      plan = all();
      if (std::ranges::none_of(plan.candidates, usable)) throw;  // what make() threw
      ctx.log(Severity::note, cat("format: not ", format->name, ": ", e.what()));
    };
    try {
      auto const A = make(*format);
      ctx.log(Severity::note, cat("format: ", format->name, " (chosen for up to ",
                                  plan.request.applies, " products on ", plan.device, ")"));
      return A;
    } catch (MatrixError const& e) { pass_over(e); } catch (MemoryError const& e) {
      pass_over(e);
    }
  }
}

template <class T>
Timing time_product(Context& ctx, LinearOperator<T> const& A, double seconds, Index columns) {
  using Clock = std::chrono::steady_clock;
  MultiVector<T> x(ctx.space(), A.cols(), columns), y(ctx.space(), A.rows(), columns);
  fill<T>(ctx, x, T(1));
  auto const run = [&](int calls) {
    ctx.synchronize();
    auto const start = Clock::now();
    for (int i = 0; i < calls; ++i) A.apply(ctx, T(1), x, T(0), y);
    ctx.synchronize();
    return seconds_since(start) / calls;
  };
  run(1);
  int const calls = std::clamp(static_cast<int>(1e-3 / std::max(run(1), 1e-6)), 1, 1000);
  std::vector<double> times;
  for (auto const start = Clock::now();
       times.size() < 5 || (times.size() < 50 && seconds_since(start) < seconds);)
    times.push_back(1e6 * run(calls));
  std::sort(times.begin(), times.end());
  std::size_t const n = times.size();
  double const median = times[n / 2];
  return {median, (times[3 * n / 4] - times[n / 4]) / median};
}

template <class T>
Tuned<T> autotune(Context& ctx, Plan const& plan, double budget,
                  std::function<OperatorPtr<T>(Format const&)> const& make, int most) {
  auto const start = std::chrono::steady_clock::now();
  auto const spent = [&] { return seconds_since(start); };
  Tuned<T> tuned;
  std::exception_ptr refusal;
  int made = 0;
  double least = std::numeric_limits<double>::infinity();
  OperatorPtr<T> predicted;
  Format const* predicted_format = nullptr;
  for (Candidate const& c : plan.candidates) {
    if (!c.excluded.empty() || made == most) break;
    if (tuned.best && spent() > budget) break;
    double us = std::numeric_limits<double>::quiet_NaN();
    try {
      OperatorPtr<T> const A = make(*c.format);
      ++made;
      Timing const timing = time_product(ctx, *A, budget / (2 * most), plan.request.columns);
      us = timing.median;
      tuned.spread = std::max(tuned.spread, timing.spread);
      if (!predicted) predicted = A, predicted_format = c.format;
      // What the step has besides the product counts as predicted.
      double const step = us + c.step - c.product;
      if (step < least) {
        least = step;
        tuned.best = A;
        tuned.taken = c.format;
      }
    } catch (MatrixError const&) {
      refusal = std::current_exception();
    } catch (MemoryError const&) { refusal = std::current_exception(); }
    tuned.tried.emplace_back(c.format, us);
  }
  if (!tuned.best) std::rethrow_exception(refusal);
  if (tuned.spread > Timing::too_much) tuned.best = predicted, tuned.taken = predicted_format;
  tuned.seconds = spent();
  return tuned;
}

template <class T>
std::string text(Tuned<T> const& tuned) {
  char part[80];
  std::snprintf(part, sizeof part, "%s; measured in %.2g s:", tuned.taken->name.c_str(),
                tuned.seconds);
  std::string text = part;
  for (auto const& [format, us] : tuned.tried) {
    std::snprintf(part, sizeof part, "%s %s %.4g us",
                  format == tuned.tried.front().first ? "" : ",", format->name.c_str(), us);
    text += part;
  }
  if (tuned.spread > Timing::too_much) {
    std::snprintf(part, sizeof part, "; the times scatter by %.0f %%: taken as predicted",
                  100 * tuned.spread);
    text += part;
  }
  return text;
}

template Timing time_product(Context&, LinearOperator<double> const&, double, Index);
template Timing time_product(Context&, LinearOperator<float> const&, double, Index);
template std::string text(Tuned<double> const&);
template std::string text(Tuned<float> const&);
template Tuned<double> autotune(Context&, Plan const&, double,
                                std::function<OperatorPtr<double>(Format const&)> const&, int);
template Tuned<float> autotune(Context&, Plan const&, double,
                               std::function<OperatorPtr<float>(Format const&)> const&, int);

}  // namespace tcsolve
