// SPDX-License-Identifier: Apache-2.0
/// bench_cg [REPETITIONS = 50 [MATRIX]]: Jacobi-CG in FP64 to a true relative residual of 1e-8,
/// random coefficients, microseconds an iteration. Beside it, in the same run: a plain cuSPARSE +
/// cuBLAS loop with host scalars, and one with device scalars in a CUDA graph looked at every 10
/// iterations. At the end LinearSolver with `format: auto`, in FP64 and with FP32 vectors and
/// values. Each variant is checked (b - A x on the host) before it is timed; medians; JSON
/// lines, then a table.
///
/// us/iteration is the loop, launch to last word; the whole solve holds the two checks of the true
/// residual. "byte floor": the matrix as stored once, and 96 bytes a row.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <optional>

#include <tcsolve/api/linear_solver.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/precond/jacobi/jacobi.hpp>
#include <tcsolve/solvers/cg/cg.hpp>
#include <tcsolve/solvers/pipelined_cg/pipelined_cg.hpp>

#include "formats.hpp"
#include "measure.hpp"

using namespace tcsolve;

int main(int argc, char** argv) {
  std::string why;
  if (!cuda::available(why)) {
    std::cout << "bench_cg: " << why << ": nothing to measure\n";
    return 0;
  }
  bool brief = std::getenv("TCSOLVE_BENCH_SHORT") != nullptr;
  int repetitions = argc > 1 ? std::atoi(argv[1]) : brief ? 5 : 50;
  Context ctx(Backend::cuda);
  bench::print_device(ctx, repetitions);
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
  std::vector<bench::Row> rows;
  for (auto const& [name, make] : matrices) {
    if (argc > 2 && name != argv[2]) continue;
    Csr<double> a = make();
    std::vector<double> b(a.rows, 1.0), x(a.rows);
    double csr_bytes = 12.0 * a.entries() + 100.0 * a.rows;
    {
      bench::PlainCg plain(a);
      auto get = [&] { return plain.x(); };
      rows.push_back(bench::measure(
          name, "plain, host scalars", a, csr_bytes, b, repetitions,
          [&] { return plain.host_scalars(b, 1e-8, 5000); }, get));
      rows.push_back(bench::measure(
          name, "plain, graph of 10", a, csr_bytes, b, repetitions,
          [&] { return plain.graph(b, 1e-8, 5000, 10); }, get));
    }
    auto A = std::make_shared<CsrOperator<double>>(ctx, a.view());
    auto M = std::make_shared<Jacobi<double>>(ctx, A->view());
    Array<double> db = to_space(ctx, b.data(), b.size()), dx(ctx.space(), b.size());
    StoppingParams stopping{.max_iters = 5000};
    auto cg_by = [&](Execution e) { return std::make_unique<Cg<double>>(CgParams{stopping, e}); };
    struct Variant {
      std::string name;
      OperatorPtr<double> op;
      std::unique_ptr<Solver> solver;
    };
    std::vector<Variant> variants;
    std::vector<bench::Stored> const stored = bench::in_every_format(ctx, A);
    for (bench::Stored const& as : stored)
      variants.emplace_back(cat("tcsolve, ", as.name, ", graph"), as.A, cg_by(Execution::graph));
    bool const small =
        csr_bytes < 1.2e8;  // twice the cache: beyond it CSR loses, and takes minutes
    for (bench::Stored const& as : stored)
      if (as.persistent && (small || as.A != A))
        variants.emplace_back(cat("tcsolve, ", as.name, ", persistent"), as.A,
                              cg_by(Execution::persistent));
    if (small) {
      variants.emplace_back("tcsolve, csr, eager", A, cg_by(Execution::eager));
      OneReductionParams one{stopping, Execution::persistent};
      variants.emplace_back("chronopoulos_gear, csr, persistent", A,
                            std::make_unique<ChronopoulosGear<double>>(one));
      variants.emplace_back("pipelined_cg, csr, persistent", A,
                            std::make_unique<PipelinedCg<double>>(one));
    }
    for (Variant const& v : variants) {
      Solver* cg = v.solver.get();
      cg->setup(ctx, v.op, M, A);
      auto solve = [&] {
        fill<double>(ctx, dx.view(), 0);
        ctx.synchronize();
        SolveReport report = cg->solve(db.view(), dx.view());
        if (!report.converged()) std::cout << report.message << std::endl;
        return bench::PlainResult{report.iterations, report.loop_seconds, report.seconds};
      };
      rows.push_back(bench::measure(name, v.name, a, v.op->cost(1).bytes + 80.0 * a.rows, b,
                                    repetitions, solve, [&] { return to_host(ctx, dx); }));
    }
    // As a user has it, in the format of `auto`: FP64, and FP32 vectors and values.
    for (auto const& [what, keys] : {std::pair{"FP64", "fp64}\noperator: {values: fp64}"},
                                     std::pair{"FP32", "fp32}\noperator: {values: fp32}"}}) {
      LinearSolver solver(ctx, SolverOptions::from_yaml(
                                   cat("preconditioner: {type: jacobi}\nsolver: {type: cg, rtol: "
                                       "1e-8, max_iters: 5000, vectors: ",
                                       keys)));
      solver.set_matrix(a.view());
      auto solve = [&] {
        fill<double>(ctx, dx.view(), 0);
        ctx.synchronize();
        SolveReport const report = solver.solve(db.view(), dx.view());
        if (!report.converged()) std::cout << report.message << std::endl;
        return bench::PlainResult{report.iterations, report.loop_seconds, report.seconds};
      };
      double const vectors = std::string_view(what) == "FP64" ? 80.0 : 40.0;
      solve();
      rows.push_back(bench::measure(name, cat("LinearSolver, ", solver.A()->name(), ", ", what), a,
                                    solver.A()->cost(1).bytes + vectors * a.rows, b, repetitions,
                                    solve, [&] { return to_host(ctx, dx); }));
    }
  }
  bench::print_table(rows);
}
