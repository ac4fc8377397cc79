// SPDX-License-Identifier: Apache-2.0
/// The products with SELL-32 walk slice by slice on the host: in place of their element() they have
/// a walk() of their own, which host/sweep.cpp prefers.
#pragma once

#include <algorithm>

#include <tcsolve/kernels/host/parallel.hpp>
#include <tcsolve/kernels/verbs/sell.hpp>

namespace tcsolve::host {

/// y = alpha A x + beta y, elements [begin, end): whole slices, but for the last.
template <class S, class T>
void walk(SellMultiply<S, T> const&, NoCoefficients, std::int64_t begin, std::int64_t end, double*);

/// y = alpha A x, sum += <x, y>, rows [begin, end), begin a multiple of 32.
template <class S, class T>
void walk(SellMultiplyDot<S, T> const&, NoCoefficients, std::int64_t begin, std::int64_t end,
          double* sum);

/// Elements that a thread takes at a time: whole slices.
template <class S, class T>
std::int64_t task(SellMultiply<S, T> const& verb) {
  std::int64_t slice = std::int64_t{SellView<S>::C} * std::max<Index>(verb.y.cols, 1);
  return std::max<std::int64_t>(chunk / slice, 1) * slice;
}

}  // namespace tcsolve::host
