// SPDX-License-Identifier: Apache-2.0
/// bench_loops [REPETITIONS = 50 [FORMAT]]: the same recorded Jacobi-CG step repeated by a WHILE
/// node, which asks the device whether to go on after every step or every few, and by replaying a
/// block of captured steps, which do nothing once the loop has stopped (two blocks under way, so
/// that the device never waits for the host). Microseconds from the first launch to the host's
/// knowledge of the stop, over the steps of the solve; medians.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>

#include <tcsolve/core/timed.hpp>
#include <tcsolve/formats/format.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/kernels/reductions.hpp>
#include <tcsolve/matrix/transfer.hpp>
#include <tcsolve/precond/jacobi/jacobi.hpp>
#include <tcsolve/solvers/cg/ops.hpp>
#include <tcsolve/solvers/loop/graph.hpp>

#include "measure.hpp"
#include "plain_replay.hpp"

using namespace tcsolve;

int main(int argc, char** argv) {
  std::string why;
  if (!cuda::available(why)) {
    std::cout << "bench_loops: " << why << ": nothing to measure\n";
    return 0;
  }
  bool brief = std::getenv("TCSOLVE_BENCH_SHORT") != nullptr;
  int repetitions = argc > 1 ? std::atoi(argv[1]) : brief ? 5 : 50;
  Context ctx(Backend::cuda);
  // A product that the loops under measurement all have.
  Format const* taken = nullptr;
  for (Format const& format : formats())
    if (format.can.dot && format.can.persistent) taken = &format;
  Format const& format = argc > 2 ? formats().at(argv[2]) : *taken;
  bench::print_device(ctx, repetitions);
  std::cout << "matrix | repeated by | steps | us/step | against WHILE | true residual\n"
            << "---|---|---|---|---|---" << std::endl;
  for (int n : brief ? std::vector{20} : std::vector{20, 48, 96}) {
    Csr<double> a = generate(Poisson27Params{.n = n, .coefficient = Coefficient::random});
    CsrStorage<double> there(ctx, a);
    auto const stored = make_operator<double>(ctx, there.view(), format);
    LinearOperator<double> const& A = *stored;
    Jacobi<double> M(ctx, there.view());
    Diagonal<double> D = *M.diagonal();
    std::vector<double> ones(a.rows, 1.0);
    Array<double> b = to_space(ctx, ones.data(), ones.size());
    Vector<double> x(ctx.space(), a.rows), r(ctx.space(), a.rows), p(ctx.space(), a.rows),
        q(ctx.space(), a.rows);
    Array<CgScalars> scalars(ctx.space(), 1);
    Array<LoopState> state(ctx.space(), 1);
    Array<double> history(ctx.space(), 5000);
    auto* progress = static_cast<Progress*>(cuda::allocate_pinned(sizeof(Progress)));
    CgScalars* k = scalars.data();
    Recording body;
    ctx.within(state.data(), [&] {
      body = ctx.record([&](Context& c) {
        update_direction<double>(c, k, D, r, p, x);
        A.apply_dot(c, p, q, &k->sigma);
        update_residual<double>(c, k, D, true, q, r, Observe{0, &k->rr});
      });
    });
    unsigned long long handle = 0;
    auto start = [&] {  // x = 0
      fill<double>(ctx, x, 0);
      copy<double, double>(ctx, b.view(), r);
      submit(ctx, CgStart<double>{a.rows, k, {}, 0, D, r.view().data});
      LoopState fresh;
      fresh.limit = 5000;
      fresh.threshold2 =
          0.99 * 1e-16 * a.rows;  // of ||b||^2; below it, so that rounding does not tell
      fresh.divergence2 = HUGE_VAL;
      fresh.history = history.data();
      fresh.progress = progress;
      fresh.report_every = 16;
      fresh.while_handle = handle;
      *progress = {0, 0, 0};
      copy_bytes(ctx, state.data(), ctx.space(), &fresh, Space::host, sizeof fresh);
      ctx.synchronize();
    };
    auto stopped = [&] { return *static_cast<std::int32_t volatile*>(&progress->stop) != 0; };
    double reference = 0;
    auto measure = [&](std::string const& name, auto&& run) {
      std::vector<double> times;
      int steps = 0;
      for (int i = 0; i <= repetitions; ++i) {
        start();
        auto begin = std::chrono::steady_clock::now();
        run();
        double seconds = seconds_since(begin);
        ctx.synchronize();
        steps = progress->iteration;
        if (i > 0) times.push_back(1e6 * seconds / steps);
      }
      submit(ctx, CgComplete<double>{a.rows, k, p.view().data, x.view().data});
      double residual =
          bench::relative_residual(a, to_host(ctx, x.view().data, ctx.space(), a.rows), ones);
      std::sort(times.begin(), times.end());
      double median = times[times.size() / 2];
      if (reference == 0) reference = median;
      std::cout.precision(3);
      std::cout << "poisson27_" << n << " | " << name << " | " << steps << " | " << median << " | "
                << reference / median << "x | " << residual << std::endl;
    };
    for (int round : {1, 2, 5, 10}) {
      handle = 0;
      start();
      std::string why;
      auto loop = cuda::record_while(ctx, body, state.data(), round, handle, why);
      if (!loop) throw Error(why);
      measure(cat("WHILE node, rounds of ", round), [&] {
        cuda::launch(*ctx.device(), *loop);
        while (!cuda::finished(*ctx.device())) {}
      });
    }
    handle = 0;  // the operations of a replayed block set no condition
    for (int block : {1, 5, 10, 25, 50}) {
      start();
      bench::Replay replay(ctx, body, state.data(), block);
      measure(cat("replay of ", block), [&] {
        while (!stopped()) {
          if (!replay.behind()) continue;
          replay.launch();
          replay.mark();
        }
      });
    }
    cuda::release_pinned(progress);
  }
}
