// SPDX-License-Identifier: Apache-2.0
/// bench_spmspv [REPETITIONS = 50] [MATRIX = all, by its name in the table] [DENSITY = 1]: y = A x
/// with x and y sparse, in FP64, on a device, at densities of x from 0.0001 to DENSITY, at random
/// and clustered (the vertices nearest to one, breadth first): the whole call, beside the best
/// dense product that cuSPARSE has (CSR, sliced ELLPACK, BSR of 2 to 4) and the best of tcsolve's
/// formats. Every result is compared with a sum in long double before it is timed.
///
///   hot, cold median us; cold: 256 MB are read before
///   way       rows: every tile of y is looked at; columns: those that x's tiles lead to;
///             entries: the entries of the columns of x's entries are listed; dense: the
///             operator's dense product, of which y is taken, of csr the best of tcsolve's; auto:
///             the one chosen by the rates of the device
///   gain      best dense product of cuSPARSE over this one, cold
///   least     best dense product of both libraries over this one, cold: by its own choice never
///             below 0.95
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>

#include <tcsolve/formats/choose/sparse_rates.hpp>
#include <tcsolve/graph/search/graph_search.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/matrix/transfer.hpp>

#include "clock.hpp"
#include "formats.hpp"
#include "measure.hpp"
#include "spmv_cusparse.hpp"

using namespace tcsolve;

namespace {

using Entries = std::map<Index, double>;

/// A x: its entries, and how far off a sum in double may be.
struct Expected {
  std::vector<Index> rows;
  std::vector<long double> sums, bounds;
};
Expected product(Csr<double> const& a, Entries const& x) {
  Expected y;
  std::vector<double> all(static_cast<std::size_t>(a.cols));
  std::vector<std::uint8_t> has(all.size());
  for (auto const& [j, v] : x) all[j] = v, has[j] = 1;
  for (Index i = 0; i < a.rows; ++i) {
    long double sum = 0, size = 0;
    Offset met = 0;
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      if (Index const j = a.columns[k]; has[j] != 0) {
        long double const p = static_cast<long double>(a.values[k]) * all[j];
        sum += p, size += std::abs(p), ++met;
      }
    if (met == 0) continue;
    y.rows.push_back(i), y.sums.push_back(sum), y.bounds.push_back(4 * 0x1p-53 * met * size);
  }
  return y;
}
/// Whether y is that, structure and values; of a dense product that was given sums of 0 may be
/// missing.
bool right(Expected const& y, std::vector<Index> const& rows, std::vector<double> const& values,
           bool given) {
  std::size_t k = 0;
  for (std::size_t e = 0; e < y.rows.size(); ++e) {
    if (k == rows.size() || rows[k] != y.rows[e]) {
      if (!given || std::abs(y.sums[e]) > y.bounds[e]) return false;
      continue;
    }
    if (!(std::abs(values[k++] - y.sums[e]) <= y.bounds[e])) return false;
  }
  return k == rows.size();
}

/// Dense products, us, cold.
struct Dense {
  double cusparse, best;
};

std::string_view name_of(SpmspvWay way) {
  for (auto const& [value, name] : names(SpmspvWay{}))
    if (value == way) return name;
  return "";
}

class Bench {
 public:
  Bench(Context& ctx, int repetitions, std::string only, double most)
      : ctx_(ctx),
        clock_(*ctx.device()),
        repetitions_(repetitions),
        only_(std::move(only)),
        most_(most) {
    std::cout << "matrix | entries | density | positions | way | tiles of x | of y | hot, us | "
                 "cold, us | gain | least\n---|---|---|---|---|---|---|---|---|---|---\n";
  }

  template <class Make>
  void measure(std::string const& name, Make const& make) {
    if (!only_.empty() && name != only_) return;
    Csr<double> const a = make();
    auto const A = std::make_shared<CsrOperator<double>>(ctx_, a.view());
    double const theirs = dense_cusparse(a), ours = dense(a, A);
    for (auto const& stored : made_)
      decide_by_rates(*std::const_pointer_cast<LinearOperator<double>>(stored.A), nullptr);
    Dense const dense{theirs, std::min(theirs, ours)};
    std::cout << name << " | " << a.entries() << " | dense | best of cuSPARSE | | | | | " << theirs
              << " | 1 | " << dense.best / theirs << "\n"
              << name << " | " << a.entries() << " | dense | best of tcsolve | | | | | " << ours
              << " | " << theirs / ours << " | " << dense.best / ours << std::endl;
    GraphSearch search(ctx_, A->view(), {.bits = false});
    search.run(ctx_, {.sources = {a.rows / 2}}, {.parents = false});
    std::vector<Index> const near = search.on_host(ctx_).vertices;
    std::mt19937_64 draw(7);
    for (double const density : {0.0001, 0.001, 0.01, 0.1, 1.0})
      for (bool const clustered : {false, true}) {
        if (density > most_) continue;
        Entries x;
        auto const count = static_cast<std::size_t>(std::ceil(density * a.cols));
        for (std::size_t k = 0; k < count; ++k)
          x[clustered || density == 1 ? near[k % near.size()]
                                      : static_cast<Index>(draw() % std::uint64_t(a.cols))] =
              double(draw() % 1000) / 1000 - 0.5;
        Expected const expected = product(a, x);
        for (auto const& stored : made_)
          if (auto const* const able =
                  dynamic_cast<MultipliesSparse<double> const*>(stored.A.get()))
            measure(cat(name, ", ", stored.name), a, x, expected, density, clustered, dense,
                    [&](auto const& how, auto& by, auto& y) {
                      return able->multiply_sparse(ctx_, how, by, y);
                    });
      }
  }

