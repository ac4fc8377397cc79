// SPDX-License-Identifier: Apache-2.0
/// bench_spmm [REPETITIONS = 30 [MATRIX | all] [FLAG ...]]: products with blocks of 8, 16 and 32
/// columns of FP64, or of 8 to 128 of FP32, row-major, in every format, beside cuSPARSE's SpMM in
/// all algorithms and both layouts (the best of them is the baseline) and beside one product with
/// one vector.
///
/// Before a product is timed, its first, middle and last columns are checked against a sum in long
/// double: |error|_i <= 4 (u m_i + 2 u_in) (|A||x|)_i, u that of the sums, u_in that of a
/// multiplication that is coarser than the vectors (2^-11 in TF32), m_i = max(entries in row i, 1).
///
///   cold    256 MB are read before each repetition, median of all
///   floor   the bytes of the stored matrix, X and Y once, against the bandwidth of a copy
///   --fp32  values and vectors of FP32; a format may multiply in TF32
///   --fp16  the same with values of FP16, which cuSPARSE has as FP32
///   --pass  tunings of the formats as well
///   --shuffle, --order rcm | metis | affinity
///           the rows of every matrix renumbered at random, then in an order; its time on the host
///           and the entries of a block of eight rows, their columns moved together
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <type_traits>

#include <tcsolve/formats/format.hpp>
#include <tcsolve/io/generators.hpp>
#include <tcsolve/io/renumber.hpp>
#include <tcsolve/kernels/padding.hpp>
#include <tcsolve/kernels/vector_ops.hpp>
#include <tcsolve/matrix/reorder/affinity.hpp>
#include <tcsolve/matrix/reorder/reordering.hpp>
#include <tcsolve/matrix/transfer.hpp>

#include "clock.hpp"
#include "measure.hpp"
#include "spmm_cusparse.hpp"

using namespace tcsolve;

namespace {

struct BlockRow {
  std::string variant;
  Index columns;
  double cold, error, floor, teraflops;
};

/// Element (i, j) of X, the same in every layout.
double element(Index i, Index j) { return random_value(7 + j, i); }

/// Column j of A X and what its rounding is allowed.
struct ColumnCheck {
  Index j;
  std::vector<long double> y, magnitude;
  std::vector<Offset> length;
  template <class T>
  ColumnCheck(Csr<T> const& a, Index column)
      : j(column), y(a.rows), magnitude(a.rows), length(a.rows) {
    for (Index i = 0; i < a.rows; ++i) {
      for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
        long double const p = static_cast<long double>(a.values[k]) * T(element(a.columns[k], j));
        y[i] += p, magnitude[i] += std::abs(p);
      }
      length[i] = std::max<Offset>(a.offsets[i + 1] - a.offsets[i], 1);
    }
  }
  /// Largest |error|_i over what is allowed for one rounding an entry.
  template <class T>
  double worst(std::vector<T> const& Y, Index columns, bool row_major, Precision const& p) const {
    double const coarse = size_of(p.multiply) < sizeof(T) ? 2 * roundoff(p.multiply) : 0;
    double most = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      double const got = Y[row_major ? i * columns + j : i + j * y.size()];
      double const allowed =
          (double(length[i]) * std::max(roundoff(p.accumulate), roundoff(real_of<T>)) + coarse) *
          static_cast<double>(magnitude[i]);
      auto const off = static_cast<double>(std::abs(got - y[i]));
      double const ratio = off == 0 ? 0 : off / allowed;
      if (!(ratio <= most)) most = std::isnan(ratio) ? INFINITY : ratio;
    }
    return most;
  }
};

/// Values stored as S, vectors of T.
template <class T, class S>
class Blocks {
 public:
  Blocks(Context& ctx, std::string name, Csr<T> a, Csr<S> stored, int repetitions, bool sweep)
      : ctx_(ctx),
        clock_(*ctx.device()),
        name_(std::move(name)),
        a_(std::move(a)),
        stored_(std::move(stored)),
        repetitions_(repetitions),
        sweep_(sweep) {}

  void run() {
    single();
    for (Index k : {8, 16, 32, 64, 128}) {
      if (k > 32 && std::is_same_v<T, double>) break;
      checks_.clear();
      for (Index j : {Index{0}, k / 2, k - 1}) checks_.emplace_back(a_, j);
      cusparse(k);
      formats_with(k);
    }
    print();
  }

 private:
  std::vector<T> block(Index rows, Index k, bool row_major) const {
    std::vector<T> X(std::size_t(rows) * k);
    for (Index i = 0; i < rows; ++i)
      for (Index j = 0; j < k; ++j)
        X[row_major ? std::size_t(i) * k + j : i + std::size_t(j) * rows] = T(element(i, j));
    return X;
  }

