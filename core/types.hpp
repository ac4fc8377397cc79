// SPDX-License-Identifier: Apache-2.0
/// The words every layer shares: index types, memory spaces and borrowed blocks of vectors.
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

enum class Space { host, cuda };
enum class Layout { row_major, col_major };
enum class Op { none, transpose };

constexpr char const* name(Space s) { return s == Space::host ? "host" : "cuda"; }

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
  T* data = nullptr;
  Index rows = 0;
  Index cols = 1;
  std::int64_t ld = 1;
  Layout layout = Layout::row_major;
  Space space = Space::host;

  /// What may be written may be read.
  template <class U>
  requires(!std::is_const_v<T> && std::is_same_v<U, T const>) operator MultiView<U>() const {
    return {data, rows, cols, ld, layout, space};
  }
  std::int64_t size() const { return std::int64_t{rows} * cols; }
  /// True for a single column whose entries are adjacent: what the Krylov verbs work on.
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
