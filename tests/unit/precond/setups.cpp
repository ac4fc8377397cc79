// SPDX-License-Identifier: Apache-2.0
/// What every set-up owes to those who wait for it: it ends when it is asked to, keeps its
/// deadline, is bounded for full rows, and makes once what memory() has made.
#include <algorithm>
#include <tcsolve/configs/schema/yaml.hpp>
#include <tcsolve/core/left_behind.hpp>
#include <tcsolve/factors/factor_plan.hpp>
#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/io/generate/generators.hpp>

#include <gmock/gmock.h>
#include <pthread.h>

#include <ctime>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <thread>

#include "tests/support/backend.hpp"
#include "tests/support/heap.hpp"
#include "tests/support/matrices.hpp"
#include "tests/support/preconditioners.hpp"

namespace tcsolve::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Clock = std::chrono::steady_clock;

std::shared_ptr<PreconditionerFactory const> factory_of(std::string const& block) {
  Diagnostics problems;
  auto factory = tested_registries().preconditioners.make(parse_yaml(block, "test"), problems,
                                                          tested_registries().catalog);
  problems.throw_if_any();
  return factory;
}

std::multimap<std::string, std::string> const variants = {
    {"ilu", "level: 2"},
    {"ilu", "drop_tolerance: 0.001"},
    {"ilu", "block: 0, order: amd"},
    {"ilu", "triangular: isai"},
    {"ilu", "matching: on, order: metis"},
    {"ic", "level: 2, order: rcm"},
    {"ic", "drop_tolerance: 0.001"},
    {"fsai", "power: 2"},
    {"fsai", "steps: 5"},
    {"spai", "level: 0"},
    {"schwarz", "size: 150, overlap: 0"},
    {"schwarz", "size: 20, overlap: 2"},
    {"direct", "factorisation: lu"},
    {"chebyshev", "preconditioner: {type: fsai}"}};

std::vector<std::string> blocks() {
  std::vector<std::string> all;
  for (std::string const& name : tested_registries().preconditioners.names()) {
    all.push_back(name == "solver" ? "{type: solver, solver: {type: gmres}}"
                                   : "{type: " + name + "}");
    auto const [begin, end] = variants.equal_range(name);
    for (auto at = begin; at != end; ++at)
      all.push_back("{type: " + name + ", " + at->second + "}");
  }
  return all;
}

double seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}
/// Of this thread's work: what other threads and processes do does not count.
double worked() { return seconds(CLOCK_THREAD_CPUTIME_ID); }

/// How much longer than a release build on a machine of today a pass takes here; at least 1.
double slowness() {
  static double const factor = [] {
    Csr<double> const a = generate(Poisson27Params{.n = 20});
    double const start = worked();
    for (int k = 0; k < 4; ++k) transpose(a.view());
    return std::max(1.0, (worked() - start) / 8e-3);
  }();
  return factor;
}

/// A bound on work, for this machine and build. A sanitizer takes most of the time, unevenly: there
/// it is tested that a set-up ends, not when.
double at_most(double seconds) {
  if (sanitized()) return std::numeric_limits<double>::infinity();
  return seconds * slowness();
}

/// late(), again where it is above `bound`: a loaded machine takes longer for the same work now and
/// then, a set-up that does not ask takes longer each time.
template <class F>
double least_of_three(double bound, F const& late) {
  double least = late();
  for (int again = 0; again < 2 && least > bound; ++again) least = std::min(least, late());
  return least;
}

/// The longest stretch of work between two checks.
class Gaps final : public CheckListener {
 public:
  explicit Gaps(Context& ctx) : ctx_(ctx), last_(worked()) { ctx.listen_to_checks(this); }
  ~Gaps() override { ctx_.listen_to_checks(nullptr); }
  void on_check() noexcept override {
    double const now = worked();
    longest_ = std::max(longest_, now - last_);
    last_ = now;
    ++count_;
  }
  double longest() {
    on_check();
    return longest_;
  }
  int count() const { return count_; }

 private:
  Context& ctx_;
  double last_, longest_ = 0;
  int count_ = 0;
};

struct Problem {
  std::string name;
  Csr<double> matrix;
  bool definite;
};

