// SPDX-License-Identifier: Apache-2.0
/// bench_spmv [REPETITIONS = 50 [MATRIX [TYPE [--pass]]]]: products with one vector, in every
/// format, beside cuSPARSE's of the same value type in the same run. Random values; the real
/// matrices of over a million entries in TCSOLVE_MATRICES, where that is set, keep theirs (scaled
/// by powers of two where 16 bits cannot hold them). TYPE is fp64, fp32, fp16 or bf16.
///
/// Every product is checked against a sum in long double of the rounded matrix before it is timed:
/// |error|_i <= 4 u m_i (|A||x|)_i, u = 2^-53 or 2^-24, m_i = max(entries in row i, 1).
///
///   cold   256 MB are read before each repetition, median of all
///   hot    ten products in a row are one repetition, median of all
///   conversion  from CSR in device memory to the operator, median of 5, in cold products of the
///               best cuSPARSE CSR
///   update      update_values from CSR in device memory, norm included, in the same unit
///   --pass  tunings and units of the formats as well
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iostream>
#include <thread>

#include <tcsolve/formats/format.hpp>
#include <tcsolve/graph/reorder/graph_partition.hpp>
#include <tcsolve/graph/reorder/reordering.hpp>
#include <tcsolve/io/generators.hpp>
#include <tcsolve/io/matrix_market.hpp>
#include <tcsolve/kernels/padding.hpp>
#include <tcsolve/matrix/scaled.hpp>
#include <tcsolve/matrix/transfer.hpp>

#include "clock.hpp"
#include "measure.hpp"
#include "spmv_cusparse.hpp"

using namespace tcsolve;

namespace {

/// y = A x and |A||x| in long double, by all threads.
struct Reference {
  std::vector<long double> y, magnitude;
  std::vector<Offset> length;
  template <class S, class X>
  Reference(Csr<S> const& a, std::vector<X> const& x)
      : y(a.rows), magnitude(a.rows), length(a.rows) {
    unsigned int count = std::max(1u, std::thread::hardware_concurrency());
    std::vector<std::thread> threads;
    for (unsigned int t = 0; t < count; ++t)
      threads.emplace_back([&, t] {
        for (Index i = Index(std::int64_t{a.rows} * t / count);
             i < Index(std::int64_t{a.rows} * (t + 1) / count); ++i) {
          length[i] = a.offsets[i + 1] - a.offsets[i];
          for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
            long double p = static_cast<long double>(double(a.values[k])) * double(x[a.columns[k]]);
            y[i] += p, magnitude[i] += std::abs(p);
          }
        }
      });
    for (auto& t : threads) t.join();
  }
  /// Largest |error|_i / (u m_i (|A||x|)_i).
  double error(std::vector<double> const& got, double u) const {
    double worst = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      double allowed = double(u * std::max<Offset>(length[i], 1) * magnitude[i]);
      double off = double(std::abs(got[i] - y[i]));
      if (!(off <= 4 * allowed)) return std::isnan(off) ? INFINITY : off / allowed;
      if (allowed > 0) worst = std::max(worst, off / allowed);
    }
    return worst;
  }
};

struct Row {
  std::string matrix, type, variant;
  double cold, hot, error, conversion, update, bytes_per_entry;
};

class Table {
 public:
  Table(Context& ctx, int repetitions) : ctx_(ctx), clock_(*ctx.device()), times_(repetitions) {}

