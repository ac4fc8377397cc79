// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/commands/level_info.hpp>

#include <tcsolve/app/record/hierarchy.hpp>
#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/precond/smoother.hpp>

namespace tcsolve {

LevelInfo level_info(Csr<double> const& a) {
  Context ctx(Backend::host);
  auto const A = std::make_shared<CsrOperator<double>>(ctx, a.view(), Arrays::borrowed);
  auto const factory = make_smoother(Block("amg"));
  try {
    auto const M = build_within_memory(ctx, *factory, {A->view(), A}, "amg");
    return {timed_hierarchy_facts(ctx, M->view().get()), ""};
  } catch (SetupError const& e) { return {std::nullopt, e.what()}; } catch (ShapeError const& e) {
    return {std::nullopt, e.what()};
  }
}

std::string text(LevelInfo const& info) {
  if (!info.facts) return cat("multigrid       none: ", info.refused, "\n");
  std::string all = "multigrid\n";
  for (std::string const& line : lines_of(*info.facts)) all += "  " + line + "\n";
  return all;
}

nlohmann::ordered_json json(LevelInfo const& info) {
  if (!info.facts) return {{"refused", info.refused}};
  return hierarchy_json(info.facts);
}

}  // namespace tcsolve