/// Tridiagonal with a full last row and column, positive definite.
Csr<double> arrow(Index n) {
  Csr<double> a;
  a.rows = a.cols = n;
  for (Index i = 0; i < n; ++i) {
    auto const add = [&](Index j, double v) {
      a.columns.push_back(j);
      a.values.push_back(v);
    };
    if (i + 1 < n) {
      if (i > 0) add(i - 1, -1);
      add(i, 4);
      if (i + 2 < n) add(i + 1, -1);
      add(n - 1, 1e-3);
    } else {
      for (Index j = 0; j + 1 < n; ++j) add(j, 1e-3);
      add(i, 4);
    }
    a.offsets.push_back(a.entries());
  }
  return a;
}

std::vector<Problem> const& problems() {
  static std::vector<Problem> const all = {
      {"poisson27", generate(Poisson27Params{.n = 16}), true},
      {"convdiff", generate(ConvdiffParams{.n = 26}), false},
      {"arrow", arrow(1000), true}};  // A^T A is full: a million entries
  return all;
}

/// Set-ups that take a while, quickly enough to be made twice.
std::vector<Problem> const& small_problems() {
  static std::vector<Problem> const all = {{"poisson27", generate(Poisson27Params{.n = 13}), true},
                                           {"arrow", arrow(2000), true}};  // A^T A is full
  return all;
}

/// f(factory, system) for every preconditioner and every problem that it takes.
template <class F>
void each_setup(Context& ctx, std::vector<Problem> const& problems, F const& f) {
  for (Problem const& p : problems) {
    auto const A = std::make_shared<CsrOperator<double>>(ctx, Csr<double>(p.matrix));
    for (std::string const& block : blocks()) {
      SCOPED_TRACE(p.name + ", " + block);
      auto const factory = factory_of(block);
      if (factory->needs_definite() && !p.definite) continue;
      f(*factory, System{A->view(), A});
    }
  }
}

/// What an admitted matrix does not fit into, or a method does not admit, ends as well.
template <class F>
void ends(F const& f) {
  try {
    f();
  } catch (SetupError const&) {
  } catch (MemoryError const&) {}
}

TEST(Setups, AskAtLeastEvery50Milliseconds) {
  if (sanitized()) GTEST_SKIP() << "a sanitizer takes most of the time that is measured";
  Context ctx(Backend::host, {.threads = 1});
  each_setup(ctx, problems(), [&](PreconditionerFactory const& factory, System const& system) {
    // The work of a thread takes longer where others fill the cache: the least of some tries
    // counts.
    double longest = 1;
    int checks = 0;
    for (int attempt = 0; attempt < 4 && longest > 0.05 * slowness(); ++attempt) {
      Gaps gaps(ctx);
      ends([&] { factory.memory(ctx, system); });
      ends([&] { factory.build(ctx, system); });
      longest = std::min(longest, gaps.longest());
      checks = gaps.count();
    }
    EXPECT_LE(longest, 0.05 * slowness()) << checks << " checks";
  });
}

/// The work of this thread after `moment`, while f runs.
template <class F>
double work_after(Clock::time_point moment, std::function<void()> const& then, F const& f) {
  clockid_t clock{};
  pthread_getcpuclockid(pthread_self(), &clock);
  double at_moment = 0;
  std::thread watch([&] {
    std::this_thread::sleep_until(moment);
    at_moment = seconds(clock);
    then();
  });
  f();
  double const end = worked();
  watch.join();  // where f was quicker, the moment lies behind it
  return end - at_moment;
}

TEST(Setups, EndWhenTheyAreCancelled) {
  Context ctx(Backend::host, {.threads = 1});
  int ended = 0;
  std::vector<double> const parts = {0.1, 0.5, 0.3, 0.8};
  std::size_t tried = 0;
  each_setup(ctx, small_problems(),
             [&](PreconditionerFactory const& factory, System const& system) {
               auto const start = Clock::now();
               ends([&] { factory.build(ctx, system); });
               auto const whole = Clock::now() - start;
               if (whole < std::chrono::milliseconds(20)) return;
               {
                 double const part = parts[tried++ % parts.size()];
                 double const late = least_of_three(at_most(0.1), [&] {
                   auto const moment =
                       Clock::now() + std::chrono::duration_cast<Clock::duration>(part * whole);
                   double const once = work_after(
                       moment, [&] { ctx.cancel(); },
                       [&] {
                         try {
                           ends([&] { factory.build(ctx, system); });
                         } catch (Cancelled const&) { ++ended; }
                       });
                   ctx.clear_cancel();
                   return once;
                 });
                 EXPECT_LE(late, at_most(0.1)) << "at " << part;
               }
             });
  EXPECT_GT(ended, 5);
}

