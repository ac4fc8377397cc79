// SPDX-License-Identifier: Apache-2.0
/// Memory that is owned: released when its Array goes. Views (core/types.hpp) never own.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <tcsolve/core/types.hpp>

namespace tcsolve {

/// Uninitialised memory in a space, 256-byte aligned. Throws MemoryError with the bytes asked for.
void* allocate(Space, std::size_t bytes);
/// On a device in the order of the Context that the space names (core/device.hpp).
void release(Space, void*) noexcept;

template <class T>
class Array {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Array() = default;
  /// n uninitialised elements.
  Array(Space space, std::size_t n)
      : data_(n == 0 ? nullptr : static_cast<T*>(allocate(space, n * sizeof(T)))),
        size_(n),
        space_(space) {}
  Array(Array&& other) noexcept { swap(other); }
  Array& operator=(Array&& other) noexcept {
    Array moved(std::move(other));
    swap(moved);
    return *this;
  }
  Array(Array const&) = delete;
  Array& operator=(Array const&) = delete;
  ~Array() { tcsolve::release(space_, data_); }

  /// n uninitialised elements in `space`: the present memory if it has that size and space, else
  /// new.
  void resize(Space space, std::size_t n) {
    if (n != size_ || !same_home(space, space_)) *this = Array(space, n);
  }

  T* data() { return data_; }
  T const* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * sizeof(T); }
  Space space() const { return space_; }

  /// The whole array as one vector.
  Out<T> view() {
    return vector_view(data_, narrow(static_cast<std::int64_t>(size_), "length"), space_);
  }
  In<T> view() const {
    return vector_view<T const>(data_, narrow(static_cast<std::int64_t>(size_), "length"), space_);
  }

 private:
  void swap(Array& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(space_, other.space_);
  }
  T* data_ = nullptr;
  std::size_t size_ = 0;
  Space space_ = Space::host;
};

/// A block of n x k values, row-major, that owns its memory.
template <class T>
class MultiVector {
 public:
  MultiVector() = default;
  MultiVector(Space space, Index n, Index k = 1)
      : values_(space, static_cast<std::size_t>(n) * k), rows_(n), cols_(k) {}
  /// See Array::resize().
  void resize(Space space, Index n, Index k = 1) {
    values_.resize(space, static_cast<std::size_t>(n) * k);
    rows_ = n, cols_ = k;
  }
  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  Out<T> view() {
    return {values_.data(), rows_, cols_, cols_, Layout::row_major, values_.space()};
  }
  In<T> view() const {
    return {values_.data(), rows_, cols_, cols_, Layout::row_major, values_.space()};
  }
  operator Out<T>() { return view(); }
  operator In<T>() const { return view(); }

 private:
  Array<T> values_;
  Index rows_ = 0, cols_ = 1;
};

/// One column of n values, as a solver's work vectors are.
template <class T>
using Vector = MultiVector<T>;

}  // namespace tcsolve