  template <class S, class T>
  void matrix(std::string const& name, Csr<double> const& a, char const* type, bool sweep) {
    name_ = name, type_ = type, best_csr_ = 0;
    Csr<S> stored;
    if constexpr (std::is_same_v<S, double>)
      stored = a;
    else
      stored = scaled<S>(a, Scaling::powers_of_two).matrix;
    entries_ = double(a.entries());
    rows_ = a.rows;
    std::vector<T> x(a.cols);
    std::vector<S> x_narrow(a.cols);
    std::uint64_t state = 1;
    for (Index j = 0; j < a.cols; ++j) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      x[j] = T(double(state >> 11) * 0x1p-52 - 1);
      x_narrow[j] = S(double(x[j]));
    }
    {
      Reference reference(stored, x_narrow);
      cusparse<S>(stored, x_narrow, reference);
    }
    ours<S, T>(stored, x, sweep);
  }
  std::vector<Row> const& rows() const { return table_; }

 private:
  template <class S>
  void cusparse(Csr<S> const& a, std::vector<S> const& x, Reference const& reference) {
    using C = bench::Cusparse<S>;
    cuda::Device& on = *ctx_.device();
    double u = sizeof(S) == 8 ? 0x1p-53 : 0x1p-24;
    auto time = [&](std::string const& variant, std::shared_ptr<C> const& p) {
      if (!p) return;
      p->set_x(x);
      p->run();
      double error = reference.error(p->y(a.rows), u);
      add(variant, error, 0, 0, 0, [&] { p->run(); });
    };
    time("cuSPARSE CSR ALG1", C::csr(on, a, CUSPARSE_SPMV_CSR_ALG1));
    time("cuSPARSE CSR ALG2", C::csr(on, a, CUSPARSE_SPMV_CSR_ALG2));
    best_csr_ = std::fmin(table_[table_.size() - 1].cold, table_[table_.size() - 2].cold);
    time("cuSPARSE SELL", C::sell(on, a));
    for (Index b : {2, 3, 4, 8}) time(cat("cuSPARSE BSR ", b), C::bsr(on, a, b));
  }

  template <class S, class T>
  void ours(Csr<S> const& a, std::vector<T> const& x, bool sweep) {
    Reference reference(a, x);
    Array<T> dx = to_space(ctx_, x.data(), x.size()), dy(ctx_.space(), a.rows);
    CsrStorage<S> there(ctx_, a);
    double u = sizeof(T) == 8 ? 0x1p-53 : 0x1p-24;
    auto us = [&](auto const& f) {
      ctx_.synchronize();
      auto begin = std::chrono::steady_clock::now();
      f();
      ctx_.synchronize();
      return 1e6 * std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    auto time = [&](std::string const& variant, Makers const& makers, double roundoff) {
      Maker<T, S> const& maker = std::get<Maker<T, S>>(makers);
      std::vector<double> conversions, updates;
      std::shared_ptr<LinearOperator<T>> A;
      for (int i = 0; i < 5; ++i) {
        A = nullptr;
        try {
          conversions.push_back(us([&] { A = maker.make(ctx_, there.view(), nullptr); }));
        } catch (MatrixError const&) { return; }  // the tuning is not for this matrix
        updates.push_back(us([&] { maker.update_values(ctx_, *A, there.view()); }));
      }
      std::sort(conversions.begin(), conversions.end());
      std::sort(updates.begin(), updates.end());
      A->apply(ctx_, dx.view(), dy.view());
      auto got = to_host(ctx_, dy);
      double error = reference.error({got.begin(), got.end()}, roundoff > 0 ? roundoff : u);
      double vectors = (double(a.rows) + a.cols) * sizeof(T);
      add(variant, error, conversions[2], updates[2], (A->cost(1).bytes - vectors) / entries_,
          [&] { A->apply(ctx_, dx.view(), dy.view()); });
    };
    Features const f = features(ctx_, there.view());
    for (Format const& format : formats()) {
      // cuSPARSE's own products are csr's, but for an x in the type of the vectors, which it does
      // not take: a kernel of our own.
      if (!format.converted && sizeof(S) > 2) continue;
      double const positions = format.layout(f, real_of<S>).slots;
      if (positions == 0 || !padding_pays(positions, a.entries())) continue;
      time(format.name, format.makers, 0);
      if (!format.variants) continue;
      for (Variant const& variant : format.variants()) {
        bool const wanted = sweep || !variant.swept;
        bool const differs = !variant.differs || variant.differs(f, real_of<S>, real_of<T>);
        if (wanted && differs) time(variant.name, variant.makers, variant.roundoff);
      }
    }
  }

  void add(std::string const& variant, double error, double conversion, double update,
           double bytes_per_entry, std::function<void()> const& f) {
    Row row{name_, type_, variant, NAN, NAN, error, conversion, update, bytes_per_entry};
    if (error <= 4) {
      row.cold = clock_.median(times_, true, f);
      row.hot = clock_.median(times_, false, f);
    }
    table_.push_back(row);
    auto number = [](double us) { return std::isfinite(us) ? cat(us) : std::string("null"); };
    std::cout << "{\"matrix\": \"" << name_ << "\", \"rows\": " << rows_
              << ", \"entries\": " << std::int64_t(entries_) << ", \"values\": \"" << type_
              << "\", \"variant\": \"" << variant << "\", \"us_cold\": " << number(row.cold)
              << ", \"us_hot\": " << number(row.hot) << ", \"error\": " << error
              << ", \"conversion_us\": " << conversion
              << ", \"conversion_products\": " << (best_csr_ > 0 ? conversion / best_csr_ : 0)
              << ", \"update_products\": " << (best_csr_ > 0 ? update / best_csr_ : 0)
              << ", \"bytes_per_entry\": " << bytes_per_entry << "}" << std::endl;
  }

  Context& ctx_;
  bench::Clock clock_;
  int times_;
  std::string name_, type_;
  Index rows_ = 0;
  double entries_ = 0, best_csr_ = 0;
  std::vector<Row> table_;
};

using Matrices = std::vector<std::pair<std::string, std::function<Csr<double>()>>>;

