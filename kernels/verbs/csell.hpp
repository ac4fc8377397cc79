// SPDX-License-Identifier: Apache-2.0
/// Products with SELL-32-sigma, compressed (formats/csell.hpp; Kreutzer et al. 2014, section 2).
///
///   lane   a thread a line; four steps are two loads of values in FP64, one in FP32 and FP16, one
///          of column differences and one of their four bases, which a warp shares
///   sum    in the order of the row, in T; the pieces of a long row one after another
///   bytes  positions (sizeof(S) + 1, 2 or 4) + 1/8 a position for bases + 1 line
#pragma once

#include <type_traits>

#include <tcsolve/core/half.hpp>
#include <tcsolve/kernels/verbs/basic.hpp>
#include <tcsolve/kernels/views/csell.hpp>

namespace tcsolve {

/// Elements that one load brings.
template <class E, int count>
struct alignas(sizeof(E) * count) Packet {
  E e[count];
};

/// Loads a packet; what streams is the first to leave the caches.
template <bool streams, class P, class E>
TCSOLVE_HD P load_packet(E const* from) {
#if defined(__CUDA_ARCH__)
  using Word = std::conditional_t<
      sizeof(P) == 16, uint4,
      std::conditional_t<
          sizeof(P) == 8, uint2,
          std::conditional_t<sizeof(P) == 4, unsigned int,
                             std::conditional_t<sizeof(P) == 2, unsigned short, unsigned char>>>>;
  Word const word = streams ? __ldcs(reinterpret_cast<Word const*>(from))
                            : __ldg(reinterpret_cast<Word const*>(from));
  return *reinterpret_cast<P const*>(&word);
#else
  P packet;
  for (std::size_t k = 0; k < sizeof(P) / sizeof(E); ++k) packet.e[k] = from[k];
  return packet;
#endif
}

/// One lane of a slice: where it reads next, and its sum of values[j] x[base_j + index_j]. I is the
/// type of the stored column numbers; 32-bit ones have no bases. What `groups` of four steps need
/// is loaded before any of it is added, without conditions: how many loads are in flight is what
/// limits the product. For a hole x is read at the base, a column that some line has, and dropped.
template <bool streams, class I, class S, class T>
struct CsellLane {
  using View = CsellView<S>;
  static constexpr int C = View::C, quad = View::quad, packet = View::packet;
  static constexpr int loads = quad / packet;
  S const* values;
  I const* indices;
  std::int32_t const* bases;
  T const* x;
  std::int64_t stride;
  T sum = T(0);

  TCSOLVE_HD CsellLane(S const* slice_values, I const* slice_indices, std::int32_t const* first,
                       int lane, T const* from, std::int64_t x_stride)
      : values(slice_values + lane * packet),
        indices(slice_indices + lane * quad),
        bases(first),
        x(from),
        stride(x_stride) {}

