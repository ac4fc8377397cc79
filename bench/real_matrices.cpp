// SPDX-License-Identifier: Apache-2.0
/// bench_real_matrices [FOLDER = TCSOLVE_MATRICES] [SECONDS = 20] [which = auto]: solves every
/// square real matrix of the folder to a true relative residual of 1e-8 with b = ones, on the host
/// and on the device where there is one. Set-up is everything before the first iteration, with the
/// choice of format and method; the best of five repetitions, or as many as half of SECONDS allows,
/// after a system that wakes the device. `which`:
///
///     auto    solver and preconditioner auto
///     device  the same on the device alone
///     cudss   cuDSS alone: analysis, factorisation, and a solve with two steps of refinement
///     sweep   twenty configurations that a careful user would try, a line each
///     advise  the first of `tcsolve advise` beside the best of that sweep, on the device if any
///     eigen   auto on the host beside Eigen's CG with IncompleteCholesky (symmetric matrices) and
///             BiCGSTAB with IncompleteLUT, each with its defaults and at most 2000 iterations
///
/// A matrix whose name stands in BENCH_ONLY (a comma after each name) is taken alone.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <limits>
#include <optional>
#include <sstream>

#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseCore>

#include <tcsolve/api/linear_solver.hpp>
#include <tcsolve/api/ranking.hpp>
#include <tcsolve/api/recipes.hpp>
#include <tcsolve/core/timed.hpp>
#include <tcsolve/factors/cudss/cudss_library.hpp>
#include <tcsolve/io/files/matrix_market.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/matrix/csr.hpp>
#include <tcsolve/version.hpp>

#include "direct_cudss.hpp"

using namespace tcsolve;

