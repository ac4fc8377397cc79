// SPDX-License-Identifier: Apache-2.0
/// The fused operations of what a rank has outside of its own columns. Vectors are of T; what ranks
/// send and the entries are FP64.
#pragma once

#include <tcsolve/core/csr_view.hpp>
#include <tcsolve/distributed/arrivals.hpp>
#include <tcsolve/kernels/op_list.hpp>
#include <tcsolve/kernels/residual.hpp>
#include <tcsolve/kernels/vector_ops.hpp>
#if defined(__CUDACC__)
#include <tcsolve/distributed/arrivals.cuh>
#endif

namespace tcsolve {

/// What has come from other ranks: an array, or, where `from` is null, values that other devices
/// may still be storing. An operation opens it before its first element and closes it after its
/// last.
struct Arrived {
  double const* from = nullptr;
  cuda::Arriving in{};

  struct Coefficients {
    double const* from;
    cuda::Arrivals in;
    TCSOLVE_HD double operator[](std::int64_t e) const {
#if defined(__CUDA_ARCH__)
      if (from == nullptr) return wait_for(in, e, look(in, e));
#endif
      return from[e];
    }
    /// sum_j a_kj h_j, h a row-major block, of which column c is meant: on a device by 2^shift
    /// threads, in the first of them. Several values are looked for at once.
    TCSOLVE_HD double row(CsrView<double> const& a, std::int64_t k, Index cols, Index c,
                          [[maybe_unused]] int lane, [[maybe_unused]] int shift) const {
      double sum = 0;
      Offset const end = a.offsets[k + 1];
#if defined(__CUDA_ARCH__)
      if (from != nullptr) {
        for (Offset p = a.offsets[k] + lane; p < end; p += 1 << shift)
          sum += a.values[p] * from[std::int64_t{a.columns[p]} * cols + c];
        return cuda::sum_of_lanes(sum, shift);
      }
      constexpr int ahead = 8;
      for (Offset first = a.offsets[k] + lane; first < end; first += ahead << shift) {
        auto const inside = [&](int u) { return first + (u << shift) < end; };
        std::int64_t place[ahead] = {};
        double value[ahead] = {};
        cuda::Post post[ahead] = {};
#pragma unroll
        for (int u = 0; u < ahead; ++u)
          if (inside(u)) {
            Offset const p = first + (u << shift);
            place[u] = std::int64_t{a.columns[p]} * cols + c;
            value[u] = a.values[p];
          }
#pragma unroll
        for (int u = 0; u < ahead; ++u)
          if (inside(u)) post[u] = look(in, place[u]);
#pragma unroll
        for (int u = 0; u < ahead; ++u)
          if (inside(u)) sum += value[u] * wait_for(in, place[u], post[u]);
      }
      return cuda::sum_of_lanes(sum, shift);
#else
      for (Offset p = a.offsets[k]; p < end; ++p)
        sum += a.values[p] * from[std::int64_t{a.columns[p]} * cols + c];
      return sum;
#endif
    }
  };
  TCSOLVE_HD bool open(Coefficients& h) const {
    h.from = from;
#if defined(__CUDA_ARCH__)
    if (from == nullptr) h.in = cuda::begin_turn(in);
#endif
    return true;
  }
  TCSOLVE_HD void close([[maybe_unused]] Frame f) const {
#if defined(__CUDA_ARCH__)
    if (from == nullptr && f.speaks) cuda::end_turn(in);
#endif
  }
};

/// x_{places_k}, rows of a block, into the memory of the devices that want them. What is sent in a
/// stopped loop nobody waits for: nothing that stops a loop comes between a send and its receive.
/// Room is waited for once the value is there: each is a chain of loads, and all others of a team
/// wait for both.
template <class T>
struct SendRows {
  static constexpr char const* name = "send_rows";
  static constexpr bool spread = true;
  std::int64_t n;       ///< values that go: rows times columns
  Index const* places;  ///< null: all, in order
  Elements<T const> x;
  cuda::Sending out;
  struct Coefficients {
    std::uint32_t turn;
  };
  TCSOLVE_HD bool prepare(Frame, [[maybe_unused]] Coefficients& c) const {
#if defined(__CUDA_ARCH__)
    c.turn = cuda::next_turn(out);
#endif
    return true;
  }
  TCSOLVE_HD void element([[maybe_unused]] std::int64_t e, [[maybe_unused]] Coefficients const& c,
                          double*) const {
#if defined(__CUDA_ARCH__)
    std::int64_t const cols = x.cols, k = cols == 1 ? e : row_of_element(e, x.cols);
    std::int64_t const row = places != nullptr ? places[k] : k;
    cuda::send(out, c.turn, e, double(x[row * cols + e - k * cols]));
#endif
  }
  void const* gathered() const { return x.data; }
  Index columns() const { return x.cols; }
};

/// to_k = x_{places_k}, rows of a block: what goes to the neighbours.
template <class T>
struct PackRows {
  static constexpr char const* name = "pack_rows";
  std::int64_t n;  ///< rows of `to` times columns
  Index const* places;
  Elements<T const> x;
  double* to;
  TCSOLVE_HD void element(std::int64_t e, NoCoefficients, double*) const {
    std::int64_t const cols = x.cols, k = cols == 1 ? e : row_of_element(e, x.cols);
    to[e] = double(x[places[k] * cols + e - k * cols]);
  }
};

/// to = h: the halo where it is to stay.
struct KeepHalo {
  static constexpr char const* name = "keep_halo";
  std::int64_t n;
  Arrived h;
  double* to;
  using Coefficients = Arrived::Coefficients;
  TCSOLVE_HD bool prepare(Frame, Coefficients& c) const { return h.open(c); }
  TCSOLVE_HD void element(std::int64_t e, Coefficients const& c, double*) const { to[e] = c[e]; }
  TCSOLVE_HD void finish(Frame f, double const*) const { h.close(f); }
};

/// The rows that have entries in others' columns, those entries, and where their sums are kept for
/// who has the row: `first` says for every 32 rows of y which is the first part among them.
///
///     rows        5  40  41  70        of y's 96
///     parts       .   .   .   .
///     first       0   1   3   4
///
/// Where all of a block's rows may be such rows, and are many, parts are not for it to join: then
/// there are none (OuterPart).
struct OuterRows {
  CsrView<double> a;
  Index const* rows;  ///< ascending
  int shift;          ///< 2^shift threads share a row on a device; 0 on the host
  double* parts;
  Index const* first;
  std::int64_t size;  ///< of y
  static constexpr int together = 32;
  /// Part of the first of rows begin, .., a multiple of 32 or size.
  TCSOLVE_HD std::int64_t first_part(std::int64_t begin) const {
    return first[(begin + together - 1) / together];
  }
  /// y_{rows_k} += parts_k, k = begin, begin + step, .. before end; several at once.
  template <class T>
  TCSOLVE_HD void join(T* y, std::int64_t begin, std::int64_t end, std::int64_t step) const {
    constexpr int ahead = most_of_a_thread;
    for (; begin < end; begin += ahead * step) {
      Index row[ahead];
      double part[ahead], own[ahead];
      for (int u = 0; u < ahead; ++u) {
        std::int64_t const k = begin + u * step < end ? begin + u * step : begin;
        row[u] = rows[k], part[u] = parts[k];
      }
      for (int u = 0; u < ahead; ++u) own[u] = double(y[row[u]]);
      for (int u = 0; u < ahead; ++u)
        if (begin + u * step < end) y[row[u]] = T(own[u] + part[u]);
    }
  }
  static constexpr int most_of_a_thread = 8;
};

/// y_{rows_k} += alpha sum_j a_kj h_j, h a row-major block. An element is one of the 2^shift
/// threads that share a row. A loop that is one kernel makes the parts first, by all its blocks,
/// and each block joins those of its own rows: what comes from others asks nothing of the product
/// that makes y, and so nobody waits between the two.
template <class T>
struct AddOuterRows {
  static constexpr char const* name = "add_outer_rows";
  static constexpr bool long_elements = true, spread = true;
  std::int64_t n;  ///< rows of a times columns, times 2^shift
  double alpha;
  OuterRows outer;
  Arrived h;
  Elements<T> y;
  using Coefficients = Arrived::Coefficients;
  TCSOLVE_HD bool prepare(Frame, Coefficients& came) const { return h.open(came); }
  TCSOLVE_HD void element(std::int64_t e, Coefficients const& came, double*) const {
    Index const cols = y.cols;
    std::int64_t const i = e >> outer.shift, k = cols == 1 ? i : row_of_element(i, cols);
    auto const c = static_cast<Index>(i - k * cols);
    int const lane = static_cast<int>(e & ((1 << outer.shift) - 1));
    double const sum = came.row(outer.a, k, cols, c, lane, outer.shift);
    if (lane > 0) return;
    T& at = y[std::int64_t{outer.rows[k]} * cols + c];
    at = T(double(at) + alpha * sum);
  }
  TCSOLVE_HD void part(std::int64_t e, Coefficients const& came, double*) const {
    std::int64_t const k = e >> outer.shift;
    int const lane = static_cast<int>(e & ((1 << outer.shift) - 1));
    double const sum = came.row(outer.a, k, 1, 0, lane, outer.shift);
    if (lane == 0) outer.parts[k] = alpha * sum;
  }
  TCSOLVE_HD void join(std::int64_t begin, std::int64_t end, std::int64_t step) const {
    outer.join(y.data, begin, end, step);
  }
  TCSOLVE_HD void finish(Frame f, double const*) const { h.close(f); }
  TCSOLVE_HD OuterRows const& joins() const { return outer; }
  void const* gathered() const { return outer.parts != nullptr ? nullptr : y.data; }
  bool writes(void const* v) const { return outer.parts == nullptr || v == y.data; }
  Index columns() const { return y.cols; }
};

/// The same for one column, and *sigma = <x, y> of all ranks, where *own is that of what y has
/// held. Where blocks hold parts of it instead, *own is 0. x is what the product before has read.
struct AddOuterRowsDot {
  static constexpr char const* name = "add_outer_rows_dot";
  static constexpr bool long_elements = true, spread = true;
  static constexpr int sums = 1;
  std::int64_t n;  ///< rows of a, times 2^shift, and one element for *own
  double alpha;
  OuterRows outer;
  Arrived h;
  double const* x;
  double* y;
  double const* own;
  double* sigma;
  using Coefficients = Arrived::Coefficients;
  TCSOLVE_HD bool prepare(Frame, Coefficients& came) const { return h.open(came); }
  TCSOLVE_HD void element(std::int64_t e, Coefficients const& came, double* sum) const {
    each(e, came, sum, [&](std::int64_t, Index i, double part) { y[i] += part; });
  }
  TCSOLVE_HD void part(std::int64_t e, Coefficients const& came, double* sum) const {
    each(e, came, sum, [&](std::int64_t k, Index, double part) { outer.parts[k] = part; });
  }
  TCSOLVE_HD void join(std::int64_t begin, std::int64_t end, std::int64_t step) const {
    outer.join(y, begin, end, step);
  }
  TCSOLVE_HD void finish(Frame f, double const* sum) const {
    h.close(f);
    *sigma = sum[0];
  }
  TCSOLVE_HD OuterRows const& joins() const { return outer; }
  void const* gathered() const { return outer.parts != nullptr ? nullptr : y; }
  bool writes(void const* v) const { return outer.parts == nullptr || v == y; }