TEST(Setups, KeepTheirDeadline) {
  Context ctx(Backend::host, {.threads = 1});
  int ended = 0;
  each_setup(ctx, small_problems(),
             [&](PreconditionerFactory const& factory, System const& system) {
               auto const start = Clock::now();
               ends([&] { factory.build(ctx, system); });
               auto const whole = Clock::now() - start;
               if (whole < std::chrono::milliseconds(20)) return;
               double const late = least_of_three(at_most(0.1), [&] {
                 auto const moment = Clock::now() + whole / 2;
                 return work_after(
                     moment, [] {},
                     [&] {
                       try {
                         ctx.setting_up(moment, [&] { ends([&] { factory.build(ctx, system); }); });
                       } catch (OutOfTime const&) { ++ended; }
                     });
               });
               EXPECT_LE(late, at_most(0.1));
             });
  EXPECT_GT(ended, 5);
}

TEST(Setups, WhatIsLeftBehindEnds) {
  Context ctx(Backend::host);
  auto const A = std::make_shared<CsrOperator<double>>(ctx, generate(Poisson27Params{.n = 14}));
  std::atomic<bool> raised{false};
  CancelFlag const cancel(raised);
  std::atomic<int> ends{0};
  EXPECT_THROW(leaving_behind(cancel,
                              [&raised, &ends] {
                                raised = true;
                                std::this_thread::sleep_for(std::chrono::milliseconds(100));
                                return ++ends;
                              }),
               Cancelled);
  EXPECT_EQ(ends, 0);
  EXPECT_GE(left_behind(), 1);
  auto const until = Clock::now() + std::chrono::seconds(60);
  while (left_behind() > 0 && Clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(left_behind(), 0);
  EXPECT_EQ(ends, 1);
  EXPECT_EQ(leaving_behind(CancelFlag(ctx.cancel_flag()), [] { return 7; }), 7);
  EXPECT_THROW(leaving_behind(ctx.cancel_flag(), []() -> int { throw MatrixError("its own"); }),
               MatrixError);
}

/// A full row costs no cube of its length: G and the parts' inverses are bounded.
TEST(Setups, AreBoundedForFullRows) {
  Context ctx(Backend::host);
  for (Index const n : {2000, 30000}) {
    auto const A = std::make_shared<CsrOperator<double>>(ctx, arrow(n));
    for (char const* block : {"{type: fsai}", "{type: fsai, power: 3}", "{type: fsai, steps: 4}",
                              "{type: schwarz}", "{type: schwarz, overlap: 3}", "{type: spai}"}) {
      SCOPED_TRACE(cat(n, " rows, ", block));
      auto const factory = factory_of(block);
      double const start = seconds(CLOCK_PROCESS_CPUTIME_ID);
      auto const M = factory->build(ctx, {A->view(), A})->view();
      EXPECT_LE(seconds(CLOCK_PROCESS_CPUTIME_ID) - start, at_most(1 + 1e-4 * n));
      // M is near A^-1: A M e is nearer to e than nothing.
      std::vector<double> e(static_cast<std::size_t>(n), 1.0), z(e.size()), y(e.size());
      M->apply(ctx, vector_view(std::as_const(e).data(), n), vector_view(z.data(), n));
      A->apply(ctx, vector_view(std::as_const(z).data(), n), vector_view(y.data(), n));
      double square = 0;
      for (double const v : y) square += (v - 1) * (v - 1);
      EXPECT_LT(std::sqrt(square), 0.8 * std::sqrt(n));
    }
  }
}

/// The bound of a row is kept, and the strongest entries stay.
TEST(Setups, TheStrongestEntriesOfAFullRowStay) {
  Context ctx(Backend::host);
  Csr<double> a = arrow(100);
  a.values[a.offsets[99] + 40] = 0.5;
  a.values[a.offsets[41] - 1] = 0.5;  // a_40,99
  auto const A = std::make_shared<CsrOperator<double>>(ctx, Csr<double>(a));
  auto const G = [&](Index most) {
    auto const M =
        factory_of(cat("{type: fsai, most: ", most, "}"))->build(ctx, {A->view(), A})->view();
    std::vector<double> e(100, 0.0), y(100);
    e[40] = 1;
    M->apply(ctx, vector_view(std::as_const(e).data(), 100), vector_view(y.data(), 100));
    return y[99];
  };
  EXPECT_NE(G(5), 0);
  EXPECT_NEAR(G(5), G(100), 0.25 * std::abs(G(100)));
}

TEST(Setups, TakeOverWhatMemoryFound) {
  Context ctx(Backend::host);
  Csr<double> const a = generate(Poisson27Params{.n = 8});
  auto const A = std::make_shared<CsrOperator<double>>(ctx, Csr<double>(a));
  for (char const* block :
       {"{type: ilu, level: 1, order: amd}", "{type: ic, drop_tolerance: 0.01}",
        "{type: ilu, drop_tolerance: 0.01, complete_below: 50}", "{type: direct}",
        "{type: direct, factorisation: lu}", "{type: normal_ic}", "{type: schwarz, size: 20}"}) {
    SCOPED_TRACE(block);
    auto const factory = factory_of(block);
    System const alone{A->view(), A};
    System noted = alone;
    noted.notes = std::make_shared<SetupNotes>();
    factory->least_seconds(ctx, noted);
    MemoryNeed const need = factory->memory(ctx, noted);
    EXPECT_EQ(need.held(), factory->memory(ctx, alone).held());
    bool const factors = std::string(block).find("schwarz") == std::string::npos;
    if (factors) EXPECT_NE(noted.notes->look<FactorPlan>(factory->id()), nullptr);
    auto const M = factory->build(ctx, alone)->view(), N = factory->build(ctx, noted)->view();
    EXPECT_EQ(noted.notes->look<FactorPlan>(factory->id()), nullptr) << "taken, once";
    EXPECT_EQ(M->details(), N->details());
    std::vector<double> r(static_cast<std::size_t>(a.rows)), y(r.size()), z(r.size());
    for (std::size_t i = 0; i < r.size(); ++i) r[i] = std::sin(static_cast<double>(i));
    M->apply(ctx, vector_view(std::as_const(r).data(), a.rows), vector_view(y.data(), a.rows));
    N->apply(ctx, vector_view(std::as_const(r).data(), a.rows), vector_view(z.data(), a.rows));
    EXPECT_EQ(y, z);
  }
}

TEST(Setups, AreNotBegunWhereTheyTakeTooLong) {
  Context ctx(Backend::host, {.threads = 1});
  auto const A = std::make_shared<CsrOperator<double>>(ctx, generate(Poisson27Params{.n = 24}));
  System const system{A->view(), A};
  for (char const* block : {"{type: direct}", "{type: spai}", "{type: fsai}", "{type: schwarz}"}) {
    SCOPED_TRACE(block);
    auto const factory = factory_of(block);
    double const least = factory->least_seconds(ctx, system);
    ASSERT_GT(least, 0);
    auto const start = Clock::now();
    auto const M = factory->build(ctx, system);
    EXPECT_LE(least, std::chrono::duration<double>(Clock::now() - start).count());
    EXPECT_THROW(ctx.setting_up(Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                   std::chrono::duration<double>(least / 2)),
                                [&] { build_within_memory(ctx, *factory, system, "it"); }),
                 OutOfTime);
  }
}

