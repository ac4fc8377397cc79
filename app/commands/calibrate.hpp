// SPDX-License-Identifier: Apache-2.0
/// `tcsolve calibrate`: the rates of this machine for `operator: {format: auto}`.
#pragma once

#include <tcsolve/formats/choose/cost_model.hpp>

#include <iosfwd>

namespace tcsolve {

/// Times products, with dense and with sparse vectors, conversions and passes over vectors on
/// generated matrices and fits a cost table
/// (formats/choose/cost_model.hpp). `size` scales the rows of the largest ones: 1 is 900,000 on a
/// device and 250,000 on the host, where all takes half a minute. What a solver's step takes
/// besides its passes is not measured: it is that of the shipped table. Prints a line for each
/// matrix, and how far the fit is off, to `progress`. A format that refuses too many of the
/// matrices keeps its shipped rates, if it has any.
///
/// Products are repeated on the same operands, as a solver repeats them: what fits into a cache is
/// in it. Throws MemoryError where the matrices do not fit.
CostTable calibrate(Context&, double size, std::ostream& progress,
                    FormatList const& among = formats());

}  // namespace tcsolve
