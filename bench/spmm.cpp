// SPDX-License-Identifier: Apache-2.0
/// bench_spmm [REPETITIONS = 30 [MATRIX]] [OPTIONS]: products with blocks of columns in every
/// format, beside cuSPARSE's SpMM in all algorithms and both layouts and beside one product with
/// one vector. MATRIX is a name of the list below, or a file.
///
///   --columns=8,16,32   how many
///   --values=fp64       fp64; fp32, vectors too; fp16, vectors and cuSPARSE's values in fp32
///   --layout=row        of x and y of the formats: row, column or both
///   --only=A,B          of the formats
///   --pass              tunings of the formats as well
///   --alone             without cuSPARSE, and so without tables
///   --gram              in fp64 and row-major, A square: Y = A X, then X^T Y, and both in one call
///   --shuffle           the rows of every matrix renumbered at random
///   --order=NAME        then in an order (rcm, metis or affinity); its time on the host and the
///                       entries of a block of eight rows, their columns moved together
///
/// Before a product is timed, its first, middle and last columns are checked against a sum in long
/// double: |error|_i <= 4 (u m_i + 2 u_in) (|A||x|)_i, u that of the sums, u_in that of a
/// multiplication that is coarser than the vectors (2^-11 in TF32), m_i = max(entries in row i, 1).
/// X^T Y of the one call against that of the other: |difference|_ij <= 4 n u ||x_i|| ||y_j||.
///
///   cold    256 MB are read before each repetition, median of all
///   floor   the bytes of the stored matrix, X and Y once, against the bandwidth of a copy
///   model   of formats that have one: operations a second that it predicts from the bandwidths of
///           a copy, of the second-level cache and of shared memory (128 bytes a clock of each
///           multiprocessor), and those measured
///   means   geometric, over matrices, of the time of cuSPARSE over that of a format
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <thread>

#include <tcsolve/core/device_speeds.hpp>
#include <tcsolve/formats/format.hpp>
#include <tcsolve/graph/reorder/affinity.hpp>
#include <tcsolve/graph/reorder/reordering.hpp>
#include <tcsolve/io/generators.hpp>
#include <tcsolve/io/matrix_file.hpp>
#include <tcsolve/io/renumber.hpp>
#include <tcsolve/kernels/blocks.hpp>
#include <tcsolve/kernels/padding.hpp>
#include <tcsolve/kernels/vector_ops.hpp>
#include <tcsolve/matrix/transfer.hpp>

#include "clock.hpp"
#include "measure.hpp"
#include "spmm_cusparse.hpp"

using namespace tcsolve;

namespace {

struct Settings {
  int repetitions = 30;
  std::string only_matrix, only_format;
  std::vector<Index> columns = {8, 16, 32};
  std::string values = "fp64";
  std::vector<Layout> layouts = {Layout::row_major};
  bool sweep = false, shuffle = false, alone = false, gram = false;
  std::string order = "none";
};

struct BlockRow {
  std::string variant;
  Index columns;
  bool row_major;
  double cold, error, floor;
  double predicted = 0, measured = 0;  ///< operations a second; predicted 0: there is no model
};

/// Of all matrices: times of cuSPARSE over those of a variant, columns and layout.
struct Ratios {
  double column_major = 0, best = 0, worst = INFINITY;  ///< sums of logarithms; against the best
  int count = 0;
};
using Means = std::map<std::string, Ratios>;

char const* name_of(bool row_major) { return row_major ? "row-major" : "column-major"; }

/// Element (i, j) of X, the same in every layout.
template <class T>
T element(Index i, Index j) {
  return T(random_value(7 + j, i));
}

/// Column j of A X and what its rounding is allowed.
template <class T>
struct ColumnCheck {
  Index j;
  std::vector<long double> y, magnitude;
  std::vector<Offset> length;
  ColumnCheck(Csr<double> const& a, Index column)
      : j(column), y(a.rows), magnitude(a.rows), length(a.rows) {
    for (Index i = 0; i < a.rows; ++i) {
      for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
        long double const p = static_cast<long double>(a.values[k]) * element<T>(a.columns[k], j);
        y[i] += p, magnitude[i] += std::abs(p);
      }
      length[i] = std::max<Offset>(a.offsets[i + 1] - a.offsets[i], 1);
    }
  }
  /// Of a computed column: the largest |error|_i over what is allowed for one rounding an entry.
  double worst(std::vector<T> const& column, Precision const& p) const {
    double const coarse = size_of(p.multiply) < sizeof(T) ? 2 * roundoff(p.multiply) : 0;
    double const sums = std::max(roundoff(p.accumulate), roundoff(real_of<T>));
    double most = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      double const got = column[i];
      auto const off = static_cast<double>(std::abs(got - y[i]));
      double const allowed =
          (static_cast<double>(length[i]) * sums + coarse) * static_cast<double>(magnitude[i]);
      double const ratio = off == 0 ? 0 : off / allowed;
      if (!(ratio <= most)) most = std::isnan(ratio) ? INFINITY : ratio;
    }
    return most;
  }
};

