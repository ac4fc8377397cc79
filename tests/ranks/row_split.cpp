// SPDX-License-Identifier: Apache-2.0
/// Rows split by their columns where they lie, against a loop on the host, entry by entry.
#include <map>
#include <set>

#include <tcsolve/distributed/row_split.hpp>

#include <tests/ranks/ranks.hpp>

namespace tcsolve::test {
namespace {

class RowsSplit : public testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    std::string why;
    if (absent(GetParam(), why)) GTEST_SKIP() << why;
    ctx_ = std::make_unique<Context>(GetParam());
  }
  Context& ctx() { return *ctx_; }

 private:
  std::unique_ptr<Context> ctx_;
};
INSTANTIATE_TEST_SUITE_P(at, RowsSplit, testing::Values(Backend::host, Backend::cuda),
                         [](auto const& info) {
                           return info.param == Backend::host ? "host" : "cuda";
                         });

/// Rows in the Context's space.
struct RowsThere {
  Array<Offset> offsets;
  Array<std::int64_t> columns;
  Array<double> values;
  CsrView64 view;

  RowsThere(Context& ctx, Rows64 const& rows)
      : offsets(to_space(ctx, rows.offsets.data(), rows.offsets.size())),
        columns(to_space(ctx, rows.columns.data(), rows.columns.size())),
        values(to_space(ctx, rows.values.data(), rows.values.size())),
        view(rows.view()) {
    view.offsets = offsets.data(), view.columns = columns.data(), view.values = values.data();
    view.space = ctx.space();
  }
};

/// Its entries in another order within each row.
Rows64 shuffled(Rows64 rows, std::uint64_t seed) {
  for (std::size_t i = 0; i + 1 < rows.offsets.size(); ++i)
    for (Offset k = rows.offsets[i + 1] - 1; k > rows.offsets[i]; --k) {
      double const part = 0.5 + 0.499 * uniform(seed, static_cast<std::uint64_t>(k));
      auto const other =
          rows.offsets[i] + static_cast<Offset>(part * double(k - rows.offsets[i] + 1));
      std::swap(rows.columns[k], rows.columns[other]);
      std::swap(rows.values[k], rows.values[other]);
    }
  return rows;
}

struct Expected {
  Csr<double> own, outer;
  std::vector<std::int64_t> halo;
  std::vector<Index> outer_rows;
  double norm = 0;

  Expected(Rows64 const& a, std::int64_t first, Index count) {
    std::set<std::int64_t> others;
    auto const is_own = [&](std::int64_t j) { return first <= j && j < first + count; };
    for (std::int64_t const j : a.columns)
      if (!is_own(j)) others.insert(j);
    halo.assign(others.begin(), others.end());
    own.rows = static_cast<Index>(a.offsets.size()) - 1;
    own.cols = count;
    outer.cols = static_cast<Index>(halo.size());
    for (Index i = 0; i < own.rows; ++i) {
      std::map<std::int64_t, double> row;
      double sum = 0;
      for (Offset e = a.offsets[i]; e < a.offsets[i + 1]; ++e) {
        row[a.columns[e]] = a.values[e];
        sum += std::abs(a.values[e]);
      }
      norm = std::max(norm, sum);
      for (auto const& [j, v] : row)
        if (is_own(j)) {
          own.columns.push_back(static_cast<Index>(j - first)), own.values.push_back(v);
        } else {
          outer.columns.push_back(
              static_cast<Index>(std::ranges::lower_bound(halo, j) - halo.begin()));
          outer.values.push_back(v);
        }
      own.offsets.push_back(own.entries());
      if (outer.entries() == outer.offsets.back()) continue;
      outer_rows.push_back(i);
      outer.offsets.push_back(outer.entries());
    }
    outer.rows = static_cast<Index>(outer_rows.size());
  }
};

std::vector<Csr<double>> matrices() {
  std::vector<Csr<double>> list{csr(laplace(130)), spd(), generate(RmatParams{10, 8})};
  Csr<double> none;
  none.rows = none.cols = 70;
  none.offsets.assign(71, 0);
  list.push_back(none);
  return list;
}

TEST_P(RowsSplit, AsALoopOnTheHostDoes) {
  for (Csr<double> const& a : matrices())
    for (int const order : {0, 1, 2})
      for (auto const [first, end, from, to] :
           {std::array<Index, 4>{a.rows / 3, a.rows / 2, a.cols / 3, a.cols / 2},
            {0, a.rows, 0, a.cols},
            {a.rows - 64, a.rows, 0, 1},
            {5, 5, 5, 5}}) {
        SCOPED_TRACE(cat(a.rows, " ", order, " ", first, " ", end));
        Rows64 rows(a, first, end);
        if (order == 1) rows = rows.reversed();
        if (order == 2) rows = shuffled(rows, 7);
        RowsThere const there(ctx(), rows);
        RowSplit split = split_rows(ctx(), first, there.view, from, to - from);
        SplitValues given = split_values(ctx(), split.places, there.view.values, split.own.values);
        split.outer.values = std::move(given.outer);
        CsrStorage<double> const own(ctx(), end - first, to - from, std::move(split.own));
        Expected const expected(rows, from, to - from);
        EXPECT_EQ(to_host(ctx(), own.view()), expected.own);
        EXPECT_EQ(split.outer, expected.outer);
        EXPECT_EQ(split.halo, expected.halo);
        EXPECT_EQ(split.outer_rows, expected.outer_rows);
        EXPECT_EQ(given.norm, expected.norm);

        for (double& v : rows.values) v = 1 / (3 + v * v);
        Expected const renewed(rows, from, to - from);
        RowsThere const fresh(ctx(), rows);
        Array<double> values;
        SplitValues const moved = split_values(ctx(), split.places, fresh.view.values, values);
        EXPECT_EQ(to_host(ctx(), values), renewed.own.values);
        EXPECT_EQ(moved.outer, renewed.outer.values);
        EXPECT_EQ(moved.norm, renewed.norm);
      }
}

TEST_P(RowsSplit, WhatIsWrongIsNamedByItsGlobalRow) {
  Rows64 const good(csr(laplace(40)), 10, 20);
  auto const refused = [&](auto const& spoil) {
    Rows64 rows = good;
    spoil(rows);
    RowsThere const there(ctx(), rows);
    return words_of<MatrixError>([&] { split_rows(ctx(), 10, there.view, 10, 10); });
  };
  EXPECT_EQ(refused([](Rows64& a) { a.columns[a.offsets[4]] = 40; }),
            "row 14 has column 40, outside [0, 40)");
  EXPECT_EQ(refused([](Rows64& a) { a.columns[a.offsets[4] + 1] = -1; }),
            "row 14 has column -1, outside [0, 40)");
  EXPECT_EQ(refused([](Rows64& a) { a.columns[a.offsets[9] + 2] = a.columns[a.offsets[9]]; }),
            cat("row 19 has column ", good.columns[good.offsets[9]], " twice"));
  EXPECT_EQ(refused([](Rows64& a) { std::swap(a.offsets[3], a.offsets[4]); }),
            "row 13: offsets descend");
}

TEST_P(RowsSplit, ANaNIsTheNorm) {
  Rows64 rows(csr(laplace(40)), 0, 40);
  rows.values[50] = std::numeric_limits<double>::quiet_NaN();
  RowsThere const there(ctx(), rows);
  RowSplit const split = split_rows(ctx(), 0, there.view, 0, 20);
  Array<double> own;
  EXPECT_TRUE(std::isnan(split_values(ctx(), split.places, there.view.values, own).norm));
}

}  // namespace
}  // namespace tcsolve::test