/// Crashed for every narrower type.
TEST(Factors, InPartsAreStoredInEveryType) {
  Context ctx(Backend::host);
  Csr<double> const a = generate(Poisson7Params{.n = 8});
  auto const A = std::make_shared<CsrOperator<double>>(ctx, Csr<double>(a));
  std::vector<double> r(static_cast<std::size_t>(a.rows), 1.0);
  for (char const* type : {"ilu", "ic", "normal_ic"})
    for (char const* solves : {"auto", "exact", "isai", "sweeps", "parts", "host"}) {
      std::optional<std::vector<double>> exact;
      for (auto const& [values, error] :
           {std::pair{"fp64", 0.0}, std::pair{"fp32", 1e-5}, std::pair{"fp16", 2e-2}}) {
        std::string const block =
            cat("{type: ", type, ", triangular: ", solves, ", values: ", values, "}");
        SCOPED_TRACE(block);
        auto const factory = factory_of(block);
        auto const M = factory->build(ctx, {A->view(), A});
        std::vector<double> y(r.size());
        auto const apply = [&] {
          M->view()->apply(ctx, vector_view(std::as_const(r).data(), a.rows),
                           vector_view(y.data(), a.rows));
        };
        apply();
        if (!exact) exact = y;
        double largest = 0, difference = 0;
        for (std::size_t i = 0; i < y.size(); ++i) {
          largest = std::max(largest, std::abs((*exact)[i]));
          difference = std::max(difference, std::abs(y[i] - (*exact)[i]));
        }
        EXPECT_LE(difference, error * largest);
        M->update(ctx, {A->view(), A});  // factors by size are now on their pattern
        apply();
        std::vector<double> const first = y;
        M->update(ctx, {A->view(), A});
        apply();
        EXPECT_EQ(y, first) << "with the same values again";
      }
    }
}

