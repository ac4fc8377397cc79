// SPDX-License-Identifier: Apache-2.0
/// Compressed sparse rows as kernels see them: pointers and extents.
#pragma once

#include <tcsolve/core/portable.hpp>
#include <tcsolve/core/types.hpp>

namespace tcsolve {

/// Row offsets of 32 or 64 bits, so that a caller's arrays go in without a copy.
struct OffsetsView {
  void const* data = nullptr;
  bool wide = true;  ///< true: int64_t, false: int32_t

  OffsetsView() = default;
  OffsetsView(std::int64_t const* p) : data(p), wide(true) {}
  OffsetsView(std::int32_t const* p) : data(p), wide(false) {}
  /// Offset i; the caller runs where the memory is.
  TCSOLVE_HD Offset operator[](std::int64_t i) const {
    return wide ? static_cast<std::int64_t const*>(data)[i]
                : Offset{static_cast<std::int32_t const*>(data)[i]};
  }
};

/// A CSR matrix in memory that the caller owns, of the host or of a device.
template <class T>
struct CsrView {
  static_assert(!ComplexNumber<T>, TCSOLVE_REAL_NUMBERS_ONLY);
  Index rows = 0;
  Index cols = 0;
  Offset entries = 0;
  OffsetsView offsets;                    // (rows + 1)
  std::int32_t const* columns = nullptr;  // (entries)
  T const* values = nullptr;              // (entries)
  Space space = Space::host;
};

}  // namespace tcsolve
