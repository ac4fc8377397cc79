// SPDX-License-Identifier: Apache-2.0
/// `operator: {format: auto}`: what is made of a plan, now, in mid-solve or by the clock.
#include <tcsolve/formats/choose/planner.hpp>
#include <tcsolve/formats/choose/sparse_rates.hpp>
#include <tcsolve/formats/register.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/matrix/transfer.hpp>
#include <tcsolve/operators/function_operator.hpp>
#include <tcsolve/solvers/lsmr/lsmr.hpp>

#include <algorithm>
#include <chrono>
#include <thread>

#include "tests/support/backend.hpp"
#include "tests/support/files.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

class AutoOperator : public ::testing::Test {
 protected:
  AutoOperator() {
    register_operators(registry_);
    catalog_.add(registry_);
  }
  std::unique_ptr<OperatorFactory> factory(std::string const& keys = "",
                                           std::string const& format = "auto") {
    Diagnostics problems;
    ConfigNode const node = parse_yaml("{format: " + format + keys + "}", "test");
    auto made = registry_.make(node, problems, catalog_);
    problems.throw_if_any();
    return made;
  }
  /// The key of a file that holds the table.
  std::string calibrated(CostTable const& table) {
    return ", calibration: " + write_text(folder_ / "table.yaml", dump_yaml(table)).string();
  }
  TemporaryFolder folder_;
  Context ctx_{Backend::host};
  OperatorRegistry registry_{"operator", "format"};
  Catalog catalog_;
};

TEST_F(AutoOperator, MultipliesAsCsrDoes) {
  for (auto const& [name, a] : adversarial()) {
    SCOPED_TRACE(name);
    auto const A = factory()->build(ctx_, a, {.applies = 1e6});
    auto const x = random_values(std::size_t(a.cols), 5);
    std::vector<double> y(a.rows);
    A->apply(ctx_, vector_view<double const>(x.data(), a.cols), vector_view(y.data(), a.rows));
    for (Index i = 0; i < a.rows; ++i) {
      long double sum = 0, size = 0;
      for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
        long double const p = static_cast<long double>(a.values[k]) * x[a.columns[k]];
        sum += p, size += std::abs(p);
      }
      EXPECT_NEAR(y[i], double(sum), double(size) * 1e-13) << i;
    }
  }
}

TEST_F(AutoOperator, TakesCsrWhereTheTransposeIsNeeded) {
  Csr<double> const a = generate(Poisson27Params{.n = 12});
  auto const A = factory(", expected_applies: 1.0e6")->build(ctx_, a, {.transpose = true});
  EXPECT_EQ(A->name(), "csr");
  EXPECT_TRUE(A->traits().transpose);
  EXPECT_TRUE(Lsmr<double>().cost().transpose);
}

TEST_F(AutoOperator, ObeysACalibrationFile) {
  // A device on which one format costs little, and another has not been measured.
  CostTable table;
  table.device = "a made-up one";
  Csr<double> const a = generate(Poisson7Params{.n = 6});
  Features const f = features(ctx_, a.view());
  std::vector<std::string> possible;
  for (Format const& format : formats())
    if (why_not(format, f, {}).empty()) possible.push_back(format.name);
  ASSERT_GT(possible.size(), 3u);
  std::string const unmeasured = possible.back(), best = possible[possible.size() - 2];
  for (std::string const& format : possible)
    if (format != unmeasured) table.rates(format, Real::f64).product.latency = 1;
  table.rates(best, Real::f64).product.latency = 0.1;
  EXPECT_EQ(factory(calibrated(table))->build(ctx_, a)->name(), best);
  Plan const plan = make_plan(f, {}, table);
  EXPECT_EQ(plan.of(formats().at(unmeasured)).excluded,
            cat("no rates for ", unmeasured, " in this table; run tcsolve calibrate"));
}

/// Products of sparse vectors go by the same table, also where the format is named.
TEST_F(AutoOperator, HandsRatesOfSparseProductsToTheOperator) {
  Csr<double> const a = generate(Poisson7Params{.n = 8});
  std::vector<double> const one{1.0};
  std::vector<Index> const first{0};
  auto const x = SparseVector<double>::from_entries(ctx_, a.cols, first, one);
  auto const way = [&](OperatorPtr<double> const& A) {
    SparseVector<double> y(ctx_, a.rows);
    return multiply_sparse<double>(ctx_, *A, {}, x, y).way;
  };
  CostTable table;
  for (bool const by_rows : {true, false}) {
    table.by_format["csr"].sparse.columns = by_rows ? 1e6 : 0;
    SpmspvWay const wanted = by_rows ? SpmspvWay::rows : SpmspvWay::columns;
    table.rates("csr", Real::f64).product.latency = 1;
    EXPECT_EQ(way(factory(calibrated(table))->build(ctx_, a)), wanted);
    EXPECT_EQ(way(factory("", "csr")->build(ctx_, a, {.rates = &table})), wanted);
  }
  EXPECT_EQ(way(factory("", "csr")->build(ctx_, a)),
            choose_way(CostTable::shipped(ctx_).of("csr").sparse,
                       counts_of(a.view(), tiles_below(ctx_, a.view()).view, x, true)));
}

