// SPDX-License-Identifier: Apache-2.0
/// bench_amg [REPETITIONS = 9] [TYPES = fp64,fp32,fp16,bf16] [FILE...]: algebraic multigrid on a
/// device, on generated matrices and those of the files, b = ones, cg, or bicgstab where A is not
/// symmetric, to a true relative residual of 1e-8.
///
///   unit     a product of cuSPARSE's FP64 CSR with the same matrix, the faster algorithm, us
///   set-up   of M alone, A in the Context's space: median ms on the host's clock, and in units; by
///            `reuse: exact`, the default, and by `reuse: pattern`, which keeps plans from the start
///   update   of new values by `exact`, the first, which makes plans, and the median of later ones,
///            by `reuse: pattern` and by `reuse: interpolation`, ms
///   parts    of another set-up that waits after each part, ms
///   memory   of the device that M holds, over A's FP64 CSR (12 bytes an entry, 4 a row), and what
///            AmgFactory::memory() foretold, over the same; that it holds after new values, and that
///            `pattern` holds from the start; levels in FP64 borrow A
///   cycle    an application by itself, its operations one by one, and as a graph of so many
///            launches, median us
///   solve    with x0 = 0, median ms, and us an iteration; the loop runs as the library chooses
///
///   plain    the loop of cuSPARSE and cuBLAS with Jacobi (bench/plain_cg.hpp, a graph of ten
///            iterations; bicgstab: bench/plain_krylov.hpp), A on the device, median ms
///
/// The smallest matrix is also solved by a loop that is a graph, and by one that is one kernel. A
/// line a matrix and preconditioner; jacobi, `auto` and every type of value, with and without
/// `unsmoothed: 1`, beside each other, and set-up and solve of each over the plain loop's time.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <tcsolve/api/linear_solver.hpp>
#include <tcsolve/core/cuda/pool.hpp>
#include <tcsolve/formats/choose/planner.hpp>
#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/io/files/matrix_file.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/matrix/symmetry.hpp>
#include <tcsolve/precond/amg/amg.hpp>
#include <tcsolve/precond/amg/cycle.hpp>

#include "clock.hpp"
#include "measure.hpp"
#include "plain_device.hpp"
#include "plain_krylov.hpp"
#include "spmv_cusparse.hpp"

using namespace tcsolve;

