// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/record/spy.hpp>

#include <tcsolve/core/error.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace tcsolve {
namespace {

constexpr int most_cells = 160;
constexpr int shades = 4;
constexpr std::array<char const*, shades> blues{"#a9c4e4", "#6f9bd0", "#3a72b5", "#17427d"};

/// 0: empty; 1 to `shades`: by the square root of the share, so that few entries are seen.
int shade(Offset count, Offset most) {
  if (count == 0) return 0;
  double const share = std::sqrt(static_cast<double>(count) / static_cast<double>(most));
  return std::clamp(static_cast<int>(std::ceil(share * shades)), 1, shades);
}

}  // namespace

SpyCounts spy_counts(Csr<double> const& a) {
  SpyCounts spy{.rows = a.rows, .cols = a.cols};
  double const largest = std::max({a.rows, a.cols, Index{1}});
  double const cells = std::min(largest, double{most_cells});
  spy.high = std::max(1, static_cast<int>(std::lround(cells * a.rows / largest)));
  spy.wide = std::max(1, static_cast<int>(std::lround(cells * a.cols / largest)));
  spy.counts.assign(static_cast<std::size_t>(spy.high) * static_cast<std::size_t>(spy.wide), 0);
  for (Index i = 0; i < a.rows; ++i) {
    auto const row = static_cast<std::size_t>(std::int64_t{i} * spy.high / a.rows) *
                     static_cast<std::size_t>(spy.wide);
    for (Index const j : a.row_columns(i))
      ++spy.counts[row + static_cast<std::size_t>(std::int64_t{j} * spy.wide / a.cols)];
  }
  return spy;
}

std::string spy_svg(SpyCounts const& spy) {
  Offset const most =
      spy.counts.empty() ? 0 : *std::max_element(spy.counts.begin(), spy.counts.end());
  auto const at = [&](int i, int j) {
    return shade(spy.counts[static_cast<std::size_t>(i) * static_cast<std::size_t>(spy.wide) +
                            static_cast<std::size_t>(j)],
                 most);
  };
  std::array<std::string, shades> paths;
  for (int i = 0; i < spy.high; ++i)
    for (int j = 0, end = 0; j < spy.wide; j = end) {
      for (end = j + 1; end < spy.wide && at(i, end) == at(i, j);) ++end;
      if (int const s = at(i, j); s > 0)
        paths[static_cast<std::size_t>(s - 1)] +=
            cat("M", j, " ", i, "h", end - j, "v1h", j - end, "z");
    }
  std::string svg = cat("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-0.5 -0.5 ",
                        spy.wide + 1, " ", spy.high + 1,
                        "\" shape-rendering=\"crispEdges\" role=\"img\" "
                        "aria-label=\"where the matrix has entries\">"
                        "<rect width=\"",
                        spy.wide, "\" height=\"", spy.high,
                        "\" fill=\"white\" stroke=\"#888\" stroke-width=\"0.5\"/>");
  for (std::size_t s = 0; s < shades; ++s)
    if (!paths[s].empty()) svg += cat("<path fill=\"", blues[s], "\" d=\"", paths[s], "\"/>");
  return svg + "</svg>\n";
}

}  // namespace tcsolve
