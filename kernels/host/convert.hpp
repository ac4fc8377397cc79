// SPDX-License-Identifier: Apache-2.0
/// The host as a backend of conversions (kernels/convert.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>
#include <vector>

#include <tcsolve/core/csr_view.hpp>
#include <tcsolve/kernels/atomics.hpp>
#include <tcsolve/kernels/convert.hpp>
#include <tcsolve/kernels/host/parallel.hpp>
#include <tcsolve/kernels/matrix_ops.hpp>

namespace tcsolve::host {

/// 32 lanes, one after another.
struct Warp {
  template <class T>
  using Of = std::array<T, 32>;
  template <class F>
  void each(F const& f) const {
    for (int l = 0; l < 32; ++l) f(l);
  }
  std::uint32_t least(Of<std::uint32_t> const& v) const {
    return *std::min_element(v.begin(), v.end());
  }
  std::int64_t sum(Of<std::uint32_t> const& v) const {
    return std::accumulate(v.begin(), v.end(), std::int64_t{0});
  }
  std::uint32_t rank(Of<std::uint32_t>& v) const {
    std::uint32_t before = 0;
    for (std::uint32_t& here : v) before += std::exchange(here, before) != 0;
    return before;
  }
};

class Converter {
 public:
  explicit Converter(Arena& arena) : scope_(arena.scope()) {}
  Space space() const { return Space::host; }

  template <class F>
  void each(std::int64_t n, F const& f) {
    parallel(n, 20000, f);
  }
  template <class S, class F>
  void each_row(std::int64_t n, CsrView<S> const& a, F const& f, RowsOf const& rows = {}) {
    parallel(n, 2000, [&](std::int64_t i) {
      f(a, i);
      if (rows.norm != nullptr && i < a.rows) raise_to(rows.norm, row_size(a, i));
    });
  }
  template <class S, class F>
  void each_row_of_values(std::int64_t n, CsrView<S> const& a, F const& f,
                          RowsOf const& rows = {}) {
    each_row(n, a, f, rows);
  }
  template <class S, class F>
  void each_rows_of_columns(std::int64_t n, int k, CsrView<S> const& a, F const& f) {
    parallel(n, 2000 / k, [&](std::int64_t I) { f(a, I); });
  }
  template <class F>
  void each_warp(std::int64_t n, F const& f) {
    parallel(n, 600, [&](std::int64_t i) { f(Warp{}, i); });
  }
  template <class F>
  void each_warp(std::int32_t const* count, std::int64_t, F const& f) {
    each_warp(*count, f);
  }
  template <class T, class Add>
  void scan(T const* in, T* out, std::int64_t n, Add const& add) {
    T sum{};
    for (std::int64_t i = 0; i < n; ++i) {
      T here = in[i];
      out[i] = sum;
      sum = add(sum, here);
    }
  }
  template <class V>
  void sort(std::uint32_t* key, V* value, std::int64_t n, std::uint32_t keys) {
    std::vector<std::int64_t> start(std::size_t(keys) + 1);
    for (std::int64_t i = 0; i < n; ++i) ++start[key[i] + 1];
    for (std::uint32_t k = 0; k < keys; ++k) start[k + 1] += start[k];
    std::vector<std::uint32_t> from_key(key, key + n);
    std::vector<V> from(value, value + n);
    for (std::int64_t i = 0; i < n; ++i) {
      std::int64_t to = start[from_key[i]]++;
      key[to] = from_key[i];
      value[to] = from[i];
    }
  }
  template <class T>
  void read(T const* from, T* to, std::int64_t n) {
    std::copy(from, from + n, to);
  }
  template <class T>
  void write(T const* from, T* to, std::int64_t n) {
    std::copy(from, from + n, to);
  }
  template <class T>
  void clear(T* p, std::int64_t n) {
    std::fill(p, p + n, T{});
  }
  template <class T>
  T* take(std::size_t n) {
    return scope_.template take<T>(n);
  }

 private:
  Arena::Scope scope_;
};

}  // namespace tcsolve::host
