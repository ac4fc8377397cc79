// SPDX-License-Identifier: Apache-2.0
/// bench_large [N = 160 256 400 ...]: Jacobi-CG on the 7-point Laplacian of N^3 points, random
/// coefficients, FP64: microseconds an iteration of a loop of 100, of the product with its inner
/// product, and of the vector passes (what is left), each beside its byte floor at the bandwidth
/// of a copy. Every product is checked against csr's before it is timed. Medians of 7 solves.
///
/// Byte floor: the matrix as stored once, and 96 bytes a row; of the product 16 bytes a row.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <utility>
#include <vector>

#include <tcsolve/core/timed.hpp>
#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/formats/format.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/kernels/reductions.hpp>
#include <tcsolve/kernels/vector_ops.hpp>
#include <tcsolve/precond/jacobi/jacobi.hpp>
#include <tcsolve/solvers/cg/cg.hpp>

#include "measure.hpp"

using namespace tcsolve;

namespace {

constexpr int steps = 100, repetitions = 7;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// The relative difference of two products with one random vector.
double difference(Context& ctx, LinearOperator<double> const& A, LinearOperator<double> const& B) {
  Vector<double> x(ctx.space(), A.rows()), y(ctx.space(), A.rows()), z(ctx.space(), A.rows());
  Array<double> dots(ctx.space(), 2);
  submit(ctx, Random<double>{A.rows(), 7, x.view().data});
  A.apply_dot(ctx, x, y, dots.data());
  B.apply_dot(ctx, x, z, dots.data() + 1);
  double const size = norm<double>(ctx, z);
  axpby<double, double>(ctx, -1.0, z, 1.0, y);
  auto const d = to_host(ctx, dots);
  return std::max(norm<double>(ctx, y) / size, std::abs(d[0] - d[1]) / std::abs(d[1]));
}

/// Microseconds of y = A x, <x, y>, 20 in a row.
double product_time(Context& ctx, LinearOperator<double> const& A) {
  Vector<double> x(ctx.space(), A.rows()), y(ctx.space(), A.rows());
  Array<double> sigma(ctx.space(), 1);
  submit(ctx, Random<double>{A.rows(), 7, x.view().data});
  std::vector<double> times;
  for (int i = 0; i < repetitions; ++i) {
    ctx.synchronize();
    auto const start = std::chrono::steady_clock::now();
    for (int k = 0; k < 20; ++k) A.apply_dot(ctx, x, y, sigma.data());
    ctx.synchronize();
    times.push_back(seconds_since(start) / 20 * 1e6);
  }
  return median(times);
}

}  // namespace

int main(int argc, char** argv) {
  std::string why;
  if (!cuda::available(why)) {
    std::cout << "bench_large: " << why << ": nothing to measure\n";
    return 0;
  }
  bool const brief = std::getenv("TCSOLVE_BENCH_SHORT") != nullptr;
  std::vector<int> sizes;
  for (int i = 1; i < argc; ++i) sizes.push_back(std::atoi(argv[i]));
  if (sizes.empty()) sizes = brief ? std::vector{160} : std::vector{160, 256, 400};
  Context ctx(Backend::cuda);
  bench::print_device(ctx, repetitions);
  for (int n : sizes) {
    Csr<double> a = generate(Poisson7Params{.n = n, .coefficient = Coefficient::random});
    Index const rows = a.rows;
    auto csr = std::make_shared<CsrOperator<double>>(ctx, CsrStorage<double>(ctx, a.view()));
    a = {};
    auto M = std::make_shared<Jacobi<double>>(ctx, csr->view());
    auto const measure = [&](OperatorPtr<double> const& A) {
      double const error = difference(ctx, *A, *csr);
      Cg<double> cg({.stopping = {.rtol = 0, .max_iters = steps, .stagnation_window = 0}});
      cg.setup(ctx, A, M);
      Vector<double> b(ctx.space(), rows), x(ctx.space(), rows);
      fill<double>(ctx, b, 1);
      std::vector<double> times;
      for (int i = 0; i < repetitions; ++i) {
        fill<double>(ctx, x, 0);
        SolveReport const report = cg.solve(b, x);
        times.push_back(1e6 * report.loop_seconds / report.iterations);
      }
      double const iteration = median(times), product = product_time(ctx, *A);
      double const matrix = A->cost(1).bytes, floor = matrix + 80.0 * rows;
      auto const share = [](double bytes, double us) {
        return bytes / bench::bandwidth * 1e6 / us;
      };
      std::cout << "{\"matrix\": \"poisson7_" << n << "\", \"rows\": " << rows << ", \"format\": \""
                << A->name() << "\", \"us_iteration\": " << iteration
                << ", \"fraction_of_byte_floor\": " << share(floor, iteration)
                << ", \"us_product\": " << product
                << ", \"product_fraction\": " << share(matrix, product)
                << ", \"passes_fraction\": " << share(80.0 * rows, iteration - product)
                << ", \"difference_from_csr\": " << error << "}" << std::endl;
    };
    // Those that a solver of large grids takes: the inner product in the pass, by the first of them
    // alone where memory is short.
    bool first = true;
    for (Format const& format : formats())
      if (format.can.dot && format.can.persistent && (std::exchange(first, false) || n <= 400))
        measure(make_operator<double>(ctx, csr->view(), format));
  }
}
