// SPDX-License-Identifier: Apache-2.0
/// Numbers of one type as those of another, written once for both backends (kernels/convert.hpp).
#pragma once

#include <limits>
#include <type_traits>

#include <tcsolve/kernels/atomics.hpp>
#include <tcsolve/kernels/convert.hpp>
#include <tcsolve/matrix/caller_csr.hpp>

namespace tcsolve {

/// to_k = from_k - base
template <class From, class To>
struct ConvertNumbers {
  From const* from;
  To* to;
  From base;
  TCSOLVE_HD void operator()(std::int64_t k) const { to[k] = static_cast<To>(from[k] - base); }
};

/// The same of columns; *wrong: the first k whose column lies outside of [0, cols).
template <class From>
struct ConvertColumns {
  From const* from;
  Index* to;
  std::int64_t base, cols;
  std::int64_t* wrong;
  TCSOLVE_HD void operator()(std::int64_t k) const {
    std::int64_t const column = from[k] - base;
    bool const inside = column >= 0 && column < cols;
    to[k] = inside ? static_cast<Index>(column) : 0;
    if (!inside) lower_to(wrong, k);
  }
};

/// *differ becomes 1 where word k of a and b is not the same.
struct CompareWords {
  std::uint32_t const *a, *b;
  std::int32_t* differ;
  TCSOLVE_HD void operator()(std::int64_t k) const {
    if (a[k] != b[k]) put(differ, 1);
  }
};

/// f(array of its type).
template <class F>
void with_numbers(NumbersView v, F const& f) {
  switch (v.type) {
    case NumberKind::i32: return f(static_cast<std::int32_t const*>(v.data));
    case NumberKind::i64: return f(static_cast<std::int64_t const*>(v.data));
    case NumberKind::f32: return f(static_cast<float const*>(v.data));
    case NumberKind::f64: return f(static_cast<double const*>(v.data));
  }
}

template <class To, class On>
void convert_numbers(On& on, NumbersView v, To* to, std::int64_t n, int base = 0) {
  with_numbers(v, [&]<class From>(From const* from) {
    on.each(n, ConvertNumbers<From, To>{from, to, static_cast<From>(base)});
  });
}

template <class On>
void convert_numbers(On& on, NumbersView from, void* to, NumberKind type, std::int64_t n) {
  switch (type) {
    case NumberKind::i32: return convert_numbers(on, from, static_cast<std::int32_t*>(to), n);
    case NumberKind::i64: return convert_numbers(on, from, static_cast<std::int64_t*>(to), n);
    case NumberKind::f32: return convert_numbers(on, from, static_cast<float*>(to), n);
    case NumberKind::f64: return convert_numbers(on, from, static_cast<double*>(to), n);
  }
}

/// wrong: the first entry with a column that is not there, or beyond all.
template <class On>
CsrArrays<double> convert_csr(On& on, CallerCsr const& a, std::int64_t& wrong) {
  CsrArrays<double> made;
  auto const rows = static_cast<std::size_t>(a.rows), entries = static_cast<std::size_t>(a.entries);
  auto const room = [&]<class T>(Array<T>& array, std::size_t n) {
    array.resize(on.space(), n);
    return array.data();
  };
  if (a.entries <= std::numeric_limits<std::int32_t>::max())
    convert_numbers(on, a.offsets, room(made.narrow_offsets, rows + 1), a.rows + 1, a.base);
  else
    convert_numbers(on, a.offsets, room(made.wide_offsets, rows + 1), a.rows + 1, a.base);
  auto* const first = on.template take<std::int64_t>(1);
  wrong = std::numeric_limits<std::int64_t>::max();
  on.write(&wrong, first, 1);
  Index* const columns = room(made.columns, entries);
  with_numbers(a.columns, [&]<class From>(From const* from) {
    if constexpr (std::is_integral_v<From>)
      on.each(a.entries, ConvertColumns<From>{from, columns, a.base, a.cols, first});
  });
  convert_numbers(on, a.values, room(made.values, entries), a.entries);
  on.read(first, &wrong, 1);
  return made;
}

template <class On>
bool same_bytes(On& on, void const* a, void const* b, std::size_t bytes) {
  constexpr std::size_t word = sizeof(std::uint32_t);
  auto* const differ = on.template take<std::int32_t>(1);
  on.clear(differ, 1);
  on.each(static_cast<std::int64_t>(bytes / word),
          CompareWords{static_cast<std::uint32_t const*>(a), static_cast<std::uint32_t const*>(b),
                       differ});
  std::int32_t found = 0;
  on.read(differ, &found, 1);
  return found == 0;
}

}  // namespace tcsolve
