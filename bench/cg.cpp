// SPDX-License-Identifier: Apache-2.0
/// bench_cg [REPETITIONS = 50]: Jacobi-CG in FP64 to a true relative residual of 1e-8, random
/// coefficients, microseconds an iteration. Beside it, in the same run: a plain cuSPARSE + cuBLAS
/// loop with host scalars, and one with device scalars in a CUDA graph looked at every 10
/// iterations. Each variant is checked (b - A x on the host) before it is timed; medians; JSON
/// lines, then a table.
///
/// tcsolve's time is that of the whole solve, so it holds the two checks of the true residual.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <optional>

#include <tcsolve/io/generators.hpp>
#include <tcsolve/operators/csr_operator.hpp>
#include <tcsolve/operators/sell_operator.hpp>
#include <tcsolve/precond/jacobi.hpp>
#include <tcsolve/solvers/cg.hpp>
#include <tcsolve/version.hpp>

#include "plain_cg.hpp"

using namespace tcsolve;

namespace {

struct Row {
  std::string matrix, variant;
  int iterations;
  double microseconds, spread, residual, floor_fraction;
};

double relative_residual(Csr<double> const& a, std::vector<double> const& x,
                         std::vector<double> const& b) {
  double rr = 0, bb = 0;
  for (Index i = 0; i < a.rows; ++i) {
    long double r = b[i];
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      r -= static_cast<long double>(a.values[k]) * x[a.columns[k]];
    rr += static_cast<double>(r * r);
    bb += b[i] * b[i];
  }
  return std::sqrt(rr / bb);
}

/// Runs once to check, then `repetitions` times; the medians.
Row measure(std::string const& matrix, std::string const& variant, Csr<double> const& a,
            double matrix_bytes, std::vector<double> const& b, int repetitions,
            std::function<bench::PlainResult()> const& solve,
            std::function<std::vector<double>()> const& x) {
  bench::PlainResult first = solve();
  double residual = relative_residual(a, x(), b);
  std::vector<double> times;
  for (int i = 0; i < repetitions; ++i) {
    bench::PlainResult r = solve();
    times.push_back(1e6 * r.seconds / r.iterations);
  }
  std::sort(times.begin(), times.end());
  double bytes = matrix_bytes + 96.0 * a.rows;
  double median = times[times.size() / 2];
  Row row{matrix,
          variant,
          first.iterations,
          median,
          (times.back() - times.front()) / median,
          residual,
          bytes / 4290e9 * 1e6 / median};
  std::cout << "{\"bench\": \"cg\", \"matrix\": \"" << matrix << "\", \"rows\": " << a.rows
            << ", \"entries\": " << a.entries() << ", \"variant\": \"" << variant
            << "\", \"iterations\": " << row.iterations << ", \"us_per_iteration\": " << median
            << ", \"spread\": " << row.spread << ", \"true_residual\": " << residual
            << ", \"fraction_of_byte_floor\": " << row.floor_fraction << "}" << std::endl;
  return row;
}

}  // namespace

int main(int argc, char** argv) {
  std::string why;
  if (!cuda::available(why)) {
    std::cout << "bench_cg: " << why << ": nothing to measure\n";
    return 0;
  }
  bool brief = std::getenv("TCSOLVE_BENCH_SHORT") != nullptr;
  int repetitions = argc > 1 ? std::atoi(argv[1]) : brief ? 5 : 50;
  Context ctx(Backend::cuda);
  auto facts = cuda::facts(*ctx.device());
  std::cout << "{\"device\": \"" << facts.name << "\", \"driver\": \"" << facts.driver
            << "\", \"runtime\": \"" << facts.runtime << "\", \"revision\": \"" << version::revision
            << "\", \"repetitions\": " << repetitions << "}" << std::endl;
  std::vector<std::pair<std::string, std::function<Csr<double>()>>> matrices;
  auto random = Coefficient::random;
  for (int n : brief ? std::vector{20, 48} : std::vector{20, 32, 48, 64, 96})
    matrices.push_back({cat("poisson27_", n),
                        [=] { return generate(Poisson27Params{.n = n, .coefficient = random}); }});
  if (!brief) {
    matrices.push_back({"elasticity_56", [=] {
                          return generate(ElasticityParams{.n = 56, .coefficient = random});
                        }});
    matrices.push_back({"poisson7_160",
                        [=] { return generate(Poisson7Params{.n = 160, .coefficient = random}); }});
  }
  std::vector<Row> rows;
  for (auto const& [name, make] : matrices) {
    Csr<double> a = make();
    std::vector<double> b(a.rows, 1.0), x(a.rows);
    double csr_bytes = 12.0 * a.entries() + 4.0 * a.rows;
    {
      bench::PlainCg plain(a);
      auto get = [&] { return plain.x(); };
      rows.push_back(measure(
          name, "plain, host scalars", a, csr_bytes, b, repetitions,
          [&] { return plain.host_scalars(b, 1e-8, 5000); }, get));
      rows.push_back(measure(
          name, "plain, graph of 10", a, csr_bytes, b, repetitions,
          [&] { return plain.graph(b, 1e-8, 5000, 10); }, get));
    }
    auto A = std::make_shared<CsrOperator<double>>(ctx, a.view());
    auto M = std::make_shared<Jacobi<double>>(ctx, A->view());
    Array<double> db = to_space(ctx, b.data(), b.size()), dx(ctx.space(), b.size());
    auto sell = std::make_shared<SellOperator<double>>(ctx, A->view());
    struct Variant {
      std::string name;
      OperatorPtr<double> op;
      Execution execution;
    };
    for (Variant const& v : {Variant{"tcsolve, eager", A, Execution::eager},
                             Variant{"tcsolve, graph", A, Execution::graph},
                             Variant{"tcsolve, sell, graph", sell, Execution::graph}}) {
      Cg<double> cg({.stopping = {.max_iters = 5000}, .execution = v.execution});
      cg.setup(ctx, v.op, M, A);
      auto solve = [&] {
        fill<double>(ctx, dx.view(), 0);
        ctx.synchronize();
        SolveReport report = cg.solve(db.view(), dx.view());
        if (!report.converged()) std::cout << report.message << std::endl;
        return bench::PlainResult{report.iterations, report.seconds};
      };
      rows.push_back(measure(name, v.name, a, v.op->cost(1).bytes - 16.0 * a.rows, b, repetitions,
                             solve, [&] { return to_host(ctx, dx); }));
    }
  }
  std::cout << "matrix | variant | iterations | us/iteration | spread | true residual | vs host "
               "scalars | byte floor\n"
            << "---|---|---|---|---|---|---|---\n";
  double base = 1;
  for (Row const& r : rows) {
    if (r.variant == "plain, host scalars") base = r.microseconds;
    std::cout.precision(3);
    std::cout << r.matrix << " | " << r.variant << " | " << r.iterations << " | " << r.microseconds
              << " | " << 100 * r.spread << " % | " << r.residual << " | " << base / r.microseconds
              << "x | " << 100 * r.floor_fraction << " %\n";
  }
}
