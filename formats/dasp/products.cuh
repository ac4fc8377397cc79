// SPDX-License-Identifier: Apache-2.0
/// The kernels of DASP products as product.cu calls them. product.cuh defines them, and the files
/// product_*.cu instantiate them.
#pragma once

#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/formats/dasp/dasp.hpp>
#include <tcsolve/formats/dasp/line.cuh>
#include <tcsolve/kernels/cuda/range.cuh>

namespace tcsolve::cuda {

/// Medium units for each multiprocessor below which a unit is shared by a block.
constexpr Index few_units = 16;

/// y = alpha A x + beta y for one column, whose lines are added up by Sum (line.cuh). An x whose
/// entries are adjacent runs the tuned kernel, any other a plain one.
template <class Sum, class S, class T>
void dasp_column(Device&, DaspView<S> const& a, DaspWork<T> const&, T const* x,
                 std::int64_t x_stride, Range<T> const& y);
/// y = alpha |A| 1 + beta y.
template <class S>
void dasp_absolute(Device&, DaspView<S> const& a, DaspWork<double> const&, Range<double> const& y);

}  // namespace tcsolve::cuda
