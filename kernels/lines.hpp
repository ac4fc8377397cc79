// SPDX-License-Identifier: Apache-2.0
/// Every format as lines that one thread walks entry by entry, in storage order. A line is a row,
/// or a part of one: where a format shares long rows, or csr has rows of thousands, their parts are
/// joined afterwards, in order. For work that is done once in a while and written once for all
/// formats (kernels/residual.hpp); the products have ways of their own.
///
///     lines(a)                    how many
///     parts(a)                    how many lines are parts of rows; 0: every line is a row
///     walk(a, line, entry)        entry(column, value) for each entry; whose they are
///     rows_to_join(a)             how many candidates there are for ...
///     join(a, k, part)            part(p) for each part of a row, in order; which row, -1: none
///
/// Positions without an entry are left out, so that an Inf in x reaches only rows that refer to it;
/// what a format fills up with is zero times a column of the same row.
#pragma once

#include <tcsolve/core/types.hpp>

namespace tcsolve {

/// Whose a line is: a row, or a part with a number; neither where there is nothing.
struct LineOwner {
  Index row = -1;
  std::int64_t part = -1;
};

}  // namespace tcsolve