namespace {

namespace fs = std::filesystem;

double median(std::vector<double> times) {
  std::ranges::nth_element(times, times.begin() + times.size() / 2);
  return times[times.size() / 2];
}

template <class F>
double milliseconds(Context& ctx, F const& f) {
  ctx.synchronize();
  auto const start = std::chrono::steady_clock::now();
  f();
  ctx.synchronize();
  return 1e3 * seconds_since(start);
}

/// us of a product.
double unit_of(Context& ctx, bench::Clock& clock, Csr<double> const& a) {
  double best = HUGE_VAL;
  for (auto const algorithm : {CUSPARSE_SPMV_CSR_ALG1, CUSPARSE_SPMV_CSR_ALG2}) {
    auto const product = bench::Cusparse<double>::csr(*ctx.device(), a, algorithm);
    best = std::min(best, clock.median(21, false, [&] { product->run(); }));
  }
  return best;
}

/// Bytes of the device's memory that are in use.
double in_use(Context& ctx) {
  std::size_t available = 0, total = 0;
  cuda::check(cudaDeviceSynchronize());
  cuda::check(cudaMemGetInfo(&available, &total));
  return double(total - available) - double(cuda::pool_of(ctx.device()->ordinal).kept());
}

struct Case {
  std::string name;
  Csr<double> a;
  std::shared_ptr<std::vector<double>> points = nullptr;
  bool symmetric = true;
};

/// us of a recording as a part of a graph.
double in_a_graph(Context& ctx, Recording const& what) {
  struct Run {
    Context& ctx;
    Recording const& what;
  } run{ctx, what};
  what.run(ctx);
  return bench::graph_microseconds(
      ctx, 10, 21,
      [](void* of) {
        Run& all = *static_cast<Run*>(of);
        all.what.run(all.ctx);
      },
      &run);
}

/// M made by itself: set-up, its parts and a cycle.
void set_up(Context& ctx, bench::Clock& clock, Case const& c, AmgParams params, double unit,
            int repetitions) {
  CsrStorage<double> const there(ctx, c.a.view());
  Survey seen = survey(ctx, there.view());
  Plan const plan = make_plan(ctx, there.view(), seen, {.applies = 500}, CostTable::shipped(ctx));
  System system{.matrix = there.view(),
                .A = make_operator<double>(ctx, there.view(), plan.taken(), &seen)};
  if (c.points) params.near_nullspace = {.block = 3, .points = c.points};
  struct Made {
    double ms, held, foretold;
  };
  std::unique_ptr<Preconditioner> M;
  auto const made = [&](AmgParams const& by) {
    std::vector<double> times;
    double before = 0;
    for (int k = 0; k <= repetitions; ++k) {
      M.reset();
      before = in_use(ctx);
      double const ms = milliseconds(ctx, [&] { M = AmgFactory(by).build(ctx, system); });
      if (k > 0) times.push_back(ms);
    }
    double const held = in_use(ctx) - before;
    return Made{median(times), held, AmgFactory(by).memory(ctx, system).space};
  };
  auto const by = [&](AmgReuse reuse) {
    AmgParams other = params;
    other.reuse = reuse;
    return other;
  };
  Made const kept = made(by(AmgReuse::pattern)), lean = made(params);
  double const ms = lean.ms, csr = 12.0 * c.a.entries() + 4.0 * c.a.rows;
  auto view = M->view();
  Vector<double> r(ctx.space(), c.a.rows), z(ctx.space(), c.a.rows);
  fill<double>(ctx, r, 1.0);
  double const cycle = clock.median(21, false, [&] { view->apply(ctx, 1, r, 0, z); });
  Recording const launches = ctx.record([&](Context& on) { view->apply(on, 1, r, 0, z); });
  double const as_graph = in_a_graph(ctx, launches);
  auto const update = [&](Preconditioner& of) {
    std::vector<double> updates;
    for (int k = 0; k < 3; ++k)
      updates.push_back(milliseconds(ctx, [&] { of.update(ctx, system); }));
    return median(updates);
  };
  std::string const details = view->details();
  double const moved = view->cost(1).bytes;
  view.reset();
  double const first = milliseconds(ctx, [&] { M->update(ctx, system); }), exact = update(*M),
               both = in_use(ctx);
  M.reset();
  double const renewed = both - in_use(ctx);
  auto const updated_by = [&](AmgReuse reuse) {
    return update(*AmgFactory(by(reuse)).build(ctx, system));
  };
  double const pattern = updated_by(AmgReuse::pattern),
               interpolation = updated_by(AmgReuse::interpolation);
  std::cout << "  set-up " << ms << " ms, " << 1e3 * ms / unit << " units, with plans " << kept.ms
            << " ms; update: the first " << first << " ms, others " << exact << " ms, by pattern "
            << pattern << " ms, by interpolation " << interpolation << " ms; cycle " << cycle
            << " us, " << cycle / unit << " units, in a graph " << as_graph << " us ("
            << launches.commands.size() << " launches), " << 1e-6 * moved << " MB moved; memory "
            << lean.held / csr << " of A's CSR, foretold " << lean.foretold / csr
            << ", after new values " << renewed / csr << ", by pattern " << kept.held / csr
            << ", foretold " << kept.foretold / csr << "\n    " << details << "\n    ";
  params.timed = true;
  auto const timed = AmgFactory(params).build(ctx, system);
  auto const timed_view = timed->view();
  SetupClock const& clocked = dynamic_cast<AmgCycle const&>(*timed_view).hierarchy().clock();
  for (auto const& [part, what] : names(SetupPart{}))
    std::cout << what << " " << 1e3 * clocked.seconds(part) << ", ";
  std::cout << "ms" << std::endl;
}

/// Median ms of the plain loop.
double plain_loop(Case const& c, int repetitions) {
  constexpr double rtol = 1e-8;
  constexpr int most = 20000;
  std::vector<double> const b(static_cast<std::size_t>(c.a.rows), 1.0);
  std::vector<double> times;
  auto const timed = [&](auto&& plain, auto const& run) {
    bench::PlainResult result{};
    for (int k = 0; k <= repetitions; ++k) {
      result = run(plain);
      if (k > 0) times.push_back(1e3 * result.seconds);
    }
    std::cout << c.name << " | plain loop | | | " << result.iterations << " | "
              << bench::relative_residual(c.a, plain.x(), b) << " | | | " << median(times)
              << std::endl;
  };
  if (c.symmetric)
    timed(bench::PlainCg(c.a), [&](auto& plain) { return plain.graph(b, rtol, most, 10); });
  else
    timed(bench::PlainKrylov(c.a), [&](auto& plain) { return plain.bicgstab(b, rtol, most); });
  return median(times);
}

/// The whole of it, from the host's matrix.
void solve(Context& ctx, Case const& c, std::string const& M, std::string const& method,
           double unit, double plain, int repetitions) {
  std::vector<double> const b(static_cast<std::size_t>(c.a.rows), 1.0);
  std::vector<double> setups, preconditioners, solves;
  SolveReport report;
  std::string format;
  try {
    for (int k = 0; k <= repetitions; ++k) {
      std::unique_ptr<LinearSolver> solver;
      double const ms = milliseconds(ctx, [&] {
        solver = std::make_unique<LinearSolver>(
            ctx, c.a.view(),
            SolverOptions::from_yaml(cat("solver: ", method, "\npreconditioner: ", M, "\n")));
      });
      std::vector<double> x(b.size(), 0.0);
      double const took = milliseconds(ctx, [&] { report = solver->solve(b, x); });
      format = solver->setup_report().format;
      if (k == 0) continue;
      setups.push_back(ms - 1e3 * solver->setup_report().upload);
      preconditioners.push_back(1e3 * solver->setup_report().setup);
      solves.push_back(took);
    }
  } catch (Error const& e) {
    std::cout << c.name << " | " << M << ", " << method << " | " << e.what() << std::endl;
    return;
  }
  double const solving = 1e3 * report.seconds, all = median(setups) + median(solves);
  std::cout << c.name << " | " << M << ", " << method << " | " << format << " | "
            << report.outcome() << " | " << report.iterations << " | "
            << report.true_residual / report.rhs_norm << " | " << median(preconditioners) << " | "
            << median(setups) << " | " << median(solves) << " | " << all << " | "
            << 1e3 * solving / std::max<Index>(1, report.iterations) << " | " << unit << " | "
            << all / plain << std::endl;
}

void measure(Context& ctx, bench::Clock& clock, Case const& c, int repetitions,
             std::string const& types) {
  double const unit = unit_of(ctx, clock, c.a);
  double const plain = plain_loop(c, std::min(repetitions, 3));
  std::string const method = c.symmetric ? "cg" : "bicgstab",
                    named = cat("{type: ", method, ", max_iters: 20000}");
  std::string nodes;
  if (c.points) {
    nodes = (fs::temp_directory_path() / "bench_amg_nodes.txt").string();
    std::ofstream file(nodes);
    for (std::size_t e = 0; e < c.points->size(); ++e)
      file << (*c.points)[e] << (e % 3 == 2 ? '\n' : ' ');
  }
  std::string const space =
      c.points ? cat(", near_nullspace: {block: 3, coordinates: ", nodes, "}") : "";
  std::array const values{std::pair{"fp64", AmgValues::f64}, std::pair{"fp32", AmgValues::f32},
                          std::pair{"fp16", AmgValues::f16}, std::pair{"bf16", AmgValues::bf16}};
  auto const each = [&](auto const& f) {
    for (auto const& [name, value] : values)
      if (types.find(name) != std::string::npos) f(name, value);
  };
  for (int const unsmoothed : {0, 1})
    each([&](char const* name, AmgValues value) {
      std::string const M =
          cat("{type: amg, values: ", name, unsmoothed > 0 ? ", unsmoothed: 1" : "", space, "}");
      solve(ctx, c, M, named, unit, plain, repetitions);
      set_up(ctx, clock, c, {.unsmoothed = unsmoothed, .values = value}, unit, repetitions);
      if (c.a.rows <= 1 << 16)
        for (char const* execution : {"graph", "persistent"})
          solve(ctx, c, M,
                cat("{type: ", method, ", max_iters: 20000, execution: ", execution, "}"), unit,
                plain, repetitions);
    });
  int const few = std::min(repetitions, 3);
  solve(ctx, c, "{type: jacobi}", named, unit, plain, few);
  solve(ctx, c, "{type: auto}", "{type: auto}", unit, plain, few);
  if (!nodes.empty()) fs::remove(nodes);
}

std::shared_ptr<std::vector<double>> grid(Index n) {
  auto points = std::make_shared<std::vector<double>>();
  for (Index k = 0; k < n; ++k)
    for (Index j = 0; j < n; ++j)
      for (Index i = 0; i < n; ++i)
        for (Index const at : {i, j, k}) points->push_back(at);
  return points;
}

}  // namespace

