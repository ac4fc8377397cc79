// SPDX-License-Identifier: Apache-2.0
/// bench_real_matrices [FOLDER = TCSOLVE_MATRICES] [SECONDS = 20]: solves every square real matrix
/// of the folder to a true relative residual of 1e-8 with b = ones, on the host and on the device
/// where there is one. Of the methods tried the quickest that converged is shown; where none did,
/// each method's verdict. Time is set-up and solve, median of three.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <optional>

#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/io/matrix_market.hpp>
#include <tcsolve/matrix/csr.hpp>
#include <tcsolve/operators/composite.hpp>
#include <tcsolve/precond/block_jacobi/block_jacobi.hpp>
#include <tcsolve/precond/chebyshev/chebyshev.hpp>
#include <tcsolve/precond/jacobi/jacobi.hpp>
#include <tcsolve/solvers/bicgstab/bicgstab.hpp>
#include <tcsolve/solvers/cg/cg.hpp>
#include <tcsolve/solvers/gmres/gmres.hpp>
#include <tcsolve/solvers/minres/minres.hpp>
#include <tcsolve/version.hpp>

using namespace tcsolve;

namespace {

using Clock = std::chrono::steady_clock;

struct Trial {
  std::string solver, preconditioner;
};

struct Outcome {
  Trial trial;
  SolveReport report;
  double seconds = 0;
};

std::unique_ptr<Solver> make_solver(std::string const& name, double limit) {
  StoppingParams stopping{.max_iters = 20000, .time_limit = limit};
  if (name == "cg") return std::make_unique<Cg<double>>(CgParams{stopping});
  if (name == "minres") return std::make_unique<Minres<double>>(MinresParams{stopping});
  if (name == "bicgstab") return std::make_unique<Bicgstab<double>>(BicgstabParams{stopping});
  return std::make_unique<Gmres<double>>(GmresParams{.stopping = stopping, .restart = 100});
}

OperatorPtr<double> make_preconditioner(Context& ctx, std::string const& name,
                                        std::shared_ptr<CsrOperator<double>> const& A,
                                        Csr<double> const& a) {
  if (name == "jacobi") return std::make_shared<Jacobi<double>>(ctx, A->view());
  if (name == "block_jacobi") return std::make_shared<BlockJacobi<double>>(ctx, a.view());
  if (name == "chebyshev")
    return std::make_shared<Chebyshev>(ctx, A, std::make_shared<Jacobi<double>>(ctx, A->view()),
                                       ChebyshevParams{.degree = 8, .eig_ratio = 100});
  return nullptr;
}

/// What a careful user would try, by the kind of matrix.
std::vector<Trial> trials(CsrSummary const& s) {
  if (s.asymmetry < 1e-10 && s.zero_diagonal == 0 && s.negative_diagonal == 0)
    return {{"cg", "jacobi"}, {"cg", "block_jacobi"}, {"cg", "chebyshev"}};
  if (s.asymmetry < 1e-10) return {{"minres", "none"}, {"gmres", "block_jacobi"}};
  return {{"bicgstab", s.zero_diagonal == 0 ? "jacobi" : "none"},
          {"bicgstab", "block_jacobi"},
          {"gmres", "block_jacobi"}};
}

Outcome run(Context& ctx, Csr<double> const& a, Trial const& trial, double limit, int repetitions) {
  std::vector<double> b(a.rows, 1.0), times;
  Outcome out{trial, {}, 0};
  for (int i = 0; i < repetitions; ++i) {
    std::vector<double> x(a.rows, 0.0);
    auto start = Clock::now();
    try {
      auto A = std::make_shared<CsrOperator<double>>(ctx, a.view());
      auto solver = make_solver(trial.solver, limit);
      solver->setup(ctx, A, make_preconditioner(ctx, trial.preconditioner, A, a));
      out.report =
          solver->solve(vector_view<double const>(b.data(), a.rows), vector_view(x.data(), a.rows));
    } catch (SetupError const& e) { out.report.message = e.what(); }
    times.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    if (!out.report.converged()) break;
  }
  std::sort(times.begin(), times.end());
  out.seconds = times[times.size() / 2];
  return out;
}

std::string cell(Outcome const& o) {
  std::ostringstream text;
  text.precision(2);
  text << o.trial.solver << " + " << o.trial.preconditioner << " | " << o.report.outcome() << " | "
       << o.report.iterations << " | " << std::scientific
       << (o.report.rhs_norm > 0 ? o.report.true_residual / o.report.rhs_norm : 0.0) << " | "
       << std::fixed;
  text.precision(1);
  text << 1e3 * o.seconds;
  return text.str();
}

}  // namespace

int main(int argc, char** argv) {
  char const* folder = argc > 1 ? argv[1] : std::getenv("TCSOLVE_MATRICES");
  if (folder == nullptr || !std::filesystem::is_directory(folder)) {
    std::cout
        << "bench_real_matrices: no folder of matrices given (TCSOLVE_MATRICES): nothing to do\n";
    return 0;
  }
  double limit = argc > 2 ? std::atof(argv[2]) : 20;
  std::vector<std::unique_ptr<Context>> contexts;
  contexts.push_back(std::make_unique<Context>(Backend::host));
  if (std::string why; cuda::available(why))
    contexts.push_back(std::make_unique<Context>(Backend::cuda));
  std::cout << "tcsolve " << version::release << " (" << version::revision << ")";
  for (auto const& c : contexts) std::cout << "; " << c->device_name();
  std::cout << "\n\nmatrix | rows | entries | kind | on | method | outcome | iterations | true "
               "residual | ms\n"
            << "---|---|---|---|---|---|---|---|---|---\n";
  std::vector<std::filesystem::path> files;
  for (auto const& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().filename().string().find(".mtx") != std::string::npos)
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (auto const& file : files) {
    Csr<double> a;
    try {
      a = read_matrix_market(file);
    } catch (Error const& e) {
      std::cout << file.filename().string() << " | | | refused | " << e.what() << "\n";
      continue;
    }
    if (a.rows != a.cols) continue;
    CsrSummary s = summarize(a);
    std::string name = file.filename().string();
    name = name.substr(0, name.find(".mtx"));
    for (auto& ctx : contexts) {
      std::vector<Outcome> all;
      for (Trial const& t : trials(s)) all.push_back(run(*ctx, a, t, limit, 1));
      auto quickest =
          std::min_element(all.begin(), all.end(), [](Outcome const& p, Outcome const& q) {
            return std::pair(!p.report.converged(), p.seconds) <
                   std::pair(!q.report.converged(), q.seconds);
          });
      auto row = [&](Outcome const& o) {
        std::cout << name << " | " << a.rows << " | " << a.entries() << " | "
                  << (s.asymmetry < 1e-10 ? "symmetric" : "nonsymmetric") << " | "
                  << tcsolve::name(ctx->space()) << " | " << cell(o) << std::endl;
      };
      if (quickest->report.converged())
        row(run(*ctx, a, quickest->trial, limit, 3));
      else
        for (Outcome const& o : all) row(o);
    }
  }
}
