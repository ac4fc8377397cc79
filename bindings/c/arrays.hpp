// SPDX-License-Identifier: Apache-2.0
/// The structs of tcsolve.h as what the library takes.
#pragma once

#include "bindings/c/tcsolve.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include <tcsolve/core/coo_view.hpp>
#include <tcsolve/matrix/caller_csr.hpp>
#include <tcsolve/precond/system.hpp>

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

inline void one_of(std::int32_t value, std::int32_t x, std::int32_t y, char const* key) {
  if (value != x && value != y) throw ShapeError(cat(key, " = ", value, "; it is ", x, " or ", y));
}

/// A as the library takes it: the caller's arrays, where they lie.
inline CallerCsr caller_csr(tcs_csr const* given) {
  tcs_csr const a = of_size(given, tcs_csr{}, "tcs_csr");
  one_of(a.offset_bits, 32, 64, "tcs_csr.offset_bits");
  one_of(a.column_bits, 32, 64, "tcs_csr.column_bits");
  one_of(a.value_type, TCS_F64, TCS_F32, "tcs_csr.value_type");
  one_of(a.base, 0, 1, "tcs_csr.base");
  one_of(a.space, TCS_HOST, TCS_CUDA, "tcs_csr.space");
  narrow(a.rows, "tcs_csr.rows"), narrow(a.cols, "tcs_csr.cols");
  if (a.entries < 0) throw ShapeError(cat("tcs_csr.entries = ", a.entries));
  require(a.offsets, "tcs_csr.offsets");
  if (a.entries > 0) require(a.columns, "tcs_csr.columns");
  if (a.entries > 0) require(a.values, "tcs_csr.values");
  auto const integers = [](std::int32_t bits) {
    return bits == 64 ? NumberKind::i64 : NumberKind::i32;
  };
  return {.rows = a.rows,
          .cols = a.cols,
          .entries = a.entries,
          .offsets = {a.offsets, integers(a.offset_bits)},
          .columns = {a.columns, integers(a.column_bits)},
          .values = {a.values, a.value_type == TCS_F64 ? NumberKind::f64 : NumberKind::f32},
          .base = a.base,
          .space = a.space == TCS_HOST ? Space::host : device_space(a.device, 0)};
}

inline NodeFacts node_facts(tcs_nodes const* given) {
  tcs_nodes const a = of_size(given, tcs_nodes{}, "tcs_nodes");
  NodeFacts facts;
  constexpr std::int32_t most = 8;
  if (a.block < 0 || a.block > most)
    throw ShapeError(cat("tcs_nodes.block = ", a.block, "; it is 0 to ", most));
  facts.block = a.block;
  if (a.coordinates != nullptr) {
    one_of(a.dim, 2, 3, "tcs_nodes.dim");
    Index const nodes = narrow(a.nodes, "tcs_nodes.nodes");
    facts.coordinates.assign(a.coordinates, a.coordinates + std::int64_t{nodes} * a.dim);
  }
  if (a.near_nullspace != nullptr) {
    Index const rows = narrow(a.rows, "tcs_nodes.rows");
    if (a.vectors < 0 || a.vectors > 2 * most)
      throw ShapeError(cat("tcs_nodes.vectors = ", a.vectors, "; at the most ", 2 * most));
    for (std::int64_t k = 0; k < a.vectors; ++k)
      facts.near_nullspace.emplace_back(a.near_nullspace + k * rows,
                                        a.near_nullspace + (k + 1) * rows);
  }
  return facts;
}

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
