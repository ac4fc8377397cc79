// SPDX-License-Identifier: Apache-2.0
/// The verdict corpus through the C library: the same outcome words, iterations and bits of x as
/// through C++. The two have the whole library each, the one behind its functions. Operators and
/// preconditioners of the corpus are functions in both, which see no other system than theirs. With
/// TCSOLVE_VERDICTS_TO=FILE the cases without functions are written there, a line of JSON each, for
/// the same check in other languages.
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>

#include <nlohmann/json.hpp>

#include <tcsolve/api/linear_solver.hpp>
#include <tcsolve/operators/function_operator.hpp>
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

/// What a row of the corpus multiplies by instead of A, and its M: a function, for every language.
struct Functions {
  Context ctx{Backend::host};
  OperatorPtr<double> A, M;  // M may be null

  explicit Functions(Problem const& p)
      : A(p.op ? p.op(ctx) : matrix(ctx, p.A)), M(p.M ? p.M(ctx) : nullptr) {}
};

template <OperatorPtr<double> Functions::*op>
std::int32_t product(void* user, double const* x, double* y, std::int32_t transpose, void*) {
  auto& f = *static_cast<Functions*>(user);
  LinearOperator<double> const& by = *(f.*op);
  Index const from = transpose ? by.rows() : by.cols(), to = transpose ? by.cols() : by.rows();
  try {
    by.apply(f.ctx, 1.0, vector_view(x, from), 0.0, vector_view(y, to),
             transpose ? Op::transpose : Op::none);
  } catch (Unsupported const&) { return TCS_UNSUPPORTED; } catch (...) {
    return 1;
  }
  return 0;
}

/// The same in C++.
OperatorPtr<double> function(Functions& f, OperatorPtr<double> const& op) {
  if (!op) return nullptr;
  auto const by = [&f, op](Op transposed) {
    return [&f, op, transposed](Context&, In<double> x, Out<double> y) {
      op->apply(f.ctx, 1.0, x, 0.0, y, transposed);
    };
  };
  return std::make_shared<FunctionOperator<double>>(
      op->rows(), op->cols(), by(Op::none),
      FunctionOperator<double>::Options{.transposed = by(Op::transpose)});
}

Ended by_cpp(std::string const& options, Problem const& p, Csr<double> const& a,
             std::vector<double> const& b, std::vector<double> x) {
  LinearSolver solver(SolverOptions::from_yaml(options));
  std::optional<Functions> functions;
  if (p.op || p.M) {
    functions.emplace(p);
    solver.set_operator(function(*functions, functions->A), function(*functions, functions->M));
  } else {
    solver.set_matrix(a.view(), Arrays::borrowed);
  }
  SolveReport const report = solver.solve(b, x);
  return {report.outcome(), double(report.iterations), std::move(x)};
}

Ended by_c(std::string const& options, Problem const& p, Csr<double> const& a,
           std::vector<double> const& b, std::vector<double> x) {
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
  std::optional<Functions> functions;
  if (p.op || p.M) {
    functions.emplace(p);
    EXPECT_EQ(tcs_solver_set_operator(solver, a.rows, a.cols, product<&Functions::A>,
                                      functions->M ? product<&Functions::M> : nullptr, &*functions),
              TCS_OK)
        << tcs_last_error();
  } else {
    EXPECT_EQ(tcs_solver_set_csr(solver, &view, 1), TCS_OK) << tcs_last_error();
  }
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
  int solves = 0, by_functions = 0;
  for (auto const table : {trivial_cases, definiteness_cases, singular_cases, breakdown_cases,
                           precision_cases, nonfinite_cases, stopping_cases, inner_cases,
                           claim_cases, best_iterate_cases, scale_cases, multigrid_cases})
    for (Case const& c : table()) {
      Problem const p = c.make();
      Csr<double> const a = csr(p.A);
      std::vector<double> const b(p.b.begin(), p.b.end());
      std::vector<double> x0(static_cast<std::size_t>(a.cols));
      if (p.x0.size() > 0) x0.assign(p.x0.begin(), p.x0.end());
      for (std::string const& method : methods(c.methods)) {
        SCOPED_TRACE(cat(c.name, ", ", method));
        SolverOptions options{.solver = block_of(method, c), .matrix_operator = "csr"};
        options.backend = Backend::host;
        std::string const yaml = dump_yaml(read_options(options));
        Ended const expected = by_cpp(yaml, p, a, b, x0), ended = by_c(yaml, p, a, b, x0);
        EXPECT_EQ(ended.outcome, expected.outcome);
        if (!std::isfinite(c.stopping.time_limit)) {  // else the clock says how far it comes
          EXPECT_EQ(ended.iterations, expected.iterations);
          EXPECT_TRUE(same_bits(ended.x, expected.x));
        }
        ++solves;
        by_functions += p.op || p.M;
        if (out.is_open() && !p.op && !p.M)  // functions of C++ are not for Python
          out << nlohmann::json{{"name", c.name + ", " + method},
                                {"options", yaml},
                                {"rows", a.rows},
                                {"cols", a.cols},
                                {"offsets", a.offsets},
                                {"columns", a.columns},
                                {"values", hexes(a.values)},
                                {"b", hexes(b)},
                                {"x0", hexes(x0)},
                                {"outcome", expected.outcome},
                                {"iterations", expected.iterations},
                                {"x", hexes(expected.x)}}
                     .dump()
              << "\n";
      }
    }
  EXPECT_GT(solves, 1200);
  EXPECT_GT(by_functions, 100);
}

}  // namespace
}  // namespace tcsolve::test
