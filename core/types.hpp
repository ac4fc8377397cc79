// SPDX-License-Identifier: Apache-2.0
/// The types that every layer shares: index types, memory spaces and borrowed blocks of vectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include <tcsolve/core/error.hpp>

namespace tcsolve {

using Index = std::int32_t;   ///< row or column number
using Offset = std::int64_t;  ///< position among the nonzeros

/// Where memory lies: on the host, or on one CUDA device. A device space has the device's ordinal,
/// so that memory of two devices is never taken for one, and the number of the Context it belongs
/// to, in whose order it is released (core/device.hpp). `Space::cuda` alone names no device: it
/// equals every device's, so a caller may write it for memory on the only device there is.
enum class Space : std::uint32_t { host = 0, cuda = 1 };

/// The memory of device `ordinal`, released in the order of Context number `home` (0: of none).
constexpr Space device_space(int ordinal, std::uint32_t home) {
  return static_cast<Space>(1u | static_cast<std::uint32_t>(ordinal + 1) << 1 | home << 9);
}
/// The device's ordinal; -1 where none is named.
constexpr int ordinal_of(Space s) {
  return static_cast<int>(static_cast<std::uint32_t>(s) >> 1 & 0xffu) - 1;
}
constexpr std::uint32_t home_of(Space s) { return static_cast<std::uint32_t>(s) >> 9; }

/// True where both are the memory of one Context, or of none.
constexpr bool same_home(Space a, Space b) {
  return static_cast<std::uint32_t>(a) == static_cast<std::uint32_t>(b);
}

/// True for memory of one device (a Space that names no device matches each), or of the host.
constexpr bool operator==(Space a, Space b) {
  auto const on_device = [](Space s) { return (static_cast<std::uint32_t>(s) & 1u) != 0; };
  if (on_device(a) != on_device(b)) return false;
  return ordinal_of(a) == ordinal_of(b) || ordinal_of(a) < 0 || ordinal_of(b) < 0;
}
constexpr bool operator!=(Space a, Space b) { return !(a == b); }

/// A complex number of any library. Matrices and vectors are real here.
template <class T>
concept ComplexNumber = requires(T z) {
  z.real();
  z.imag();
};
// A macro, since static_assert takes a literal.
#define TCSOLVE_REAL_NUMBERS_ONLY                                                          \
  "tcsolve solves real systems. (A + iB)(x + iy) = f + ig is the real system [A -B; B A] " \
  "[x; y] = [f; g] of twice the size"

enum class Layout { row_major, col_major };
/// op(A): A, A^T, or the conjugate of A^T, which is A^T as long as numbers are real.
enum class Op { none, transpose, adjoint };

/// "host", "cuda", or "cuda:1" for a device other than the first.
inline std::string name(Space s) {
  if (s == Space::host) return "host";
  return ordinal_of(s) > 0 ? cat("cuda:", ordinal_of(s)) : "cuda";
}

/// i as an Index; throws SizeError when it is negative or beyond 2^31 - 1.
inline Index narrow(std::int64_t i, char const* what) {
  if (i < 0 || i > std::numeric_limits<Index>::max())
    throw SizeError(cat(what, " = ", i, " does not fit a 32-bit index (0 .. 2147483647)"));
  return static_cast<Index>(i);
}

/// Borrowed block of vectors, rows x cols; one column is "a vector". Element (i, j) lies at
/// data[i * ld + j] (row-major: the cols values of a row are adjacent) or data[i + j * ld].
template <class T>
struct MultiView {
  static_assert(!ComplexNumber<std::remove_const_t<T>>, TCSOLVE_REAL_NUMBERS_ONLY);
  T* data = nullptr;
  Index rows = 0;
  Index cols = 1;
  std::int64_t ld = 1;
  Layout layout = Layout::row_major;
  Space space = Space::host;

  /// A view of writable elements converts to a read-only view.
  template <class U>
  requires(!std::is_const_v<T> && std::is_same_v<U, T const>) operator MultiView<U>() const {
    return {data, rows, cols, ld, layout, space};
  }
  std::int64_t size() const { return std::int64_t{rows} * cols; }
  /// True for a single column whose entries are adjacent: what the Krylov operations work on.
  bool is_vector() const { return cols == 1 && (layout == Layout::col_major || ld == 1); }
  std::int64_t offset(Index i, Index j) const {
    return layout == Layout::row_major ? i * ld + j : i + j * ld;
  }
};

template <class T>
using In = MultiView<T const>;
template <class T>
using Out = MultiView<T>;

/// A caller's own contiguous vector as a view, without a copy.
template <class T>
MultiView<T> vector_view(T* data, Index n, Space space = Space::host) {
  return {data, n, 1, 1, Layout::row_major, space};
}

}  // namespace tcsolve