/// The quickest dense product by a table, which sparse products of csr may take then.
TEST_F(AutoOperator, DenseProductsByPlan) {
  Csr<double> const a = generate(Poisson7Params{.n = 8});
  std::vector<double> const values{1.0, 2.0};
  std::vector<Index> const indices{0, 300};
  auto const x = SparseVector<double>::from_entries(ctx_, a.cols, indices, values);
  CostTable table;
  Features const f = features(ctx_, a.view());
  for (Format const& taken : formats()) {
    if (!why_not(taken, f, {}).empty()) continue;
    std::string const best = taken.name;
    for (Format const& format : formats())
      table.rates(format.name, Real::f64).product.latency = &format == &taken ? 2 : 3;
    for (double const besides : {1.0, 100.0}) {
      RatesByType& csr = table.by_format["csr"];
      csr.sparse.rows = csr.sparse.columns = 20, csr.sparse.given = besides;
      CsrOperator<double> A(ctx_, a.view());
      dense_by_plan(ctx_, A, &table);
      ASSERT_NE(A.dense().A, nullptr);
      EXPECT_EQ(A.dense().A->name(), best);
      EXPECT_DOUBLE_EQ(A.dense().us, 2);
      SparseVector<double> y(ctx_, a.rows), by_rows(ctx_, a.rows);
      EXPECT_EQ(A.multiply_sparse(ctx_, {}, x, y).way == SpmspvWay::dense, besides == 1);
      A.multiply_sparse(ctx_, {.way = SpmspvWay::rows}, x, by_rows);
      EXPECT_EQ(y.to_entries(ctx_), by_rows.to_entries(ctx_));
    }
  }
}

TEST_F(AutoOperator, TimingNeedsLeaveToDiffer) {
  Csr<double> const a = generate(Poisson7Params{.n = 6});
  auto const tuned = factory(", autotune: measure, budget: 0.05");
  std::string const says = message_of<Unsupported>([&] { tuned->build(ctx_, a); });
  EXPECT_NE(says.find("deterministic: false"), std::string::npos) << says;
  Context free(Backend::host, {.deterministic = false});
  EXPECT_NO_THROW(tuned->build(free, a));
}

TEST_F(AutoOperator, ConvertingInMidSolveNeedsLeaveToDiffer) {
  Csr<double> const a = generate(Poisson7Params{.n = 6});
  auto const lazy = factory(", conversion: lazy");
  std::string const says = message_of<Unsupported>([&] { lazy->build(ctx_, a); });
  EXPECT_NE(says.find("deterministic: false"), std::string::npos) << says;
  EXPECT_THROW(factory(", conversion: lazy, autotune: measure"), Unsupported);
}

/// The note names the format and after how many products; csr stays where nothing is faster.
TEST_F(AutoOperator, LazyStartsAsCsr) {
  struct : Observer {
    void on(LogEvent const& e) override {
      if (e.severity == Severity::note) text = e.text;
    }
    std::string text;
  } log;
  Context free(Backend::host, {.deterministic = false}, &log);
  Csr<double> const a = generate(Poisson7Params{.n = 6});
  CostTable table;
  table.device = "a made-up one";
  Features const f = features(ctx_, a.view());
  std::string best;
  for (Format const& format : formats()) {
    for (Real const values : {Real::f64, Real::f32})
      table.rates(format.name, values).product.latency = 10;
    if (format.converted && why_not(format, f, {}).empty()) best = format.name;
  }
  for (Real const values : {Real::f64, Real::f32}) {
    table.rates(best, values).product.latency = 7;
    table.rates(best, values).convert = 100;
  }
  for (std::string const values : {"fp64", "fp32"}) {
    auto const A =
        factory(", conversion: lazy, values: " + values + calibrated(table))->build(free, a);
    EXPECT_EQ(A->name(), "csr");
    EXPECT_EQ(log.text, cat("format: csr, ", best,
                            " when it will have paid: after 34 products (a made-up one)"));
    std::vector<double> const x(a.cols, 1.0);
    std::vector<double> y(a.rows);
    auto const apply = [&] {
      A->apply(free, vector_view<double const>(x.data(), a.cols), vector_view(y.data(), a.rows));
    };
    for (int i = 0; i < 33; ++i) apply();
    EXPECT_EQ(A->advance(free, 0), 1) << "one product is left";
    for (int i = 0; i < 10000 && A->name() == "csr"; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      apply();
    }
    EXPECT_EQ(A->name(), best);
  }
  table.rates("csr", Real::f64).product.latency = 5;
  auto const A = factory(", conversion: lazy" + calibrated(table))->build(free, a);
  EXPECT_EQ(log.text, "format: csr for any number of products (a made-up one)");
  EXPECT_TRUE(std::isinf(A->advance(free, 1e9)));
}