 private:
  template <class Multiply>
  void measure(std::string const& name, Csr<double> const& a, Entries const& x,
               Expected const& expected, double density, bool clustered, Dense const& dense,
               Multiply const& multiply) {
    std::vector<Index> indices;
    std::vector<double> values;
    for (auto const& [i, v] : x) indices.push_back(i), values.push_back(v);
    auto const there = SparseVector<double>::from_entries(ctx_, a.cols, indices, values);
    SparseVector<double> y(ctx_, a.rows);
    for (SpmspvWay const way : {SpmspvWay::rows, SpmspvWay::columns, SpmspvWay::entries,
                                SpmspvWay::dense, SpmspvWay::automatic}) {
      SparseProduct<double> const how{.way = way};
      SparseProductNotes notes;
      try {
        notes = multiply(how, there, y);
      } catch (Unsupported const&) {
        continue;  // a format without this way
      }
      auto const [rows, sums] = y.to_entries(ctx_);
      bool const given = notes.way == SpmspvWay::dense && name.ends_with("csr");
      if (!right(expected, rows, sums, given)) {
        std::cout << name << ": a wrong product by " << name_of(notes.way) << "\n";
        std::exit(1);
      }
      auto const run = [&] { multiply(how, there, y); };
      double const hot = clock_.median(repetitions_, false, run),
                   cold = clock_.median(repetitions_, true, run);
      std::cout << name << " | " << a.entries() << " | " << density << " | "
                << (clustered ? "clustered" : "random") << " | "
                << (way == SpmspvWay::automatic ? "auto: " : "") << name_of(notes.way) << " | "
                << there.tiles() << " | " << notes.kept << " | " << hot << " | " << cold << " | "
                << dense.cusparse / cold << " | " << dense.best / cold << std::endl;
    }
  }
  /// us, cold
  double dense_cusparse(Csr<double> const& a) {
    using C = bench::Cusparse<double>;
    cuda::Device& on = *ctx_.device();
    double best = INFINITY;
    auto const take = [&](std::shared_ptr<C> const& p) {
      if (p) best = std::min(best, clock_.median(repetitions_, true, [&] { p->run(); }));
    };
    take(C::csr(on, a, CUSPARSE_SPMV_CSR_ALG1));
    take(C::csr(on, a, CUSPARSE_SPMV_CSR_ALG2));
    take(C::sell(on, a));
    for (Index const b : {2, 3, 4}) take(C::bsr(on, a, b));
    return best;
  }
  double dense(Csr<double> const& a, std::shared_ptr<CsrOperator<double>> const& A) {
    made_ = bench::in_every_format(ctx_, A);
    Vector<double> x(ctx_.space(), a.cols), y(ctx_.space(), a.rows);
    std::vector<double> const ones(static_cast<std::size_t>(a.cols), 1.0);
    copy_bytes(ctx_, x.view().data, ctx_.space(), ones.data(), Space::host, 8 * ones.size());
    DenseProduct<double> best{.us = INFINITY};
    for (auto const& stored : made_) {
      double const us = clock_.median(
          repetitions_, true, [&] { stored.A->apply(ctx_, std::as_const(x).view(), y.view()); });
      if (us < best.us) best = {std::const_pointer_cast<LinearOperator<double>>(stored.A), us};
    }
    double const us = best.us;
    if (best.A.get() != A.get()) A->dense_by(std::move(best));
    return us;
  }
  Context& ctx_;
  bench::Clock clock_;
  int repetitions_;
  std::string only_;
  double most_;
  std::vector<bench::Stored> made_;
};

}  // namespace

int main(int argc, char** argv) {
  std::string why;
  if (!cuda::available(why)) {
    std::cout << "bench_spmspv: " << why << ": nothing to measure\n";
    return 0;
  }
  bool const brief = std::getenv("TCSOLVE_BENCH_SHORT") != nullptr;
  int const repetitions = argc > 1 ? std::atoi(argv[1]) : brief ? 5 : 50;
  Context ctx(Backend::cuda);
  bench::print_device(ctx, repetitions);
  std::cout.precision(4);
  Bench bench(ctx, repetitions, argc > 2 ? argv[2] : "", argc > 3 ? std::atof(argv[3]) : 1);
  constexpr auto random = Coefficient::random;
  if (brief) {
    bench.measure("27-point 32^3", [] { return generate(Poisson27Params{32, random}); });
    return 0;
  }
  bench.measure("27-point 80^3", [] { return generate(Poisson27Params{80, random}); });
  bench.measure("7-point 128^3", [] { return generate(Poisson7Params{128, random}); });
  bench.measure("elasticity 48^3", [] { return generate(ElasticityParams{48, random}); });
  bench.measure("27-point 160^3", [] { return generate(Poisson27Params{160, random}); });
}
