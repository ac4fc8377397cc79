// SPDX-License-Identifier: Apache-2.0
/// Parameters are declared once, in the schema() of a Params struct. The YAML reader (read.hpp),
/// the dump of effective values and the tables of keys (print.hpp) are derived from it.
///
///     struct GmresParams {
///       StoppingParams stopping;  // another Params struct, its keys at this level
///       int restart = 30;         // the default is the member's
///       Ortho ortho = Ortho::cgs2;  // an enum with names(Ortho), found by ADL
///       static constexpr auto schema() {
///         using P = GmresParams;
///         return std::tuple{include(&P::stopping),
///                           field(&P::restart, "restart", between(1, 1000), "Krylov vectors"),
///                           field(&P::ortho, "ortho", "orthogonalisation of the basis")};
///       }
///     };
///
/// Members are bool, int, std::int64_t, std::uint64_t, double, std::string, an enum, a std::vector
/// of these, a std::optional of these (absent: the key was not given), another Params struct (a
/// nested map), or a Block (`{type: ..., ...}`, built from a registry). No yaml-cpp here.
#pragma once

#include <tcsolve/configs/schema/block.hpp>

#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace tcsolve {

/// A Params struct: a default-constructible aggregate with a schema.
template <class P>
concept HasSchema = requires {
  std::remove_cvref_t<P>::schema();
};

/// An enum that lists its values: `constexpr auto names(E)` returns std::array<std::pair<E, char
/// const*>>, in the namespace of E.
template <class E>
concept NamedEnum = std::is_enum_v<E> && requires(E e) {
  names(e);
};

/// No condition on the value, except that a number is finite.
struct Any {
  bool infinite = false;
  /// Infinity (`.inf`) is a value too. NaN never is.
  constexpr Any or_infinite() const { return {true}; }
};

/// A text that is not empty.
struct NonEmpty {};

/// The registry that a Block is built from, by its kind: "solver", "preconditioner", ...
struct BlockOf {
  char const* kind;
};

/// Numbers from `lo` to `hi`, for each element when the member is a list. An end that is open does
/// not belong to it; an end that is not bounded has no limit.
template <class T>
struct Interval {
  T lo{}, hi{};
  bool bounded_below = false, bounded_above = false;
  bool open_below = false, open_above = false;
  bool infinite = false;  ///< `.inf` is accepted where the interval has no limit

  constexpr Interval or_infinite() const {
    Interval i = *this;
    i.infinite = true;
    return i;
  }
  constexpr bool contains(T v) const {
    if (bounded_below && (open_below ? !(v > lo) : !(v >= lo))) return false;
    if (bounded_above && (open_above ? !(v < hi) : !(v <= hi))) return false;
    return true;
  }
};

// clang-format off
/// lo <= v <= hi.
template <class T> constexpr Interval<T> between(T lo, T hi)     { return {lo, hi, true, true}; }
/// lo <= v.
template <class T> constexpr Interval<T> at_least(T lo)          { return {lo, T{}, true, false}; }
/// v <= hi.
template <class T> constexpr Interval<T> at_most(T hi)           { return {T{}, hi, false, true}; }
/// lo < v.
template <class T> constexpr Interval<T> above(T lo)             { return {lo, T{}, true, false, true}; }
/// v < hi.
template <class T> constexpr Interval<T> below(T hi)             { return {T{}, hi, false, true, false, true}; }
/// lo < v < hi.
template <class T> constexpr Interval<T> inside(T lo, T hi)      { return {lo, hi, true, true, true, true}; }
/// 0 < v, for integers and numbers.
constexpr Interval<int> positive()                               { return above(0); }
/// 0 <= v, for integers and numbers.
constexpr Interval<int> non_negative()                           { return at_least(0); }
constexpr Any any()                                              { return {}; }
constexpr NonEmpty non_empty()                                   { return {}; }
constexpr BlockOf block_of(char const* kind)                     { return {kind}; }
// clang-format on

