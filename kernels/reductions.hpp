// SPDX-License-Identifier: Apache-2.0
/// Scalars that the host needs now: each waits for the device. For set-up and for the ends of a
/// solve, never inside a loop.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include <tcsolve/kernels/vector_ops.hpp>

namespace tcsolve {

/// The scalar at p, which lies in the Context's space.
inline double read(Context& ctx, double const* p) {
  double value = 0;
  copy_bytes(ctx, &value, Space::host, p, ctx.space(), sizeof value);
  return value;
}

/// Two factors whose product is 2^e: each is in range where 2^e itself may not be.
struct PowerOfTwo {
  double factor, factor2;
  explicit PowerOfTwo(int e)
      : factor(std::ldexp(1.0, e / 2)), factor2(std::ldexp(1.0, e - e / 2)) {}
};

/// y = 2^e x, yy = <y, y>.
template <class T, class U>
void rescale(Context& ctx, int e, In<T> x, Out<U> y, double* yy) {
  PowerOfTwo two(e);
  submit(ctx, Rescale<T, U>{y.rows, two.factor, two.factor2, x.data, y.data, yy});
}
/// y = 2^e x, without a wait.
template <class T, class U>
void rescale_into(Context& ctx, int e, In<T> x, Out<U> y) {
  auto scope = ctx.arena().scope();
  rescale<T, U>(ctx, e, x, y, scope.template take<double>(1));
}
/// y = 2^e x; returns ||y||_2.
template <class T, class U>
double rescale(Context& ctx, int e, In<T> x, Out<U> y) {
  auto scope = ctx.arena().scope();
  double* yy = scope.template take<double>(1);
  rescale<T, U>(ctx, e, x, y, yy);
  return std::sqrt(read(ctx, yy));
}

/// max |x_i|; NaN when an element is.
template <class T>
double largest(Context& ctx, In<T> x) {
  auto scope = ctx.arena().scope();
  double* value = scope.template take<double>(1);
  max_abs<T>(ctx, x, value);
  return read(ctx, value);
}

/// Whether a sum of squares has met neither end of the exponent range.
TCSOLVE_HD bool squares_fit(double xx) { return xx > 1e-280 && xx < 1e280; }

/// ||x||_2 of a vector whose squares do not fit.
template <class T>
double norm_beyond(Context& ctx, In<T> x) {
  double const size = largest<T>(ctx, x);
  if (size == 0 || !std::isfinite(size)) return size;
  auto scope = ctx.arena().scope();
  int const e = std::ilogb(size);
  Out<T> scaled = scope.template vector<T>(x.rows);
  return std::ldexp(rescale<T, T>(ctx, -e, x, scaled), e);
}

/// ||x||_2, where <x, x> is known as it came.
template <class T>
double norm_from(Context& ctx, double xx, In<T> x) {
  return squares_fit(xx) ? std::sqrt(xx) : norm_beyond<T>(ctx, x);
}

/// ||x||_2, neither overflowing nor underflowing; NaN or infinite when an element is.
template <class T>
double norm(Context& ctx, In<T> x) {
  auto scope = ctx.arena().scope();
  double* value = scope.template take<double>(1);
  dot<T>(ctx, x, x, value);
  return norm_from<T>(ctx, read(ctx, value), x);
}

/// The same of up to three vectors in one pass and one wait; one or two more waits for each whose
/// squares do not fit, unless it is zero.
template <class... V>
std::array<double, sizeof...(V)> norms(Context& ctx, V const&... vectors) {
  constexpr std::size_t count = sizeof...(V), most = Lengths::most;
  static_assert(count <= most);
  std::array<In<double>, count> const x{In<double>(vectors)...};
  auto scope = ctx.arena().scope();
  Lengths lengths{0, {}, {}, scope.template take<double>(Lengths::sums)};
  for (std::size_t k = 0; k < count; ++k) {
    lengths.v[k] = x[k].data;
    lengths.rows[k] = x[k].rows;
    lengths.n = std::max<std::int64_t>(lengths.n, x[k].rows);
  }
  submit(ctx, lengths);
  std::array<double, Lengths::sums> sums{};
  copy_bytes(ctx, sums.data(), Space::host, lengths.out, ctx.space(), sizeof sums);
  std::array<double, count> out{};
  for (std::size_t k = 0; k < count; ++k)
    out[k] = sums[most + k] == 0 ? 0.0 : norm_from<double>(ctx, sums[k], x[k]);
  return out;
}

}  // namespace tcsolve
