// SPDX-License-Identifier: Apache-2.0
/// bench_batch [REPETITIONS = 20]: 10,000 independent systems, Jacobi-CG in FP64 to a true relative
/// residual of 1e-8: all at once (solvers/driver/batch.hpp), against one after another with the
/// plain cuSPARSE + cuBLAS graph loop (bench/plain_cg.hpp).
///
/// There are 100 different systems of one pattern and each occurs 100 times, in memory of its own.
/// The plain loop is timed on each of the 100, its set-up left out, the medians added up and taken
/// 100 times; the batch is timed as a whole, from b and x on the device to the last report on the
/// host. "set-up" is everything before, conversion and preconditioner, from a matrix on the device.
/// Every system of the batch is checked on the host (b - A x).
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>

#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/precond/jacobi/jacobi.hpp>
#include <tcsolve/solvers/cg/cg.hpp>
#include <tcsolve/solvers/driver/batch.hpp>

#include "measure.hpp"

using namespace tcsolve;

namespace {

double now() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  std::string why;
  if (!cuda::available(why)) {
    std::cout << "bench_batch: " << why << ": nothing to measure\n";
    return 0;
  }
  bool brief = std::getenv("TCSOLVE_BENCH_SHORT") != nullptr;
  int repetitions = argc > 1 ? std::atoi(argv[1]) : brief ? 3 : 20;
  int const different = brief ? 5 : 100, copies = brief ? 20 : 100;
  Context ctx(Backend::cuda);
  bench::print_device(ctx, repetitions);
  auto random = Coefficient::random;
  struct Case {
    std::string name;
    std::function<Csr<double>(std::uint64_t)> make;
  };
  std::vector<Case> cases{
      {"poisson7_8",
       [=](std::uint64_t seed) {
         return generate(Poisson7Params{.n = 8, .coefficient = random, .seed = seed});
       }},
      {"poisson7_12",
       [=](std::uint64_t seed) {
         return generate(Poisson7Params{.n = 12, .coefficient = random, .seed = seed});
       }},
      {"poisson27_8",
       [=](std::uint64_t seed) {
         return generate(Poisson27Params{.n = 8, .coefficient = random, .seed = seed});
       }},
      {"poisson27_12", [=](std::uint64_t seed) {
         return generate(Poisson27Params{.n = 12, .coefficient = random, .seed = seed});
       }}};
  std::cout
      << "systems | rows | entries | resident | iterations each | plain loop, one after "
         "another, s | batch, ms | ratio | us a system | batch set-up, ms | worst true residual\n"
      << "---|---|---|---|---|---|---|---|---|---|---" << std::endl;
  for (Case const& c : cases) {
    std::vector<Csr<double>> some;
    for (int k = 0; k < different; ++k) some.push_back(c.make(1000 + k));
    Csr<double> const& pattern = some.front();
    Index n = pattern.rows;
    double plain = 0;
    for (Csr<double> const& a : some) {
      bench::PlainCg loop(a);
      std::vector<double> b(n, 1.0), times;
      loop.graph(b, 1e-8, 1000, 10);
      for (int i = 0; i < 5; ++i) times.push_back(loop.graph(b, 1e-8, 1000, 10).seconds);
      double residual = bench::relative_residual(a, loop.x(), b);
      if (!(residual <= 1e-8)) std::cout << "plain loop: " << residual << std::endl;
      plain += median(times) * copies;
    }
    std::vector<double> values;
    for (int i = 0; i < copies; ++i)
      for (Csr<double> const& a : some)
        values.insert(values.end(), a.values.begin(), a.values.end());
    CsrBatch batch = batch_of(pattern.view(), values);
    CsrStorage<double> there(ctx, batch.matrix);
    std::vector<double> b(batch.matrix.rows, 1.0);
    Array<double> db = to_space(ctx, b.data(), b.size()), dx(ctx.space(), b.size());
    BatchSolver solver(std::make_unique<Cg<double>>(CgParams{}));
    JacobiFactory jacobi;
    double begin = now();
    solver.setup(ctx, there.view(), batch.starts, &jacobi);
    ctx.synchronize();
    double setup = now() - begin;
    std::vector<double> times;
    BatchReport report;
    for (int i = 0; i < repetitions + 1; ++i) {
      fill<double>(ctx, dx.view(), 0);
      ctx.synchronize();
      report = solver.solve(db.view(), dx.view());
      if (i > 0) times.push_back(report.seconds);
    }
    std::vector<double> x = to_host(ctx, dx), ones(n, 1.0);
    double worst = 0;
    for (Index k = 0; k < batch.count(); ++k) {
      std::vector<double> xk(x.begin() + batch.starts[k], x.begin() + batch.starts[k + 1]);
      worst = std::max(worst, bench::relative_residual(some[k % different], xk, ones));
    }
    if (report.converged() != report.count())
      std::cout << report.of(report.worst()).message << std::endl;
    double seconds = median(times);
    std::cout.precision(4);
    std::cout << batch.count() << " x " << c.name << " | " << n << " | " << pattern.entries()
              << " | " << solver.resident() << " | " << double(report.iterations()) / report.count()
              << " | " << plain << " | " << 1e3 * seconds << " | " << plain / seconds << "x | "
              << 1e6 * seconds / report.count() << " | " << 1e3 * setup << " | " << worst
              << std::endl;
  }
}
