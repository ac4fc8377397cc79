// SPDX-License-Identifier: Apache-2.0
/// bench_krylov [REPETITIONS = 50]: BiCGStab and GMRES(30) with Jacobi in FP64 to a true relative
/// residual of 1e-8, random coefficients, beside the loops of plain_krylov.hpp in the same run;
/// checked, then timed; medians; JSON lines, then a table.
#include <cstdlib>

#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/precond/jacobi/jacobi.hpp>
#include <tcsolve/solvers/bicgstab/bicgstab.hpp>
#include <tcsolve/solvers/gmres/gmres.hpp>

#include "formats.hpp"
#include "measure.hpp"
#include "plain_krylov.hpp"

using namespace tcsolve;

int main(int argc, char** argv) {
  std::string why;
  if (!cuda::available(why)) {
    std::cout << "bench_krylov: " << why << ": nothing to measure\n";
    return 0;
  }
  bool brief = std::getenv("TCSOLVE_BENCH_SHORT") != nullptr;
  int repetitions = argc > 1 ? std::atoi(argv[1]) : brief ? 5 : 50;
  constexpr int most = 2000, restart = 30;
  Context ctx(Backend::cuda);
  bench::print_device(ctx, repetitions);
  std::vector<bench::Row> rows;
  for (int n : brief ? std::vector{20, 48} : std::vector{20, 32, 48, 96}) {
    if (argc > 2 && cat("poisson27_", n) != argv[2]) continue;
    Csr<double> a = generate(Poisson27Params{.n = n, .coefficient = Coefficient::random});
    std::vector<double> b(a.rows, 1.0);
    auto A = std::make_shared<CsrOperator<double>>(ctx, a.view());
    auto M = std::make_shared<Jacobi<double>>(ctx, A->view());
    Array<double> db = to_space(ctx, b.data(), b.size()), dx(ctx.space(), b.size());
    std::vector<bench::Stored> const stored = bench::in_every_format(ctx, A);
    bench::PlainKrylov plain(a);
    for (std::string method : {"bicgstab", "gmres"}) {
      std::string name = cat(method, ", poisson27_", n);
      rows.push_back(bench::measure(
          name, "plain, host scalars", a, 0, b, repetitions,
          [&] {
            return method == "gmres" ? plain.gmres(b, 1e-8, most, restart)
                                     : plain.bicgstab(b, 1e-8, most);
          },
          [&] { return plain.x(); }));
      struct Variant {
        std::string name;
        OperatorPtr<double> op;
        Execution execution;
      };
      std::vector<Variant> variants;
      for (bench::Stored const& as : stored)
        variants.push_back({cat("tcsolve, ", as.name, ", graph"), as.A, Execution::graph});
      for (bench::Stored const& as : stored)
        if (as.persistent)
          variants.push_back(
              {cat("tcsolve, ", as.name, ", persistent"), as.A, Execution::persistent});
      for (Variant const& v : variants) {
        std::unique_ptr<Solver> solver;
        StoppingParams stopping{.max_iters = most};
        if (method == "gmres") {
          GmresParams params;
          params.stopping = stopping, params.execution = v.execution, params.restart = restart;
          solver = std::make_unique<Gmres<double>>(params);
        } else {
          solver = std::make_unique<Bicgstab<double>>(BicgstabParams{stopping, v.execution});
        }
        solver->setup(ctx, v.op, M, A);
        rows.push_back(bench::measure(
            name, v.name, a, 0, b, repetitions,
            [&] {
              fill<double>(ctx, dx.view(), 0);
              ctx.synchronize();
              SolveReport report = solver->solve(db.view(), dx.view());
              if (!report.converged()) std::cout << report.message << std::endl;
              return bench::PlainResult{report.iterations, report.loop_seconds, report.seconds};
            },
            [&] { return to_host(ctx, dx); }));
      }
    }
  }
  bench::print_table(rows);
}