TEST(Factors, ConvertedRefusesArraysThatDoNotFit) {
  Csr<double> values_alone;
  values_alone.values = {1, 2};
  EXPECT_THROW(converted<float>(values_alone), ShapeError);
  Csr<double> short_of_columns = generate(Poisson7Params{.n = 2});
  short_of_columns.columns.pop_back();
  EXPECT_THROW(converted<half>(short_of_columns), ShapeError);
}

/// A times a power of two gives M times its inverse, bit for bit, where squares of A's entries are
/// beyond the range of a double.
TEST(Spai, ScaleDoesNotMatter) {
  Context ctx(Backend::host);
  Csr<double> const a = generate(ConvdiffParams{.n = 6});
  auto const applied = [&](double scale) {
    Csr<double> b = a;
    for (double& v : b.values) v *= scale;
    auto const A = std::make_shared<CsrOperator<double>>(ctx, std::move(b));
    auto const M = factory_of("{type: spai}")->build(ctx, {A->view(), A})->view();
    std::vector<double> r(static_cast<std::size_t>(a.rows), 1.0), y(r.size());
    M->apply(ctx, vector_view(std::as_const(r).data(), a.rows), vector_view(y.data(), a.rows));
    for (double& v : y) v *= scale;
    return y;
  };
  std::vector<double> const plain = applied(1);
  for (int const e : {-900, -600, 600, 900}) EXPECT_EQ(applied(std::ldexp(1.0, e)), plain) << e;
}

/// What one bad step of a time series asked for does not stay.
TEST(Ic, TheShiftFallsAgain) {
  Context ctx(Backend::host);
  Csr<double> const good = generate(Poisson27Params{.n = 6});
  Csr<double> bad = good;
  for (Index i = 0; i < bad.rows; ++i)
    for (Offset k = bad.offsets[i]; k < bad.offsets[i + 1]; ++k)
      if (bad.columns[k] == i) bad.values[k] *= 0.55;
  for (char const* block : {"{type: ic}", "{type: ic, drop_tolerance: 0.05}"}) {
    SCOPED_TRACE(block);
    auto const factory = factory_of(block);
    auto A = std::make_shared<CsrOperator<double>>(ctx, Csr<double>(good));
    auto const M = factory->build(ctx, {A->view(), A});
    EXPECT_THAT(M->view()->details(), Not(HasSubstr("shifted")));
    auto B = std::make_shared<CsrOperator<double>>(ctx, Csr<double>(bad));
    M->update(ctx, {B->view(), B});
    EXPECT_THAT(M->view()->details(), HasSubstr("shifted"));
    for (int step = 0; step < 8; ++step) M->update(ctx, {A->view(), A});
    EXPECT_THAT(M->view()->details(), Not(HasSubstr("shifted")));
  }
}

}  // namespace
}  // namespace tcsolve::test
