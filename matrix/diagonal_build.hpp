// SPDX-License-Identifier: Apache-2.0
/// What is kept beside rounded values, on the diagonal and in FP32, written once for both backends
/// (kernels/convert.hpp). With the errors E = A - 2^-shift R^-1 B C^-1 of rounding, in blocks of b
/// rows and columns where A consists of such blocks, else b = 1:
///
///     exact       D_I = E_II
///     row_sums    D_I = E_II + sum_{J != I} E_IJ      of a symmetric A its symmetric part
///
/// so that A e, for blocks A on the b translations, is what it was. The off-diagonal error of a
/// matrix with small row sums is a matrix with none: of size u relative to A itself in the energy,
/// not to its norm. Where diagonals differ by decades within a row the sum may be larger than what
/// rounding does to the row of D A D: |sum_J E_IJ| > u sum_j |a_ij| in the units of that row. There
/// the block stays exact.
#pragma once

#include <tcsolve/matrix/equilibrate_build.hpp>
#include <tcsolve/matrix/narrow.hpp>

namespace tcsolve::narrowing {

/// v rounded to S. Every NaN becomes the same quiet NaN: devices do so by themselves, hosts do not.
template <class S>
TCSOLVE_HD S rounded(double v) {
  return v == v ? S(v) : S(std::numeric_limits<float>::quiet_NaN());
}

/// The powers of two of a matrix; null: zeros.
struct Powers {
  int shift;
  std::int32_t const *rows, *columns;
  TCSOLVE_HD int operator()(std::int64_t i, Index j) const {
    return shift + (rows == nullptr ? 0 : rows[i]) + (columns == nullptr ? 0 : columns[j]);
  }
};

constexpr int most_in_a_block = 6;

/// blocks[b] += blocks of b columns that rows 32 w to 32 w + 31 meet, each row counted by itself.
template <class T>
struct CountBlocks {
  CsrView<T> a;
  std::int64_t* blocks;
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t w) const {
    typename Warp::template Of<std::uint32_t> met[most_in_a_block + 1];
    warp.each([&](int lane) {
      Index last[most_in_a_block + 1];
      for (int b = 2; b <= most_in_a_block; ++b) met[b][lane] = 0, last[b] = -1;
      std::int64_t const i = 32 * w + lane;
      if (i >= a.rows) return;
      for (Offset k = a.offsets[i], end = a.offsets[i + 1]; k < end; ++k)
        for (int b = 2; b <= most_in_a_block; ++b) {
          Index const here = a.columns[k] / b;
          met[b][lane] += here != last[b];
          last[b] = here;
        }
    });
    for (int b = 2; b <= most_in_a_block; ++b) {
      std::int64_t const all = warp.sum(met[b]);
      warp.each([&](int lane) {
        if (lane == 0) atomic_add(blocks + b, all);
      });
    }
  }
};

/// The size of the blocks that A consists of but for a tenth of their positions; 1: of none.
template <class On, class T>
int block_of(On& on, CsrView<T> const& a) {
  auto* const counts = on.template take<std::int64_t>(most_in_a_block + 1);
  on.clear(counts, most_in_a_block + 1);
  on.each_warp((std::int64_t{a.rows} + 31) / 32, CountBlocks<T>{a, counts});
  std::int64_t met[most_in_a_block + 1];
  on.read(counts, met, most_in_a_block + 1);
  int block = 1;
  double fullest = 0.9;
  for (int b = 2; b <= most_in_a_block; ++b) {
    double const full = met[b] > 0 ? double(a.entries) / (double(b) * double(met[b])) : 0.0;
    if (a.rows % b == 0 && full >= fullest) block = b, fullest = full;
  }
  return block;
}

/// The errors of row i, in the units of B: those of its block, and the sums of the others.
template <class S>
struct RowErrors {
  Powers powers;
  int block;
  std::int32_t const* e;
  float *own, *others;    ///< (rows, block)
  std::int32_t* refuses;  ///< (rows / block): != 0 where `others` is too large
  template <class T>
  TCSOLVE_HD void operator()(CsrView<T> const& a, std::int64_t i) const {
    double near[most_in_a_block] = {}, far[most_in_a_block] = {}, size = 0;
    std::int64_t const I = i / block;
    auto const unit = [this](Index j) { return e[j] == lowest ? 0 : -(e[j] >> 1); };
    for (Offset k = a.offsets[i], end = a.offsets[i + 1]; k < end; ++k) {
      double const v = double(a.values[k]);
      if (!finite_nonzero(v)) continue;
      Index const j = a.columns[k];
      int const p = powers(i, j);
      double const error = v - times_power(double(rounded<S>(times_power(v, p))), -p);
      if (j / block == I)
        near[j % block] = times_power(error, p);
      else
        far[j % block] += error;
      size += times_power(v < 0 ? -v : v, unit(j));
    }
    bool moves = true;
    for (int c = 0; c < block; ++c) {
      auto const j = static_cast<Index>(I * block + c);
      double const sum = far[c] < 0 ? -far[c] : far[c];
      moves = moves && times_power(sum, unit(j)) <= times_power(size, -Limits<S>::bits);
      own[i * block + c] = static_cast<float>(near[c]);
      others[i * block + c] = static_cast<float>(times_power(far[c], powers(i, j)));
    }
    if (!moves) put(refuses + I, 1);
  }
};

/// own += others, or their symmetric part.
struct MoveErrors {
  int block;
  bool symmetric;
  float const* others;
  std::int32_t const* refuses;
  float* own;
  std::int32_t* any;  ///< 1 where something is kept
  TCSOLVE_HD void operator()(std::int64_t i) const {
    std::int64_t const I = i / block;
    bool const moves = others != nullptr && refuses[I] == 0;
    for (int c = 0; c < block; ++c) {
      float& kept = own[i * block + c];
      if (moves) {
        float const here = others[i * block + c],
                    mirror = others[(I * block + c) * block + i % block];
        kept += symmetric ? 0.5f * (here + mirror) : here;
      }
      if (kept != 0 && glance(any) == 0) put(any, 1);
    }
  }
};

/// (rows, block), empty where nothing was lost; `block` is chosen. Cost: four passes over A, and a
/// look-up of each mirror.
template <class S, class On, class T>
Array<float> kept_beside(On& on, CsrView<T> const& a, Powers const& powers, KeptDiagonal kept,
                         int& block) {
  block = 1;
  if (a.rows != a.cols || a.rows == 0 || kept == KeptDiagonal::stored) return {};
  auto* const e = on.template take<std::int32_t>(a.rows);
  on.each_row(a.rows, a, RowExponent{e});
  bool const symmetric = has_mirrors(on, a, e);
  if (kept == KeptDiagonal::automatic) {
    if (!symmetric) return {};
    kept = KeptDiagonal::row_sums;
  }
  block = block_of(on, a);
  std::size_t const n = std::size_t(a.rows) * block;
  Array<float> own(on.space(), n);
  auto* const others = on.template take<float>(n);
  auto* const refuses = on.template take<std::int32_t>(a.rows);
  auto* const found = on.template take<std::int32_t>(1);
  on.clear(refuses, a.rows);
  on.clear(found, 1);
  on.each_row(a.rows, a, RowErrors<S>{powers, block, e, own.data(), others, refuses});
  on.each(a.rows, MoveErrors{block, symmetric, kept == KeptDiagonal::row_sums ? others : nullptr,
                             refuses, own.data(), found});
  std::int32_t any = 0;
  on.read(found, &any, 1);
  return any != 0 ? std::move(own) : Array<float>();
}

}  // namespace tcsolve::narrowing
