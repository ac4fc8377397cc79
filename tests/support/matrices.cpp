// SPDX-License-Identifier: Apache-2.0
#include "tests/support/matrices.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>

namespace tcsolve::test {

namespace {

using Rows = std::vector<std::map<Index, double>>;

Csr<double> make(Index cols, Rows const& rows) {
  Csr<double> a;
  a.rows = static_cast<Index>(rows.size());
  a.cols = cols;
  for (auto const& row : rows) {
    for (auto [j, v] : row) {
      a.columns.push_back(j);
      a.values.push_back(v);
    }
    a.offsets.push_back(a.entries());
  }
  return a;
}

Rows random_rows(Index rows, Index cols, std::uint64_t seed, std::vector<Index> const& lengths) {
  std::mt19937_64 bits(seed);
  std::uniform_real_distribution<double> value(-1, 1);
  Rows out(rows);
  if (cols == 0) return out;
  for (Index i = 0; i < rows; ++i) {
    Index length = std::min(lengths[i % lengths.size()], cols);
    while (static_cast<Index>(out[i].size()) < length)
      out[i].emplace(static_cast<Index>(bits() % cols), value(bits));
  }
  return out;
}

Rows diagonal(Index n, double first) {
  Rows rows(n);
  for (Index i = 0; i < n; ++i) rows[i][i] = first + i;
  return rows;
}

}  // namespace

std::vector<double> random_values(std::size_t n, std::uint64_t seed, double lo, double hi) {
  std::mt19937_64 bits(seed);
  std::uniform_real_distribution<double> value(lo, hi);
  std::vector<double> out(n);
  for (double& v : out) v = value(bits);
  return out;
}

Csr<double> with_entries(Index n, std::set<std::pair<Index, Index>> const& entries) {
  Csr<double> a;
  a.rows = a.cols = n;
  auto next = entries.begin();
  for (Index i = 0; i < n; ++i) {
    for (; next != entries.end() && next->first == i; ++next) {
      a.columns.push_back(next->second);
      a.values.push_back(double(a.columns.size()));
    }
    a.offsets.push_back(a.entries());
  }
  return a;
}

Csr<double> random_matrix(Index rows, Index cols, Index max_row, std::uint64_t seed) {
  std::mt19937_64 bits(seed + 1);
  std::vector<Index> lengths(std::max<Index>(rows, 1));
  for (Index& length : lengths) length = static_cast<Index>(bits() % (max_row + 1));
  return make(cols, random_rows(rows, cols, seed, lengths));
}

Csr<double> banded(Index n, Index reach, Index max_row, std::uint64_t seed) {
  Csr<double> const from = random_matrix(n, 2 * reach + 1, max_row, seed);
  Csr<double> a{n, n, {0}, {}, {}};
  for (Index i = 0; i < n; ++i) {
    for (Offset k = from.offsets[i]; k < from.offsets[i + 1]; ++k) {
      Index const j = i + from.columns[k] - reach;
      if (j < 0 || j >= n) continue;
      a.columns.push_back(j), a.values.push_back(from.values[k]);
    }
    a.offsets.push_back(a.entries());
  }
  return a;
}

Csr<double> mixed_rows(Index rows, Index cols, std::uint64_t seed) {
  std::vector<Index> lengths{0, 1, 2, 3, cols};
  for (Index length = 4; length < cols; length *= 2) lengths.push_back(length + 1);
  std::shuffle(lengths.begin(), lengths.end(), std::mt19937_64(seed));
  return make(cols, random_rows(rows, cols, seed, lengths));
}

Csr<double> dominant(Index n, Index max_row, std::uint64_t seed) {
  Rows rows = random_rows(n, n, seed, {max_row, 1, max_row / 2 + 1});
  for (Index i = 0; i < n; ++i) {
    double sum = 0;
    for (auto [j, v] : rows[i]) sum += std::abs(v);
    rows[i][i] = (i % 3 == 0 ? -1 : 1) * (1 + sum);
  }
  return make(n, rows);
}

std::vector<Named> const& adversarial() {
  static std::vector<Named> const list = [] {
    std::vector<Named> all;
    auto add = [&](std::string name, Csr<double> a) {
      all.push_back({std::move(name), std::move(a)});
    };
    add("0 x 0", make(0, Rows(0)));
    add("0 x 3", make(3, Rows(0)));
    add("3 x 0", make(0, Rows(3)));
    add("1 x 1", make(1, {{{0, -2.5}}}));
    add("all rows empty", make(5, Rows(5)));
    Rows rows = random_rows(9, 9, 11, {3});
    rows.front().clear();
    rows.back().clear();
    add("first and last row empty", make(9, rows));
    rows = diagonal(65, 1);
    for (Index j = 0; j < 65; ++j) rows[20][j] = 1.0 / (1 + j);
    add("one dense row", make(65, rows));
    rows = diagonal(65, -3);
    for (Index i = 0; i < 65; ++i) rows[i][64] = 1.0 / (1 + i);
    add("one dense column", make(65, rows));
    add("tall", random_matrix(130, 5, 4, 12));
    add("wide", random_matrix(5, 130, 60, 13));
    for (Index tile : {8, 16, 32})
      for (Index n : {tile - 1, tile, tile + 1})
        add(cat(n, " x ", n, ", tile ", tile), random_matrix(n, n, n / 2, 100 + n));
    rows = Rows(40);
    rows[39][32] = 7;
    add("one entry in the last corner", make(33, rows));
    rows = random_rows(12, 12, 14, {4});
    for (auto& row : rows) row.begin()->second = 0;
    rows[5] = {{0, 0.0}, {11, -0.0}};
    add("explicit zeros", make(12, rows));
    rows = random_rows(31, 31, 15, {5});
    int e = -30;
    for (auto& row : rows)
      for (auto& [j, v] : row) {
        v = (v < 0 ? -1 : 1) * std::pow(10.0, e);
        e = e == 30 ? -30 : e + 1;
      }
    add("values 1e-30 to 1e30", make(31, rows));
    rows = random_rows(20, 20, 16, {6});
    rows[7].begin()->second = 65536;
    rows[13].begin()->second = -1e6;
    add("values above the f16 range", make(20, rows));
    add("row lengths mixed", mixed_rows(300, 280, 17));
    return all;
  }();
  return list;
}

std::vector<Malformed> const& malformed() {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double inf = std::numeric_limits<double>::infinity();
  // Variations of  row 0: (0, 5) (2, 3)   row 1: (1, 7)   row 2: (0, 1) (2, 4).
  // Messages count rows and columns from 1.
  std::vector<Offset> const offsets{0, 2, 3, 5};
  std::vector<Index> const columns{0, 2, 1, 0, 2};
  std::vector<double> const values{5, 3, 7, 1, 4};
  static std::vector<Malformed> const list{
      {"unsorted row",
       3,
       3,
       5,
       offsets,
       {0, 2, 1, 2, 0},
       {5, 3, 7, 4, 1},
       {"row 3", "column 1", "after 3"},
       true,
       {3, 3, offsets, columns, values}},
      {"duplicate",
       3,
       3,
       5,
       offsets,
       {1, 1, 1, 0, 2},
       values,
       {"row 1", "column 2", "twice"},
       true,
       {3, 3, {0, 1, 2, 4}, {1, 1, 0, 2}, {8, 7, 1, 4}}},
      {"duplicate in an unsorted row",
       3,
       3,
       5,
       {0, 0, 3, 5},
       {1, 0, 1, 0, 2},
       values,
       {"row 2", "column"},
       true,
       {3, 3, {0, 0, 2, 4}, {0, 1, 0, 2}, {3, 12, 1, 4}}},
      {"column out of range",
       3,
       3,
       5,
       offsets,
       {0, 2, 3, 0, 2},
       values,
       {"row 2", "column 4", "[1, 3]"}},
      {"negative column",
       3,
       3,
       5,
       offsets,
       {0, 2, 1, -1, 2},
       values,
       {"row 3", "column 0", "[1, 3]"}},
      {"column in a matrix without columns",
       1,
       0,
       1,
       {0, 1},
       {0},
       {1},
       {"row 1", "column 1", "[1, 0]"}},
      {"NaN", 3, 3, 5, offsets, columns, {5, 3, nan, 1, 4}, {"row 2", "column 2", "nan"}},
      {"Inf", 3, 3, 5, offsets, columns, {5, -inf, 7, 1, 4}, {"row 1", "column 3", "inf"}},
      {"offsets descend", 3, 3, 5, {0, 3, 2, 5}, columns, values, {"row 2", "3 to 2"}},
      {"offset beyond the entries",
       3,
       3,
       5,
       {0, 9, 9, 5},
       columns,
       values,
       {"row 1", "0 to 9", "5"}},
      {"offsets start at 1", 3, 3, 5, {1, 2, 3, 5}, columns, values, {"offsets[0]", "1"}},
      {"last offset too small", 3, 3, 5, {0, 2, 3, 4}, columns, values, {"last offset", "4", "5"}},
      {"entries without rows", 0, 3, 1, {0}, {0}, {1}, {"last offset", "0", "1"}},
      {"negative rows", -1, 3, 0, {0}, {}, {}, {"negative", "-1 x 3"}},
  };
  return list;
}

std::vector<double> grid_points(Index n) {
  std::vector<double> points;
  for (Index k = 0; k < n; ++k)
    for (Index j = 0; j < n; ++j)
      for (Index i = 0; i < n; ++i)
        for (Index const x : {i, j, k}) points.push_back(x);
  return points;
}

}  // namespace tcsolve::test
