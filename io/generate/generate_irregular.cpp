// SPDX-License-Identifier: Apache-2.0
/// Matrices without a grid: rows of very different lengths, and a band. The pattern is hashed from
/// fixed keys; so are the values, unless the coefficient is random.
#include <tcsolve/io/csr_builder.hpp>
#include <tcsolve/io/generate/generate.hpp>

#include <algorithm>
#include <vector>

namespace tcsolve {
namespace {

/// The number for `key`: fixed, or drawn from the seed.
template <class P>
double drawn(P const& p, std::uint64_t key) {
  return p.coefficient == Coefficient::constant ? uniform(key) : uniform(p.seed, key);
}

/// Edge number `edge` of an R-MAT graph: a quadrant for each bit of row and column.
Entry rmat_edge(RmatParams const& p, std::uint64_t edge) {
  std::uint32_t row = 0, col = 0;
  for (std::uint64_t level = 0; level < static_cast<std::uint64_t>(p.scale); ++level) {
    double const u = uniform(0x5bd1e995u + edge * 64 + level);
    unsigned const quadrant = u < 0.57 ? 0 : u < 0.76 ? 1 : u < 0.95 ? 2 : 3;
    row = 2 * row + (quadrant >> 1);
    col = 2 * col + (quadrant & 1);
  }
  return {static_cast<Index>(row), static_cast<Index>(col), 1.0 - drawn(p, 0x1234567u + edge)};
}

Csr<double> rmat(RmatParams const& p, Index rows, Workers const& workers) {
  constexpr std::int64_t grain = 1 << 16;
  Permutation const labels = random_permutation(rows, 77);
  auto const label = labels.new_numbers();
  std::int64_t const edges = std::int64_t{rows} * p.edge_factor;
  std::vector<CsrBuilder::Slice> slices(static_cast<std::size_t>((edges + grain - 1) / grain));
  CsrBuilder builder(rows, rows);
  parallel_ranges(workers, edges, grain, [&](std::int64_t begin, std::int64_t end) {
    std::vector<Entry> entries;
    entries.reserve(static_cast<std::size_t>(end - begin));
    for (std::int64_t edge = begin; edge < end; ++edge) {
      Entry e = rmat_edge(p, static_cast<std::uint64_t>(edge));
      e.row = label[static_cast<std::size_t>(e.row)];
      e.col = label[static_cast<std::size_t>(e.col)];
      entries.push_back(e);
    }
    slices[static_cast<std::size_t>(begin / grain)] = builder.slice(entries);
  });
  for (auto& slice : slices) builder.append(std::move(slice));
  return builder.finish(Repeats::least, workers);
}

Csr<double> longrows(LongrowsParams const& p, Index all, RowRange rows, Workers const& workers) {
  std::int64_t const n = all, every = p.long_rows > 0 ? n / p.long_rows : n + 1;
  return build_by_rows(rows, all, workers, [&, n, every](std::int64_t r, auto& emit) {
    auto const key = static_cast<std::uint64_t>(r);
    bool const is_long = r % every == every / 2 && r / every < p.long_rows;
    std::int64_t const window = is_long ? n : std::min<std::int64_t>(n, 4096);
    std::int64_t const from = std::clamp<std::int64_t>(r - window / 2, 0, n - window);
    std::int64_t const wanted =
        is_long ? p.long_length : 1 + static_cast<std::int64_t>(mix(0x77 + key) % 8);
    std::int64_t const length = std::min(wanted, window);
    std::int64_t const stride = window / length;  // one entry at a random place of each stride
    for (std::int64_t k = 0; k < length; ++k) {
      auto const i = static_cast<std::uint64_t>(k);
      auto const place = mix(key * 1000003 + i) % static_cast<std::uint64_t>(stride);
      emit(from + k * stride + static_cast<std::int64_t>(place),
           emit.stores ? 1.0 - drawn(p, key * 7919 + i + 13) : 0.0);
    }
  });
}

Csr<double> banded(BandedParams const& p, Index all, RowRange rows, Workers const& workers) {
  std::int64_t const n = all, half = p.half_bandwidth;
  return build_by_rows(rows, all, workers, [&, n, half](std::int64_t i, auto& emit) {
    std::int64_t const first = std::max<std::int64_t>(0, i - half),
                       last = std::min(n - 1, i + half);
    for (std::int64_t j = first; j <= last; ++j) {
      auto const low = static_cast<std::uint64_t>(std::min(i, j));
      auto const distance = static_cast<std::uint64_t>(std::max(i, j)) - low;
      double value = 2.0 * static_cast<double>(half) + 1;
      if (emit.stores && i != j) value = -drawn(p, low * 2654435761u + distance);
      emit(j, value);
    }
  });
}

}  // namespace

Csr<double> generate_rows(RmatParams const& p, RowRange rows, Workers const& workers) {
  return detail::generated("rmat", p, rows, workers,
                           [&](Index n, RowRange) { return rmat(p, n, workers); });
}
Csr<double> generate_rows(LongrowsParams const& p, RowRange rows, Workers const& workers) {
  return detail::generated("longrows", p, rows, workers,
                           [&](Index n, RowRange some) { return longrows(p, n, some, workers); });
}
Csr<double> generate_rows(BandedParams const& p, RowRange rows, Workers const& workers) {
  return detail::generated("banded", p, rows, workers,
                           [&](Index n, RowRange some) { return banded(p, n, some, workers); });
}

}  // namespace tcsolve
