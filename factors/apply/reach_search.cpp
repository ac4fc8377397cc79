// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/factors/apply/reach_search.hpp>

#include <algorithm>
#include <limits>

namespace tcsolve {

std::unique_ptr<ReachSearch> ReachSearch::of(Context& ctx, TriangleGraph const& lower,
                                             TriangleGraph const& upper, Index const* from,
                                             Index worth) {
  bool const counts = lower.entries + upper.entries <= std::numeric_limits<Index>::max();
  if (lower.rows != upper.rows || lower.levels + upper.levels < worth || !counts) return nullptr;
  std::unique_ptr<ReachSearch> made(new ReachSearch(ctx, lower, upper));
  ctx.visit([&](auto& on) {
    if (prepare_reach(on, ctx.arena(), lower, upper, from, made->lower_.view, made->upper_.view,
                      made->seeds_))
      return;
    auto const own_columns = [&](TriangleGraph const& of, Side& side) {
      columns_of(on, ctx.arena(), of, side.column_starts, side.needed_by);
      side.view.begin = OffsetsView(side.column_starts.data());
      side.view.end = OffsetsView(side.column_starts.data() + 1);
      side.view.needed_by = side.needed_by.data();
    };
    own_columns(lower, made->lower_), own_columns(upper, made->upper_);
  });
  return made;
}

ReachSearch::ReachSearch(Context& ctx, TriangleGraph const& lower, TriangleGraph const& upper) {
  Index const rows = lower.rows, few = rows / few_of;
  ReachState const begin[] = {{.saved = lower.levels}, {.saved = upper.levels}};
  constexpr std::size_t words = 2 * (sizeof(ReachState) / sizeof(Index));
  states_ = Array<Index>(ctx.space(), words + 1);
  seed_rows_ = Array<Index>(ctx.space(), static_cast<std::size_t>(rows) + few + 1);
  auto* const states = reinterpret_cast<ReachState*>(states_.data());
  copy_bytes(ctx, states, ctx.space(), begin, Space::host, sizeof begin);
  Index const none = 0;
  Index* const count = states_.data() + words;
  copy_bytes(ctx, count, ctx.space(), &none, Space::host, sizeof none);
  seeds_ = {rows, few, seed_rows_.data(), seed_rows_.data() + rows, count};
  lower_.make(ctx, lower, upper, states);
  upper_.make(ctx, upper, lower, states + 1);
}

TriangleMask ReachSearch::lower() const {
  ReachView const& t = lower_.view;
  return {.state = t.state, .groups = t.list, .seen = t.seen};
}

TriangleMask ReachSearch::upper() const {
  ReachView const &t = upper_.view, &before = lower_.view;
  return {t.state, t.list, t.seen, before.state, before.seen};
}

ReachSearch::Found ReachSearch::found(Context& ctx) const {
  ReachState states[2];
  copy_bytes(ctx, states, Space::host, lower_.view.state, ctx.space(), sizeof states);
  return {states[0].known != 0, states[1].known != 0, states[0].rows, states[1].rows};
}

void ReachSearch::Side::make(Context& ctx, TriangleGraph const& of, TriangleGraph const& other,
                             ReachState* state) {
  auto const n = static_cast<std::size_t>(of.rows),
             g = static_cast<std::size_t>(of.places / rows_of_warp);
  std::size_t const words = n / 64 + 1, group_words = g / 64 + 1;
  places = Array<Index>(ctx.space(), 2 * n + 1);
  groups = Array<Index>(ctx.space(), 2 * g + 1);
  this->words = Array<Index>(ctx.space(), 2 * group_words);
  bits = Array<std::uint64_t>(ctx.space(), words + group_words);
  std::vector<std::uint64_t> const none(bits.size(), 0);
  copy_bytes(ctx, bits.data(), ctx.space(), none.data(), Space::host, bits.bytes());
  view = {.rows = of.rows,
          .groups = static_cast<Index>(g),
          .levels = of.levels,
          .most = static_cast<Index>(
              std::min(of.entries / small_part, entries_a_level * Offset{of.levels})),
          .begin = other.begin,
          .end = other.end,
          .needed_by = other.columns,
          .place = places.data(),
          .level = groups.data(),
          .seen = bits.data(),
          .marked = bits.data() + words,
          .queue = places.data() + n,
          .list = groups.data() + g,
          .count = this->words.data(),
          .before = this->words.data() + group_words,
          .state = state};
}

}  // namespace tcsolve
