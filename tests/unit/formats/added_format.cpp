// SPDX-License-Identifier: Apache-2.0
/// What one line in register_formats() brings: a format that was added to a list, the worked
/// example of the documents, is planned, explained, made, calibrated and surveyed by those who know
/// nothing of it.
#include <tcsolve/app/commands/calibrate.hpp>
#include <tcsolve/configs/schema/print.hpp>
#include <tcsolve/formats/choose/planner.hpp>
#include <tcsolve/formats/register.hpp>
#include <tcsolve/io/generate/generators.hpp>

#include <gtest/gtest.h>

#include <sstream>
#include <stdexcept>
#include <string>

#include "ell/format.hpp"
#include "tests/support/backend.hpp"
#include "tests/support/files.hpp"
#include "tests/support/formats.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

struct DiagonalCount {
  Offset diagonal = 0;  ///< entries on the main diagonal
  bool operator==(DiagonalCount const&) const = default;
};

void set_diagonal(Features& f, Offset diagonal) { f.own.set(DiagonalCount{diagonal}); }

constinit Fact const diagonal_fact{.name = "main diagonal",
                                   .expect =
                                       [](Features& f) {
                                         set_diagonal(f, std::min<Offset>(f.rows, f.entries));
                                         return f.entries > 0;
                                       },
                                   .look =
                                       [](Context& ctx, AnyCsr const& any, Features& f) {
                                         Offset found = 0;
                                         std::visit(
                                             [&](auto const& there) {
                                               auto const a = to_host(ctx, there);
                                               for (Index i = 0; i < a.rows; ++i)
                                                 for (Index const j : a.row_columns(i))
                                                   found += i == j;
                                             },
                                             any);
                                         set_diagonal(f, found);
                                       },
                                   .doubt = [](Features& f) { set_diagonal(f, 0); }};

/// The example with a fact of its own.
Format counting_format() {
  Format format = ell_format();
  format.name = "counting";
  format.refuses = [](Features const& f, PlanRequest const&) -> std::string {
    return f.own.get<DiagonalCount>().diagonal > 0 ? "" : "no entry on the diagonal";
  };
  format.facts = {&diagonal_fact};
  return format;
}

