// SPDX-License-Identifier: Apache-2.0
/// Facts of a matrix, written once for both backends (kernels/convert.hpp). A first pass has a row
/// for each lane of a warp, whose counts are summed before they are added to those of all; a second
/// one has the entries of a row for the lanes, each of which looks for the mirror of its own.
#pragma once

#include <bit>
#include <limits>

#include <tcsolve/kernels/atomics.hpp>
#include <tcsolve/kernels/convert.hpp>
#include <tcsolve/matrix/facts.hpp>
#include <tcsolve/matrix/symmetry.hpp>

namespace tcsolve {

/// What has been seen of all rows. Sizes are bits of positive doubles, which are ordered as these.
struct SeenRows {
  std::int32_t zero_diagonal, negative_diagonal, dominant;
  std::int64_t least, largest;
};

struct SeeNothing {
  SeenRows* seen;
  TCSOLVE_HD void operator()(std::int64_t) const {
    *seen = {0, 0, 0, std::numeric_limits<std::int64_t>::max(), 0};
  }
};

TCSOLVE_HD std::int64_t bits_of(double v) {
#if defined(__CUDA_ARCH__)
  return __double_as_longlong(v);
#else
  return std::bit_cast<std::int64_t>(v);
#endif
}

/// Rows 32 w to 32 w + 31, and s_i of each (matrix/symmetry.hpp).
struct SeeRows {
  CsrView<double> a;
  SeenRows* seen;
  double* scale;
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t w) const {
    typename Warp::template Of<std::uint32_t> zero, negative, dominant;
    warp.each([&](int lane) {
      zero[lane] = negative[lane] = dominant[lane] = 0;
      std::int64_t const i = 32 * w + lane;
      if (i >= a.rows) return;
      double diagonal = 0, others = 0;
      for (Offset k = a.offsets[i], end = a.offsets[i + 1]; k < end; ++k)
        if (a.columns[k] == i)
          diagonal = a.values[k];
        else
          others += magnitude(a.values[k]);
      double const own = magnitude(diagonal), whole = own + others;
      zero[lane] = diagonal == 0, negative[lane] = diagonal < 0, dominant[lane] = own >= others;
      scale[i] = row_scale(a, i);
      if (!(whole > 0)) return;
      lower_to(&seen->least, bits_of(whole));
      raise_to(&seen->largest, bits_of(whole));
    });
    std::int64_t const counts[] = {warp.sum(zero), warp.sum(negative), warp.sum(dominant)};
    warp.each([&](int lane) {
      if (lane != 0) return;
      std::int32_t* const to[] = {&seen->zero_diagonal, &seen->negative_diagonal, &seen->dominant};
      for (int c = 0; c < 3; ++c)
        if (counts[c] > 0) atomic_add(to[c], static_cast<std::int32_t>(counts[c]));
    });
  }
};

/// Where row j stores column i; -1 where it does not. The mirror of the p-th entry of a row of a
/// stencil is the p-th from the end of its own row.
TCSOLVE_HD Offset place_of(CsrView<double> const& a, Index j, Index i, Offset p) {
  Offset low = a.offsets[j];
  Offset const end = a.offsets[j + 1], guess = end - 1 - p;
  if (guess >= low && a.columns[guess] == i) return guess;
  for (Offset high = end; low < high;) {
    Offset const middle = low + (high - low) / 2;
    if (a.columns[middle] < i)
      low = middle + 1;
    else
      high = middle;
  }
  return low < end && a.columns[low] == i ? low : -1;
}

struct UpToRounding {
  double const* scale;
  TCSOLVE_HD bool operator()(Index i, Index j, double x, double y, bool) const {
    return are_mirrors(x, y, scale[i], scale[j]);
  }
};
struct BitByBit {
  TCSOLVE_HD bool operator()(Index, Index, double x, double y, bool stored) const {
    return stored && bits_of(x) == bits_of(y);
  }
};

/// What has been seen of pairs.
struct SeenPairs {
  std::int32_t differ;
  std::int64_t below;  ///< entries below the diagonal, less those that are mirrors of others above
};

/// Compares the entries of rows on one side of the diagonal with their mirrors: a lane those of a
/// row where rows are short, else all lanes those of one.
template <class Same>
struct ComparePairs {
  CsrView<double> a;
  Same same;
  bool below, by_lanes;
  SeenPairs* seen;
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t w) const {
    typename Warp::template Of<std::uint32_t> others, mirrors;
    warp.each([&](int lane) {
      others[lane] = mirrors[lane] = 0;
      std::int64_t const i = by_lanes ? 32 * w + lane : w;
      if (i >= a.rows) return;
      Offset const begin = a.offsets[i], end = a.offsets[i + 1];
      int const first = by_lanes ? 0 : lane, step = by_lanes ? 1 : 32;
      for (Offset k = begin + first; k < end && glance(&seen->differ) == 0; k += step) {
        Index const j = a.columns[k];
        if (j == i) continue;
        if ((j < i) != below) {
          ++others[lane];
          continue;
        }
        Offset const mirror = place_of(a, j, static_cast<Index>(i), k - begin);
        mirrors[lane] += mirror >= 0;
        double const y = mirror < 0 ? 0.0 : a.values[mirror];
        if (!same(static_cast<Index>(i), j, a.values[k], y, mirror >= 0)) put(&seen->differ, 1);
      }
    });
    std::int64_t const left = warp.sum(others) - warp.sum(mirrors);
    warp.each([&](int lane) {
      if (lane == 0 && left != 0 && !below) atomic_add(&seen->below, left);
    });
  }
};

/// Whether all pairs are the same. Each entry above the diagonal is compared; where entries below
/// are left that no entry above mirrors, those below as well.
template <class On, class Same>
bool pairs_agree(On& on, CsrView<double> const& a, Same const& same) {
  auto* const there = on.template take<SeenPairs>(1);
  on.clear(there, 1);
  SeenPairs seen{};
  constexpr Offset few = 12;
  bool const by_lanes = a.entries <= few * a.rows;
  std::int64_t const warps = by_lanes ? (std::int64_t{a.rows} + 31) / 32 : a.rows;
  for (bool const below : {false, true}) {
    on.each_warp(warps, ComparePairs<Same>{a, same, below, by_lanes, there});
    on.read(there, &seen, 1);
    if (seen.differ != 0 || seen.below == 0) break;
  }
  return seen.differ == 0;
}

template <class On>
MatrixFacts matrix_facts(On& on, CsrView<double> const& a, Pairs pairs) {
  auto* const seen = on.template take<SeenRows>(1);
  auto* const scale = on.template take<double>(static_cast<std::size_t>(a.rows));
  on.each(1, SeeNothing{seen});
  on.each_warp((std::int64_t{a.rows} + 31) / 32, SeeRows{a, seen, scale});
  bool const compares = pairs == Pairs::compare && a.rows == a.cols;
  bool const symmetric = compares && pairs_agree(on, a, UpToRounding{scale});
  SeenRows all;
  on.read(seen, &all, 1);
  bool const some = all.largest > 0;
  return {.rows = a.rows,
          .cols = a.cols,
          .entries = a.entries,
          .symmetric = symmetric,
          .zero_diagonal = all.zero_diagonal,
          .negative_diagonal = all.negative_diagonal,
          .dominant_rows = all.dominant,
          .least_row = some ? std::bit_cast<double>(all.least) : 0.0,
          .largest_row = some ? std::bit_cast<double>(all.largest) : 0.0};
}

template <class On>
bool mirrors_bit_by_bit(On& on, CsrView<double> const& a) {
  return pairs_agree(on, a, BitByBit{});
}

}  // namespace tcsolve
