// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/operators/planner.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <limits>

#include <tcsolve/core/half.hpp>
#include <tcsolve/kernels/persistent.hpp>
#include <tcsolve/kernels/program.hpp>
#include <tcsolve/kernels/verbs/basic.hpp>
#include <tcsolve/operators/bsell_operator.hpp>
#include <tcsolve/operators/csell_operator.hpp>
#include <tcsolve/operators/csr_operator.hpp>
#include <tcsolve/operators/dasp_operator.hpp>
#include <tcsolve/operators/dia_operator.hpp>
#include <tcsolve/operators/sell_operator.hpp>
#include <tcsolve/operators/spaden_operator.hpp>

namespace tcsolve {
namespace {

/// Vectors that a step of CG reads or writes besides the product; of other methods a few more, of
/// which no format knows.
constexpr double step_vectors = 10;
/// Those that a loop counts when it decides how it is run (KrylovSolver::record).
constexpr double loop_vectors = 5;

/// Positions are counted in 31 bits.
constexpr bool counts_in_31_bits(Format format) {
  return format == Format::csell || format == Format::dasp || format == Format::spaden;
}
/// <x, A x> is made on the way.
constexpr bool makes_dot(Format format) {
  return format == Format::sell || format == Format::csell || format == Format::dia ||
         format == Format::bsell;
}

std::string why_not(Format format, Features const& f, PlanRequest const& request,
                    CostTable const& table) {
  if (format == Format::csr) return "";
  if (request.transpose) return "no transpose";
  if (table.rates(format, request.values, request.vectors).product == Terms{}) return "no rates";
  if (format == Format::dia && !dia_fits(double(f.diagonals), f.rows, f.entries, 4096))
    return "more than two positions an entry";
  if (format == Format::bsell) {
    if (f.dense == BsellCounts{}) return "short rows, or a very long one";
    if (!holes_pay(work(format, f, request.values, request.vectors).slots * 1e6, f.entries, 4096))
      return "more than two positions an entry";
  }
  if (counts_in_31_bits(format) && f.entries > std::numeric_limits<std::int32_t>::max())
    return "more than 2^31 - 1 entries";
  if (format == Format::sell && double(f.slices_stored) > 3 * double(f.entries) + 1e6)
    return "padding is more than twice the entries";
  double const csr = stored_bytes(Format::csr, f, request.values);
  double const scratch = conversion_scratch(format, f);
  if (stored_bytes(format, f, request.values) + csr + scratch > request.memory)
    return "too little memory";
  return "";
}

template <class V, class... Known>
constexpr bool holds(VerbList<Known...>) {
  return (std::is_same_v<V, Known> || ...);
}
template <class T>
constexpr bool multiplies_in_loop(Format format) {
  using Verbs = LoopVerbs<T>;
  switch (format) {
    case Format::csr: return holds<CsrMultiply<T, T>>(Verbs{});
    case Format::sell: return holds<SellMultiplyDot<T, T>>(Verbs{});
    case Format::dia: return holds<DiaMultiplyDot<T, T>>(Verbs{});
    default: return false;
  }
}
/// Whether a persistent kernel has the product: in FP64, of values and vectors of one type.
bool multiplies_in_loop(Format format, PlanRequest const& request) {
  return request.values == Real::f64 && request.vectors == Real::f64 &&
         multiplies_in_loop<double>(format);
}

/// A step as one kernel; 0 where it is not offered. What a step touches beyond the cache comes from
/// the memory; a loop is one kernel up to persistent_share times the cache (solvers/execution).
double persistent_step(Format format, double bytes, Features const& f, PlanRequest const& request,
                       CostTable const& table) {
  RatesByType const& rates = table.of(format);
  double const vector = double(size_of(request.vectors)) * f.rows / 1e6;
  double const touched = bytes / 1e6 + step_vectors * vector;
  double const counted = bytes / 1e6 + loop_vectors * vector;
  if (rates.persistent == 0 || !request.persistent || !multiplies_in_loop(format, request) ||
      counted > persistent_share * table.cache)
    return 0;
  double const near = std::min(touched, table.cache);
  return rates.persistent + rates.persistent_stream * near + table.pass_stream * (touched - near);
}

Candidate candidate(Format format, Features const& f, PlanRequest const& request,
                    CostTable const& table) {
  FormatRates const& rates = table.rates(format, request.values, request.vectors);
  double const vector = double(size_of(request.vectors)) * f.rows / 1e6;
  Candidate c;
  c.format = format;
  c.excluded = why_not(format, f, request, table);
  c.bytes = stored_bytes(format, f, request.values);
  c.product = dot(rates.product, work(format, f, request.values, request.vectors));
  c.step = table.step + c.product + step_vectors * vector * table.pass_stream;
  if (!makes_dot(format)) c.step += table.pass + 2 * vector * table.pass_stream;
  double const one_kernel = persistent_step(format, c.bytes, f, request, table);
  c.persistent = one_kernel > 0 && one_kernel < c.step;
  if (c.persistent) c.step = one_kernel;
  if (format != Format::csr)
    c.conversion = rates.convert + rates.convert_entries * double(f.entries) / 1e6 +
                   rates.convert_rows * f.rows / 1e6;
  c.total = c.conversion + request.applies * c.step;
  return c;
}

/// What a format's cost depends on, cheapest first.
std::vector<Fact> facts_of(Format format) {
  switch (format) {
    case Format::dia: return {Fact::diagonals, Fact::symmetry, Fact::tiles};
    case Format::bsell: return {Fact::dense, Fact::tiles};
    default: return {Fact::tiles};
  }
}

}  // namespace

Plan make_plan(Features const& f, PlanRequest const& request, CostTable const& table) {
  Plan plan{request, table.device, {}};
  if (f.dense != BsellCounts{})
    plan.block = bsell_blocks[bsell_choice(f.dense, f.entries, double(size_of(request.values)))];
  for (auto const& [format, text] : names(Format{}))
    plan.candidates.push_back(candidate(format, f, request, table));
  std::stable_sort(plan.candidates.begin(), plan.candidates.end(),
                   [](Candidate const& a, Candidate const& b) {
                     if (a.excluded.empty() != b.excluded.empty()) return a.excluded.empty();
                     return a.total < b.total;
                   });
  return plan;
}

Plan make_plan(Context& ctx, CsrView<double> const& a, Survey& seen, PlanRequest const& request,
               CostTable const& table, std::optional<Format> format) {
  for (;;) {
    Plan plan = make_plan(seen.least(), request, table);
    if (!seen.knows(Fact::dense)) plan.block = 0;
    Features const most = seen.most();
    for (Candidate& c : plan.candidates) {
      Candidate const worst = candidate(c.format, most, request, table);
      c.at_least = c.total != worst.total || c.bytes != worst.bytes || c.excluded != worst.excluded;
    }
    Candidate const& first = format
                                 ? *std::ranges::find(plan.candidates, *format, &Candidate::format)
                                 : plan.candidates.front();
    auto const facts = facts_of(first.format);
    auto const next = std::ranges::find_if(facts, [&](Fact fact) { return !seen.knows(fact); });
    if (!first.at_least || next == facts.end()) return plan;
    seen.look(ctx, a, *next);
  }
}

std::string text(Plan const& plan) {
  char line[160];
  std::snprintf(line, sizeof line, "format for %.4g products, %s values, %s\n",
                plan.request.applies, name(plan.request.values), plan.device.c_str());
  std::string text = line;
  text += "  format   MB stored   us product   us step   us conversion   ms in all\n";
  for (Candidate const& c : plan.candidates) {
    if (c.excluded.empty())
      std::snprintf(line, sizeof line, "  %-6s %11.4g %12.4g %9.4g %15.4g %11.4g%s%s\n",
                    name(c.format), c.bytes / 1e6, c.product, c.step, c.conversion, c.total / 1e3,
                    c.persistent ? "   one kernel" : "", c.at_least ? "   at least" : "");
    else
      std::snprintf(line, sizeof line, "  %-6s %11.4g   %s\n", name(c.format), c.bytes / 1e6,
                    c.excluded.c_str());
    text += line;
  }
  return text;
}

template <class T, class S>
std::shared_ptr<LinearOperator<T>> make_operator(Context& ctx, CsrView<S> const& a, Format format,
                                                 Index block) {
  switch (format) {
    case Format::csr: break;
    case Format::dia: return std::make_shared<DiaOperator<T, S>>(ctx, a);
    case Format::sell: return std::make_shared<SellOperator<T, S>>(ctx, a);
    case Format::csell: return std::make_shared<CsellOperator<T, S>>(ctx, a);
    case Format::bsell: return std::make_shared<BsellOperator<T, S>>(ctx, a, BsellTuning{block});
    case Format::dasp: return std::make_shared<DaspOperator<T, S>>(ctx, a);
    case Format::spaden: return std::make_shared<SpadenOperator<T, S>>(ctx, a);
  }
  return std::make_shared<CsrOperator<T, S>>(ctx, a);
}

OperatorPtr<double> first_possible(Context& ctx, Plan plan,
                                   std::function<OperatorPtr<double>(Format)> make,
                                   std::function<Plan()> all) {
  std::vector<Format> refused;
  auto const usable = [&](Candidate const& c) {
    return c.excluded.empty() && std::ranges::find(refused, c.format) == refused.end();
  };
  for (;;) {
    Format const format = std::ranges::find_if(plan.candidates, usable)->format;
    auto const pass_over = [&](Error const& e) {
      refused.push_back(format);
      plan = all();
      if (std::ranges::none_of(plan.candidates, usable)) throw;  // what make() threw
      ctx.log(Severity::note, cat("format: not ", name(format), ": ", e.what()));
    };
    try {
      auto const A = make(format);
      ctx.log(Severity::note, cat("format: ", name(format), " for ", plan.request.applies,
                                  " products (", plan.device, ")"));
      return A;
    } catch (MatrixError const& e) { pass_over(e); } catch (MemoryError const& e) {
      pass_over(e);
    }
  }
}

template <class T>
double product_microseconds(Context& ctx, LinearOperator<T> const& A, double seconds) {
  using Clock = std::chrono::steady_clock;
  auto const since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  Vector<T> x(ctx.space(), A.cols()), y(ctx.space(), A.rows());
  fill<T>(ctx, x, T(1));
  auto const run = [&](int calls) {
    ctx.synchronize();
    auto const start = Clock::now();
    for (int i = 0; i < calls; ++i) A.apply(ctx, x.view(), y.view());
    ctx.synchronize();
    return since(start) / calls;
  };
  run(1);
  int const calls = std::clamp(static_cast<int>(1e-3 / std::max(run(1), 1e-6)), 1, 1000);
  std::vector<double> times;
  for (auto const start = Clock::now();
       times.size() < 5 || (times.size() < 50 && since(start) < seconds);)
    times.push_back(1e6 * run(calls));
  std::nth_element(times.begin(), times.begin() + std::ptrdiff_t(times.size() / 2), times.end());
  return times[times.size() / 2];
}

template <class T>
Tuned<T> autotune(Context& ctx, Plan const& plan, double budget,
                  std::function<OperatorPtr<T>(Format)> const& make, int most) {
  auto const start = std::chrono::steady_clock::now();
  auto const spent = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  Tuned<T> tuned;
  std::exception_ptr refusal;
  int made = 0;
  double least = std::numeric_limits<double>::infinity();
  for (Candidate const& c : plan.candidates) {
    if (!c.excluded.empty() || made == most) break;
    if (tuned.best && spent() > budget) break;
    double us = std::numeric_limits<double>::quiet_NaN();
    try {
      OperatorPtr<T> const A = make(c.format);
      ++made;
      us = product_microseconds(ctx, *A, budget / (2 * most));
      // What the step has besides the product counts as predicted.
      double const step = us + c.step - c.product;
      if (step < least) least = step, tuned.best = A, tuned.taken = c.format;
    } catch (MatrixError const&) {
      refusal = std::current_exception();
    } catch (MemoryError const&) { refusal = std::current_exception(); }
    tuned.tried.emplace_back(c.format, us);
  }
  if (!tuned.best) std::rethrow_exception(refusal);
  tuned.seconds = spent();
  return tuned;
}

template <class T>
std::string text(Tuned<T> const& tuned) {
  char part[80];
  std::snprintf(part, sizeof part, "%s; measured in %.2g s:", name(tuned.taken), tuned.seconds);
  std::string text = part;
  for (auto const& [format, us] : tuned.tried) {
    std::snprintf(part, sizeof part, "%s %s %.4g us",
                  format == tuned.tried.front().first ? "" : ",", name(format), us);
    text += part;
  }
  return text;
}

template double product_microseconds(Context&, LinearOperator<double> const&, double);
template double product_microseconds(Context&, LinearOperator<float> const&, double);
template std::string text(Tuned<double> const&);
template std::string text(Tuned<float> const&);
template Tuned<double> autotune(Context&, Plan const&, double,
                                std::function<OperatorPtr<double>(Format)> const&, int);
template Tuned<float> autotune(Context&, Plan const&, double,
                               std::function<OperatorPtr<float>(Format)> const&, int);

#define TCSOLVE_INSTANTIATE(T, S)                                                              \
  template std::shared_ptr<LinearOperator<T>> make_operator<T, S>(Context&, CsrView<S> const&, \
                                                                  Format, Index);
TCSOLVE_INSTANTIATE(double, double)
TCSOLVE_INSTANTIATE(double, float)
TCSOLVE_INSTANTIATE(double, half)
TCSOLVE_INSTANTIATE(double, bfloat16)
TCSOLVE_INSTANTIATE(float, float)
TCSOLVE_INSTANTIATE(float, half)
TCSOLVE_INSTANTIATE(float, bfloat16)

}  // namespace tcsolve
