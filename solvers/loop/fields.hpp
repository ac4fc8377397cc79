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
  if constexpr (sizeof...(A) < 34) more = field_count<V, A..., detail::Anything>();
  return more > 0 ? more : fits ? sizeof...(A) : 0;
}

/// f(field) for each field of v, an aggregate without arrays; not for those of a field that is an
/// aggregate itself. Thirty-two fields at most: as many pointers as an Instruction has room for.
template <class V, class F>
void each_field(V const& v, F const& f) {
  static_assert(std::is_aggregate_v<V>);
  constexpr std::size_t count = field_count<V>();
  static_assert(count >= 1 && count <= 32, "put some of the fields into a struct of their own");
  auto all = [&](auto const&... field) { (f(field), ...); };
#define TCSOLVE_FIELDS(n, ...)     \
  if constexpr (count == n) {      \
    auto const& [__VA_ARGS__] = v; \
    all(__VA_ARGS__);              \
  }
  TCSOLVE_FIELDS(1, a1)
  TCSOLVE_FIELDS(2, a1, a2)
  TCSOLVE_FIELDS(3, a1, a2, a3)
  TCSOLVE_FIELDS(4, a1, a2, a3, a4)
  TCSOLVE_FIELDS(5, a1, a2, a3, a4, a5)
  TCSOLVE_FIELDS(6, a1, a2, a3, a4, a5, a6)
  TCSOLVE_FIELDS(7, a1, a2, a3, a4, a5, a6, a7)
  TCSOLVE_FIELDS(8, a1, a2, a3, a4, a5, a6, a7, a8)
  TCSOLVE_FIELDS(9, a1, a2, a3, a4, a5, a6, a7, a8, a9)
  TCSOLVE_FIELDS(10, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10)
  TCSOLVE_FIELDS(11, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11)
  TCSOLVE_FIELDS(12, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12)
  TCSOLVE_FIELDS(13, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13)
  TCSOLVE_FIELDS(14, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14)
  TCSOLVE_FIELDS(15, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15)
  TCSOLVE_FIELDS(16, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16)
  TCSOLVE_FIELDS(17, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17)
  TCSOLVE_FIELDS(18, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17,
                 a18)
  TCSOLVE_FIELDS(19, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17,
                 a18, a19)
  TCSOLVE_FIELDS(20, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17,
                 a18, a19, a20)
  TCSOLVE_FIELDS(21, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17,
                 a18, a19, a20, a21)
  TCSOLVE_FIELDS(22, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17,
                 a18, a19, a20, a21, a22)
  TCSOLVE_FIELDS(23, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17,
                 a18, a19, a20, a21, a22, a23)
  TCSOLVE_FIELDS(24, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17,
                 a18, a19, a20, a21, a22, a23, a24)
  TCSOLVE_FIELDS(25, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17,
                 a18, a19, a20, a21, a22, a23, a24, a25)
  TCSOLVE_FIELDS(26, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17,
                 a18, a19, a20, a21, a22, a23, a24, a25, a26)
  TCSOLVE_FIELDS(27, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17,
                 a18, a19, a20, a21, a22, a23, a24, a25, a26, a27)
  TCSOLVE_FIELDS(28, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17,
                 a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28)
  TCSOLVE_FIELDS(29, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17,
                 a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29)
  TCSOLVE_FIELDS(30, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17,
                 a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30)
  TCSOLVE_FIELDS(31, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17,
                 a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31)
  TCSOLVE_FIELDS(32, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17,
                 a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32)
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
