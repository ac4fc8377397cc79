// SPDX-License-Identifier: Apache-2.0
/// The fields of an aggregate, one by one: how a program finds the pointers among the operands of a
/// operation. Reading the bytes word by word does not do: between the fields lies whatever the
/// stack held, and that may well be the address of a vector.
#pragma once

#include <cstddef>
#include <type_traits>

namespace tcsolve {

namespace detail {
struct Anything {
  template <class T>
  operator T() const;
};
}  // namespace detail

/// How many fields an aggregate has: the most that braces can initialise. (Fewer may not do: a
/// field that is left out may have no default.)
template <class V, class... A>
consteval std::size_t field_count() {
  constexpr bool fits = requires { V{A{}...}; };
  std::size_t more = 0;
  if constexpr (sizeof...(A) < 20) more = field_count<V, A..., detail::Anything>();
  return more > 0 ? more : fits ? sizeof...(A) : 0;
}

/// f(field) for each field of v, an aggregate without arrays of at most eighteen; not for those of
/// a field that is an aggregate itself.
template <class V, class F>
void each_field(V const& v, F const& f) {
  static_assert(std::is_aggregate_v<V>);
  constexpr std::size_t count = field_count<V>();
  static_assert(count >= 1 && count <= 18);
  auto all = [&](auto const&... field) { (f(field), ...); };
#define TCSOLVE_FIELDS(n, ...)     \
  if constexpr (count == n) {      \
    auto const& [__VA_ARGS__] = v; \
    all(__VA_ARGS__);              \
  }
  TCSOLVE_FIELDS(1, a)
  TCSOLVE_FIELDS(2, a, b)
  TCSOLVE_FIELDS(3, a, b, c)
  TCSOLVE_FIELDS(4, a, b, c, d)
  TCSOLVE_FIELDS(5, a, b, c, d, e)
  TCSOLVE_FIELDS(6, a, b, c, d, e, g)
  TCSOLVE_FIELDS(7, a, b, c, d, e, g, h)
  TCSOLVE_FIELDS(8, a, b, c, d, e, g, h, i)
  TCSOLVE_FIELDS(9, a, b, c, d, e, g, h, i, j)
  TCSOLVE_FIELDS(10, a, b, c, d, e, g, h, i, j, k)
  TCSOLVE_FIELDS(11, a, b, c, d, e, g, h, i, j, k, l)
  TCSOLVE_FIELDS(12, a, b, c, d, e, g, h, i, j, k, l, m)
  TCSOLVE_FIELDS(13, a, b, c, d, e, g, h, i, j, k, l, m, n)
  TCSOLVE_FIELDS(14, a, b, c, d, e, g, h, i, j, k, l, m, n, o)
  TCSOLVE_FIELDS(15, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p)
  TCSOLVE_FIELDS(16, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q)
  TCSOLVE_FIELDS(17, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r)
  TCSOLVE_FIELDS(18, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s)
#undef TCSOLVE_FIELDS
}

/// f(pointer) for each pointer among the fields of v and of their fields. A class that is not an
/// aggregate has an overload of its own.
template <class V, class F>
void each_pointer(V const& v, F const& f) {
  if constexpr (std::is_pointer_v<V>)
    f(v);
  else if constexpr (std::is_class_v<V>)
    each_field(v, [&](auto const& field) { each_pointer(field, f); });
  else
    static_assert(std::is_arithmetic_v<V> || std::is_enum_v<V>);
}

}  // namespace tcsolve
