// SPDX-License-Identifier: Apache-2.0
/// The numbers of G and of its transpose, on patterns that are given (precond/fsai/fsai.hpp).
#pragma once

#include <tcsolve/core/cancel.hpp>
#include <tcsolve/core/context.hpp>
#include <tcsolve/core/csr_view.hpp>

namespace tcsolve {

// fsai_rows: `values` of G from those of A; the rows of the pattern ascend and end on the diagonal,
// and have at most `longest` entries. Returns the first row whose system is not positive definite,
// -1 where there is none. Throws Cancelled.
//
//   cost   |P|^3 / 6 a row; the host gives a thread 64 rows, a device a row a warp
//   bits   the same on every run; the device subtracts by columns, the host by rows
//
// transposed_values: of G^T, whose pattern is the transposed one, from those of G.
namespace host {
Index fsai_rows(Host&, Arena&, CancelFlag, CsrView<double> const& a, CsrView<double> const& pattern,
                Index longest, double* values);
void transposed_values(Host&, CsrView<double> const& pattern, CsrView<double> const& transposed,
                       double const* values, double* to);
}  // namespace host
namespace cuda {
/// Waits for the result.
Index fsai_rows(Device&, Arena&, CancelFlag, CsrView<double> const& a,
                CsrView<double> const& pattern, Index longest, double* values);
void transposed_values(Device&, CsrView<double> const& pattern, CsrView<double> const& transposed,
                       double const* values, double* to);
}  // namespace cuda

}  // namespace tcsolve