/// Vectors of T, values of S.
template <class T, class S>
class Blocks {
 public:
  Blocks(Context& ctx, std::string name, Csr<double> const& a, Settings const& settings,
         Means& means)
      : ctx_(ctx),
        clock_(*ctx.device()),
        name_(std::move(name)),
        a_(rounded(a)),
        settings_(settings),
        means_(means) {}

  void run() {
    if (!settings_.alone) single();
    for (Index k : settings_.columns) {
      checks_.clear();
      for (Index j : {Index{0}, k / 2, k - 1}) checks_.emplace_back(a_, j);
      if (!settings_.alone) cusparse(k);
      for (Layout layout : settings_.layouts) formats_with(k, layout == Layout::row_major);
    }
    print();
  }

 private:
  static Csr<double> rounded(Csr<double> a) {
    for (double& v : a.values) v = double(S(v));
    return a;
  }
  std::vector<T> block(Index rows, Index k, bool row_major) const {
    std::vector<T> X(std::size_t(rows) * k);
    constexpr Index parts = 8;
    std::vector<std::jthread> threads;
    for (Index p = 0; p < parts; ++p)
      threads.emplace_back([&, p] {
        for (auto i = static_cast<Index>(std::int64_t{rows} * p / parts),
                  end = static_cast<Index>(std::int64_t{rows} * (p + 1) / parts);
             i < end; ++i)
          for (Index j = 0; j < k; ++j)
            X[row_major ? std::size_t(i) * k + j : i + std::size_t(j) * rows] = element<T>(i, j);
      });
    threads.clear();
    return X;
  }

  /// cuSPARSE's CSR with one vector.
  void single() {
    double best = INFINITY;
    Csr<T> const a = converted<T>(a_);
    for (auto const algorithm : {CUSPARSE_SPMV_CSR_ALG1, CUSPARSE_SPMV_CSR_ALG2}) {
      auto const p = bench::Cusparse<T>::csr(*ctx_.device(), a, algorithm);
      best = std::fmin(best, clock_.median(settings_.repetitions, true, [&] { p->run(); }));
    }
    std::cout << "{\"matrix\": \"" << name_ << "\", \"one_vector_us\": " << best << "}"
              << std::endl;
    one_ = best;
  }

  void cusparse(Index k) {
    best_ = INFINITY;
    Csr<T> const a = converted<T>(a_);
    for (bool const row_major : {true, false})
      for (auto const& [name, algorithm] : {std::pair{"default", CUSPARSE_SPMM_ALG_DEFAULT},
                                            {"ALG1", CUSPARSE_SPMM_CSR_ALG1},
                                            {"ALG2", CUSPARSE_SPMM_CSR_ALG2},
                                            {"ALG3", CUSPARSE_SPMM_CSR_ALG3}}) {
        std::string const variant = cat("cuSPARSE ", name, ", ", name_of(row_major));
        try {
          bench::CusparseBlocks<T> p(*ctx_.device(), a, k, row_major, algorithm);
          auto const X = block(a_.cols, k, row_major);
          cuda::check(cudaMemcpy(p.X(), X.data(), X.size() * sizeof(T), cudaMemcpyHostToDevice));
          p.run();
          double const error = worst(p.Y(), k, row_major, {real_of<T>, real_of<T>, real_of<T>});
          double const bytes = (4.0 + sizeof(T)) * a_.entries() + 4.0 * a_.rows;
          add({variant, k, row_major, INFINITY, error, 0}, bytes, [&] { p.run(); });
          if (table_.back().cold < best_) best_ = table_.back().cold;
        } catch (Error const& e) {
          std::cout << "{\"variant\": \"" << variant << "\", \"refused\": true}" << std::endl;
        }
      }
  }

