// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/formats/features.hpp>

#include <array>

#include <tcsolve/core/half.hpp>
#include <tcsolve/kernels/dia.hpp>
#include <tcsolve/kernels/verbs/features.hpp>

namespace tcsolve {

template <class S>
Features features(Context& ctx, CsrView<S> const& a) {
  using F = FeatureSums;
  std::array<double, F::count + 1> counts{};
  auto scope = ctx.arena().scope();
  double* there = scope.template take<double>(counts.size());
  sweep(ctx, MeasureFeatures<S>{(std::int64_t{a.rows} + 7) / 8, a, there});
  sweep(ctx, LongestRow<S>{a.rows, a, there + F::count});
  copy_bytes(ctx, counts.data(), Space::host, there, ctx.space(), sizeof counts);
  ctx.synchronize();
  auto const at = [&](int k) { return static_cast<Offset>(counts[k]); };

  Features f;
  f.rows = a.rows, f.cols = a.cols, f.entries = a.entries;
  for (int l = 0; l <= 4; ++l) f.short_rows[l] = at(F::short_rows + l);
  f.long_rows = at(F::long_rows), f.long_entries = at(F::long_entries), f.longest = at(F::count);
  f.medium_slots = at(F::medium_slots), f.medium_wide = at(F::medium_wide);
  f.slices_stored = at(F::slices_stored), f.slices_wide = at(F::slices_wide);
  f.tiles = at(F::tiles), f.blocks = at(F::blocks), f.block_entries = at(F::block_entries);
  if (a.entries >= 8 * Offset{a.rows} && f.longest <= 4096) f.dense = count_blocks(ctx, a);
  auto const few = [&] { return dia_fits(double(f.diagonals), f.rows, f.entries); };
  f.diagonals = f.longest;
  if (few()) f.diagonals = count_diagonals(ctx, a);
  if (a.rows == a.cols && few()) {
    std::array<double, 3> sums{};
    sweep(ctx, MeasureSymmetry<S>{a.rows, a, there});
    copy_bytes(ctx, sums.data(), Space::host, there, ctx.space(), sizeof sums);
    ctx.synchronize();
    f.symmetric = sums[0] == sums[1] && sums[2] == 0;
  }
  return f;
}

template Features features(Context&, CsrView<double> const&);
template Features features(Context&, CsrView<float> const&);
template Features features(Context&, CsrView<half> const&);
template Features features(Context&, CsrView<bfloat16> const&);

}  // namespace tcsolve