class TrialFormat : public ::testing::Test {
 protected:
  TrialFormat() {
    register_formats(list_);
    list_.add(ell_format());  // the line
    register_operators(registry_, list_);
    catalog_.add(registry_);
  }
  Format const& ell() const { return list_.at("ell"); }
  PlanRequest request() const { return {.among = &list_}; }
  /// The shipped table; with rates a product in it takes a hundredth of what it takes as csr.
  CostTable table(bool with_rates) const {
    CostTable table = CostTable::host();
    if (!with_rates) return table;
    RatesByType& rates = table.by_format["ell"] = table.of("csr");
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
  /// A row of 4096 entries, which all others would have to be as wide as.
  Csr<double> const star_ = [] {
    Csr<double> a{4096, 4096, {0}, {}, {}};
    for (Index i = 0; i < a.rows; ++i) {
      for (Index j = i == 0 ? 0 : i; j < (i == 0 ? a.cols : i + 1); ++j)
        a.columns.push_back(j), a.values.push_back(1);
      a.offsets.push_back(a.entries());
    }
    return a;
  }();
  /// Nothing on its diagonal.
  Csr<double> const cycle_{3, 3, {0, 1, 2, 3}, {1, 2, 0}, {1, 1, 1}};
};

TEST_F(TrialFormat, IsChosenByAutoWhereItHasRates) {
  std::string const file = write_text(folder_ / "table.yaml", dump_yaml(table(true))).string();
  EXPECT_EQ(made(grid_, "{format: auto, calibration: " + file + "}")->name(), "ell");
  EXPECT_NE(made(star_, "{format: auto, calibration: " + file + "}")->name(), "ell");
  EXPECT_EQ(make_plan(features(ctx_, grid_.view(), list_), request(), table(true)).taken().name,
            "ell");
}

TEST_F(TrialFormat, IsListedWithTheReasonWhyNot) {
  auto const says = [&](Csr<double> const& a, bool with_rates) {
    return text(make_plan(features(ctx_, a.view(), list_), request(), table(with_rates)));
  };
  auto const has = [](std::string const& table, std::string const& part) {
    return table.find(part) != std::string::npos;
  };
  EXPECT_TRUE(has(says(grid_, true), "\n  ell ")) << says(grid_, true);
  EXPECT_TRUE(has(says(star_, true), "the longest row is far longer")) << says(star_, true);
  EXPECT_TRUE(has(says(grid_, false), "no rates for ell in this table; run tcsolve calibrate"))
      << says(grid_, false);
  EXPECT_NE(make_plan(features(ctx_, grid_.view(), list_), request(), table(false)).taken().name,
            "ell");
}

TEST_F(TrialFormat, IsAFormatOfConfigsAndOfTheirExplanations) {
  EXPECT_EQ(made(grid_, "{format: ell, values: fp32}")->name(), "ell");
  EXPECT_EQ(registry_.entries().back().doc, ell_format().doc);
  EXPECT_EQ(registry_.keys_of("ell").size(), 4u);  // values, scale, diagonal, reorder
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
  product(ell(), y);
  EXPECT_EQ(y, wanted);
  Csr<half> const narrow = converted<half>(grid_);
  EXPECT_EQ((make_operator<float, half>(ctx_, narrow.view(), ell())->traits().precision.storage),
            Real::f16);
}

/// Rates from nothing: a new format has none to begin with.
TEST_F(TrialFormat, IsCalibrated) {
  FormatList few;
  few.add(*list_.find("csr")).add(ell_format());
  std::ostringstream progress;
  CostTable const table = calibrate(ctx_, 0.0001, progress, few);
  EXPECT_NE(progress.str().find("  ell    fp64  off by"), std::string::npos) << progress.str();
  for (Real const values : {Real::f64, Real::f32, Real::f16}) {
    EXPECT_NE(table.rates("ell", values).product, Terms{}) << name(values);
    EXPECT_GT(table.rates("ell", values).convert + table.rates("ell", values).convert_entries +
                  table.rates("ell", values).convert_rows,
              0)
        << name(values);
  }
  // Of the two csr alone multiplies sparse vectors: by rows, by columns and by entries.
  CostTable const shipped = CostTable::shipped(ctx_);
  SparseRates const before = shipped.of("csr").sparse, after = table.of("csr").sparse;
  EXPECT_GT(after.rows + after.rows_looked + after.rows_multiplied, 0);
  EXPECT_NE(after, before);
  EXPECT_EQ(after.dense_looked, before.dense_looked);
  EXPECT_EQ(table.of("ell").sparse, SparseRates{});
  std::string const file = write_text(folder_ / "table.yaml", dump_yaml(table)).string();
  EXPECT_EQ(CostTable::load(file, list_), table);
  EXPECT_THROW(CostTable::load(file), ConfigError);  // tcsolve has no such format
  EXPECT_EQ(make_plan(features(ctx_, grid_.view(), few), {.among = &few}, table)
                .of(few.at("ell"))
                .excluded,
            "");
}

/// A fact of a format's own is looked at where the choice depends on it, and only there.
TEST_F(TrialFormat, HasAFactThatIsLookedAtWhenItDecides) {
  FormatList list;
  register_formats(list);
  list.add(counting_format());
  auto const looked = [&](bool with_rates) {
    CostTable rates = table(with_rates);
    if (with_rates) rates.by_format["counting"] = rates.of("ell");
    Survey seen = survey(ctx_, grid_.view(), list);
    EXPECT_FALSE(seen.knows(diagonal_fact));
    Plan const plan = make_plan(ctx_, grid_.view(), seen, {.among = &list}, rates);
    EXPECT_EQ(plan.taken().name == "counting", with_rates);
    return seen.knows("main diagonal");
  };
  EXPECT_TRUE(looked(true));
  EXPECT_FALSE(looked(false));
  EXPECT_EQ(features(ctx_, cycle_.view(), list).own.get<DiagonalCount>().diagonal, 0);
  EXPECT_EQ(features(ctx_, grid_.view(), list).own.get<DiagonalCount>().diagonal, grid_.rows);
  EXPECT_EQ(features(ctx_, grid_.view()).own.get<DiagonalCount>(), DiagonalCount{});
}

TEST_F(TrialFormat, IsRefusedWhereItsNameIsTakenOrSomethingIsMissing) {
  EXPECT_THROW(list_.add(ell_format()), std::logic_error);
  EXPECT_THROW(FormatList().add({.name = "empty"}), std::logic_error);
  EXPECT_EQ(list_.find("elll"), nullptr);
  std::string const says = message_of<Unsupported>([&] { list_.at("elll"); });
  EXPECT_NE(says.find("did you mean 'ell'?"), std::string::npos) << says;
}

/// What a descriptor says that its format can do, its operators do.
TEST(Formats, CanDoWhatTheySay) {
  Context ctx(Backend::host);
  Csr<double> const a = generate(ElasticityParams{.n = 4});
  for (Format const& format : tested_formats()) {
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