  void formats_with(Index k, bool row_major) {
    Layout const layout = row_major ? Layout::row_major : Layout::col_major;
    auto const X = block(a_.cols, k, row_major);
    Array<T> const there = to_space(ctx_, X.data(), X.size());
    Array<T> Y(ctx_.space(), std::size_t(a_.rows) * k);
    In<T> const x{there.data(), a_.cols, k, row_major ? k : a_.cols, layout, ctx_.space()};
    Out<T> const y{Y.data(), a_.rows, k, row_major ? k : a_.rows, layout, ctx_.space()};
    CsrStorage<S> const csr(ctx_, converted<S>(a_));
    Features const f = features(ctx_, csr.view());
    auto time = [&](std::string const& variant, Makers const& makers, double predicted) {
      std::shared_ptr<LinearOperator<T>> A;
      try {
        A = std::get<Maker<T, S>>(makers).make(ctx_, csr.view(), nullptr);
      } catch (MatrixError const&) { return; }             // the tuning is not for this matrix
      cuda::check(cudaMemset(Y.data(), 0xff, Y.bytes()));  // NaN: all of it must be written
      A->apply(ctx_, x, y);
      double const error = worst(Y.data(), k, row_major, A->traits().precision);
      double const vectors = double(sizeof(T)) * k * (double(a_.rows) + a_.cols);
      add({variant, k, row_major, INFINITY, error, 0, predicted}, A->cost(k).bytes - vectors,
          [&] { A->apply(ctx_, x, y); });
      if constexpr (std::is_same_v<T, double>)
        if (settings_.gram && row_major && a_.rows == a_.cols && k <= most_block_columns)
          grams(variant, *A, x, y, A->cost(k).bytes - vectors);
    };
    for (Format const& format : formats()) {
      std::string const listed = cat(",", settings_.only_format, ",");
      if (listed != ",," && listed.find(cat(",", format.name, ",")) == listed.npos) continue;
      double const positions = format.layout(f, real_of<S>).slots;
      if (positions == 0 || !padding_pays(positions, a_.entries())) continue;
      time(format.name, format.makers, predicted(format, layout));
      if (!format.variants || !settings_.sweep || format.can.columns == false) continue;
      for (Variant const& variant : format.variants())
        if (!variant.differs || variant.differs(f, real_of<S>, real_of<T>))
          time(variant.name, variant.makers, 0);
    }
  }

  /// Y = A X and X^T Y, one after the other and at once.
  void grams(std::string const& variant, LinearOperator<double> const& A, In<double> x,
             Out<double> y, double bytes) {
    Index const k = x.cols;
    std::size_t const size = std::size_t(k) * k;
    Array<double> G(ctx_.space(), size);
    auto const found = [&](auto const& f) {
      f();
      return to_host(ctx_, G);
    };
    auto const after = [&] {
      A.apply(ctx_, x, y);
      gram(ctx_, x, y, G.data());
    };
    auto const at_once = [&] { A.apply_gram(ctx_, x, y, G.data()); };
    auto const expected = found(after);
    cuda::check(cudaMemset(y.data, 0xff, std::size_t(a_.rows) * k * sizeof(double)));
    ctx_.synchronize();
    auto const got = found(at_once), xx = found([&] { gram(ctx_, x, x, G.data()); }),
               yy = found([&] { gram(ctx_, y, y, G.data()); });
    double error = worst(y.data, k, true, A.traits().precision);
    for (std::size_t e = 0; e < size; ++e) {
      double const norms = std::sqrt(xx[e / k * (k + 1)] * yy[e % k * (k + 1)]);
      double const ratio = std::abs(got[e] - expected[e]) / (0x1p-53 * a_.rows * norms);
      if (!(ratio <= error)) error = std::isnan(ratio) ? INFINITY : ratio;
    }
    add({cat(variant, ", then X^T Y"), k, true, INFINITY, error, 0}, bytes, after);
    add({cat(variant, " with X^T Y"), k, true, INFINITY, error, 0}, bytes, at_once);
  }

