// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/hierarchy_facts.hpp>

#include <algorithm>
#include <cstdio>

namespace tcsolve {
namespace {

template <class... Values>
std::string printed(char const* format, Values... values) {
  char line[200];
  std::snprintf(line, sizeof line, format, values...);
  return line;
}

}  // namespace

std::optional<HierarchyFacts> hierarchy_facts(LinearOperator<double> const* M) {
  auto const* const of = dynamic_cast<TellsHierarchy const*>(M);
  return of == nullptr ? std::nullopt : std::optional(of->hierarchy_facts());
}

std::optional<HierarchyFacts> timed_hierarchy_facts(Context& ctx, LinearOperator<double> const* M) {
  std::optional<HierarchyFacts> facts = hierarchy_facts(M);
  if (facts) dynamic_cast<TellsHierarchy const*>(M)->time_levels(ctx, *facts);
  return facts;
}

std::vector<std::string> lines_of(HierarchyFacts const& facts) {
  bool const timed =
      std::ranges::any_of(facts.levels, [](LevelFacts const& l) { return l.product > 0; });
  std::vector<std::string> lines = {
      cat("level       rows     entries  a row  strength  entries of P  values  MB      ",
          timed ? "us        " : "", "A, P, R")};
  int number = 0;
  for (LevelFacts const& l : facts.levels)
    lines.push_back(printed("%5d %10d %11lld %6.1f  %8.4f  %12lld  %-6s  %-6.3g  ", ++number,
                            static_cast<int>(l.rows), static_cast<long long>(l.entries),
                            double(l.entries) / std::max<Index>(1, l.rows), l.strength,
                            static_cast<long long>(l.prolongation), l.values.c_str(),
                            1e-6 * l.bytes) +
                    (timed ? printed("%-8.3g  ", l.product) : "") + l.formats);
  lines.push_back(printed("grid complexity %.2f, operator complexity %.2f", facts.grid_complexity,
                          facts.operator_complexity));
  std::string ratios;
  for (double const r : facts.near_nullspace) ratios += printed(" %.1e", r);
  lines.push_back(cat("|A z| / (|A| |z|) of the near-nullspace, ", facts.unknowns,
                      facts.unknowns == 1 ? " unknown" : " unknowns", " a node:", ratios));
  for (auto const& [part, seconds] : facts.seconds)
    lines.push_back(printed("%-20s %8.2f ms", part.c_str(), 1e3 * seconds));
  return lines;
}

}  // namespace tcsolve
