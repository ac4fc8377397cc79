// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/formats/features.hpp>

#include <algorithm>
#include <utility>

namespace tcsolve {

FormatCounts::FormatCounts(FormatCounts const& other) {
  for (auto const& [type, counts] : other.held_) held_.emplace(type, counts->copy());
}

FormatCounts& FormatCounts::operator=(FormatCounts other) noexcept {
  held_.swap(other.held_);
  return *this;
}

bool FormatCounts::operator==(FormatCounts const& other) const {
  auto const of = [](FormatCounts const& from, std::type_index type) -> Any const* {
    auto const at = from.held_.find(type);
    return at == from.held_.end() ? nullptr : at->second.get();
  };
  auto const within = [&](FormatCounts const& one, FormatCounts const& two) {
    return std::ranges::all_of(
        one.held_, [&](auto const& held) { return held.second->equals(of(two, held.first)); });
  };
  return within(*this, other) && within(other, *this);
}

}  // namespace tcsolve