  /// Operations a second; 0 where the format has no model.
  double predicted(Format const& format, Layout layout) {
    if (!format.model) return 0;
    auto const at = models_.find(format.name);
    FormatModel const& model =
        at != models_.end()
            ? at->second
            : models_.emplace(format.name, format.model(ctx_, CsrStorage<double>(ctx_, a_).view()))
                  .first->second;
    static double const cache = bench::cache_bandwidth(ctx_);
    cuda::Device& on = *ctx_.device();
    double const shared = 128.0 * on.properties.multiProcessorCount * cuda::speeds(on).clock;
    return roofline(model.intensity(real_of<S>, layout), {bench::bandwidth, cache, shared});
  }

  double worst(T const* Y, Index k, bool row_major, Precision const& p) {
    ctx_.synchronize();  // a copy between pitches is on a stream of its own
    Array<T> column(ctx_.space(), std::size_t(a_.rows));
    double most = 0;
    for (auto const& check : checks_) {
      std::size_t const apart = row_major ? k : 1,
                        first = row_major ? check.j : check.j * std::size_t(a_.rows);
      cuda::check(cudaMemcpy2D(column.data(), sizeof(T), Y + first, apart * sizeof(T), sizeof(T),
                               std::size_t(a_.rows), cudaMemcpyDeviceToDevice));
      most = std::fmax(most, check.worst(to_host(ctx_, column), p));
    }
    return most;
  }

  void add(BlockRow row, double matrix_bytes, std::function<void()> const& f) {
    double const vectors = double(sizeof(T)) * row.columns * (double(a_.rows) + a_.cols);
    row.floor = 1e6 * (matrix_bytes + vectors) / bench::bandwidth;
    if (row.error <= 4) row.cold = clock_.median(settings_.repetitions, true, f);
    row.measured = 2e6 * double(a_.entries()) * row.columns / row.cold;
    table_.push_back(row);
    auto const number = [](double v) { return std::isfinite(v) ? cat(v) : std::string("null"); };
    std::cout << "{\"matrix\": \"" << name_ << "\", \"values\": \"" << settings_.values
              << "\", \"columns\": " << row.columns << ", \"layout\": \"" << name_of(row.row_major)
              << "\", \"variant\": \"" << row.variant << "\", \"us_cold\": " << number(row.cold)
              << ", \"error\": " << number(row.error) << ", \"floor_us\": " << row.floor
              << ", \"best_cusparse_us\": " << number(best_)
              << ", \"gflops\": " << row.measured * 1e-9;
    if (row.predicted > 0) std::cout << ", \"predicted_gflops\": " << row.predicted * 1e-9;
    std::cout << "}" << std::endl;
  }

  /// Least time of cuSPARSE, in any layout or column-major alone.
  double cusparse_time(Index columns, bool column_major_only) const {
    double best = INFINITY;
    for (BlockRow const& r : table_)
      if (r.columns == columns && r.variant.starts_with("cuSPARSE") &&
          !(column_major_only && r.row_major))
        best = std::fmin(best, r.cold);
    return best;
  }

  void print() {
    if (settings_.alone) return;  // the lines before are all that there is
    std::cout << "matrix | columns | variant | layout | us cold | error | byte floor, us | vs best "
                 "cuSPARSE SpMM | vs its column-major | vs one CSR SpMV | GFLOP/s predicted | "
                 "measured\n---|---|---|---|---|---|---|---|---|---|---|---\n";
    for (BlockRow const& r : table_) {
      double const best = cusparse_time(r.columns, false),
                   column_major = cusparse_time(r.columns, true);
      std::cout.precision(4);
      std::cout << name_ << " | " << r.columns << " | " << r.variant << " | "
                << name_of(r.row_major) << " | " << r.cold << " | " << r.error << " | " << r.floor
                << " | " << best / r.cold << " | " << column_major / r.cold << " | "
                << r.cold / one_ << " | " << r.predicted * 1e-9 << " | " << r.measured * 1e-9
                << "\n";
      if (r.variant.starts_with("cuSPARSE") || !std::isfinite(r.cold)) continue;
      Ratios& ratios = means_[cat(r.variant, " | ", r.columns, " | ", name_of(r.row_major))];
      ratios.best += std::log(best / r.cold);
      ratios.column_major += std::log(column_major / r.cold);
      ratios.worst = std::fmin(ratios.worst, best / r.cold);
      ++ratios.count;
    }
  }

