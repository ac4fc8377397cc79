// SPDX-License-Identifier: Apache-2.0
// Dumps that read back as they were, and the tables of keys.
#include <tcsolve/configs/schema/number.hpp>
#include <tcsolve/core/error.hpp>
#include <tests/support/config_sample.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <bit>
#include <cmath>
#include <random>
#include <string>

namespace tcsolve {
namespace {

using namespace sample;

using Random = std::mt19937_64;

int below(Random& random, int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); }

/// Text of the kinds that YAML might take for something else.
std::string any_text(Random& random) {
  static std::vector<std::string> const odd{
      "",       "~",   "null",   "true",   "yes",    "1",     "1e5", ".inf", "- a",  "a: b",
      "#c",     " a ", "'",      "\"",     "\\",     "{",     "[x]", "a\nb", "\r\n", "\t",
      "%d",     "@",   "`",      "!x",     "&a",     "*a",    "|",   ">",    "a #b", "\x01x",
      "\x7f",   "?",   "\u00e9", "\u2028", ":",      "---",   "...", "a:b",  "a/b",  "a.b",
      "\u0085", "=",   "<<",     "0x1",    "\ufeff", "a\\nb", "No",  "-"};
  if (below(random, 2)) return odd[random() % odd.size()];
  std::string text;
  for (int i = below(random, 40); i > 0; --i) text += static_cast<char>(1 + below(random, 127));
  return text;
}

double any_positive(Random& random) {
  for (;;) {
    auto const d = std::bit_cast<double>(random() >> 1);
    if (std::isfinite(d) && d > 0) return d;
  }
}

Output any_output(Random& random) {
  Output o;
  o.directory = any_text(random);
  o.solution = below(random, 2);
  o.history.every = 1 + below(random, 1 << 30);
  o.history.file = any_text(random) + "x";
  for (int i = below(random, 4); i > 0; --i) o.times.push_back(any_positive(random));
  o.tags.clear();
  for (int i = below(random, 4); i > 0; --i) o.tags.push_back(any_text(random));
  o.seed = random();
  o.offset = -static_cast<std::int64_t>(random() >> 1);
  return o;
}

TEST(ConfigPrint, DumpsReadBackAsTheyWere) {
  Random random(20240607);
  for (int i = 0; i < 3000; ++i) {
    Output const o = any_output(random);
    std::string const dump = dump_yaml(o);
    Output again;
    Diagnostics problems;
    ASSERT_TRUE(read_params(parse_yaml(dump, "dump"), again, problems, "the dump"))
        << dump << problems.text();
    ASSERT_EQ(again, o) << dump;
    auto const json = nlohmann::json::parse(dump_json(o));
    ASSERT_EQ(json["seed"].get<std::uint64_t>(), o.seed);
    ASSERT_EQ(json["directory"].get<std::string>(), o.directory);
    ASSERT_EQ(json["times"].get<std::vector<double>>(), o.times);
    ASSERT_EQ(json["tags"].get<std::vector<std::string>>(), o.tags);
  }
}

TEST(ConfigPrint, EffectiveValuesOfAWholeConfig) {
  Registries const r;
  RunConfig const run = read_run(
      "problem: {matrix: 1.mtx}\n"
      "preconditioner: {type: solve}\n"
      "solver: {type: gmres, preconditioner: {type: jacobi, omega: 0.5}}\n",
      r);
  std::string const dump =
      "problem:\n  matrix: \"1.mtx\"\n  generator: \"\"\n"
      "preconditioner:\n  type: solve\n  solver:\n    type: cg\n    rtol: 1e-08\n    max_iters: "
      "1000\n"
      "    time_limit: .inf\n"
      "solver:\n  type: gmres\n  rtol: 1e-08\n  max_iters: 1000\n  time_limit: .inf\n  restart: "
      "30\n"
      "  ortho: cgs2\n  preconditioner:\n    type: jacobi\n    omega: 0.5\n"
      "output:\n  directory: \"\"\n  solution: false\n  history:\n    every: 1\n    file: "
      "history.csv\n"
      "  times: []\n  tags: [a, \"b c\"]\n  seed: 1\n  offset: 0\n";
  EXPECT_EQ(dump_yaml(run), dump);
  EXPECT_EQ(dump_yaml(read_run(dump, r)), dump);
  auto const json = nlohmann::json::parse(dump_json(run));
  EXPECT_EQ(json["solver"]["preconditioner"]["omega"], 0.5);
  EXPECT_EQ(json["solver"]["time_limit"], ".inf");
  EXPECT_EQ(json["problem"]["matrix"], "1.mtx");
  EXPECT_EQ(json["output"]["solution"], false);
}

TEST(ConfigPrint, NumbersReadBackBitForBit) {
  Random random(7);
  for (int i = 0; i < 20000; ++i) {
    auto const d = std::bit_cast<double>(random());
    if (std::isnan(d)) continue;
    double again = 0;
    ASSERT_EQ(parse_number(number_text(d), again), Parsed::ok) << number_text(d);
    ASSERT_EQ(std::bit_cast<std::uint64_t>(again), std::bit_cast<std::uint64_t>(d))
        << number_text(d);
  }
}

TEST(ConfigExplain, TablesOfKeys) {
  Registries const r;
  auto const config = describe<RunConfig>();
  EXPECT_EQ(
      explain(config, r.catalog, "solver.gmres"),
      "solver 'gmres': restarted GMRES\n\n"
      "key             type     default  range           meaning\n"
      "rtol            number   1e-08    [0, 1]          stop when norm(b - A x) <= rtol norm(b)\n"
      "max_iters       integer  1000     [0, inf)        iterations over all restarts\n"
      "time_limit      number   .inf     (0, inf]        seconds\n"
      "restart         integer  30       [1, 1000]       Krylov vectors kept between restarts\n"
      "ortho           name     cgs2     mgs, cgs2       orthogonalisation of the basis\n"
      "preconditioner  block             preconditioner  a second one\n");
  EXPECT_EQ(explain(config, r.catalog, "solver"),
            "solver  meaning\ncg      conjugate gradients\ngmres   restarted GMRES\n");
  EXPECT_EQ(explain(config, r.catalog, "preconditioner.none"),
            "preconditioner 'none': the identity\n\nno keys\n");
  EXPECT_EQ(
      explain(config, r.catalog, "output.tags", TextStyle::markdown),
      "| key | type | default | range | meaning |\n|---|---|---|---|---|\n"
      "| output.tags | list of text | [a, \"b c\"] |  | free text \\| kept in the result |\n");
  EXPECT_NE(explain(config, r.catalog, "output").find("output.history.every"), std::string::npos);
  EXPECT_NE(explain(config, r.catalog, "").find("solver                block           required"),
            std::string::npos)
      << explain(config, r.catalog, "");
  EXPECT_NE(reference_page(r.solvers).find("\n## gmres\n\nrestarted GMRES\n\n| key |"),
            std::string::npos);
}

TEST(ConfigExplain, UnknownPaths) {
  Registries const r;
  auto const error = [&](std::string const& path) {
    try {
      return explain(describe<RunConfig>(), r.catalog, path);
    } catch (ConfigError const& e) { return std::string(e.what()); }
  };
  EXPECT_EQ(error("solvr"), "nothing is called 'solvr'; did you mean 'solver'?");
  EXPECT_EQ(error("zzzzz"),
            "nothing is called 'zzzzz'; valid: problem, preconditioner, solver, output");
  EXPECT_EQ(error("solver.gmrs"), "unknown solver 'gmrs'; did you mean 'gmres'?; known: cg, gmres");
  EXPECT_EQ(error("output.sed"), "nothing is called 'output.sed'; did you mean 'output.seed'?");
}

}  // namespace
}  // namespace tcsolve
