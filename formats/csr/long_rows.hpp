// SPDX-License-Identifier: Apache-2.0
/// Which rows of a CSR matrix are cut, and into how many parts (CsrParts).
#pragma once

#include <tcsolve/core/array.hpp>
#include <tcsolve/core/context.hpp>
#include <tcsolve/matrix/csr_arrays.hpp>

namespace tcsolve {

struct CsrLongRows {
  Array<Index> row;    ///< (long rows) ascending
  Array<Index> start;  ///< (long rows + 1) first part of each, and how many there are
  Index parts = 0;
};

/// Rows of more than `length` entries in parts of that many. Where the matrix lies; a wait. Cost:
/// its offsets twice, and 24 bytes a row.
namespace host {
CsrLongRows long_rows(Host&, Arena&, PatternView const& a, Offset length);
}  // namespace host
namespace cuda {
CsrLongRows long_rows(Device&, Arena&, PatternView const& a, Offset length);
}  // namespace cuda

}  // namespace tcsolve
