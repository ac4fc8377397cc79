// SPDX-License-Identifier: Apache-2.0
/// bench_reductions [REPETITIONS = 50]: what the deterministic inner product of
/// kernels/operation.hpp costs beside one that adds its blocks by atomics and beside cublasDdot,
/// each as 20 nodes of a graph, vectors hot. Checked against an extended-precision sum; "bits" says
/// how many different results 20 calls gave.
#include <cmath>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <set>
#include <vector>

#include <tcsolve/kernels/reductions.hpp>

#include "measure.hpp"
#include "plain_device.hpp"

using namespace tcsolve;

int main(int argc, char** argv) {
  std::string why;
  if (!cuda::available(why)) {
    std::cout << "bench_reductions: " << why << ": nothing to measure\n";
    return 0;
  }
  bool brief = std::getenv("TCSOLVE_BENCH_SHORT") != nullptr;
  int repetitions = argc > 1 ? std::atoi(argv[1]) : brief ? 5 : 50;
  Context ctx(Backend::cuda);
  bench::print_device(ctx, repetitions);
  std::cout << "n | inner product | us | against atomics | error | bits\n---|---|---|---|---|---\n";
  for (std::int64_t n : {8000, 262144, 884736, 4096000}) {
    Array<double> x(ctx.space(), n), y(ctx.space(), n), sigma(ctx.space(), 1);
    submit(ctx, Random<double>{n, 1, x.data()});
    submit(ctx, Random<double>{n, 2, y.data()});
    std::vector<double> hx = to_host(ctx, x), hy = to_host(ctx, y);
    long double exact = 0, size = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      exact += static_cast<long double>(hx[i]) * hy[i];
      size += std::abs(static_cast<long double>(hx[i]) * hy[i]);
    }
    double atomics = 0;
    using Call = std::function<void()>;
    auto measure = [&](char const* name, Call call) {
      std::set<double> results;
      for (int i = 0; i < 20; ++i) {
        call();
        results.insert(read(ctx, sigma.data()));
      }
      double error = 0;
      for (double r : results) error = std::max(error, double(std::abs(r - exact) / size));
      double us = bench::graph_microseconds(
          ctx, 20, repetitions, [](void* f) { (*static_cast<Call*>(f))(); }, &call);
      if (atomics == 0) atomics = us;
      std::cout.precision(3);
      std::cout << n << " | " << name << " | " << us << " | " << us / atomics << "x | " << error
                << " | " << results.size() << std::endl;
    };
    measure("atomics", [&] { bench::atomic_dot(ctx, n, x.data(), y.data(), sigma.data()); });
    measure("tcsolve", [&] { dot<double>(ctx, x.view(), y.view(), sigma.data()); });
    measure("cublasDdot", [&] { bench::cublas_dot(ctx, n, x.data(), y.data(), sigma.data()); });
  }
}