namespace {

using Clock = std::chrono::steady_clock;

struct Outcome {
  std::string verdict;
  SolveReport report;
  double setup = 0, solve = 0;
  std::string parts;  // of the set-up, ms
  double all() const { return setup + solve; }
};

/// A set-up that takes longer than `limit` seconds fails.
Outcome run(Context& ctx, Csr<double> const& a, std::string const& yaml, double limit) {
  std::vector<double> const b(a.rows, 1.0);
  std::vector<double> x(a.rows, 0.0);
  Outcome out;
  auto start = Clock::now();
  try {
    std::optional<LinearSolver> solver;
    ctx.setting_up(deadline_after(start, limit), [&] {
      solver.emplace(ctx, a.view(), SolverOptions::from_yaml(yaml), Arrays::borrowed);
    });
    out.setup = seconds_since(start);
    SetupReport const& parts = solver->setup_report();
    char text[96];
    std::snprintf(text, sizeof text, "%.1f, %.1f, %.1f, %.1f", 1e3 * parts.upload, 1e3 * parts.plan,
                  1e3 * parts.convert, 1e3 * parts.setup);
    out.parts = text;
    start = Clock::now();
    out.report = solver->solve(b, x);
    out.solve = seconds_since(start);
    out.verdict = out.report.outcome();
  } catch (Error const& e) {
    out.verdict = "setup_failed";
    out.report.message = e.what();
  }
  return out;
}

Outcome best(Context& ctx, Csr<double> const& a, std::string const& yaml, double limit) {
  auto const start = Clock::now();
  Outcome out = run(ctx, a, yaml, limit);
  for (int k = 1; k < 5 && out.report.converged() && seconds_since(start) < 0.5 * limit; ++k)
    if (Outcome again = run(ctx, a, yaml, limit); again.all() < out.all()) out = std::move(again);
  return out;
}

/// What was tried, its iterations, and where that was more than one its set-up and solve in ms.
std::string story(SolveReport const& r) {
  std::string text;
  for (ChoiceReport const& c : r.choices) {
    char times[64];
    std::snprintf(times, sizeof times, " (%.1f + %.1f)", 1e3 * c.setup_seconds, 1e3 * c.seconds);
    text += cat(text.empty() ? "" : "; ", c.solver, " + ", c.preconditioner, " ", c.iterations,
                r.choices.size() > 1 ? times : "");
  }
  return text;
}

void row(std::string const& name, Csr<double> const& a, Context& ctx, std::string const& what,
         Outcome const& o) {
  std::ostringstream text;
  text << name << " | " << a.rows << " | " << a.entries() << " | " << tcsolve::name(ctx.space())
       << " | " << what << " | " << o.verdict << " | " << o.report.iterations << " | "
       << std::setprecision(1) << std::scientific
       << (o.report.rhs_norm > 0 ? o.report.true_residual / o.report.rhs_norm : 0.0) << " | "
       << std::fixed << 1e3 * o.setup << " (" << o.parts << ") | " << 1e3 * o.solve << " | "
       << 1e3 * o.all();
  std::cout << text.str() << std::endl;
}

std::vector<std::string> sweep() {
  std::vector<std::string> list;
  for (char const* solver : {"cg", "minres", "bicgstab", "gmres"})
    for (char const* M : {"none", "jacobi"})
      list.push_back(cat("solver: {type: ", solver, "}\npreconditioner: {type: ", M, "}\n"));
  for (char const* M :
       {"{type: block_jacobi}", "{type: chebyshev}", "{type: ic}", "{type: ic, level: 1}",
        "{type: ic, drop_tolerance: 0.01}", "{type: direct}"})
    list.push_back(cat("solver: {type: cg}\npreconditioner: ", M, "\n"));
  for (char const* M : {"{type: block_jacobi}", "{type: ilu}", "{type: ilu, drop_tolerance: 0.1}",
                        "{type: ilu, drop_tolerance: 0.01}",
                        "{type: ilu, drop_tolerance: 1e-4, fill_factor: 40}", "{type: direct}"})
    list.push_back(cat("solver: {type: gmres, restart: 50}\npreconditioner: ", M, "\n"));
  return list;
}

/// The keys of a configuration in a line, with limits of time and iterations.
std::string limited(std::string yaml, double limit) {
  std::size_t const end = yaml.find('}');
  yaml.insert(end, cat(", max_iters: 20000, time_limit: ", limit));
  return yaml;
}

/// An iterative solver of Eigen's, its set-up and solve.
template <class Method>
void eigen_row(std::string const& name, Csr<double> const& a, std::string const& what) {
  using Sparse = Eigen::SparseMatrix<double, Eigen::RowMajor, Index>;
  std::vector<Index> const offsets(a.offsets.begin(), a.offsets.end());
  Sparse const A = Eigen::Map<Sparse const>(a.rows, a.cols, static_cast<Index>(a.entries()),
                                            offsets.data(), a.columns.data(), a.values.data());
  Eigen::VectorXd const b = Eigen::VectorXd::Ones(a.rows);
  auto start = Clock::now();
  Method method;
  method.setTolerance(1e-8);
  method.setMaxIterations(2000);
  method.compute(A);
  double const setup = seconds_since(start);
  std::string outcome = "setup failed";
  double solve = 0, residual = 1;
  Eigen::Index iterations = 0;
  if (method.info() == Eigen::Success) {
    start = Clock::now();
    Eigen::VectorXd const x = method.solve(b);
    solve = seconds_since(start);
    residual = (b - A * x).norm() / b.norm();
    iterations = method.iterations();
    outcome = residual <= 1e-8 ? "converged" : "not converged";
  }
  std::cout << name << " | " << a.rows << " | " << a.entries() << " | host | " << what << " | "
            << outcome << " | " << iterations << " | " << std::scientific << std::setprecision(1)
            << residual << std::fixed << " | " << 1e3 * setup << " | " << 1e3 * solve << " | "
            << 1e3 * (setup + solve) << std::endl;
}

void beside_eigen(std::string const& name, Csr<double> const& a) {
  using Sparse = Eigen::SparseMatrix<double, Eigen::RowMajor, Index>;
  if (matrix_facts(a.view()).symmetric)
    eigen_row<Eigen::ConjugateGradient<
        Sparse, Eigen::Lower | Eigen::Upper,
        Eigen::IncompleteCholesky<double, Eigen::Lower, Eigen::AMDOrdering<Index>>>>(
        name, a, "Eigen CG + IncompleteCholesky");
  eigen_row<Eigen::BiCGSTAB<Sparse, Eigen::IncompleteLUT<double, Index>>>(
      name, a, "Eigen BiCGSTAB + IncompleteLUT");
}

/// What the sweep's best takes beside what advise recommends, both as best() times them.
void advised(Context& ctx, std::string const& name, Csr<double> const& a, double limit) {
  std::vector<double> const b(a.rows, 1.0);
  auto const start = Clock::now();
  std::vector<RankedChoice> const list = ranking(ctx, a.view(), b, {.seconds = limit});
  double const spent = seconds_since(start);
  if (list.empty() || !list.front().solved()) {
    std::cout << name << " | advise: nothing converged in " << spent << " s" << std::endl;
    return;
  }
  RankedChoice const& first = list.front();
  std::string const taken =
      cat("solver: ", first.solver, "\npreconditioner: ", first.preconditioner, "\n");
  Outcome const own = best(ctx, a, limited(taken, limit), limit);
  double least = std::numeric_limits<double>::infinity();
  std::string by;
  for (std::string const& yaml : sweep()) {
    // What takes five times as long as the best so far is not the best.
    double const enough = std::min(limit, 5 * std::min(least, own.all()) + 0.05);
    Outcome o = run(ctx, a, limited(yaml, enough), enough);
    if (!o.report.converged() || o.all() > 1.5 * std::min(least, own.all()) + 0.02) continue;
    o = best(ctx, a, limited(yaml, enough), limit);
    if (o.all() < least) {
      least = o.all();
      by = yaml;
    }
  }
  std::cout << name << " | " << tcsolve::name(ctx.space()) << " | "
            << taken.substr(0, taken.find('\n')) << " " << first.preconditioner << " | "
            << std::fixed << std::setprecision(1) << 1e3 * own.all() << " | ";
  std::replace(by.begin(), by.end(), '\n', ' ');
  std::cout << by << " | " << 1e3 * least << " | " << std::setprecision(2) << own.all() / least
            << " | " << std::setprecision(1) << spent << std::endl;
}

/// cuDSS alone; a symmetric matrix with a positive diagonal is told to be definite.
void by_cudss(DirectByCudss& direct, std::string const& name, Csr<double> const& a, double limit) {
  MatrixFacts const facts = matrix_facts(a.view());
  int const kind = !facts.symmetric            ? CudssLibrary::general
                   : facts.positive_diagonal() ? DirectByCudss::spd
                                               : CudssLibrary::symmetric;
  auto const start = Clock::now();
  DirectSolve best = direct.solve(a, kind);
  for (int k = 1; k < 5 && best.problem.empty() && seconds_since(start) < 0.5 * limit; ++k)
    if (DirectSolve again = direct.solve(a, kind);
        again.problem.empty() && again.all() < best.all())
      best = again;
  std::cout << name << " | " << a.rows << " | " << a.entries() << " | cuDSS " << cudss().version
            << " | " << best.problem << " | " << std::scientific << std::setprecision(1)
            << best.residual << " | " << std::fixed << 1e3 * best.analysis << " | "
            << 1e3 * best.factorisation << " | " << 1e3 * best.solve << " | " << 1e3 * best.all()
            << std::endl;
}

std::string in_a_line(std::string yaml) {
  std::replace(yaml.begin(), yaml.end(), '\n', ' ');
  return yaml;
}

}  // namespace

