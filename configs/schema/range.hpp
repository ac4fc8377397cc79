// SPDX-License-Identifier: Apache-2.0
/// How an interval is written in messages and tables.
#pragma once

#include <tcsolve/configs/schema/field.hpp>
#include <tcsolve/configs/schema/number.hpp>

#include <string>
#include <type_traits>

namespace tcsolve {

/// "[1, 1000]", "(0, inf)", "[0, inf]" where infinity itself is a value; "" without any limit.
template <class T>
std::string range_text(Interval<T> const& c) {
  if (!c.bounded_below && !c.bounded_above && !c.infinite) return "";
  bool const reaches = c.infinite && std::is_same_v<T, double>;
  return (c.bounded_below ? (c.open_below ? "(" : "[") + number_text(c.lo)
                          : std::string(reaches ? "[" : "(") + "-inf") +
         ", " +
         (c.bounded_above ? number_text(c.hi) + (c.open_above ? ")" : "]")
                          : std::string("inf") + (reaches ? "]" : ")"));
}

}  // namespace tcsolve
