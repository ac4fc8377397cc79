// SPDX-License-Identifier: Apache-2.0
/// A block of vectors with guard zones before it, behind it and in the padding of ld. A write
/// outside the block changes a guard; a read outside of it is a NaN that shows in the result.
#pragma once

#include <tcsolve/core/context.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

namespace tcsolve::test {

template <class T>
class Guarded {
 public:
  /// values: row by row, rounded to T. pad: unused elements at the end of each row (or column).
  Guarded(Context& ctx, Index rows, Index cols, Layout layout, Index pad,
          std::vector<double> const& values)
      : ctx_(ctx), rows_(rows), cols_(cols), layout_(layout) {
    Index outer = layout == Layout::row_major ? rows : cols;
    Index inner = layout == Layout::row_major ? cols : rows;
    ld_ = std::max<std::int64_t>(1, std::int64_t{inner} + pad);
    image_.assign(2 * guard + outer * ld_, pattern());
    for (std::size_t i = 0; i < size(); ++i) image_[at(i)] = T(values[i]);
    memory_ = to_space(ctx, image_.data(), image_.size());
  }
  /// One column, adjacent entries.
  Guarded(Context& ctx, std::vector<double> const& values)
      : Guarded(ctx, static_cast<Index>(values.size()), 1, Layout::row_major, 0, values) {}

  Out<T> view() { return {memory_.data() + guard, rows_, cols_, ld_, layout_, ctx_.space()}; }
  In<T> in() { return view(); }
  T* data() { return view().data; }

  /// The values, row by row.
  std::vector<double> get() const {
    std::vector<T> now = to_host(ctx_, memory_);
    std::vector<double> values(size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = double(now[at(i)]);
    return values;
  }
  /// The guards are as they were.
  ::testing::AssertionResult untouched() const {
    std::vector<T> now = to_host(ctx_, memory_), expected(now.size(), pattern());
    for (std::size_t i = 0; i < size(); ++i) expected[at(i)] = now[at(i)];
    for (std::size_t i = 0; i < now.size(); ++i)
      if (std::memcmp(&now[i], &expected[i], sizeof(T)) != 0)
        return ::testing::AssertionFailure()
               << "written outside the block: element " << static_cast<std::int64_t>(i) - guard
               << " of a " << rows_ << " x " << cols_ << " block with ld " << ld_;
    return ::testing::AssertionSuccess();
  }
  /// Guards and values are as they were.
  ::testing::AssertionResult unchanged() const {
    std::vector<T> now = to_host(ctx_, memory_);
    if (std::memcmp(now.data(), image_.data(), now.size() * sizeof(T)) == 0)
      return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "an operand that should be left alone was changed";
  }

 private:
  static constexpr std::int64_t guard = 64;
  /// A NaN with a payload that no arithmetic makes.
  static T pattern() {
    if constexpr (sizeof(T) == 8)
      return std::bit_cast<T>(std::uint64_t{0x7ff8c0debadc0de5});
    else
      return std::bit_cast<T>(std::uint32_t{0x7fc0de5a});
  }
  std::size_t size() const { return static_cast<std::size_t>(rows_) * cols_; }
  std::size_t at(std::size_t element) const {
    std::int64_t i = element / cols_, j = element % cols_;
    return guard + (layout_ == Layout::row_major ? i * ld_ + j : i + j * ld_);
  }

  Context& ctx_;
  Index rows_, cols_;
  Layout layout_;
  std::int64_t ld_;
  std::vector<T> image_;
  Array<T> memory_;
};

}  // namespace tcsolve::test