  Context& ctx_;
  bench::Clock clock_;
  std::string name_;
  Csr<double> a_;
  Settings const& settings_;
  Means& means_;
  double one_ = 0, best_ = INFINITY;
  std::map<std::string, FormatModel> models_;
  std::vector<ColumnCheck<T>> checks_;
  std::vector<BlockRow> table_;
};

/// The matrix as it is to be multiplied.
Csr<double> arranged(std::string const& name, Csr<double> a, bool shuffle,
                     std::string const& order) {
  if (shuffle) a = permuted(a.view(), random_permutation(a.rows, 5));
  auto const start = std::chrono::steady_clock::now();
  bool known = order == "none";
  for (auto const& [reorder, text] : names(Reorder{}))
    if (order == text && reorder != Reorder::none) {
      a = permuted(a.view(), reordering(a, reorder).P);
      known = true;
    }
  if (!known) throw ConfigError(cat("bench_spmm: there is no order '", order, "'"));
  std::chrono::duration<double> const taken = std::chrono::steady_clock::now() - start;
  std::cout << "{\"matrix\": \"" << name << "\", \"shuffled\": " << (shuffle ? "true" : "false")
            << ", \"order\": \"" << order << "\", \"order_s\": " << taken.count()
            << ", \"entries_a_block\": "
            << double(a.entries()) / std::max(1.0, double(condensed_blocks(a))) << "}" << std::endl;
  return a;
}

/// What stands behind `key` of "--key=value".
bool option(std::string const& argument, std::string const& key, std::string& value) {
  if (!argument.starts_with(key + "=")) return false;
  value = argument.substr(key.size() + 1);
  return true;
}

Settings settings_of(int argc, char** argv, bool brief) {
  Settings s;
  if (brief) s.repetitions = 5;
  int position = 0;
  for (int i = 1; i < argc; ++i) {
    std::string const argument = argv[i];
    std::string value;
    if (argument == "--pass") {
      s.sweep = true;
    } else if (argument == "--alone") {
      s.alone = true;
    } else if (argument == "--gram") {
      s.gram = true;
    } else if (argument == "--shuffle") {
      s.shuffle = true;
    } else if (option(argument, "--columns", value)) {
      s.columns.clear();
      std::istringstream list(value);
      for (std::string k; std::getline(list, k, ',');) s.columns.push_back(std::atoi(k.c_str()));
    } else if (option(argument, "--layout", value)) {
      s.layouts.clear();
      if (value != "column") s.layouts.push_back(Layout::row_major);
      if (value != "row") s.layouts.push_back(Layout::col_major);
    } else if (!option(argument, "--values", s.values) &&
               !option(argument, "--only", s.only_format) &&
               !option(argument, "--order", s.order)) {
      if (position == 0) s.repetitions = std::atoi(argv[i]);
      if (position == 1) s.only_matrix = argument;
      ++position;
    }
  }
  return s;
}

}  // namespace

int main(int argc, char** argv) {
  std::string why;
  if (!cuda::available(why)) {
    std::cout << "bench_spmm: " << why << ": nothing to measure\n";
    return 0;
  }
  bool const brief = std::getenv("TCSOLVE_BENCH_SHORT") != nullptr;
  Settings const settings = settings_of(argc, argv, brief);
  std::string const& only = settings.only_matrix;
  Context ctx(Backend::cuda);
  bench::print_device(ctx, settings.repetitions);
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
  if (matrices.empty())
    matrices.push_back({std::filesystem::path(only).stem(), [=] { return read_matrix(only); }});
  Means means;
  for (auto const& [name, make] : matrices) {
    Csr<double> const a = arranged(name, make(), settings.shuffle, settings.order);
    if (settings.values == "fp32")
      Blocks<float, float>(ctx, name, a, settings, means).run();
    else if (settings.values == "fp16")
      Blocks<float, tcsolve::half>(ctx, name, a, settings, means).run();
    else
      Blocks<double, double>(ctx, name, a, settings, means).run();
  }
  std::cout
      << "variant | columns | layout | matrices | mean vs best cuSPARSE | least | mean vs its "
         "column-major\n---|---|---|---|---|---|---\n";
  for (auto const& [name, r] : means)
    std::cout << name << " | " << r.count << " | " << std::exp(r.best / r.count) << " | " << r.worst
              << " | " << std::exp(r.column_major / r.count) << "\n";
}