int main(int argc, char** argv) {
  char const* folder = argc > 1 ? argv[1] : std::getenv("TCSOLVE_MATRICES");
  if (folder == nullptr || !std::filesystem::is_directory(folder)) {
    std::cout
        << "bench_real_matrices: no folder of matrices given (TCSOLVE_MATRICES): nothing to do\n";
    return 0;
  }
  double const limit = argc > 2 ? std::atof(argv[2]) : 20;
  std::string const which = argc > 3 ? argv[3] : "auto";
  std::string const automatic = "solver: {type: auto}\npreconditioner: {type: auto}\n";
  char const* const only = std::getenv("BENCH_ONLY");
  std::vector<std::unique_ptr<Context>> contexts;
  contexts.push_back(std::make_unique<Context>(Backend::host));
  if (std::string why; cuda::available(why))
    contexts.push_back(std::make_unique<Context>(Backend::cuda));
  std::cout << "tcsolve " << version::release << " (" << version::revision << ")";
  for (auto const& c : contexts) std::cout << "; " << c->device_name();
  std::cout << "\n\nmatrix | rows | entries | on | method | outcome | iterations | true residual | "
               "set-up ms (upload, plan, convert, set up) | solve ms | all "
               "ms\n---|---|---|---|---|---|---|---|---|---|---\n";
  for (auto& ctx : contexts) {
    run(*ctx, generate(Poisson7Params{.n = 8}), limited(automatic, limit), limit);
    run(*ctx, generate(ConvdiffParams{.n = 8}), limited(automatic, limit), limit);
  }
  std::optional<DirectByCudss> direct;
  if (which == "cudss") {
    if (contexts.size() < 2 || !cudss().there || cudss().matching < 0) {
      std::cout << "\nno device, or no cuDSS of 0.8 or later: nothing to do\n";
      return 0;
    }
    direct.emplace(*contexts.back());
  }
  std::vector<std::filesystem::path> files;
  for (auto const& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().filename().string().find(".mtx") != std::string::npos)
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (auto const& file : files) {
    std::string name = file.filename().string();
    name = name.substr(0, name.find(".mtx"));
    if (only != nullptr && std::string(only).find(name + ",") == std::string::npos) continue;
    Csr<double> a;
    try {
      a = read_matrix_market(file);
    } catch (Error const& e) {
      std::cout << name << " | | | | refused: " << e.what() << "\n";
      continue;
    }
    if (a.rows != a.cols) continue;
    if (which == "advise") {
      advised(*contexts.back(), name, a, limit);
      continue;
    }
    if (which == "eigen") {
      Outcome const o = best(*contexts.front(), a, limited(automatic, limit), limit);
      row(name, a, *contexts.front(), story(o.report), o);
      beside_eigen(name, a);
      continue;
    }
    if (direct) {
      by_cudss(*direct, name, a, limit);
      continue;
    }
    if (which == "device") {
      Context& ctx = *contexts.back();
      Outcome const o = best(ctx, a, limited(automatic, limit), limit);
      row(name, a, ctx, story(o.report), o);
      continue;
    }
    for (auto& ctx : contexts) {
      if (which == "sweep") {
        for (std::string const& yaml : sweep())
          row(name, a, *ctx, in_a_line(yaml), run(*ctx, a, limited(yaml, limit), limit));
      } else {
        Outcome const o = best(*ctx, a, limited(automatic, limit), limit);
        row(name, a, *ctx, story(o.report), o);
      }
    }
  }
}