  /// cuSPARSE's CSR with one vector.
  void single() {
    double best = INFINITY;
    for (auto const algorithm : {CUSPARSE_SPMV_CSR_ALG1, CUSPARSE_SPMV_CSR_ALG2}) {
      auto const p = bench::Cusparse<T>::csr(*ctx_.device(), a_, algorithm);
      best = std::fmin(best, clock_.median(repetitions_, true, [&] { p->run(); }));
    }
    std::cout << "{\"matrix\": \"" << name_ << "\", \"one_vector_us\": " << best << "}"
              << std::endl;
    one_ = best;
  }

  void cusparse(Index k) {
    best_ = INFINITY;
    for (bool const row_major : {true, false})
      for (auto const& [name, algorithm] : {std::pair{"default", CUSPARSE_SPMM_ALG_DEFAULT},
                                            {"ALG1", CUSPARSE_SPMM_CSR_ALG1},
                                            {"ALG2", CUSPARSE_SPMM_CSR_ALG2},
                                            {"ALG3", CUSPARSE_SPMM_CSR_ALG3}}) {
        std::string const variant =
            cat("cuSPARSE ", name, row_major ? ", row-major" : ", column-major");
        try {
          bench::CusparseBlocks<T> p(*ctx_.device(), a_, k, row_major, algorithm);
          auto const X = block(a_.cols, k, row_major);
          cuda::check(cudaMemcpy(p.X(), X.data(), X.size() * sizeof(T), cudaMemcpyHostToDevice));
          p.run();
          double const error = worst(p.Y(), k, row_major, {real_of<T>, real_of<T>, real_of<T>});
          double const entry = sizeof(T) + 4.0;
          add(variant, k, error, entry * a_.entries() + 4.0 * a_.rows, [&] { p.run(); });
          if (table_.back().cold < best_) best_ = table_.back().cold;
        } catch (Error const& e) {
          std::cout << "{\"variant\": \"" << variant << "\", \"refused\": true}" << std::endl;
        }
      }
  }

  void formats_with(Index k) {
    auto const X = block(a_.cols, k, true);
    Array<T> const there = to_space(ctx_, X.data(), X.size());
    Array<T> Y(ctx_.space(), std::size_t(a_.rows) * k);
    In<T> const x{there.data(), a_.cols, k, k, Layout::row_major, ctx_.space()};
    Out<T> const y{Y.data(), a_.rows, k, k, Layout::row_major, ctx_.space()};
    CsrStorage<S> const csr(ctx_, stored_);
    Features const f = features(ctx_, csr.view());
    auto time = [&](std::string const& variant, Makers const& makers) {
      std::shared_ptr<LinearOperator<T>> A;
      try {
        A = std::get<Maker<T, S>>(makers).make(ctx_, csr.view(), nullptr);
      } catch (MatrixError const&) { return; }  // the tuning is not for this matrix
      A->apply(ctx_, x, y);
      double const error = worst(Y.data(), k, true, A->traits().precision);
      double const vectors = double(sizeof(T)) * k * (double(a_.rows) + a_.cols);
      add(variant, k, error, A->cost(k).bytes - vectors, [&] { A->apply(ctx_, x, y); });
    };
    for (Format const& format : formats()) {
      double const positions = format.layout(f, real_of<S>).slots;
      if (positions == 0 || !padding_pays(positions, a_.entries())) continue;
      time(format.name, format.makers);
      if (!format.variants || !sweep_ || format.can.columns == false) continue;
      for (Variant const& variant : format.variants())
        if (!variant.differs || variant.differs(f, real_of<S>, real_of<T>))
          time(variant.name, variant.makers);
    }
  }

  double worst(T const* Y, Index k, bool row_major, Precision const& p) {
    auto const got = to_host(ctx_, Y, ctx_.space(), std::size_t(a_.rows) * k);
    double most = 0;
    for (ColumnCheck const& check : checks_)
      most = std::fmax(most, check.worst(got, k, row_major, p));
    return most;
  }

  void add(std::string const& variant, Index k, double error, double matrix_bytes,
           std::function<void()> const& f) {
    double const bytes = matrix_bytes + double(sizeof(T)) * k * (double(a_.rows) + a_.cols);
    BlockRow row{variant, k, INFINITY, error, 1e6 * bytes / bench::bandwidth, 0};
    if (error <= 4) {
      row.cold = clock_.median(repetitions_, true, f);
      row.teraflops = 2e-6 * double(a_.entries()) * k / row.cold;
    }
    table_.push_back(row);
    std::cout << "{\"matrix\": \"" << name_ << "\", \"columns\": " << k << ", \"variant\": \""
              << variant << "\", \"us_cold\": "
              << (std::isfinite(row.cold) ? cat(row.cold) : std::string("null"))
              << ", \"tflops\": " << row.teraflops << ", \"error\": " << error
              << ", \"floor_us\": " << row.floor
              << ", \"best_cusparse_us\": " << (std::isfinite(best_) ? cat(best_) : "null") << "}"
              << std::endl;
  }