int main(int argc, char** argv) {
  std::string why;
  if (!cuda::available(why)) {
    std::cout << "bench_amg: " << why << ": nothing to measure\n";
    return 0;
  }
  bool const brief = std::getenv("TCSOLVE_BENCH_SHORT") != nullptr;
  int const repetitions = argc > 1 ? std::max(1, std::atoi(argv[1])) : brief ? 1 : 9;
  Context ctx(Backend::cuda);
  bench::print_device(ctx, repetitions);
  bench::Clock clock(*ctx.device());
  std::cout.precision(4);
  std::cout
      << "matrix | M | format of A | outcome | iterations | true residual | M and method, ms | "
         "set-up, ms | solve, ms | set-up and solve, ms | us an iteration | unit, us | over plain\n"
         "---|---|---|---|---|---|---|---|---|---|---|---|---\n";
  constexpr auto random = Coefficient::random;
  std::string const types = argc > 2 ? argv[2] : "fp64,fp32,fp16,bf16";
  auto const run = [&](Case const& c) { measure(ctx, clock, c, repetitions, types); };
  Index const small = brief ? 12 : 37, seven = brief ? 16 : 160, many = brief ? 12 : 96,
              solid = brief ? 6 : 56, wind = brief ? 10 : 128;
  run({cat("poisson7_", small, ", random"), generate(Poisson7Params{small, random})});
  run({cat("poisson7_", seven), generate(Poisson7Params{.n = seven})});
  run({cat("poisson27_", many, ", random"), generate(Poisson27Params{many, random})});
  run({cat("elasticity_", solid, ", random"), generate(ElasticityParams{solid, random}),
       grid(solid)});
  run({cat("convdiff_", wind), generate(ConvdiffParams{.n = wind}), nullptr, false});
  for (int i = 3; i < argc; ++i) {
    Csr<double> a = read_matrix(argv[i]);
    bool const symmetric = is_symmetric(a.view());
    run({fs::path(argv[i]).stem().string(), std::move(a), nullptr, symmetric});
  }
}
