// SPDX-License-Identifier: Apache-2.0
/// Host micro-benchmarks (Google Benchmark): the products of every format beside Eigen's on the
/// same threads, what the memory gives (read, triad), and the fused operations, in bytes a second
/// of their compulsory traffic. Each product is checked against Eigen's before it is timed.
///
///     OMP_NUM_THREADS=2 OMP_PROC_BIND=true bench_host_kernels
///     --benchmark_enable_random_interleaving=true
///
/// interleaves the repetitions of all of them, so that other load affects all alike. Figures
/// of such runs: docs/results/host-products.md.
#include <benchmark/benchmark.h>

#include <Eigen/Sparse>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>

#include <tcsolve/formats/format.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/kernels/host/parallel.hpp>
#include <tcsolve/solvers/cg/ops.hpp>

using namespace tcsolve;

namespace {

using EigenCsr = Eigen::SparseMatrix<double, Eigen::RowMajor, std::int32_t>;

struct Case {
  char const* name;
  GeneratorParams params;
};
constexpr Coefficient random = Coefficient::random;
Case const cases[] = {
    {"poisson27_32", Poisson27Params{.n = 32, .coefficient = random}},  // in the cache
    {"poisson27_96", Poisson27Params{.n = 96, .coefficient = random}},
    {"poisson7_160", Poisson7Params{.n = 160, .coefficient = random}},
    {"elasticity_56", ElasticityParams{.n = 56, .coefficient = random}},
};

/// One matrix as Eigen's CSR, whose arrays the operators are made of.
class Problem {
 public:
  static Problem& of(std::int64_t number) {
    static std::map<std::int64_t, std::unique_ptr<Problem>> made;
    auto& p = made[number];
    if (!p) p.reset(new Problem(generate(cases[number].params)));
    return *p;
  }
  /// The operator, made when it is first asked for. Throws MatrixError where the format does not
  /// pay.
  LinearOperator<double> const& as(Format const& format) {
    OperatorPtr<double>& made = operators_[format.name];
    if (!made) made = make_operator<double>(ctx_, csr(), format);
    return *made;
  }
  /// Why the matrix is not for the format; empty when it is.
  std::string refusal(Format const& format) {
    if (!features_) features_ = features(ctx_, csr());
    return why_not(format, *features_, {});
  }
  void multiply() { y.noalias() = eigen_ * x; }
  void multiply(LinearOperator<double> const& A) {
    A.apply(ctx_, vector_view<double const>(x.data(), A.cols()), vector_view(y.data(), A.rows()));
  }
  double csr_bytes() const { return 12.0 * eigen_.nonZeros() + 4.0 * (x.size() + 1); }
  double vector_bytes() const { return 8.0 * double(x.size() + y.size()); }
  /// Does it compute what Eigen does?
  bool agrees(LinearOperator<double> const& A) {
    multiply();
    Eigen::VectorXd expected = y;
    y.setConstant(std::nan(""));
    multiply(A);
    return (y - expected).norm() <= 1e-13 * expected.norm();
  }

 private:
  explicit Problem(Csr<double> const& a)
      : x(Eigen::VectorXd::Random(a.cols)),
        y(a.rows),
        offsets_(a.offsets.begin(), a.offsets.end()),
        eigen_(Eigen::Map<EigenCsr const>(a.rows, a.cols, narrow(a.entries(), "entries"),
                                          offsets_.data(), a.columns.data(), a.values.data())) {}
  CsrView<double> csr() const {
    return {narrow(eigen_.rows(), "rows"),
            narrow(eigen_.cols(), "columns"),
            eigen_.nonZeros(),
            eigen_.outerIndexPtr(),
            eigen_.innerIndexPtr(),
            eigen_.valuePtr(),
            Space::host};
  }

