// SPDX-License-Identifier: Apache-2.0
/// bench_columns [REPETITIONS = 5 [COLUMNS = 16 [MATRIX...]]]: many right-hand sides with one
/// symmetric positive definite matrix, to true relative residuals of 1e-8: block methods, cg in
/// turn, and the plain loops of cuSPARSE and cuBLAS in turn, with Jacobi; or with TCSOLVE_BENCH_M,
/// the block of a preconditioner, and no plain loops. MATRIX is a name of the list below, or a
/// file.
///
///   columns   random, on the device; x from 0
///   s         of all columns: medians, after a solve that is not counted. The plain loops once,
///             the quicker of host scalars and a graph of ten iterations; their columns must have a
///             true residual below 1e-6
///   format    as `auto` plans it for so many columns
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>

#include <tcsolve/api/linear_solver.hpp>
#include <tcsolve/core/timed.hpp>
#include <tcsolve/io/files/matrix_file.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/matrix/transfer.hpp>

#include "measure.hpp"
#include "plain_cg.hpp"

using namespace tcsolve;

namespace {

using Clock = std::chrono::steady_clock;

double relative_residual(Csr<double> const& a, std::vector<double> const& b,
                         std::vector<double> const& x) {
  double rr = 0, bb = 0;
  for (Index i = 0; i < a.rows; ++i) {
    double r = b[i];
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) r -= a.values[k] * x[a.columns[k]];
    rr += r * r, bb += b[i] * b[i];
  }
  return std::sqrt(rr / bb);
}

class ManyColumns {
 public:
  ManyColumns(Context& ctx, std::string name, Csr<double> a, Index k, int repetitions)
      : ctx_(ctx), name_(std::move(name)), a_(std::move(a)), k_(k), repetitions_(repetitions) {
    for (Index i = 0; i < a_.rows; ++i)
      for (Index j = 0; j < k_; ++j) B_.push_back(random_value(7 + j, i));
  }

  void run() {
    double const plain = std::getenv("TCSOLVE_BENCH_M") == nullptr ? plain_loops() : NAN;
    double in_turn = 0;
    for (char const* method : {"cg", "pseudo_block_cg", "block_cg"}) {
      double const s = solve(method, plain, in_turn);
      if (in_turn == 0) in_turn = s;
    }
  }

 private:
  double plain_loops() {
    bench::PlainCg plain(a_);
    double by_host = 0, by_graph = 0;
    long iterations = 0;
    double worst = 0;
    for (Index j = 0; j < k_; ++j) {
      std::vector<double> b(a_.rows);
      for (Index i = 0; i < a_.rows; ++i) b[i] = B_[std::size_t(i) * k_ + j];
      iterations += plain.host_scalars(b, 1e-8, 50000).iterations;
      auto start = Clock::now();
      plain.host_scalars(b, 1e-8, 50000);
      by_host += seconds_since(start);
      worst = std::max(worst, relative_residual(a_, b, plain.x()));
      start = Clock::now();
      plain.graph(b, 1e-8, 50000, 10);
      by_graph += seconds_since(start);
      worst = std::max(worst, relative_residual(a_, b, plain.x()));
    }
    double const s = worst < 1e-6 ? std::min(by_host, by_graph) : INFINITY;
    std::cout << name_ << " | " << k_ << " | plain loops in turn | csr | " << iterations / k_
              << " | " << s << " |  | 1" << std::endl;
    return s;
  }

  double solve(char const* method, double plain, double in_turn) {
    char const* const M = std::getenv("TCSOLVE_BENCH_M");
    SolverOptions options = SolverOptions::from_yaml(
        cat("solver: {type: ", method,
            ", max_iters: 50000}\npreconditioner: ", M != nullptr ? M : "{type: jacobi}", "\n"));
    options.columns = static_cast<int>(k_);
    LinearSolver solver(ctx_, a_.view(), options);
    Array<double> const b = to_space(ctx_, B_.data(), B_.size());
    Array<double> x(ctx_.space(), B_.size());
    In<double> const in{b.data(), a_.rows, k_, k_, Layout::row_major, ctx_.space()};
    std::vector<double> times;
    std::vector<SolveReport> reports;
    for (int r = 0; r <= repetitions_; ++r) {
      std::vector<double> const zero(B_.size(), 0.0);
      x = to_space(ctx_, zero.data(), zero.size());
      Out<double> const here{x.data(), a_.rows, k_, k_, Layout::row_major, ctx_.space()};
      ctx_.synchronize();
      auto const start = Clock::now();
      reports = solver.solve_columns(in, here);
      ctx_.synchronize();
      if (r > 0) times.push_back(seconds_since(start));
    }
    std::ranges::nth_element(times, times.begin() + repetitions_ / 2);
    double const s = times[std::size_t(repetitions_ / 2)];
    long most = 0;
    Index failed = 0;
    for (SolveReport const& report : reports) {
      most = std::max<long>(most, report.iterations);
      failed += !report.converged();
    }
    std::cout << name_ << " | " << k_ << " | " << method << " | " << solver.format() << " | "
              << most << (failed > 0 ? cat(", ", failed, " failed") : "") << " | " << s << " | "
              << (in_turn > 0 ? in_turn / s : 1.0) << " | " << plain / s << std::endl;
    return s;
  }

  Context& ctx_;
  std::string name_;
  Csr<double> a_;
  Index k_;
  int repetitions_;
  std::vector<double> B_;  // row-major
};

}  // namespace

int main(int argc, char** argv) {
  std::string why;
  if (!cuda::available(why)) {
    std::cout << "bench_columns: " << why << ": nothing to measure\n";
    return 0;
  }
  bool const brief = std::getenv("TCSOLVE_BENCH_SHORT") != nullptr;
  int const repetitions = argc > 1 ? std::atoi(argv[1]) : brief ? 1 : 5;
  Index const k = argc > 2 ? std::atoi(argv[2]) : 16;
  Context ctx(Backend::cuda);
  bench::print_device(ctx, repetitions);
  constexpr auto random = Coefficient::random;
  std::vector<std::pair<std::string, std::function<Csr<double>()>>> matrices;
  for (int i = 3; i < argc; ++i) {
    std::string const given = argv[i];
    if (std::filesystem::exists(given))
      matrices.push_back({std::filesystem::path(given).stem(), [=] { return read_matrix(given); }});
  }
  auto const add = [&](std::string const& name, auto params) {
    params.coefficient = random;
    bool const asked = std::any_of(argv + std::min(3, argc), argv + argc,
                                   [&](char const* a) { return name == a; });
    if (argc <= 3 || asked) matrices.push_back({name, [=] { return generate(params); }});
  };
  if (!brief) {
    add("elasticity_56", ElasticityParams{.n = 56});
    add("poisson27_96", Poisson27Params{.n = 96});
    if (argc > 3) add("poisson7_160", Poisson7Params{.n = 160});
  }
  add("elasticity_12", ElasticityParams{.n = 12});
  std::cout
      << "matrix | columns | by | format | iterations, most | s | cg in turn / this | plain / "
         "this\n---|---|---|---|---|---|---|---\n";
  for (auto const& [name, make] : matrices) ManyColumns(ctx, name, make(), k, repetitions).run();
}
