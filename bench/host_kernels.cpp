// SPDX-License-Identifier: Apache-2.0
/// Host micro-benchmarks (Google Benchmark): the CSR product beside Eigen's, and the fused verbs,
/// in bytes a second of their compulsory traffic. Each product is checked against Eigen first.
#include <benchmark/benchmark.h>

#include <Eigen/Sparse>

#include <tcsolve/io/generators.hpp>
#include <tcsolve/kernels/verbs/cg.hpp>
#include <tcsolve/operators/csr_operator.hpp>

using namespace tcsolve;

namespace {

using EigenCsr = Eigen::Map<Eigen::SparseMatrix<double, Eigen::RowMajor, std::int64_t> const>;

struct Problem {
  explicit Problem(int n)
      : a(generate(Poisson27Params{.n = n, .coefficient = Coefficient::random})),
        x(Eigen::VectorXd::Random(a.rows)),
        y(a.rows) {}
  Csr<double> a;
  Eigen::VectorXd x, y;
};

void csr_product(benchmark::State& state) {
  Problem p(static_cast<int>(state.range(0)));
  Context ctx(Backend::host);
  CsrOperator<double> A(ctx, p.a.view());
  In<double> x = vector_view<double const>(p.x.data(), p.a.rows);
  Out<double> y = vector_view(p.y.data(), p.a.rows);
  A.apply(ctx, x, y);
  std::vector<std::int64_t> columns(p.a.columns.begin(), p.a.columns.end());
  EigenCsr e(p.a.rows, p.a.cols, p.a.entries(), p.a.offsets.data(), columns.data(),
             p.a.values.data());
  if ((e * p.x - p.y).norm() > 1e-13 * p.y.norm()) return state.SkipWithError("differs from Eigen");
  for (auto _ : state) A.apply(ctx, x, y);
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * A.cost(1).bytes));
}
BENCHMARK(csr_product)->Arg(32)->Arg(96)->UseRealTime();

void eigen_product(benchmark::State& state) {
  Problem p(static_cast<int>(state.range(0)));
  Eigen::SparseMatrix<double, Eigen::RowMajor> e(p.a.rows, p.a.cols);
  std::vector<Eigen::Triplet<double>> entries;
  for (Index i = 0; i < p.a.rows; ++i)
    for (Offset k = p.a.offsets[i]; k < p.a.offsets[i + 1]; ++k)
      entries.emplace_back(i, p.a.columns[k], p.a.values[k]);
  e.setFromTriplets(entries.begin(), entries.end());
  for (auto _ : state) {
    p.y.noalias() = e * p.x;
    benchmark::ClobberMemory();
  }
  double bytes = 12.0 * p.a.entries() + 4.0 * (p.a.rows + 1) + 16.0 * p.a.rows;
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * bytes));
}
BENCHMARK(eigen_product)->Arg(32)->Arg(96)->UseRealTime();

void descend_verb(benchmark::State& state) {
  Context ctx(Backend::host);
  Index n = static_cast<Index>(state.range(0));
  Vector<double> q(Space::host, n), r(Space::host, n);
  for (Vector<double>* v : {&q, &r}) fill<double>(ctx, *v, 1.0);
  CgScalars k{1e-9, 1, 1, 0, 0};
  for (auto _ : state) {
    k.rho = 1e-9;
    descend<double>(ctx, &k, {}, true, q, r);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * 3 * n * 8);
}
BENCHMARK(descend_verb)->Arg(4096)->Arg(1 << 20)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
