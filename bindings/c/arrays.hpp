// SPDX-License-Identifier: Apache-2.0
/// The structs of tcsolve.h as what the library takes.
#pragma once

#include "bindings/c/tcsolve.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include <tcsolve/core/coo_view.hpp>
#include <tcsolve/matrix/csr.hpp>

namespace tcsolve::c {

inline void require(void const* pointer, char const* what) {
  if (pointer == nullptr) throw ShapeError(cat(what, " is null"));
}

/// Sizes in the first version, 0.1. Fields that are added later do not change them.
template <class S>
constexpr std::size_t first_size = sizeof(S);

/// The first bytes of a struct of the caller's, whose header may be older or newer than this one:
/// whole fields, since no header has had fewer than the first.
template <class S>
S of_size(S const* given, S filled, char const* what) {
  require(given, what);
  std::size_t const size = given->size;
  if (size < first_size<S> || size > (1u << 16))
    throw ShapeError(cat(what, ".size = ", size, "; set it to sizeof(", what, ")"));
  std::memcpy(&filled, given, std::min(size, sizeof filled));
  return filled;
}

template <class Offset_, class Column, class Value>
Csr<double> read_as(tcs_csr const& a) {
  auto const rows = static_cast<std::size_t>(a.rows), entries = static_cast<std::size_t>(a.entries);
  std::span const offsets(static_cast<Offset_ const*>(a.offsets), rows + 1);
  std::span const columns(static_cast<Column const*>(a.columns), entries);
  std::span const values(static_cast<Value const*>(a.values), entries);
  if constexpr (std::is_same_v<Value, double>)
    return csr_from(offsets, columns, values, a.cols, a.base);
  else
    return csr_from(offsets, columns, std::vector<double>(values.begin(), values.end()), a.cols,
                    a.base);
}

template <class Offset_, class Column>
Csr<double> read_values(tcs_csr const& a) {
  return a.value_type == TCS_F64 ? read_as<Offset_, Column, double>(a)
                                 : read_as<Offset_, Column, float>(a);
}

inline void one_of(std::int32_t value, std::int32_t x, std::int32_t y, char const* key) {
  if (value != x && value != y) throw ShapeError(cat(key, " = ", value, "; it is ", x, " or ", y));
}

/// A as the library takes it: the caller's arrays, or a copy in its form.
struct Taken {
  std::optional<Csr<double>> copy;
  CsrView<double> view;

  explicit Taken(tcs_csr const* given) {
    tcs_csr const a = of_size(given, tcs_csr{}, "tcs_csr");
    one_of(a.offset_bits, 32, 64, "tcs_csr.offset_bits");
    one_of(a.column_bits, 32, 64, "tcs_csr.column_bits");
    one_of(a.value_type, TCS_F64, TCS_F32, "tcs_csr.value_type");
    one_of(a.base, 0, 1, "tcs_csr.base");
    one_of(a.space, TCS_HOST, TCS_CUDA, "tcs_csr.space");
    Index const rows = narrow(a.rows, "tcs_csr.rows"), cols = narrow(a.cols, "tcs_csr.cols");
    if (a.entries < 0) throw ShapeError(cat("tcs_csr.entries = ", a.entries));
    require(a.offsets, "tcs_csr.offsets");
    if (a.entries > 0) require(a.columns, "tcs_csr.columns");
    if (a.entries > 0) require(a.values, "tcs_csr.values");
    bool const as_it_is = a.column_bits == 32 && a.value_type == TCS_F64 && a.base == 0;
    if (as_it_is) {
      view.rows = rows, view.cols = cols, view.entries = a.entries;
      view.offsets = a.offset_bits == 64 ? OffsetsView(static_cast<std::int64_t const*>(a.offsets))
                                         : OffsetsView(static_cast<std::int32_t const*>(a.offsets));
      view.columns = static_cast<std::int32_t const*>(a.columns);
      view.values = static_cast<double const*>(a.values);
      view.space = a.space == TCS_HOST ? Space::host : device_space(a.device, 0);
      return;
    }
    if (a.space != TCS_HOST)
      throw Unsupported(
          "tcs_csr on a device: 64-bit columns, FP32 values and base 1 are taken from the host");
    if (a.offset_bits == 64)
      copy = a.column_bits == 64 ? read_values<std::int64_t, std::int64_t>(a)
                                 : read_values<std::int64_t, std::int32_t>(a);
    else
      copy = a.column_bits == 64 ? read_values<std::int32_t, std::int64_t>(a)
                                 : read_values<std::int32_t, std::int32_t>(a);
    view = copy->view();
  }
};

/// Entries as the library takes them: the caller's arrays, or a copy in its form.
struct TakenEntries {
  std::vector<Index> i, j;
  std::vector<double> values;
  CooView view;

  explicit TakenEntries(tcs_coo const* given) {
    tcs_coo const a = of_size(given, tcs_coo{}, "tcs_coo");
    one_of(a.index_bits, 32, 64, "tcs_coo.index_bits");
    one_of(a.value_type, TCS_F64, TCS_F32, "tcs_coo.value_type");
    one_of(a.base, 0, 1, "tcs_coo.base");
    one_of(a.space, TCS_HOST, TCS_CUDA, "tcs_coo.space");
    view.rows = narrow(a.rows, "tcs_coo.rows"), view.cols = narrow(a.cols, "tcs_coo.cols");
    if (a.entries < 0) throw ShapeError(cat("tcs_coo.entries = ", a.entries));
    if (a.entries > 0) require(a.i, "tcs_coo.i");
    if (a.entries > 0) require(a.j, "tcs_coo.j");
    if (a.entries > 0) require(a.values, "tcs_coo.values");
    view.entries = a.entries;
    view.space = a.space == TCS_HOST ? Space::host : device_space(a.device, 0);
    bool const plain = a.index_bits == 32 && a.base == 0;
    if ((!plain || a.value_type != TCS_F64) && a.space != TCS_HOST)
      throw Unsupported(
          "tcs_coo on a device: 64-bit numbers, FP32 values and base 1 are taken from the host");
    auto const n = static_cast<std::size_t>(a.entries);
    if (plain) {
      view.i = static_cast<std::int32_t const*>(a.i);
      view.j = static_cast<std::int32_t const*>(a.j);
    } else {
      i = a.index_bits == 64 ? numbers<std::int64_t>(a.i, n, a) : numbers<std::int32_t>(a.i, n, a);
      j = a.index_bits == 64 ? numbers<std::int64_t>(a.j, n, a) : numbers<std::int32_t>(a.j, n, a);
      view.i = i.data(), view.j = j.data();
    }
    if (a.value_type == TCS_F64) {
      view.values = static_cast<double const*>(a.values);
    } else {
      auto const* const from = static_cast<float const*>(a.values);
      values.assign(from, from + n);
      view.values = values.data();
    }
  }

 private:
  /// From 0, in 32 bits: -1 for what is left out, the largest number for what fits none.
  template <class From>
  static std::vector<Index> numbers(void const* from, std::size_t n, tcs_coo const& a) {
    std::vector<Index> taken(n);
    for (std::size_t k = 0; k < n; ++k) {
      std::int64_t const number = static_cast<From const*>(from)[k];
      taken[k] = number < a.base ? -1
                                 : static_cast<Index>(std::min<std::int64_t>(
                                       number - a.base, std::numeric_limits<Index>::max()));
    }
    return taken;
  }
};

}  // namespace tcsolve::c
