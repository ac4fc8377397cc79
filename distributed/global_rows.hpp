// SPDX-License-Identifier: Apache-2.0
/// Rows of a matrix whose columns are numbered globally.
#pragma once

#include <tcsolve/core/csr_view.hpp>

namespace tcsolve {

/// In memory that the caller owns.
struct CsrView64 {
  Index rows = 0;         ///< here
  std::int64_t cols = 0;  ///< of the whole matrix
  Offset entries = 0;
  OffsetsView offsets;                    ///< (rows + 1)
  std::int64_t const* columns = nullptr;  ///< (entries), in any order within a row
  double const* values = nullptr;         ///< (entries)
  Space space = Space::host;
};

}  // namespace tcsolve
