// SPDX-License-Identifier: Apache-2.0
/// What is seen of a matrix where it lies, on every backend, against a map of its entries.
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/matrix/facts.hpp>
#include <tcsolve/matrix/symmetry.hpp>
#include <tcsolve/matrix/transfer.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>

#include "tests/support/backend.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

using Entries = std::map<std::pair<Index, Index>, double>;

Entries entries_of(Csr<double> const& a) {
  Entries all;
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) all[{i, a.columns[k]}] = a.values[k];
  return all;
}

struct Expected {
  MatrixFacts facts;
  bool mirrors = false;
};

Expected expected(Csr<double> const& a) {
  Entries const all = entries_of(a);
  Expected e{{.rows = a.rows, .cols = a.cols, .entries = a.entries()}, a.rows == a.cols};
  std::vector<double> scale(a.rows);
  for (Index i = 0; i < a.rows; ++i) {
    auto const own = all.find({i, i});
    double const d = own == all.end() ? 0 : own->second;
    double others = 0, largest = 0;
    for (auto k = all.lower_bound({i, 0}); k != all.end() && k->first.first == i; ++k) {
      largest = std::max(largest, std::abs(k->second));
      if (k->first.second != i) others += std::abs(k->second);
    }
    scale[i] = std::sqrt(std::abs(d) > 0 ? std::abs(d) : largest);
    e.facts.zero_diagonal += d == 0, e.facts.negative_diagonal += d < 0;
    e.facts.dominant_rows += std::abs(d) >= others;
    double const whole = std::abs(d) + others;
    if (!(whole > 0)) continue;
    e.facts.largest_row = std::max(e.facts.largest_row, whole);
    e.facts.least_row = e.facts.least_row > 0 ? std::min(e.facts.least_row, whole) : whole;
  }
  e.facts.symmetric = e.mirrors;
  for (auto const& [at, x] : all) {
    auto const [i, j] = at;
    if (i == j || a.rows != a.cols) continue;
    auto const mirror = all.find({j, i});
    bool const stored = mirror != all.end();
    double const y = stored ? mirror->second : 0, eps = std::numeric_limits<double>::epsilon();
    if (!(std::abs(x - y) <=
          1e-12 * std::max(std::abs(x), std::abs(y)) + 8 * eps * scale[i] * scale[j]))
      e.facts.symmetric = false;
    if (!stored || std::bit_cast<std::uint64_t>(x) != std::bit_cast<std::uint64_t>(y))
      e.mirrors = false;
  }
  return e;
}

template <class P>
class MatrixFactsOf : public BackendTest<P> {
 protected:
  void check(Csr<double> const& a, std::string const& name) {
    SCOPED_TRACE(name);
    Expected const e = expected(a);
    CsrStorage<double> const here(this->ctx(), a.view());
    MatrixFacts const f = matrix_facts(this->ctx(), here.view());
    EXPECT_EQ(f.rows, e.facts.rows);
    EXPECT_EQ(f.cols, e.facts.cols);
    EXPECT_EQ(f.entries, e.facts.entries);
    EXPECT_EQ(f.symmetric, e.facts.symmetric);
    EXPECT_EQ(f.zero_diagonal, e.facts.zero_diagonal);
    EXPECT_EQ(f.negative_diagonal, e.facts.negative_diagonal);
    EXPECT_EQ(f.dominant_rows, e.facts.dominant_rows);
    EXPECT_EQ(f.least_row, e.facts.least_row);
    EXPECT_EQ(f.largest_row, e.facts.largest_row);
    EXPECT_EQ(mirrors_bit_by_bit(this->ctx(), here.view()), e.mirrors);
    MatrixFacts const rows = row_facts(this->ctx(), here.view());
    EXPECT_FALSE(rows.symmetric) << "left open";
    EXPECT_EQ(rows.dominant_rows, e.facts.dominant_rows);
    EXPECT_EQ(rows.largest_row, e.facts.largest_row);
  }
};
TYPED_TEST_SUITE(MatrixFactsOf, DoubleOnBoth, Label);

/// Where an entry of a row below the diagonal is, changed by `by`; 0 removes it.
Csr<double> with_one_changed(Csr<double> a, Index row, double by) {
  Offset const k = a.offsets[row];
  if (by != 0) {
    a.values[k] *= by;
    return a;
  }
  a.columns.erase(a.columns.begin() + k), a.values.erase(a.values.begin() + k);
  for (Index i = row + 1; i <= a.rows; ++i) --a.offsets[i];
  return a;
}

TYPED_TEST(MatrixFactsOf, EveryShape) {
  for (auto const& [name, a] : adversarial()) this->check(a, name);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    this->check(random_matrix(97, 97, 9, seed), cat("random, seed ", seed));
    this->check(dominant(130, 7, seed), cat("dominant, seed ", seed));
  }
}

TYPED_TEST(MatrixFactsOf, OneEntryDecides) {
  Csr<double> const a = generate(Poisson27Params{.n = 7});
  this->check(a, "poisson27");
  constexpr double inf = std::numeric_limits<double>::infinity();
  for (Index const row : {1, 31, 32, 170, 342})
    for (double const by : {0.0, 1 + 1e-13, 1 + 1e-11, -1.0, inf, std::nan("")})
      this->check(with_one_changed(a, row, by), cat("row ", row, " times ", by));
}

/// Rows of a hub are longer than a warp, and those of its mirrors are found by bisection.
TYPED_TEST(MatrixFactsOf, LongRows) {
  constexpr Index n = 700;
  std::set<std::pair<Index, Index>> star;
  for (Index i = 0; i < n; ++i)
    star.insert({{i, i}, {i, 300}, {300, i}, {i, i * 7 % n}, {i * 7 % n, i}});
  Csr<double> a = with_entries(n, star);
  for (Index i = 0; i < n; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      a.values[k] = i == a.columns[k] ? -1.0 : 1.0 / (1 + i + a.columns[k]);
  this->check(a, "symmetric");
  EXPECT_TRUE(is_symmetric(a.view()));
  a.values[a.offsets[300] + 650] += 1e-3;
  this->check(a, "one entry of the hub differs");
  EXPECT_FALSE(is_symmetric(a.view()));
}

}  // namespace
}  // namespace tcsolve::test