/// One key of a Params struct P. Made by field().
template <class P, class M, class C>
struct Field {
  using Member = M;
  M P::*member;
  char const* key;
  C constraint;
  char const* doc;
  bool needed = false;

  /// The key must be given: its default is only a placeholder.
  constexpr Field required() const {
    Field f = *this;
    f.needed = true;
    return f;
  }
};

/// The fields of another Params struct, at the same level. Made by include().
template <class P, class M>
struct Include {
  M P::*member;
};

namespace detail {

template <class M>
struct Element {
  using Type = M;
};
template <class M>
struct Element<std::optional<M>> : Element<M> {};
template <class M>
struct Element<std::vector<M>> : Element<M> {};

/// The type that a constraint refers to: M, or the element type of an optional or a list M.
template <class M>
using ElementOf = typename Element<M>::Type;

template <class To, class From>
constexpr Interval<To> convert(Interval<From> const& c) {
  static_assert(std::is_arithmetic_v<To> && !std::is_same_v<To, bool>,
                "an interval constrains numbers");
  static_assert(std::is_floating_point_v<To> || std::is_integral_v<From>,
                "an integer is constrained by integers");
  if constexpr (std::is_integral_v<To>) {
    if (!std::in_range<To>(c.lo) || !std::in_range<To>(c.hi))
      throw std::logic_error("the limits of a field do not fit its type");
  }
  return {static_cast<To>(c.lo), static_cast<To>(c.hi), c.bounded_below, c.bounded_above,
          c.open_below,          c.open_above,          c.infinite};
}

template <class M, class T>
constexpr auto adapt(Interval<T> const& c) {
  return convert<ElementOf<M>>(c);
}
template <class M>
constexpr Any adapt(Any c) {
  return c;
}
template <class M>
constexpr NonEmpty adapt(NonEmpty c) {
  static_assert(std::is_same_v<ElementOf<M>, std::string>, "non_empty() constrains text");
  return c;
}
template <class M>
constexpr BlockOf adapt(BlockOf c) {
  static_assert(std::is_same_v<M, Block>, "block_of() belongs to a member of type Block");
  return c;
}

}  // namespace detail

/// The Params of an entry without parameters.
struct NoParams {
  static constexpr auto schema() { return std::tuple{}; }
};

/// A key without a condition on its value.
template <class P, class M>
constexpr auto field(M P::*member, char const* key, char const* doc) {
  static_assert(!std::is_same_v<M, Block>, "a Block field names its registry: block_of(kind)");
  return Field<P, M, Any>{member, key, Any{}, doc};
}

/// A key whose value must satisfy `constraint`. Throws std::logic_error when the limits do not fit
/// the member's type (an error at compile time where schema() is a constant).
template <class P, class M, class C>
constexpr auto field(M P::*member, char const* key, C constraint, char const* doc) {
  auto const c = detail::adapt<M>(constraint);
  return Field<P, M, std::remove_cv_t<decltype(c)>>{member, key, c, doc};
}

/// The keys of the Params struct `member`, flattened into those of P.
template <class P, HasSchema M>
constexpr auto include(M P::*member) {
  return Include<P, M>{member};
}

namespace detail {

template <class P, class F, class Q, class M, class C>
void visit(Field<Q, M, C> const& field, P& params, F&& f) {
  f(field, params.*field.member);
}
template <class P, class F, class Q, class M>
void visit(Include<Q, M> const& included, P& params, F&& f);

}  // namespace detail

/// f(field, member) for every key of `params`, included ones in their place, in schema order.
template <HasSchema P, class F>
void for_each_field(P& params, F&& f) {
  std::apply([&](auto const&... entry) { (detail::visit(entry, params, f), ...); },
             std::remove_const_t<P>::schema());
}

template <class P, class F, class Q, class M>
void detail::visit(Include<Q, M> const& included, P& params, F&& f) {
  for_each_field(params.*included.member, f);
}

}  // namespace tcsolve