 private:
  template <class F>
  TCSOLVE_HD void each(std::int64_t e, Coefficients const& came, double* sum, F const& add) const {
    if (e == n - 1) {
      sum[0] += *own;
      return;
    }
    std::int64_t const k = e >> outer.shift;
    int const lane = static_cast<int>(e & ((1 << outer.shift) - 1));
    Index const i = outer.rows[k];
    double const xi = x[i], part = alpha * came.row(outer.a, k, 1, 0, lane, outer.shift);
    if (lane > 0) return;
    add(k, i, part);
    sum[0] += xi * part;
  }
};

/// to_j = sum_k a_kj x_{rows_k}, with the columns of a as rows: what goes back to the owners.
template <class T>
struct OuterTransposed {
  static constexpr char const* name = "outer_transposed";
  static constexpr bool long_elements = true;
  std::int64_t n;      ///< rows of at times columns
  CsrView<double> at;  ///< its columns are rows here
  Elements<T const> x;
  double* to;
  TCSOLVE_HD void element(std::int64_t e, NoCoefficients, double*) const {
    std::int64_t const cols = x.cols, k = cols == 1 ? e : row_of_element(e, x.cols),
                       c = e - k * cols;
    double sum = 0;
    for (Offset p = at.offsets[k]; p < at.offsets[k + 1]; ++p)
      sum += at.values[p] * double(x[std::int64_t{at.columns[p]} * cols + c]);
    to[e] = sum;
  }
};

/// y_{targets_k} += alpha times the sum of what has come back for it, neighbour by neighbour.
template <class T>
struct AddReturned {
  static constexpr char const* name = "add_returned";
  std::int64_t n;  ///< targets times columns
  double alpha;
  Index const *targets, *starts, *places;
  Arrived h;
  Elements<T> y;
  using Coefficients = Arrived::Coefficients;
  TCSOLVE_HD bool prepare(Frame, Coefficients& came) const { return h.open(came); }
  TCSOLVE_HD void element(std::int64_t e, Coefficients const& came, double*) const {
    std::int64_t const cols = y.cols, k = cols == 1 ? e : row_of_element(e, y.cols),
                       c = e - k * cols;
    double sum = 0;
    for (Index p = starts[k]; p < starts[k + 1]; ++p) sum += came[places[p] * cols + c];
    T& at = y[targets[k] * cols + c];
    at = T(double(at) + alpha * sum);
  }
  TCSOLVE_HD void finish(Frame f, double const*) const { h.close(f); }
};

/// r_{rows_k} -= sum_j a_kj h_j, summed as exactly as the part before (kernels/residual.hpp).
struct OuterResidual {
  static constexpr char const* name = "outer_residual";
  static constexpr bool long_elements = true;
  std::int64_t n;
  CsrView<double> a;
  Index const* rows;
  Arrived h;
  ResidualVectors v;  ///< `more`: r holds what the own columns have left
  using Coefficients = Arrived::Coefficients;
  TCSOLVE_HD bool prepare(Frame, Coefficients& c) const { return h.open(c); }
  TCSOLVE_HD void element(std::int64_t k, Coefficients const& c, double*) const {
    RowSum row;
    for (Offset p = a.offsets[k]; p < a.offsets[k + 1]; ++p)
      row.subtract_product(a.values[p], c[a.columns[p]]);
    v.finish(rows[k], row);
  }
  TCSOLVE_HD void finish(Frame f, double const*) const { h.close(f); }
};

using DistributedOps =
    OpList<PackRows<double>, SendRows<double>, KeepHalo, AddOuterRows<double>, AddOuterRowsDot,
           OuterTransposed<double>, AddReturned<double>, OuterResidual, PackRows<float>,
           SendRows<float>, AddOuterRows<float>, OuterTransposed<float>, AddReturned<float>>;

}  // namespace tcsolve
