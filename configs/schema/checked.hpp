// SPDX-License-Identifier: Apache-2.0
/// Checks of Params written in C++, the same as of those read from YAML.
#pragma once

#include <tcsolve/configs/schema/range.hpp>
#include <tcsolve/configs/schema/read.hpp>
#include <tcsolve/core/error.hpp>

namespace tcsolve {

/// `params`, if each value lies in its range and P::check() reports no problem. Else throws a
/// ConfigError with all problems, `what` in front: "gmres: 'restart' = -3 is outside [1, 1000]".
/// Blocks are checked where they are read.
template <HasSchema P>
P const& checked(P const& params, std::string const& what) {
  std::string problems;
  auto add = [&](std::string const& text) {
    problems += cat(problems.empty() ? "" : "\n", what, ": ", text);
  };
  for_each_field(params, [&]<class F, class M>(F const& field, M const& value) {
    if (detail::allowed(field.constraint, value)) return;
    std::string shown, range;
    if constexpr (std::is_arithmetic_v<M> && !std::is_same_v<M, bool>) {
      shown = cat(" = ", number_text(value));
      range = range_text(detail::interval<M>(field.constraint));
    }
    add(cat("'", field.key, "'", shown, range.empty() ? " is not a value of it" : " is outside ",
            range));
  });
  if constexpr (requires { params.check(); })
    if (std::string const wrong = problems.empty() ? params.check() : ""; !wrong.empty())
      add(wrong);
  if (!problems.empty()) throw ConfigError(problems);
  return params;
}

}  // namespace tcsolve