Matrices generated(bool brief) {
  constexpr auto random = Coefficient::random;
  Matrices m;
  auto add = [&](std::string const& name, auto params) {
    params.coefficient = random;
    m.push_back({name, [=] { return generate(params); }});
  };
  if (!brief) {
    add("poisson27_96", Poisson27Params{.n = 96});
    add("elasticity_56", ElasticityParams{.n = 56});
    add("poisson7_160", Poisson7Params{.n = 160});
    add("poisson27_80", Poisson27Params{.n = 80});
    Poisson27Params const lost{.n = 80, .coefficient = random, .renumber = Renumber::random};
    add("poisson27s_80", lost);
    for (Reorder const reorder : {Reorder::rcm, Reorder::metis})
      if (reorder != Reorder::metis || metis_built())
        m.push_back({cat("poisson27s_80_", name(reorder)), [=] {
                       Csr<double> const a = generate(lost);
                       return permuted(a.view(), reordering(a, reorder).P);
                     }});
    add("convdiff_128", ConvdiffParams{.n = 128});
    add("rmat_20_16", RmatParams{.scale = 20});
    add("longrows_1M", LongrowsParams{});
  }
  add("poisson27_32", Poisson27Params{.n = 32});
  add("elasticity_16", ElasticityParams{.n = 16});
  return m;
}

/// What TCSOLVE_MATRICES holds of more than a million entries; a list, since reading all of them
/// to count takes longer than the rest.
void add_real(Matrices& m) {
  char const* folder = std::getenv("TCSOLVE_MATRICES");
  if (folder == nullptr) return;
  for (char const* name : {"tripod_elast_p2", "xenon1", "mdual_lap", "dragon_cotlap",
                           "tripod_convdiff_r3", "tripod_elast_r2"}) {
    auto path = std::filesystem::path(folder) / cat(name, ".mtx.xz");
    if (!std::filesystem::exists(path)) continue;
    m.push_back({name, [=] { return read_matrix_market(path); }});
    // Whose rows came in no order, or in a scanner's.
    if (std::string(name) == "mdual_lap" || std::string(name) == "dragon_cotlap")
      m.push_back({cat(name, "_rcm"), [=] {
                     Csr<double> const a = read_matrix_market(path);
                     return permuted(a.view(), reordering(a, Reorder::rcm).P);
                   }});
  }
}

/// One line a matrix and type: the best of cuSPARSE, and each of ours against it.
void print(std::vector<Row> const& rows) {
  std::cout << "matrix | values | variant | us cold | us hot | error | vs best CSR, cold | vs best "
               "cuSPARSE, cold | vs best CSR, hot | conversion, products | "
               "update, products | bytes an entry\n"
            << "---|---|---|---|---|---|---|---|---|---|---|---\n";
  for (Row const& r : rows) {
    double csr = INFINITY, csr_hot = INFINITY, best = INFINITY;
    for (Row const& other : rows) {
      if (other.matrix != r.matrix || other.type != r.type) continue;
      if (other.variant.rfind("cuSPARSE", 0) == 0) best = std::fmin(best, other.cold);
      if (other.variant.rfind("cuSPARSE CSR", 0) == 0)
        csr = std::fmin(csr, other.cold), csr_hot = std::fmin(csr_hot, other.hot);
    }
    std::cout.precision(4);
    std::cout << r.matrix << " | " << r.type << " | " << r.variant << " | " << r.cold << " | "
              << r.hot << " | " << r.error << " | " << csr / r.cold << " | " << best / r.cold
              << " | " << csr_hot / r.hot << " | " << r.conversion / csr << " | " << r.update / csr
              << " | " << r.bytes_per_entry << "\n";
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::string why;
  if (!cuda::available(why)) {
    std::cout << "bench_spmv: " << why << ": nothing to measure\n";
    return 0;
  }
  bool brief = std::getenv("TCSOLVE_BENCH_SHORT") != nullptr;
  int repetitions = argc > 1 ? std::atoi(argv[1]) : brief ? 5 : 50;
  std::string matrix = argc > 2 ? argv[2] : "", type = argc > 3 ? argv[3] : "";
  bool sweep = argc > 4 && std::strcmp(argv[4], "--sweep") == 0;
  Context ctx(Backend::cuda, {.ordered = false});  // products alone are timed
  bench::print_device(ctx, repetitions);
  Matrices matrices = generated(brief);
  if (!brief) add_real(matrices);
  Table table(ctx, repetitions);
  auto wanted = [](std::string const& filter, std::string const& name) {
    return filter.empty() || filter == "all" || filter.find(name) != std::string::npos;
  };
  for (auto const& [name, make] : matrices) {
    if (!wanted(matrix, name)) continue;
    Csr<double> a = make();
    auto values = [&]<class S, class T>(char const* of) {
      if (!wanted(type, of)) return;
      try {
        table.matrix<S, T>(name, a, of, sweep);
      } catch (MatrixError const& e) {  // its range is too wide for the type
        std::cout << "{\"matrix\": \"" << name << "\", \"values\": \"" << of
                  << "\", \"refused\": \"" << e.what() << "\"}" << std::endl;
      }
    };
    values.template operator()<double, double>("fp64");
    values.template operator()<float, float>("fp32");
    values.template operator()<tcsolve::half, float>("fp16");
    values.template operator()<bfloat16, float>("bf16");
  }
  print(table.rows());
}
