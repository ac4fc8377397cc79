// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/io/renumber.hpp>

#include <tcsolve/io/hash.hpp>
#include <tcsolve/io/row_builder.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace tcsolve {

std::vector<Index> random_permutation(Index n, std::uint64_t seed) {
  std::vector<Index> p(static_cast<std::size_t>(n));
  std::iota(p.begin(), p.end(), Index{0});
  for (auto i = p.size(); i-- > 1;) std::swap(p[i], p[mix(seed + i) % (i + 1)]);
  return p;
}

Csr<double> renumbered(Csr<double> const& a, std::span<Index const> p, int threads) {
  auto const n = static_cast<std::size_t>(a.rows);
  if (a.rows != a.cols || p.size() != n)
    throw ShapeError(cat("renumbered: the matrix is ", a.rows, " x ", a.cols,
                         ", the permutation has ", p.size(),
                         " elements; needed is a square matrix and one element a row"));
  std::vector<Index> old(n);
  for (std::size_t i = 0; i < n; ++i) old[static_cast<std::size_t>(p[i])] = static_cast<Index>(i);
  return build_by_rows(a.rows, a.cols, threads, [&](std::int64_t i, auto& emit) {
    auto const columns = a.row_columns(old[static_cast<std::size_t>(i)]);
    auto const values = a.row_values(old[static_cast<std::size_t>(i)]);
    thread_local std::vector<std::pair<Index, double>> row;
    row.clear();
    for (std::size_t k = 0; k < columns.size(); ++k)
      row.emplace_back(p[static_cast<std::size_t>(columns[k])], values[k]);
    std::ranges::sort(row, {}, &std::pair<Index, double>::first);
    for (auto const& [column, value] : row) emit(column, value);
  });
}

}  // namespace tcsolve
