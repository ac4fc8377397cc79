// SPDX-License-Identifier: Apache-2.0
/// Operations that are spread over the teams (kernels/operation_facts.hpp), and write rows that are
/// not their team's, may do so in two halves:
///
///     J joins() const;             J::parts: where they lie, null: this one does not
///                                  J::size: the rows of what it writes
///     void part(i, c, sum) const;  in the place of element(i, c, sum)
///     void join(begin, end, step) const;
///                                  parts begin, begin + step, .. to their rows, by the team that
///                                  has these, once all parts are made; J::first_part(row) is the
///                                  first of them
///
/// Teams need not wait before such an operation for what others have written there.
#pragma once

#include <cstdint>

#include <tcsolve/kernels/operation_facts.hpp>

namespace tcsolve {

/// Whether those of its kind may.
template <class V>
constexpr bool joins_parts = requires(V const& op) {
  op.joins();
};

/// Elements that are shared out among the teams in order.
template <class V>
std::int64_t rows_of_teams(V const& op) {
  if constexpr (joins_parts<V>)
    return op.joins().parts != nullptr ? op.joins().size : 0;
  else
    return OpFacts<V>::spread ? 0 : op.n;
}

}  // namespace tcsolve
