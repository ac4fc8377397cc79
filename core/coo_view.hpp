// SPDX-License-Identifier: Apache-2.0
/// The view of a matrix that is given by entries (i, j, value) in any order.
#pragma once

#include <tcsolve/core/types.hpp>

namespace tcsolve {

/// Entries of a rows x cols matrix where they lie: (entries) numbers of rows, of columns, values.
struct CooView {
  Index rows = 0, cols = 0;
  Offset entries = 0;
  Index const* i = nullptr;
  Index const* j = nullptr;
  double const* values = nullptr;
  Space space = Space::host;
};

}  // namespace tcsolve
