// SPDX-License-Identifier: Apache-2.0
/// Groups of lanes on the host (sparse/groups.hpp): one lane each.
#pragma once

#include <tcsolve/kernels/host/convert.hpp>
#include <tcsolve/sparse/groups.hpp>
#include <tcsolve/sparse/pattern_build.hpp>

namespace tcsolve::host {

/// The least row that begins at an entry or behind it.
inline Index row_from(OffsetsView const& offsets, Index rows, Offset entry) {
  return sparse::first_not_below(offsets, rows, entry);
}

class Group {
 public:
  explicit Group(std::byte* scratch) : scratch_(scratch) {}
  static constexpr int lane() { return 0; }
  static constexpr int lanes() { return 1; }
  static void sync() {}
  template <class N>
  static N most(N n) {
    return n;
  }
  template <class T>
  sparse::Strip<T> strip(std::size_t at) const {
    return {reinterpret_cast<T*>(scratch_ + at)};
  }

 private:
  std::byte* scratch_;
};

class GroupConverter : public Converter {
 public:
  using Converter::Converter;
  template <class F>
  void each_group(std::int64_t n, int, std::size_t, F const& f) {
    in_groups(n, 600, f);
  }
  template <class F>
  void each_block(std::int64_t n, std::size_t, F const& f) {
    in_groups(n, 60, f);
  }

 private:
  template <class F>
  static void in_groups(std::int64_t n, std::int64_t serial_below, F const& f) {
    parallel(n, serial_below, [&](std::int64_t i) {
      alignas(16) std::byte scratch[sparse::most_scratch];
      f(Group(scratch), i);
    });
  }
};

}  // namespace tcsolve::host
