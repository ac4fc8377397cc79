// SPDX-License-Identifier: Apache-2.0
/// The products with diagonals walk some of them at a time on the host: in place of their element()
/// they have a walk() of their own, which host/sweep.cpp prefers. The same additions in the same
/// order.
#pragma once

#include <algorithm>

#include <tcsolve/kernels/host/parallel.hpp>
#include <tcsolve/kernels/verbs/dia.hpp>

namespace tcsolve::host {

/// y = alpha A x + beta y, elements [begin, end): whole rows.
template <class S, class T>
void walk(DiaMultiply<S, T> const&, NoCoefficients, std::int64_t begin, std::int64_t end, double*);

/// y = alpha A x, sum += <x, y>, rows [begin, end).
template <class S, class T>
void walk(DiaMultiplyDot<S, T> const&, NoCoefficients, std::int64_t begin, std::int64_t end,
          double* sum);

/// Elements that a thread takes at a time: whole rows.
template <class S, class T>
std::int64_t task(DiaMultiply<S, T> const& verb) {
  std::int64_t const cols = std::max<Index>(verb.y.cols, 1);
  return std::max<std::int64_t>(chunk / cols, 1) * cols;
}

}  // namespace tcsolve::host