TEST_F(AutoOperator, ScalesValuesBeyondTheRangeWhateverTheFormat) {
  Csr<double> a = generate(Poisson7Params{.n = 6});
  for (double& v : a.values) v *= 1e9;  // beyond fp16 as it stands; a power of two brings it back
  for (Format const& taken : formats()) {
    CostTable table;
    for (Format const& format : formats())
      table.rates(format.name, Real::f16).product.latency = &format == &taken ? 1 : 1000;
    auto const A = factory(", values: fp16" + calibrated(table))->build(ctx_, a);
    EXPECT_EQ(A->traits().precision.storage, Real::f16);
    EXPECT_NEAR(A->norm_estimate() / 12e9, 1, 1e-3);
  }
  EXPECT_THROW(factory(", values: fp16, scale: refuse")->build(ctx_, a), MatrixError);
}

TEST_F(AutoOperator, StoresBf16InEveryFormat) {
  Csr<double> const a = generate(ElasticityParams{.n = 6});
  for (Format const& format : formats()) {
    SCOPED_TRACE(format.name);
    auto const A = factory(", values: bf16", format.name)->build(ctx_, a);
    EXPECT_EQ(A->traits().precision.storage, Real::bf16);
    EXPECT_EQ(A->traits().precision.multiply, Real::f64);
  }
  EXPECT_EQ(factory(", values: bf16")->build(ctx_, a)->traits().precision.storage, Real::bf16);
  EXPECT_FALSE(factory(", values: bf16")->exact());
}

TEST(Autotune, KeepsTheFastestOfThoseItTried) {
  Context ctx(Backend::host, {.deterministic = false});
  Csr<double> const a = generate(Poisson27Params{.n = 12});
  Plan const plan = make_plan(features(ctx, a.view()), {}, CostTable::h200());
  std::vector<Format const*> made;
  auto const tuned = autotune<double>(ctx, plan, 0.2, [&](Format const& format) {
    made.push_back(&format);
    return make_operator<double>(ctx, a.view(), format);
  });
  ASSERT_EQ(tuned.tried.size(), made.size());
  EXPECT_EQ(made.front(), &plan.taken());
  EXPECT_LE(made.size(), 3u);
  EXPECT_EQ(tuned.best->name(), tuned.taken->name);
  double least = INFINITY;
  // Where the times scatter, nothing is said by them.
  Format const* fastest = made.front();
  bool const calm = tuned.spread <= Timing::too_much;
  for (auto const& [format, us] : tuned.tried) {
    Candidate const& c = plan.of(*format);
    double const step = us + c.step - c.product;
    if (calm && step < least) fastest = format;
    least = std::min(least, step);
  }
  EXPECT_EQ(tuned.taken, fastest);
}

/// Every other product takes ten times as long.
TEST(Autotune, TimesThatScatterDecideNothing) {
  Context ctx(Backend::host, {.deterministic = false});
  Csr<double> const a = generate(Poisson7Params{.n = 6});
  Plan const plan = make_plan(features(ctx, a.view()), {}, CostTable::h200());
  auto const tuned = autotune<double>(ctx, plan, 3, [&](Format const& format) {
    auto const A = make_operator<double>(ctx, a.view(), format);
    auto calls = std::make_shared<int>(0);
    // The first of the plan is the slowest by far, and would lose.
    double const ms = &format == &plan.taken() ? 2 : 1;
    return std::make_shared<FunctionOperator<double>>(
        a.rows, a.cols, [A, calls, ms](Context& c, In<double> x, Out<double> y) {
          double const factor = ++*calls % 2 == 0 ? 10 : 1;
          std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(ms * factor));
          A->apply(c, x, y);
        });
  });
  EXPECT_GT(tuned.spread, Timing::too_much);
  EXPECT_EQ(tuned.taken, &plan.taken());
  EXPECT_NE(text(tuned).find("scatter"), std::string::npos) << text(tuned);
}

TEST(Autotune, EndsWithTheBudgetAndSaysWhenNothingFits) {
  Context ctx(Backend::host, {.deterministic = false});
  Csr<double> const a = generate(Poisson7Params{.n = 6});
  Plan const plan = make_plan(features(ctx, a.view()), {}, CostTable::h200());
  int calls = 0;
  auto const one = autotune<double>(ctx, plan, 1e-9, [&](Format const& format) {
    ++calls;
    return make_operator<double>(ctx, a.view(), format);
  });
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(one.taken, &plan.taken());
  auto const refuse = [](Format const&) -> OperatorPtr<double> { throw MatrixError("too large"); };
  EXPECT_THROW(autotune<double>(ctx, plan, 1, refuse), MatrixError);
}

}  // namespace
}  // namespace tcsolve::test