  void print() const {
    std::cout
        << "matrix | columns | variant | us cold | TFLOP/s | error | byte floor, us | vs best "
           "cuSPARSE SpMM | vs one CSR SpMV\n---|---|---|---|---|---|---|---|---\n";
    for (BlockRow const& r : table_) {
      double best = INFINITY;
      for (BlockRow const& other : table_)
        if (other.columns == r.columns && other.variant.starts_with("cuSPARSE"))
          best = std::fmin(best, other.cold);
      std::cout.precision(4);
      std::cout << name_ << " | " << r.columns << " | " << r.variant << " | " << r.cold << " | "
                << r.teraflops << " | " << r.error << " | " << r.floor << " | " << best / r.cold
                << " | " << r.cold / one_ << "\n";
    }
  }

  Context& ctx_;
  bench::Clock clock_;
  std::string name_;
  Csr<T> a_;
  Csr<S> stored_;  // the same numbers
  int repetitions_;
  bool sweep_;
  double one_ = 0, best_ = INFINITY;
  std::vector<ColumnCheck> checks_;
  std::vector<BlockRow> table_;
};

/// Values of FP16 as they are to cuSPARSE, which has no product with vectors of FP32.
Csr<float> rounded(Csr<double> const& a) {
  Csr<tcsolve::half> const narrow = converted<tcsolve::half>(a);
  Csr<float> out{a.rows, a.cols, a.offsets, a.columns, {}};
  for (tcsolve::half const v : narrow.values) out.values.push_back(float(v));
  return out;
}

/// The matrix as it is to be multiplied.
Csr<double> arranged(std::string const& name, Csr<double> a, bool shuffle,
                     std::string const& order) {
  if (shuffle) a = permuted(a.view(), random_permutation(a.rows, 5));
  auto const start = std::chrono::steady_clock::now();
  for (auto const& [reorder, text] : names(Reorder{}))
    if (order == text && reorder != Reorder::none) a = permuted(a.view(), reordering(a, reorder).P);
  std::chrono::duration<double> const taken = std::chrono::steady_clock::now() - start;
  std::cout << "{\"matrix\": \"" << name << "\", \"shuffled\": " << (shuffle ? "true" : "false")
            << ", \"order\": \"" << order << "\", \"order_s\": " << taken.count()
            << ", \"entries_a_block\": "
            << double(a.entries()) / std::max(1.0, double(condensed_blocks(a))) << "}" << std::endl;
  return a;
}

}  // namespace

int main(int argc, char** argv) {
  std::string why;
  if (!cuda::available(why)) {
    std::cout << "bench_spmm: " << why << ": nothing to measure\n";
    return 0;
  }
  bool const brief = std::getenv("TCSOLVE_BENCH_SHORT") != nullptr;
  int const repetitions = argc > 1 ? std::atoi(argv[1]) : brief ? 5 : 30;
  auto const given = [&](char const* flag) {
    return std::any_of(argv, argv + argc, [&](char const* a) { return std::strcmp(a, flag) == 0; });
  };
  bool const sweep = given("--pass"), fp32 = given("--fp32"), fp16 = given("--fp16"),
             shuffle = given("--shuffle");
  std::string order = "none";
  for (int k = 1; k + 1 < argc; ++k)
    if (std::strcmp(argv[k], "--order") == 0) order = argv[k + 1];
  bool const named = argc > 2 && argv[2][0] != '-' && std::strcmp(argv[2], "all") != 0;
  std::string const only = named ? argv[2] : "";
  Context ctx(Backend::cuda);
  bench::print_device(ctx, repetitions);
  constexpr auto random = Coefficient::random;
  std::vector<std::pair<std::string, std::function<Csr<double>()>>> matrices;
  auto add = [&](std::string const& name, auto params) {
    params.coefficient = random;
    if (only.empty() || only == name) matrices.push_back({name, [=] { return generate(params); }});
  };
  if (!brief) {
    add("poisson27_96", Poisson27Params{.n = 96});
    add("elasticity_56", ElasticityParams{.n = 56});
    add("poisson7_160", Poisson7Params{.n = 160});
    add("rmat_20_16", RmatParams{.scale = 20});
  }
  add("poisson27_32", Poisson27Params{.n = 32});
  add("elasticity_16", ElasticityParams{.n = 16});
  for (auto const& [name, make] : matrices) {
    Csr<double> const a = arranged(name, make(), shuffle, order);
    auto const run = [&]<class T, class S>(Csr<T> const& values, Csr<S> const& stored) {
      Blocks<T, S>(ctx, name, values, stored, repetitions, sweep).run();
    };
    if (fp16)
      run(rounded(a), converted<tcsolve::half>(a));
    else if (fp32)
      run(converted<float>(a), converted<float>(a));
    else
      run(a, a);
  }
}
