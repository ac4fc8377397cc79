// SPDX-License-Identifier: Apache-2.0
/// What one line in register_formats() brings: a format that was added to a list is planned,
/// explained, made, calibrated and surveyed by those who know nothing of it.
#include <tcsolve/app/calibrate.hpp>
#include <tcsolve/configs/schema/print.hpp>
#include <tcsolve/formats/choose/planner.hpp>
#include <tcsolve/formats/register.hpp>
#include <tcsolve/io/generators.hpp>

#include <gtest/gtest.h>

#include <sstream>
#include <stdexcept>
#include <string>

#include "tests/support/backend.hpp"
#include "tests/support/files.hpp"
#include "tests/support/matrices.hpp"
#include "tests/support/trial_format.hpp"

namespace tcsolve::test {
namespace {

class TrialFormat : public ::testing::Test {
 protected:
  TrialFormat() {
    register_formats(list_);
    list_.add(trial_format());  // the line
    register_operators(registry_, list_);
    catalog_.add(registry_);
  }
  Format const& trial() const { return list_.at("trial"); }
  PlanRequest request() const { return {.among = &list_}; }
  /// The shipped table; with rates a product in it takes a hundredth of what it takes as csr.
  CostTable table(bool with_rates) const {
    CostTable table = CostTable::host();
    if (!with_rates) return table;
    RatesByType& rates = table.by_format["trial"] = table.of("csr");
    for (FormatRates* by : {&rates.fp64, &rates.fp32, &rates.fp16}) {
      auto terms = by->product.array();
      for (double& rate : terms) rate /= 100;
      by->product = Terms::of(terms);
    }
    return table;
  }
  OperatorPtr<double> made(Csr<double> const& a, std::string const& config) {
    Diagnostics problems;
    auto const factory = registry_.make(parse_yaml(config, "test"), problems, catalog_);
    problems.throw_if_any();
    return factory->build(ctx_, a);
  }
  Context ctx_{Backend::host};
  FormatList list_;
  OperatorRegistry registry_{"operator", "format"};
  Catalog catalog_;
  TemporaryFolder folder_;
  Csr<double> const grid_ = generate(Poisson7Params{.n = 6});
  /// Nothing on its diagonal.
  Csr<double> const cycle_{3, 3, {0, 1, 2, 3}, {1, 2, 0}, {1, 1, 1}};
};

TEST_F(TrialFormat, IsChosenByAutoWhereItHasRates) {
  std::string const file = write_text(folder_ / "table.yaml", dump_yaml(table(true))).string();
  EXPECT_EQ(made(grid_, "{format: auto, calibration: " + file + "}")->name(), "trial");
  EXPECT_NE(made(cycle_, "{format: auto, calibration: " + file + "}")->name(), "trial");
  EXPECT_EQ(make_plan(features(ctx_, grid_.view(), list_), request(), table(true)).taken().name,
            "trial");
}

TEST_F(TrialFormat, IsListedWithTheReasonWhyNot) {
  auto const says = [&](Csr<double> const& a, bool with_rates) {
    return text(make_plan(features(ctx_, a.view(), list_), request(), table(with_rates)));
  };
  auto const has = [](std::string const& table, std::string const& part) {
    return table.find(part) != std::string::npos;
  };
  EXPECT_TRUE(has(says(grid_, true), "\n  trial ")) << says(grid_, true);
  EXPECT_TRUE(has(says(cycle_, true), "no entry on the diagonal")) << says(cycle_, true);
  EXPECT_TRUE(has(says(grid_, false), "no rates for trial in this table; run tcsolve calibrate"))
      << says(grid_, false);
  EXPECT_NE(make_plan(features(ctx_, grid_.view(), list_), request(), table(false)).taken().name,
            "trial");
}

TEST_F(TrialFormat, IsAFormatOfConfigsAndOfTheirExplanations) {
  EXPECT_EQ(made(grid_, "{format: trial, values: fp32}")->name(), "trial");
  EXPECT_EQ(registry_.entries().back().doc, "a format for tests");
  EXPECT_EQ(registry_.keys_of("trial").size(), 2u);  // values, reorder
  OperatorRegistry shipped{"operator", "format"};
  register_operators(shipped);
  EXPECT_EQ(shipped.entries().size() + 1, registry_.entries().size());
}

TEST_F(TrialFormat, MultipliesInEveryType) {
  std::vector<double> const x(grid_.cols, 1.0);
  std::vector<double> y(grid_.rows), wanted(grid_.rows);
  auto const product = [&](Format const& format, std::vector<double>& result) {
    make_operator<double>(ctx_, grid_.view(), format)
        ->apply(ctx_, vector_view<double const>(x.data(), grid_.cols),
                vector_view(result.data(), grid_.rows));
  };
  product(list_.source(), wanted);
  product(trial(), y);
  EXPECT_EQ(y, wanted);
  Csr<half> const narrow = converted<half>(grid_);
  EXPECT_EQ((make_operator<float, half>(ctx_, narrow.view(), trial())->traits().precision.storage),
            Real::f16);
}

/// Rates from nothing: a new format has none to begin with.
TEST_F(TrialFormat, IsCalibrated) {
  FormatList few;
  few.add(*list_.find("csr")).add(trial_format());
  std::ostringstream progress;
  CostTable const table = calibrate(ctx_, 0.0001, progress, few);
  EXPECT_NE(progress.str().find("  trial  fp64  off by"), std::string::npos) << progress.str();
  for (Real const values : {Real::f64, Real::f32, Real::f16}) {
    EXPECT_NE(table.rates("trial", values).product, Terms{}) << name(values);
    EXPECT_GT(table.rates("trial", values).convert + table.rates("trial", values).convert_entries +
                  table.rates("trial", values).convert_rows,
              0)
        << name(values);
  }
  std::string const file = write_text(folder_ / "table.yaml", dump_yaml(table)).string();
  EXPECT_EQ(CostTable::load(file, list_), table);
  EXPECT_THROW(CostTable::load(file), ConfigError);  // tcsolve has no such format
  EXPECT_EQ(make_plan(features(ctx_, grid_.view(), few), {.among = &few}, table)
                .of(few.at("trial"))
                .excluded,
            "");
}

/// Its fact is looked at where the choice depends on it, and only there.
TEST_F(TrialFormat, HasAFactThatIsLookedAtWhenItDecides) {
  auto const looked = [&](bool with_rates) {
    Survey seen = survey(ctx_, grid_.view(), list_);
    EXPECT_FALSE(seen.knows(trial_fact));
    Plan const plan = make_plan(ctx_, grid_.view(), seen, request(), table(with_rates));
    EXPECT_EQ(plan.taken().name == "trial", with_rates);
    return seen.knows("main diagonal");
  };
  EXPECT_TRUE(looked(true));
  EXPECT_FALSE(looked(false));
  EXPECT_EQ(features(ctx_, cycle_.view(), list_).own.get<TrialCounts>().diagonal, 0);
  EXPECT_EQ(features(ctx_, grid_.view(), list_).own.get<TrialCounts>().diagonal, grid_.rows);
  EXPECT_EQ(features(ctx_, grid_.view()).own.get<TrialCounts>(), TrialCounts{});
}

TEST_F(TrialFormat, IsRefusedWhereItsNameIsTakenOrSomethingIsMissing) {
  EXPECT_THROW(list_.add(trial_format()), std::logic_error);
  EXPECT_THROW(FormatList().add({.name = "empty"}), std::logic_error);
  EXPECT_EQ(list_.find("tria"), nullptr);
  std::string const says = message_of<Unsupported>([&] { list_.at("tria"); });
  EXPECT_NE(says.find("did you mean 'trial'?"), std::string::npos) << says;
}

/// What a descriptor says that its format can do, its operators do.
TEST(Formats, CanDoWhatTheySay) {
  Context ctx(Backend::host);
  Csr<double> const a = generate(ElasticityParams{.n = 4});
  for (Format const& format : formats()) {
    SCOPED_TRACE(format.name);
    auto const A = make_operator<double>(ctx, a.view(), format);
    EXPECT_EQ(A->name(), format.name);
    EXPECT_EQ(A->traits().transpose, format.can.transpose);
    EXPECT_FALSE(format.doc.empty());
    if (!format.can.columns) continue;
    std::vector<double> const x(2 * std::size_t(a.cols), 1.0);
    std::vector<double> y(2 * std::size_t(a.rows));
    EXPECT_NO_THROW(A->apply(ctx, In<double>{x.data(), a.cols, 2, a.cols, Layout::col_major},
                             Out<double>{y.data(), a.rows, 2, a.rows, Layout::col_major}));
    EXPECT_EQ(std::vector(y.begin(), y.begin() + a.rows), std::vector(y.begin() + a.rows, y.end()));
  }
}

}  // namespace
}  // namespace tcsolve::test
