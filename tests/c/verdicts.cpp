// SPDX-License-Identifier: Apache-2.0
/// The verdict corpus through the C library: the same outcome words, iterations and bits of x as
/// through C++. The two have the whole library each, the one behind its 22 functions. With
/// TCSOLVE_VERDICTS_TO=FILE the cases are written there, a line of JSON each, for the same check in
/// other languages.
#include <cstdlib>
#include <cstring>
#include <fstream>

#include <nlohmann/json.hpp>

#include <tcsolve/api/linear_solver.hpp>
#include <tests/verdicts/corpus.hpp>

#include "bindings/c/tcsolve.h"

namespace tcsolve::test {
namespace {

Block block_of(std::string const& method, Case const& c) {
  auto const with = [&](auto params) {
    params.stopping = c.stopping;
    if constexpr (requires { params.restart; }) params.restart = c.restart;
    return params;
  };
  if (method == "gmres_left") {
    GmresParams params = with(GmresParams{});
    params.side = Side::left;
    return {"gmres", params};
  }
  if (method == "gmres") return {method, with(GmresParams{})};
  if (method == "fgmres") return {method, with(FgmresParams{})};
  if (method == "cg") return {method, with(CgParams{})};
  if (method == "bicgstab") return {method, with(BicgstabParams{})};
  if (method == "minres") return {method, with(MinresParams{})};
  if (method == "lsmr") return {method, with(LsmrParams{})};
  return {method, with(OneReductionParams{})};
}

std::string hex(double v) {
  char text[40];
  std::snprintf(text, sizeof text, "%a", v);
  return text;
}
template <class Values>
nlohmann::json hexes(Values const& values) {
  auto list = nlohmann::json::array();
  for (double const v : values) list.push_back(hex(v));
  return list;
}

struct Ended {
  std::string outcome;
  double iterations = -1;
  std::vector<double> x;
};

Ended by_c(std::string const& options, Csr<double> const& a, std::vector<double> const& b,
           std::vector<double> x) {
  tcs_solver* solver = nullptr;
  EXPECT_EQ(tcs_solver_create(&solver, nullptr, options.c_str()), TCS_OK) << tcs_last_error();
  tcs_csr const view{sizeof(tcs_csr),
                     a.rows,
                     a.cols,
                     a.entries(),
                     a.offsets.data(),
                     a.columns.data(),
                     a.values.data(),
                     64,
                     32,
                     TCS_F64,
                     0,
                     TCS_HOST,
                     0};
  EXPECT_EQ(tcs_solver_set_csr(solver, &view, 1), TCS_OK) << tcs_last_error();
  tcs_report* report = nullptr;
  EXPECT_EQ(tcs_solver_solve(solver, b.data(), x.data(), 1, a.rows, TCS_HOST, nullptr, &report),
            TCS_OK)
      << tcs_last_error();
  char const* const outcome = tcs_report_text(report, "outcome");
  Ended const ended{outcome != nullptr ? outcome : "", tcs_report_number(report, "iterations"),
                    std::move(x)};
  tcs_report_free(report);
  tcs_solver_free(solver);
  return ended;
}

bool same_bits(std::vector<double> const& x, std::vector<double> const& y) {
  return x.size() == y.size() &&
         (x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(double)) == 0);
}

TEST(VerdictsThroughC, AreThoseOfCpp) {
  char const* const file = std::getenv("TCSOLVE_VERDICTS_TO");
  std::ofstream out;
  if (file != nullptr) out.open(file);
  int solves = 0;
  for (auto const table :
       {trivial_cases, definiteness_cases, breakdown_cases, precision_cases, nonfinite_cases,
        stopping_cases, claim_cases, best_iterate_cases, scale_cases})
    for (Case const& c : table()) {
      Problem const p = c.make();
      if (p.op || p.M || p.rounded) continue;  // functions, which no other language has
      Csr<double> const a = csr(p.A);
      std::vector<double> const b(p.b.begin(), p.b.end());
      std::vector<double> x0(static_cast<std::size_t>(a.cols));
      if (p.x0.size() > 0) x0.assign(p.x0.begin(), p.x0.end());
      for (std::string const& method : methods(c.methods)) {
        SCOPED_TRACE(cat(c.name, ", ", method));
        SolverOptions options{.solver = block_of(method, c), .matrix_operator = "csr"};
        options.backend = Backend::host;
        std::string const yaml = dump_yaml(read_options(options));
        LinearSolver solver(SolverOptions::from_yaml(yaml));
        solver.set_matrix(a.view(), Arrays::borrowed);
        std::vector<double> x = x0;
        SolveReport const report = solver.solve(b, x);
        Ended const ended = by_c(yaml, a, b, x0);
        EXPECT_EQ(ended.outcome, report.outcome());
        EXPECT_EQ(ended.iterations, report.iterations);
        EXPECT_TRUE(same_bits(ended.x, x));
        ++solves;
        if (out.is_open())
          out << nlohmann::json{{"name", c.name + ", " + method},
                                {"options", yaml},
                                {"rows", a.rows},
                                {"cols", a.cols},
                                {"offsets", a.offsets},
                                {"columns", a.columns},
                                {"values", hexes(a.values)},
                                {"b", hexes(b)},
                                {"x0", hexes(x0)},
                                {"outcome", report.outcome()},
                                {"iterations", report.iterations},
                                {"x", hexes(x)}}
                     .dump()
              << "\n";
      }
    }
  EXPECT_GT(solves, 300);
}

}  // namespace
}  // namespace tcsolve::test