  Context ctx_{Backend::host};
  Eigen::VectorXd x, y;
  std::vector<std::int32_t> offsets_;
  EigenCsr eigen_;  // 32-bit indices throughout; csr reads the same arrays
  std::map<std::string, OperatorPtr<double>> operators_;
  std::optional<Features> features_;
};

/// Times f, which moves so many bytes.
template <class F>
void timed(benchmark::State& state, double bytes, F const& f) {
  state.SetLabel(cases[state.range(0)].name);
  for (auto _ : state) {
    f();
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(double(state.iterations()) * bytes));
}

void eigen(benchmark::State& state) {
  Problem& p = Problem::of(state.range(0));
  timed(state, p.csr_bytes() + p.vector_bytes(), [&] { p.multiply(); });
}

void product(benchmark::State& state, Format const& format) {
  Problem& p = Problem::of(state.range(0));
  std::string const refusal = p.refusal(format);
  if (!refusal.empty()) return state.SkipWithError(refusal.c_str());
  try {
    LinearOperator<double> const& A = p.as(format);
    if (!p.agrees(A)) return state.SkipWithError("differs from Eigen");
    // csr borrows the arrays that it shares with Eigen.
    double const bytes = format.converted ? A.cost(1).bytes : p.csr_bytes() + p.vector_bytes();
    timed(state, bytes, [&] { p.multiply(A); });
  } catch (MatrixError const& e) { state.SkipWithError(e.what()); }
}

double least(std::vector<double> const& times) {
  return *std::min_element(times.begin(), times.end());
}
template <class Run>
void add(std::string const& name, Run const& run) {
  benchmark::RegisterBenchmark(name.c_str(), run)
      ->DenseRange(0, std::ssize(cases) - 1)
      ->UseRealTime()
      ->ComputeStatistics("least", least);
}
bool const added = [] {
  add("product/eigen", eigen);
  for (Format const& format : formats())
    add("product/" + format.name, [&format](benchmark::State& state) { product(state, format); });
  return true;
}();

/// Vectors of 256 MB, larger than any cache, on the products' threads.
struct Stream {
  static constexpr std::int64_t n = std::int64_t{1} << 25, part = 1 << 15;
  std::unique_ptr<double[]> a{new double[n]}, b{new double[n]}, c{new double[n]};
  Stream() {  // each thread touches first what it will use
    each([&](std::int64_t begin, std::int64_t end) {
      for (auto* v : {a.get(), b.get(), c.get()}) std::fill(v + begin, v + end, 1.0);
    });
  }
  template <class F>
  static void each(F const& f) {
    host::parallel(n / part, 2, [&](std::int64_t k) { f(k * part, (k + 1) * part); });
  }
  static Stream& get() {
    static Stream stream;
    return stream;
  }
};

void stream_read(benchmark::State& state) {
  double const* a = Stream::get().a.get();
  for (auto _ : state)
    Stream::each([&](std::int64_t begin, std::int64_t end) {
      double sum[16] = {};
      for (std::int64_t i = begin; i < end; i += 16)
        for (int k = 0; k < 16; ++k) sum[k] += a[i + k];
      benchmark::DoNotOptimize(std::accumulate(sum, sum + 16, 0.0));
    });
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * 8 * Stream::n);
}
BENCHMARK(stream_read)->UseRealTime()->ComputeStatistics("least", least);

void stream_triad(benchmark::State& state) {
  Stream& s = Stream::get();
  for (auto _ : state)
    Stream::each([a = s.a.get(), b = s.b.get(), c = s.c.get()](auto begin, auto end) {
      for (std::int64_t i = begin; i < end; ++i) a[i] = b[i] + 3.0 * c[i];
    });
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * 24 * Stream::n);
}
BENCHMARK(stream_triad)->UseRealTime()->ComputeStatistics("least", least);

void update_residual_op(benchmark::State& state) {
  Context ctx(Backend::host);
  Index n = static_cast<Index>(state.range(0));
  Vector<double> q(Space::host, n), r(Space::host, n);
  for (Vector<double>* v : {&q, &r}) fill<double>(ctx, *v, 1.0);
  CgScalars k{1e-9, 1, 1, 0, 0};
  for (auto _ : state) {
    k.rho = 1e-9;
    update_residual<double>(ctx, &k, {}, true, q, r, Observe{0, &k.rr});
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * 3 * n * 8);
}
BENCHMARK(update_residual_op)->Arg(4096)->Arg(1 << 20)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
