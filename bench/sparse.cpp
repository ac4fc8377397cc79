// SPDX-License-Identifier: Apache-2.0
/// bench_sparse [REPETITIONS = 50]: products of sparse matrices on a device beside cuSPARSE, which
/// makes them at once (SpGEMM) or the pattern apart from the values (SpGEMMreuse).
///
///   A A      of grids and of elasticity
///   P^T A P  P = A P0, P0 the aggregates of 3 x 3 x 3 nodes: the pattern of smoothed aggregation.
///            cuSPARSE makes A P and P^T (A P) of a P^T that it is given; tcsolve's plan makes it
///   A^T      tcsolve alone
///
///   pattern  the plan, with every allocation, to its end on the host's clock, median ms
///   values   of new numbers on that pattern, median ms; products a second by them
///   both     one after the other; for cuSPARSE SpGEMM, which does so at once
///
/// Before anything is timed the row sums of both results are compared: what they differ by,
/// relative to the largest sum of absolute values.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/sparse/rows.hpp>
#include <tcsolve/sparse/triple_product.hpp>

#include "measure.hpp"
#include "spgemm_cusparse.hpp"

using namespace tcsolve;

namespace {

using Call = std::function<void()>;

/// ms
double median(Context& ctx, int repetitions, Call const& f) {
  std::vector<double> times;
  for (int i = 0; i < repetitions + 2; ++i) {
    ctx.synchronize();
    auto const start = std::chrono::steady_clock::now();
    f();
    ctx.synchronize();
    std::chrono::duration<double, std::milli> const took = std::chrono::steady_clock::now() - start;
    if (i >= 2) times.push_back(took.count());  // the first ones grow the workspace
  }
  std::ranges::nth_element(times, times.begin() + times.size() / 2);
  return times[times.size() / 2];
}

double products(Csr<double> const& a, Csr<double> const& b) {
  double all = 0;
  for (Index const k : a.columns) all += double(b.offsets[k + 1] - b.offsets[k]);
  return all;
}

double difference(Context& ctx, CsrView<double> const& c, CsrView<double> const& d) {
  if (c.rows != d.rows || c.cols != d.cols || c.entries != d.entries) return INFINITY;
  Vector<double> y(ctx.space(), c.rows);
  auto const sums = [&](CsrView<double> const& of) {
    sparse::row_sums(ctx, of, y.view());
    return to_host(ctx, y.view().data, ctx.space(), std::size_t(of.rows));
  };
  auto const x = sums(c), z = sums(d);
  sparse::absolute_row_sums(ctx, c, y.view());
  auto const sizes = to_host(ctx, y.view().data, ctx.space(), std::size_t(c.rows));
  double most = 0, size = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    most = std::max(most, std::abs(x[i] - z[i]));
    size = std::max(size, sizes[i]);
  }
  return most / size;
}

void line(std::string const& what, char const* by, double pattern, double values, double both,
          double count, double off) {
  std::cout << what << " | " << by << " | " << pattern << " | " << values << " | " << both << " | "
            << count / values * 1e-6 << " | " << off << std::endl;
}

void square(Context& ctx, std::string const& name, Csr<double> const& a, int repetitions) {
  CsrStorage<double> const A(ctx, a.view());
  double const count = products(a, a);
  auto plan = std::make_unique<sparse::Product>(ctx, A.view(), A.view());
  Array<double> c(ctx.space(), std::size_t(plan->pattern().entries));
  plan->values(ctx, A.view(), A.view(), c.data());
  bench::CusparseProduct theirs(ctx, A.view(), A.view());
  theirs.pattern();
  theirs.values();
  double const off = difference(ctx, plan->pattern().with<double>(c.data()), theirs.result());
  auto const make = [&] {
    plan.reset();
    plan = std::make_unique<sparse::Product>(ctx, A.view(), A.view());
  };
  auto const fill = [&] { plan->values(ctx, A.view(), A.view(), c.data()); };
  line(name + ", A A", "tcsolve", median(ctx, repetitions, make), median(ctx, repetitions, fill),
       median(ctx, repetitions, [&] { make(), fill(); }), count, off);
  line(name + ", A A", "cuSPARSE",
       median(ctx, repetitions, [&] { bench::CusparseProduct(ctx, A.view(), A.view()).pattern(); }),
       median(ctx, repetitions, [&] { theirs.values(); }),
       median(ctx, repetitions, [&] { bench::CusparseProduct(ctx, A.view(), A.view()).once(); }),
       count, 0);

  auto transposed = std::make_unique<sparse::Transpose>(ctx, A.view());
  Array<double> at(ctx.space(), std::size_t(a.entries()));
  double const pattern = median(ctx, repetitions, [&] {
    transposed.reset();
    transposed = std::make_unique<sparse::Transpose>(ctx, A.view());
  });
  double const values =
      median(ctx, repetitions, [&] { transposed->values(ctx, A.view().values, at.data()); });
  line(name + ", A^T", "tcsolve", pattern, values, pattern + values, double(a.entries()), 0);
}

