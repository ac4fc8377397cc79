// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/graph/reorder/locality.hpp>

#include <algorithm>

#include <tcsolve/graph/reorder/renumber.hpp>

namespace tcsolve {

double Locality::cost() const {
  double const wide = row_blocks > 0 ? double(wide_blocks) / row_blocks : 0;
  return 8 + 2 + 2 * wide + gather() / 2;
}

namespace {

/// row(i) is the number in A of what is row i here, column(j) the number here of A's column j.
template <class Row, class Column>
Locality measure(Pattern const& a, Row const& row, Column const& column) {
  constexpr Index block_rows = 32, sector = 4;  // FP64 entries of x in 32 bytes
  Locality seen;
  seen.entries = a.entries;
  seen.row_blocks = a.rows / block_rows + (a.rows % block_rows != 0);
  std::vector<Index> last_block(static_cast<std::size_t>(a.cols) / sector + 1, -1);
  for (Index block = 0; block < seen.row_blocks; ++block) {
    Index const begin = block * block_rows, end = begin + std::min(block_rows, a.rows - begin);
    Index least = a.cols, most = 0;
    for (Index i = begin; i < end; ++i) {
      Index first = i, last = i;
      for (Index const there : a.row(row(i))) {
        Index const j = column(there);
        first = std::min(first, j);
        last = std::max(last, j);
        least = std::min(least, j);
        most = std::max(most, j);
        if (last_block[j / sector] == block) continue;
        last_block[j / sector] = block;
        ++seen.sectors;
      }
      seen.bandwidth = std::max({seen.bandwidth, i - first, last - i});
      seen.profile += i - first;
    }
    if (most - least >= 65536) ++seen.wide_blocks;
  }
  return seen;
}

}  // namespace

Locality locality(Pattern const& a) {
  auto const same = [](Index i) { return i; };
  return measure(a, same, same);
}

Locality locality(Pattern const& a, Permutation const& P) {
  if (a.rows != a.cols || a.rows != P.size())
    throw ShapeError(cat("locality: the matrix is ", a.rows, " x ", a.cols,
                         ", the permutation has ", P.size(),
                         " elements; needed is a square matrix of as many rows"));
  return measure(
      a, [&](Index i) { return P.old_numbers()[i]; }, [&](Index j) { return P.new_numbers()[j]; });
}

template <class S>
Locality locality(Context& ctx, CsrView<S> const& a) {
  if (ctx.space() == Space::host) return locality(Pattern(a));
  if (a.space != Space::cuda) throw ShapeError("locality: the matrix must lie on the device");
  auto const sums = ctx.visit([&](auto& on) { return measure_locality(on, ctx.arena(), a); });
  Locality seen;
  seen.entries = a.entries;
  seen.row_blocks = a.rows / 32 + (a.rows % 32 != 0);
  seen.bandwidth = sums.bandwidth, seen.profile = sums.profile;
  seen.sectors = sums.sectors, seen.wide_blocks = sums.wide_blocks;
  return seen;
}

template Locality locality(Context&, CsrView<double> const&);

}  // namespace tcsolve
