// SPDX-License-Identifier: Apache-2.0
/// Lists of several types in one piece of memory, which come to a device by one copy: what takes
/// time there is to wait, once for each.
///
///     PackedLists lists(bytes);
///     std::size_t const at = lists.add(numbers);      // a place, in bytes
///     Array<std::byte> const memory = to_space(ctx, lists.bytes().data(), lists.bytes().size());
///     Index const* there = list_at<Index>(memory, at);
#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>

#include <tcsolve/core/array.hpp>

namespace tcsolve {

class PackedLists {
 public:
  /// Of about so many bytes: memory that grows is touched again and again.
  explicit PackedLists(std::size_t bytes) { bytes_.reserve(bytes + 16 * alignment); }
  template <class T>
  std::size_t add(std::vector<T> const& list) {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= alignment);
    std::size_t const at = (bytes_.size() + alignment - 1) / alignment * alignment;
    bytes_.resize(at);
    auto const* const first = reinterpret_cast<std::byte const*>(list.data());
    bytes_.insert(bytes_.end(), first, first + list.size() * sizeof(T));
    return at;
  }
  std::vector<std::byte> const& bytes() const { return bytes_; }

 private:
  static constexpr std::size_t alignment = 16;
  std::vector<std::byte> bytes_;
};

template <class T>
T* list_at(Array<std::byte>& memory, std::size_t at) {
  return reinterpret_cast<T*>(memory.data() + at);
}
template <class T>
T const* list_at(Array<std::byte> const& memory, std::size_t at) {
  return reinterpret_cast<T const*>(memory.data() + at);
}

}  // namespace tcsolve
