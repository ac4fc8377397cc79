// SPDX-License-Identifier: Apache-2.0
/// --repeat, info --json and generate.
#include "tests/cli/program.hpp"

#include <tcsolve/io/files/matrix_market.hpp>
#include <tcsolve/io/generate/generators.hpp>

#include <algorithm>

namespace tcsolve::cli {
namespace {

TEST_F(Program, RepeatsASolve) {
  std::string const config =
      std::string(small_config) + "backend: host\noutput: {solution: true, bandwidth: false}\n";
  ASSERT_EQ(solve(config).code, 0);
  EXPECT_TRUE(result()["repeat"].is_null());
  auto const once = result();
  std::string const x = read_text(folder_ / "tcsolve-out/x.mtx");
  Outcome const o = solve(config, {"--repeat", "4"});
  ASSERT_EQ(o.code, 0) << o.err;
  auto const r = result();
  std::vector<double> seconds = r["repeat"]["seconds"];
  ASSERT_EQ(seconds.size(), 4u);
  EXPECT_EQ(r["repeat"]["count"], 4);
  EXPECT_EQ(r["seconds"]["solve"], seconds.back());
  EXPECT_GE(r["seconds"]["repeat"], seconds[0] + seconds[1] + seconds[2]);
  std::sort(seconds.begin(), seconds.end());
  EXPECT_EQ(r["repeat"]["least"], seconds[0]);
  EXPECT_EQ(r["repeat"]["most"], seconds[3]);
  double const median = (seconds[1] + seconds[2]) / 2;
  EXPECT_EQ(r["repeat"]["median"], median);
  EXPECT_DOUBLE_EQ(r["repeat"]["spread"], (seconds[3] - seconds[0]) / median);
  // Energy, or why there is none: these solves are shorter than what a counter tells.
  EXPECT_TRUE(r["joules"].is_null() || r["joules"].get<double>() >= 0);
  EXPECT_NE(r["joules_note"], "");
  EXPECT_TRUE(r["joules_note"].is_string());
  EXPECT_TRUE(has(o.out, "repeat: median ")) << o.out;
  EXPECT_TRUE(has(o.err, "solve 4 of 4: ")) << o.err;
  // Each begins where the first began.
  EXPECT_EQ(r["iterations"], once["iterations"]);
  EXPECT_EQ(read_text(folder_ / "tcsolve-out/x.mtx"), x);
}

TEST_F(Program, RepeatsWhatDoesNotConverge) {
  Outcome const o =
      solve(small_config, {"--repeat", "3", "--set", "solver.max_iters=2", "--quiet"});
  EXPECT_EQ(o.code, 3) << o.err;
  EXPECT_EQ(result()["repeat"]["count"], 3);
  EXPECT_EQ(solve(small_config, {"--repeat", "0"}).code, 1);
  EXPECT_EQ(solve(small_config, {"--repeat", "two"}).code, 1);
  EXPECT_EQ(tcsolve({"--list", "--repeat", "2"}).code, 1);
}

TEST_F(Program, GeneratesAMatrix) {
  Outcome o =
      tcsolve({"generate", "convdiff", "--set", "n=5", "--set", "velocity=3", "-o", "A.mtx"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(read_matrix_market(folder_ / "A.mtx"), generate(ConvdiffParams{.n = 5, .velocity = 3}));
  EXPECT_EQ(o.out, "A.mtx: 125 x 125, 725 entries\n");
  EXPECT_EQ(tcsolve({"A.mtx", "--quiet"}).code, 0);
  EXPECT_EQ(result()["config"]["solver"]["type"], "auto");
  EXPECT_EQ(result()["choices"][0]["solver"]["type"], "bicgstab");
  o = tcsolve({"generate", "poison7", "-o", "B.mtx"});
  EXPECT_EQ(o.code, 1);
  EXPECT_TRUE(has(o.err, "unknown generator 'poison7'; did you mean 'poisson7'?")) << o.err;
  o = tcsolve({"generate", "poisson7", "--set", "m=4", "-o", "B.mtx"});
  EXPECT_EQ(o.code, 1);
  EXPECT_TRUE(has(o.err, "--set m=4: unknown key 'm'")) << o.err;
  o = tcsolve({"generate", "poisson7", "-o", "B.npz"});
  EXPECT_EQ(o.code, 1);
  EXPECT_TRUE(has(o.err, "written as Matrix Market")) << o.err;
  EXPECT_EQ(tcsolve({"generate", "poisson7"}).code, 1);
  EXPECT_EQ(tcsolve({"generate", "poisson27", "--set", "n=1200", "-o", "B.mtx"}).code, 5);
  EXPECT_EQ(tcsolve({"generate", "poisson7", "-o", "none/B.mtx"}).code, 2);
  EXPECT_FALSE(fs::exists(folder_ / "B.mtx"));
}

TEST_F(Program, InfoIsJsonToo) {
  write_text(
      folder_ / "a.mtx",
      "%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 4\n2 2 -4\n3 1 1\n3 3 2\n");
  Outcome o = tcsolve({"info", "a.mtx", "--json"});
  ASSERT_EQ(o.code, 0) << o.err;
  auto const info = nlohmann::json::parse(o.out);
  EXPECT_EQ(info["file"], "a.mtx");
  EXPECT_EQ(info["rows"], 3);
  EXPECT_EQ(info["entries"], 5);
  EXPECT_EQ(info["stored"], 4);
  EXPECT_EQ(info["symmetric"], true);
  EXPECT_EQ(info["negative_diagonal"], 1);
  EXPECT_EQ(info["norms"]["largest_entry"], 4);
  EXPECT_EQ(info["row_entries"]["most"], 2);
  int rows = 0;
  for (auto const& bin : info["row_entries"]["histogram"]) rows += bin["rows"].get<int>();
  EXPECT_EQ(rows, 3);
  // The figures of the text, and the format that it lists first.
  std::string const text = tcsolve({"info", "a.mtx", "-v"}).out;
  ASSERT_EQ(info["plans"].size(), 2u);
  for (auto const& plan : info["plans"]) {
    EXPECT_EQ(plan["format"], plan["formats"][0]["format"]);
    EXPECT_TRUE(has(text, plan["device"])) << plan["device"];
    EXPECT_GT(plan["formats"][0]["total"], 0);
  }
  ASSERT_FALSE(info["models"].empty());
  for (auto const& model : info["models"]) {
    EXPECT_TRUE(has(text, cat("model of ", model["format"].get<std::string>())));
    EXPECT_EQ(model["terms"]["mu"], 5 / 3.0);
    EXPECT_GT(model["operations_per_byte"]["fp32, row-major"]["cache"], 0);
  }
  write_text(folder_ / "b.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1\n");
  auto const wide = nlohmann::json::parse(tcsolve({"info", "b.mtx", "--json"}).out);
  EXPECT_TRUE(wide["asymmetry"].is_null());
  EXPECT_TRUE(wide["plans"][0]["reorder"].is_null());
}

TEST_F(Program, InfoKnowsTheLevels) {
  ASSERT_EQ(tcsolve({"generate", "poisson7", "--set", "n=14", "-o", "a.mtx"}).code, 0);
  Outcome o = tcsolve({"info", "a.mtx", "--amg"});
  ASSERT_EQ(o.code, 0) << o.err;
  for (char const* words : {"multigrid\n", "    1       2744 ", "operator complexity 1.",
                            "near-nullspace, 1 unknown a node: ", "values of P^T A P "})
    EXPECT_TRUE(has(o.out, words)) << words << " in " << o.out;
  EXPECT_FALSE(has(tcsolve({"info", "a.mtx"}).out, "multigrid"));
  auto const json = nlohmann::json::parse(tcsolve({"info", "a.mtx", "--amg", "--json"}).out);
  auto const& levels = json["multigrid"]["levels"];
  ASSERT_EQ(levels.size(), 3);
  EXPECT_EQ(levels[0]["rows"], 2744);
  EXPECT_EQ(levels[0]["entries"], json["entries"]);
  EXPECT_GT(levels[0]["prolongation"], 2744);
  EXPECT_EQ(levels[2]["formats"], "inverse");
  double entries = 0;
  for (auto const& l : levels) entries += l["entries"].get<double>();
  EXPECT_DOUBLE_EQ(json["multigrid"]["operator_complexity"],
                   entries / levels[0]["entries"].get<double>());
  ASSERT_EQ(json["multigrid"]["near_nullspace"].size(), 1);
  EXPECT_GT(json["multigrid"]["near_nullspace"][0], 0.01);  // the boundary
  EXPECT_LT(json["multigrid"]["near_nullspace"][0], 0.3);
  write_text(folder_ / "b.mtx",
             "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 4\n2 2 -4\n");
  o = tcsolve({"info", "b.mtx", "--amg"});
  EXPECT_TRUE(has(o.out, "multigrid       none: amg: the diagonal entry of row 2")) << o.out;
}

TEST_F(Program, InfoKnowsTheGraph) {
  // A path of three rows, one row by itself, and an edge that is stored one way.
  write_text(folder_ / "a.mtx",
             "%%MatrixMarket matrix coordinate real general\n6 6 9\n1 1 4\n2 2 4\n3 3 4\n4 4 4\n"
             "1 2 -1\n2 1 -1\n3 2 -1\n2 3 -1\n6 5 1\n");
  Outcome o = tcsolve({"info", "a.mtx", "--graph"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(has(o.out, "graph           6 vertices, 3 edges of A + A^T")) << o.out;
  EXPECT_TRUE(has(o.out, "components      3, the largest of 3 vertices; 1 of one vertex")) << o.out;
  EXPECT_TRUE(has(o.out, "degrees         least 0, mean 1, most 2")) << o.out;
  EXPECT_TRUE(has(o.out, "levels          3 from vertex 3, the widest of 1 vertices; ")) << o.out;
  EXPECT_TRUE(has(o.out, " us a level on the ")) << o.out;
  auto const graph =
      nlohmann::json::parse(tcsolve({"info", "a.mtx", "--graph", "--json"}).out)["graph"];
  EXPECT_EQ(graph["components"], 3);
  EXPECT_EQ(graph["largest_component"], 3);
  EXPECT_EQ(graph["pseudo_peripheral_vertex"], 3);
  EXPECT_EQ(graph["levels"], (std::vector<int>{1, 1, 1}));
  EXPECT_GT(graph["search"]["microseconds_per_level"].get<double>(), 0);
  std::string const on = graph["search"]["on"];
  EXPECT_TRUE(on == "host" || on == "device") << on;
  EXPECT_FALSE(nlohmann::json::parse(tcsolve({"info", "a.mtx", "--json"}).out).contains("graph"));
  write_text(folder_ / "b.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1\n");
  o = tcsolve({"info", "b.mtx", "--graph"});
  EXPECT_EQ(o.code, 2) << o.err;
  EXPECT_TRUE(has(o.err, "2 x 3")) << o.err;
}

}  // namespace
}  // namespace tcsolve::cli
