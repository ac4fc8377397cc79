// SPDX-License-Identifier: Apache-2.0
/// Lists of fused operations: what a folder has (its host.cpp and its device file instantiate it),
/// and what an interpreter can run (solvers/loop/program.hpp).
#pragma once

#include <tuple>
#include <type_traits>

namespace tcsolve {

template <class... V>
struct OpList {
  static constexpr int size = sizeof...(V);
  template <int k>
  using At = std::tuple_element_t<k, std::tuple<V...>>;
  template <class One>
  static constexpr bool has = (std::is_same_v<One, V> || ...);
};

namespace detail {
template <class... Lists>
struct Joined {
  using type = OpList<>;
};
template <class... V>
struct Joined<OpList<V...>> {
  using type = OpList<V...>;
};
template <class... V, class... W, class... More>
struct Joined<OpList<V...>, OpList<W...>, More...> : Joined<OpList<V..., W...>, More...> {};
}  // namespace detail

/// The operations of all lists, in order.
template <class... Lists>
using Join = typename detail::Joined<Lists...>::type;

}  // namespace tcsolve
