// SPDX-License-Identifier: Apache-2.0
/// What a conversion between formats is made of. A conversion is one function template over a
/// backend, so that host and device make identical arrays:
///
///     on.each(n, f)                    f(i) for 0 <= i < n, in any order
///     on.each_row(n, a, f)             f(b, i): b is the matrix a; row i, if there is one, and
///                                      the 31 around it lie near, so that they are read in runs
///                                      however each of them is walked
///     on.each_row_of_values(n, a, f)   the same, but its columns stay where they are
///     ..., rows)                       of both, n >= rows: what else is known or wanted (RowsOf)
///     on.each_rows_of_columns(n, k, a, f)
///                                      f(b, I): the same of columns alone, those of rows k I to
///                                      k I + k - 1, and of the 31 I around it
///     on.each_warp(n, f)               f(warp, i): 32 lanes in step with each other
///     on.each_warp(count, n, f)        the same for i < *count <= n, where only the device knows
///                                      *count: what an earlier step has found out
///     on.scan(in, out, n, add)         out_i = in_0 + ... + in_{i-1}; `add` is associative
///     on.sort(key, value, n, keys)     stable, by ascending key < keys, in place
///     on.read(from, to, n)             to the host; waits
///     on.write(from, to, n)            from the host; waits
///     on.clear(p, n)                   zeros
///     on.take<T>(n)                    memory until the conversion ends
///     on.space()
///
/// What a warp has is written for all its lanes at once; the host walks them one by one:
///
///     Warp::Of<T> v, w;                a T of each lane
///     warp.each([&](int l) { v[l] = ...; })
///     warp.least(v)                    of all lanes; v of unsigned integers
///     warp.sum(v)                      of all lanes, in 64 bits
///     warp.rank(v)                     v[l] = nonzero v in lanes before l; how many in all
///
/// kernels/host/convert.hpp runs them by Kokkos, kernels/cuda/convert.cuh by plain kernels and CUB.
#pragma once

#include <cstdint>

#include <tcsolve/core/arena.hpp>
#include <tcsolve/core/portable.hpp>
#include <tcsolve/core/types.hpp>

namespace tcsolve {

struct RowsOf {
  double* norm = nullptr;  ///< in on.space(): the largest of itself and all sum_j |a_ij|; NaN wins
  Index longest = 0;       ///< no row has more entries; 0: not known
};

/// The sum, for scans.
struct Plus {
  template <class T>
  TCSOLVE_HD T operator()(T const& a, T const& b) const {
    return a + b;
  }
};

}  // namespace tcsolve
