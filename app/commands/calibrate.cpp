// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/commands/calibrate.hpp>

#include <tcsolve/core/half.hpp>
#include <tcsolve/core/timed.hpp>
#include <tcsolve/formats/choose/planner.hpp>
#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/kernels/vector_ops.hpp>
#include <tcsolve/matrix/scaled.hpp>
#include <tcsolve/matrix/transfer.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <map>
#include <ostream>
#include <random>
#include <vector>

namespace tcsolve {
namespace {

constexpr Real types[] = {Real::f64, Real::f32, Real::f16};

/// With four digits, more than the measurement has.
double brief(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", v);
  return std::strtod(text, nullptr);
}
Terms brief(Terms const& rates) {
  auto digits = rates.array();
  for (double& v : digits) v = brief(v);
  return Terms::of(digits);
}

struct Sample {
  std::string name;
  std::function<Csr<double>()> make;
  bool sparse_vectors = false;  ///< products of sparse vectors are timed, too
};

/// Large and small, regular and not: every term of the model is large in one of them.
std::vector<Sample> samples(Context const& ctx, double size) {
  double const rows = size * (ctx.space() == Space::cuda ? 900e3 : 250e3);
  auto const edge = [rows](double part, double unknowns = 1) {
    return std::max<Index>(3, Index(std::lround(std::cbrt(part * rows / unknowns))));
  };
  constexpr auto random = Coefficient::random;
  Index const n = std::max<Index>(64, Index(rows));
  Index const scale = std::max<Index>(6, Index(std::lround(std::log2(rows))));
  auto const lost = Renumber::random;
  return {{"poisson27",
           [=] {
             return generate(Poisson27Params{edge(1), random});
           }},
          {"poisson27, small",
           [=] {
             return generate(Poisson27Params{edge(0.03), random});
           },
           true},
          {"poisson27, renumbered",
           [=] {
             return generate(Poisson27Params{edge(0.5), random, lost});
           },
           true},
          {"elasticity",
           [=] {
             return generate(ElasticityParams{edge(0.5, 3), random});
           },
           true},
          {"elasticity, small",
           [=] {
             return generate(ElasticityParams{edge(0.015, 3), random});
           }},
          {"poisson7",
           [=] {
             return generate(Poisson7Params{edge(4), random});
           }},
          {"poisson7, small",
           [=] {
             return generate(Poisson7Params{edge(0.1), random});
           }},
          {"convdiff",
           [=] {
             return generate(ConvdiffParams{edge(2), 1, random});
           },
           true},
          {"convdiff, small",
           [=] {
             return generate(ConvdiffParams{edge(0.05), 1, random});
           }},
          {"poisson7, renumbered",
           [=] {
             return generate(Poisson7Params{edge(1), random, lost});
           }},
          {"rmat",
           [=] {
             return generate(RmatParams{scale, 16, random});
           }},
          {"rmat, small",
           [=] {
             return generate(RmatParams{std::max(6, scale - 4), 8, random});
           }},
          {"longrows", [=] {
             return generate(LongrowsParams{n, 64, std::max(1, n / 5), random});
           }}};
}

double seconds_of(std::function<void()> const& f) {
  auto const start = std::chrono::steady_clock::now();
  f();
  return seconds_since(start);
}

/// Microseconds of one matrix in one format, and what they are made of.
struct Times {
  std::vector<Terms> products, conversions;
  std::vector<double> product_us, conversion_us, spreads;
};

template <class T, class S>
void measure(Context& ctx, CsrView<S> const& a, Features const& f, Format const& format,
             Times& times) {
  std::vector<double> conversions;
  OperatorPtr<T> A;
  for (int i = 0; i < 3; ++i) {
    A = nullptr;
    ctx.synchronize();
    conversions.push_back(1e6 * seconds_of([&] {
                            A = make_operator<T, S>(ctx, a, format);
                            ctx.synchronize();
                          }));
  }
  std::sort(conversions.begin(), conversions.end());
  times.products.push_back(work(format, f, real_of<S>, real_of<T>));
  Timing const timing = time_product(ctx, *A, 0.1);
  times.product_us.push_back(timing.median);
  times.spreads.push_back(timing.spread);
  times.conversions.push_back({.latency = 1, .slots = f.entries / 1e6, .rows = f.rows / 1e6});
  times.conversion_us.push_back(conversions[1]);
}

constexpr SpmspvWay sparse_ways[] = {SpmspvWay::rows, SpmspvWay::columns, SpmspvWay::entries,
                                     SpmspvWay::dense};

/// Products of sparse vectors in one format: for each way what they are made of, and microseconds.
struct SparseTimes {
  std::vector<std::array<double, 3>> work[std::size(sparse_ways)];
  std::vector<double> us[std::size(sparse_ways)];
  bool given = false;  ///< dense: what a product takes besides one that was given
};

/// Of x with elements at random positions, from one in ten thousand to all of them.
void measure_sparse(Context& ctx, CsrView<double> const& a, Format const& format,
                    SparseTimes& times) {
  auto const A = make_operator<double>(ctx, a, format);
  auto const* const able = dynamic_cast<MultipliesSparse<double> const*>(A.get());
  if (able == nullptr) return;
  double product = 0;  // us, of the dense one that is given
  if (auto* const csr = dynamic_cast<CsrOperator<double>*>(A.get())) {
    csr->dense_by({.A = make_operator<double>(ctx, a, format)});
    product = time_product(ctx, *csr->dense().A, 0.05).median;
    times.given = true;
  }
  Offset const below = tiles_below(ctx, a).view.count;
  std::mt19937 draw(1);
  for (double const density : {0.0001, 0.003, 0.03, 0.3, 1.0}) {
    std::vector<Index> rows;
    std::bernoulli_distribution taken(density);
    for (Index j = 0; j < a.cols; ++j)
      if (taken(draw)) rows.push_back(j);
    std::vector<double> const ones(rows.size(), 1.0);
    auto const x = SparseVector<double>::from_entries(ctx, a.cols, rows, ones);
    if (x.tiles() == 0) continue;
    SpmspvCounts const counts{.tile_rows = (a.rows + 15) / 16,
                              .below = below,
                              .entries = a.entries,
                              .x_share = tile_share(x),
                              .x_density = tcsolve::density(x),
                              .given = times.given ? std::optional(0.0) : std::nullopt};
    SparseVector<double> y(ctx, a.rows);
    for (std::size_t w = 0; w < std::size(sparse_ways); ++w) {
      // Lists that are full are gathered: times are no longer those of entries.
      if (sparse_ways[w] == SpmspvWay::entries && density > 0.1) continue;
      std::vector<double> us;
      try {
        for (int i = 0; i < 6; ++i)  // the first one makes room
          us.push_back(1e6 * seconds_of([&] {
                         able->multiply_sparse(ctx, {.way = sparse_ways[w]}, x, y);
                         ctx.synchronize();
                       }));
      } catch (Unsupported const&) {
        continue;  // a format without this way
      }
      std::nth_element(us.begin() + 1, us.begin() + 3, us.end());
      SpmspvWork const of = work(sparse_ways[w], counts);
      double const besides = us[3] - (sparse_ways[w] == SpmspvWay::dense ? product : 0);
      if (besides <= 0) continue;
      times.work[w].push_back({1, of.looked, of.multiplied});
      times.us[w].push_back(besides);
    }
  }
}

/// A way that was not measured keeps its rates.
void set_rates(SparseRates& rates, SparseTimes const& times) {
  double none = 0;  // a given product's entries
  double* of[][3] = {{&rates.rows, &rates.rows_looked, &rates.rows_multiplied},
                     {&rates.columns, &rates.columns_looked, &rates.columns_multiplied},
                     {&rates.entries, &rates.entries_looked, &rates.entries_multiplied},
                     {&rates.dense, &rates.dense_looked, &rates.dense_multiplied}};
  if (times.given) of[3][0] = &rates.given, of[3][1] = &rates.given_looked, of[3][2] = &none;
  for (std::size_t w = 0; w < std::size(sparse_ways); ++w) {
    if (times.us[w].size() < 3) continue;
    auto const found = fit_rates(times.work[w], times.us[w]);
    for (std::size_t t = 0; t < 3; ++t) *of[w][t] = brief(found[t]);
  }
}

/// What a pass over vectors of n elements takes.
double pass_microseconds(Context& ctx, Index n) {
  Vector<double> from(ctx.space(), n), added(ctx.space(), n), to(ctx.space(), n);
  for (Out<double> v : {from.view(), added.view(), to.view()}) fill<double>(ctx, v, 1);
  std::vector<double> us;
  for (int i = 0; i < 25; ++i) {
    ctx.synchronize();
    us.push_back(1e6 * seconds_of([&] {
                   for (int k = 0; k < 10; ++k)
                     submit(ctx, Correct<double>{n, 2, 1, added.view().data, from.view().data,
                                                 to.view().data});
                   ctx.synchronize();
                 }) /
                 10);
  }
  std::nth_element(us.begin(), us.begin() + 12, us.end());
  return us[12];
}

void print_fit(std::ostream& out, Format const& format, Real values, Terms const& rates,
               Times const& times) {
  double sum = 0, most = 0;
  for (std::size_t k = 0; k < times.products.size(); ++k) {
    double const error = dot(rates, times.products[k]) / times.product_us[k] - 1;
    sum += error * error;
    most = std::max(most, std::abs(error));
  }
  char line[96];
  std::snprintf(line, sizeof line, "  %-6s %s  off by %.0f %%, at most %.0f %%\n",
                format.name.c_str(), name(values),
                100 * std::sqrt(sum / double(times.products.size())), 100 * most);
  out << line;
}

/// Of one format, for each of `types`.
using TimesByType = std::array<Times, std::size(types)>;

/// Rates from what was measured; they stay as they are where that is too little.
void set_rates(FormatRates& rates, Format const& format, Times const& times) {
  bool const few = times.products.size() < Terms::count && rates.product != Terms{};
  rates.product = brief(few ? rescaled(rates.product, times.products, times.product_us)
                            : fit(times.products, times.product_us));
  // csr is what a solve starts from; a conversion has three rates.
  if (!format.converted || times.conversions.size() <= 3) return;
  Terms const conversion = brief(fit(times.conversions, times.conversion_us));
  rates.convert = conversion.latency;
  rates.convert_entries = conversion.slots;
  rates.convert_rows = conversion.rows;
}

/// Throws Error where the products took now this long and now that.
void require_calm(std::map<Format const*, TimesByType> const& times) {
  std::vector<double> spreads;
  for (auto const& [format, by_type] : times)
    for (Times const& of : by_type)
      spreads.insert(spreads.end(), of.spreads.begin(), of.spreads.end());
  if (spreads.empty()) return;
  auto const median = spreads.begin() + std::ptrdiff_t(spreads.size() / 2);
  std::nth_element(spreads.begin(), median, spreads.end());
  if (*median > Timing::too_much)
    throw Error(cat("the times scatter by ", std::lround(100 * *median),
                    " %: something else runs on this machine, and rates would be those of both; "
                    "calibrate when it is idle"));
}

}  // namespace

CostTable calibrate(Context& ctx, double size, std::ostream& progress, FormatList const& among) {
  std::map<Format const*, TimesByType> times;
  std::map<Format const*, SparseTimes> sparse;
  for (Sample const& sample : samples(ctx, size)) {
    Csr<double> const a = sample.make();
    CsrStorage<double> const here(ctx, a.view());
    Features const f = features(ctx, here.view(), among);
    Csr<float> const single = scaled<float>(a, Scaling::powers_of_two).matrix;
    Csr<half> const narrow = scaled<half>(a, Scaling::powers_of_two).matrix;
    CsrStorage<float> const single_here(ctx, single.view());
    CsrStorage<half> const narrow_here(ctx, narrow.view());
    for (Format const& format : among) {
      if (!why_not(format, f, {.among = &among}).empty()) continue;
      TimesByType& of = times[&format];
      measure<double>(ctx, here.view(), f, format, of[0]);
      measure<float>(ctx, single_here.view(), f, format, of[1]);
      measure<float>(ctx, narrow_here.view(), f, format, of[2]);
      if (sample.sparse_vectors) measure_sparse(ctx, here.view(), format, sparse[&format]);
    }
    progress << sample.name << ": " << a.rows << " rows, " << a.entries() << " entries"
             << std::endl;
  }

  require_calm(times);
  CostTable table = CostTable::shipped(ctx);
  table.device = ctx.space() == Space::cuda ? ctx.device_name() : "the host";
  progress << "products, root mean square:\n";
  for (Format const& format : among) {
    for (std::size_t t = 0; t < std::size(types); ++t) {
      Times const& of = times[&format][t];
      // Of two unknowns two samples say nothing: the shipped rates stay.
      if (of.products.size() <= 2) continue;
      FormatRates& rates = table.rates(format.name, types[t]);
      set_rates(rates, format, of);
      print_fit(progress, format, types[t], rates.product, of);
    }
    // FP16 under FP32 vectors is such a product.
    RatesByType& all = table.by_format[format.name];
    bool const measured = times[&format][std::size(types) - 1].products.size() > 2;
    if (measured && all.mixed.product != Terms{}) all.mixed = all.fp16;
    set_rates(all.sparse, sparse[&format]);
  }
  Index const few = 1000, many = std::max<Index>(100000, Index(4e6 * size));
  double const short_pass = pass_microseconds(ctx, few), long_pass = pass_microseconds(ctx, many);
  table.pass_stream = brief(std::max(0.0, (long_pass - short_pass) / (24e-6 * (many - few))));
  table.pass = brief(short_pass);
  return table;
}

}  // namespace tcsolve