/// P0 of a grid of n^3 nodes with `unknowns` each.
Csr<double> aggregates(Index n, Index unknowns) {
  Index const m = (n + 2) / 3;
  Csr<double> p{n * n * n * unknowns, m * m * m * unknowns, {0}, {}, {}};
  for (Index z = 0; z < n; ++z)
    for (Index y = 0; y < n; ++y)
      for (Index x = 0; x < n; ++x)
        for (Index u = 0; u < unknowns; ++u) {
          p.columns.push_back(((z / 3 * m + y / 3) * m + x / 3) * unknowns + u);
          p.values.push_back(1);
          p.offsets.push_back(p.entries());
        }
  return p;
}

void galerkin(Context& ctx, std::string const& name, Csr<double> const& a, Index n,
              int repetitions) {
  CsrStorage<double> const A(ctx, a.view()), P0(ctx, aggregates(n, a.rows / (n * n * n)));
  CsrStorage<double> const P = sparse::product(ctx, A.view(), P0.view());
  CsrStorage<double> const R = sparse::transposed(ctx, P.view());
  CsrStorage<double> const AP = sparse::product(ctx, A.view(), P.view());
  Csr<double> const p = to_host(ctx, P.view());
  double const count = products(a, p) + products(to_host(ctx, R.view()), to_host(ctx, AP.view()));
  auto plan = std::make_unique<sparse::TripleProduct>(ctx, A.view(), P.view());
  Array<double> c(ctx.space(), std::size_t(plan->pattern().entries));
  plan->values(ctx, A.view(), P.view(), c.data());
  bench::CusparseProduct first(ctx, A.view(), P.view());
  first.pattern(), first.values();
  auto second = std::make_unique<bench::CusparseProduct>(ctx, R.view(), first.result());
  second->pattern(), second->values();
  double const off = difference(ctx, plan->pattern().with<double>(c.data()), second->result());
  auto const make = [&] {
    plan.reset();
    plan = std::make_unique<sparse::TripleProduct>(ctx, A.view(), P.view());
  };
  auto const fill = [&] { plan->values(ctx, A.view(), P.view(), c.data()); };
  line(name + ", P^T A P", "tcsolve", median(ctx, repetitions, make),
       median(ctx, repetitions, fill), median(ctx, repetitions, [&] { make(), fill(); }), count,
       off);
  line(name + ", P^T A P", "cuSPARSE",
       median(ctx, repetitions,
              [&] {
                bench::CusparseProduct ap(ctx, A.view(), P.view());
                ap.pattern();
                bench::CusparseProduct(ctx, R.view(), ap.result()).pattern();
              }),
       median(ctx, repetitions, [&] { first.values(), second->values(); }),
       median(ctx, repetitions,
              [&] {
                bench::CusparseProduct ap(ctx, A.view(), P.view());
                ap.once();
                bench::CusparseProduct(ctx, R.view(), ap.result()).once();
              }),
       count, 0);
}

}  // namespace

int main(int argc, char** argv) {
  std::string why;
  if (!cuda::available(why)) {
    std::cout << "bench_sparse: " << why << ": nothing to measure\n";
    return 0;
  }
  bool const brief = std::getenv("TCSOLVE_BENCH_SHORT") != nullptr;
  int const repetitions = argc > 1 ? std::atoi(argv[1]) : brief ? 3 : 50;
  Context ctx(Backend::cuda);
  bench::print_device(ctx, repetitions);
  std::cout.precision(4);
  std::cout << "product | by | pattern, ms | values, ms | both, ms | products of values, 1e9/s | "
               "difference\n---|---|---|---|---|---|---\n";
  auto const both = [&](std::string const& name, Csr<double> const& a, Index n) {
    square(ctx, name, a, repetitions);
    galerkin(ctx, name, a, n, repetitions);
  };
  constexpr auto random = Coefficient::random;
  Index const n = brief ? 12 : 96, m = brief ? 9 : 64, k = brief ? 6 : 32;
  both(cat("7-point ", n, "^3"), generate(Poisson7Params{n, random}), n);
  both(cat("27-point ", m, "^3"), generate(Poisson27Params{m, random}), m);
  both(cat("elasticity ", k, "^3"), generate(ElasticityParams{k, random}), k);
  if (brief) return 0;
  square(ctx, "hubs", generate(RmatParams{15, 8, random}), repetitions);
}
