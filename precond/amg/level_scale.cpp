// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/amg/level_scale.hpp>

#include <cmath>

#include <tcsolve/kernels/reductions.hpp>

namespace tcsolve {

int largest_exponent(Context& ctx, In<double> d) {
  if (d.rows == 0) return 0;
  double const most = largest<double>(ctx, d);
  return std::isnormal(most) ? std::ilogb(most) : 0;
}

void level_scale(Context& ctx, int h, Out<double> s) {
  Context::Entry const entry(ctx);
  ctx.visit([&](auto& on) { level_scale(on, ctx.arena(), s.rows, h, s.data); });
}

template <class T>
void scale_weights(Context& ctx, double const* w, int h, double const* s, std::int64_t rows,
                   T* to) {
  Context::Entry const entry(ctx);
  ctx.visit([&](auto& on) { scale_weights<T>(on, ctx.arena(), w, h, s, rows, to); });
}
template void scale_weights<double>(Context&, double const*, int, double const*, std::int64_t,
                                    double*);
template void scale_weights<float>(Context&, double const*, int, double const*, std::int64_t,
                                   float*);

template <class S>
void scale_entries(Context& ctx, CsrView<double> const& a, LevelScale const& scale, S* to) {
  Context::Entry const entry(ctx);
  ctx.visit([&](auto& on) { scale_entries<S>(on, ctx.arena(), a, scale, to); });
}
template <class S>
bool scale_entries(Context& ctx, CsrView<double> const& a, LevelScale const& scale,
                   std::uint8_t const* keep, S* to) {
  Context::Entry const entry(ctx);
  return ctx.visit([&](auto& on) { return scale_entries<S>(on, ctx.arena(), a, scale, keep, to); });
}
#define TCSOLVE_INSTANTIATE(S)                                                             \
  template void scale_entries<S>(Context&, CsrView<double> const&, LevelScale const&, S*); \
  template bool scale_entries<S>(Context&, CsrView<double> const&, LevelScale const&,      \
                                 std::uint8_t const*, S*);
TCSOLVE_LEVEL_REALS(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE

}  // namespace tcsolve
