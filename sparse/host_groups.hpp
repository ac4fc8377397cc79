// SPDX-License-Identifier: Apache-2.0
/// Groups of lanes on the host (sparse/groups.hpp): one lane each.
#pragma once

#include <tcsolve/kernels/host/convert.hpp>
#include <tcsolve/sparse/groups.hpp>

namespace tcsolve::host {

class Group {
 public:
  explicit Group(std::byte* scratch) : scratch_(scratch) {}
  int lane() const { return 0; }
  int lanes() const { return 1; }
  void sync() const {}
  std::byte* scratch() const { return scratch_; }

 private:
  std::byte* scratch_;
};

class GroupConverter : public Converter {
 public:
  using Converter::Converter;
  template <class F>
  void each_group(std::int64_t n, int, std::size_t, F const& f) {
    parallel(n, 600, [&](std::int64_t i) {
      alignas(16) std::byte scratch[sparse::most_scratch];
      f(Group(scratch), i);
    });
  }
};

}  // namespace tcsolve::host