  TCSOLVE_HD T entry(std::int32_t base, I index) const {
    bool const hole = index == csell_hole<I>;
    T const e = x[std::int64_t{base + (hole ? 0 : static_cast<std::int32_t>(index))} * stride];
    return hole ? T(0) : e;
  }
  template <int groups>
  TCSOLVE_HD void add() {
    Packet<I, quad> i[groups];
    Packet<std::int32_t, quad> b[groups] = {};
    Packet<S, packet> v[groups * loads];
    T e[groups * quad];
    for (int g = 0; g < groups; ++g) {
      i[g] = load_packet<streams, Packet<I, quad>>(indices + g * C * quad);
      if constexpr (sizeof(I) < 4)
        b[g] = load_packet<false, Packet<std::int32_t, quad>>(bases + g * quad);
    }
    for (int p = 0; p < groups * loads; ++p)
      v[p] = load_packet<streams, Packet<S, packet>>(values + p * C * packet);
    for (int k = 0; k < groups * quad; ++k)
      e[k] = entry(b[k / quad].e[k % quad], i[k / quad].e[k % quad]);
    for (int k = 0; k < groups * quad; ++k) sum += T(v[k / packet].e[k % packet]) * e[k];
    values += groups * C * quad;
    indices += groups * C * quad;
    bases += groups * quad;
  }
};

template <bool streams, class I, class S, class T>
TCSOLVE_HD T csell_sum(S const* values, I const* indices, std::int32_t const* bases, Index width,
                       int lane, T const* x, std::int64_t stride) {
  using View = CsellView<S>;
  CsellLane<streams, I, S, T> at(values, indices, bases, lane, x, stride);
  Index j = 0;
  for (; j + 2 * View::quad <= width; j += 2 * View::quad) at.template add<2>();
  for (; j + View::quad <= width; j += View::quad) at.template add<1>();
  for (; j < width; ++j) {
    S const value = values[View::place(width, View::packet, j, lane)];
    I const index = indices[View::place(width, View::quad, j, lane)];
    at.sum += T(value) * at.entry(sizeof(I) < 4 ? bases[j] : 0, index);
  }
  return at.sum;
}

/// The sum over line i of a_ij x_j.
template <bool streams, class S, class T>
TCSOLVE_HD T csell_line(CsellView<S> const& a, std::int64_t i, T const* x, std::int64_t stride) {
  constexpr int C = CsellView<S>::C;
  CsellSlice const slice = a.slices[i / C];
  int const lane = static_cast<int>(i % C);
  S const* const values = a.values + slice.values;
  std::uint8_t const* const indices = a.indices + slice.indices;
  std::int32_t const* const bases = a.bases + slice.step;
  if (slice.bytes == 1)
    return csell_sum<streams>(values, indices, bases, slice.width, lane, x, stride);
  if (slice.bytes == 2)
    return csell_sum<streams>(values, reinterpret_cast<std::uint16_t const*>(indices), bases,
                              slice.width, lane, x, stride);
  return csell_sum<streams>(values, reinterpret_cast<std::int32_t const*>(indices), bases,
                            slice.width, lane, x, stride);
}

/// y = alpha A x + beta y, blocks of vectors; pieces of long rows go to parts, column after column.
template <class S, class T>
struct CsellMultiply {
  static constexpr char const* name = "csell_multiply";
  static constexpr bool long_elements = true;
  std::int64_t n;  ///< lines times columns of y
  T alpha;
  CsellView<S> a;
  Elements<T const> x;
  T beta;
  Elements<T> y;
  T* parts;  // (parts of a, columns of y)
  TCSOLVE_HD void element(std::int64_t e, NoCoefficients, double*) const {
    std::int64_t i = e, j = 0;
    if (y.cols > 1) i = e / y.cols, j = e % y.cols;
    T const* const column = x.data + j * x.col_stride;
    T sum;
    if (x.row_stride == 1)  // known to the compiler then
      sum = a.streams ? csell_line<true>(a, i, column, 1) : csell_line<false>(a, i, column, 1);
    else
      sum = csell_line<false>(a, i, column, x.row_stride);
    std::int64_t const row = a.order == nullptr ? i : a.order[i];
    if (row < 0) {
      parts[~row + j * a.parts] = sum;
      return;
    }
    T& to = y.data[row * y.row_stride + j * y.col_stride];
    to = beta == T(0) ? alpha * sum : alpha * sum + beta * to;
  }
};

/// y_i = alpha (sum of its parts) + beta y_i for the long rows i, in the order of the row.
template <class S, class T>
struct CsellAddParts {
  static constexpr char const* name = "csell_add_parts";
  std::int64_t n;  ///< long rows times columns of y
  T alpha;
  CsellView<S> a;
  T const* parts;
  T beta;
  Elements<T> y;
  TCSOLVE_HD void element(std::int64_t e, NoCoefficients, double*) const {
    std::int64_t const k = e / y.cols, j = e % y.cols;
    T sum = T(0);
    for (Index p = a.long_start[k]; p < a.long_start[k + 1]; ++p) sum += parts[p + j * a.parts];
    T& to = y.data[a.long_row[k] * y.row_stride + j * y.col_stride];
    to = beta == T(0) ? alpha * sum : alpha * sum + beta * to;
  }
};

/// y = alpha A x, sigma = <x, y>, one column, no row in pieces.
template <class S, class T>
struct CsellMultiplyDot {
  static constexpr char const* name = "csell_multiply_dot";
  static constexpr bool long_elements = true;
  static constexpr int sums = 1;
  std::int64_t n;
  T alpha;
  CsellView<S> a;
  T const* x;
  T* y;
  double* sigma;
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double* sum) const {
    T const yi = alpha * (a.streams ? csell_line<true>(a, i, x, 1) : csell_line<false>(a, i, x, 1));
    std::int64_t const row = a.order == nullptr ? i : a.order[i];
    y[row] = yi;
    sum[0] += double(x[row]) * double(yi);
  }
  TCSOLVE_HD void finish(Frame, double const* sum) const { *sigma = sum[0]; }
};

}  // namespace tcsolve
