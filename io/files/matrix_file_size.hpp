// SPDX-License-Identifier: Apache-2.0
/// The size of a matrix as the header of its file states it, before the matrix is read.
#pragma once

#include <tcsolve/core/types.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

namespace tcsolve {

struct MatrixFileSize {
  Index rows = 0, cols = 0;
  Offset stored = 0;               ///< in the file
  Offset entries = 0;              ///< of the matrix: an upper bound
  std::int64_t csr_bytes = 0;      ///< of the Csr<double>
  std::int64_t reading_bytes = 0;  ///< at the peak of reading
  bool holds_rhs = false;          ///< b is in the file, too
  bool holds_guess = false;        ///< and x0
  std::string assumed{};           ///< what the file does not say, and how it is read

  /// Of a binary file, which is read with `entry_bytes` for each entry beside the matrix.
  static MatrixFileSize of_arrays(Index rows, Index cols, Offset entries, int entry_bytes) {
    constexpr auto most = std::numeric_limits<std::int64_t>::max() / 128;
    std::int64_t const n = std::min(entries, most);
    std::int64_t const csr = 8 * (std::int64_t{rows} + 1) + 12 * n;
    std::int64_t const beside = 8 * (std::int64_t{std::max(rows, cols)} + 1) + entry_bytes * n;
    return {.rows = rows,
            .cols = cols,
            .stored = entries,
            .entries = entries,
            .csr_bytes = csr,
            .reading_bytes = csr + beside};
  }
};

}  // namespace tcsolve
