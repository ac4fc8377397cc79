// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/operators/cost_model.hpp>

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <utility>

#include <tcsolve/configs/schema/read.hpp>
#include <tcsolve/configs/schema/yaml.hpp>
#include <tcsolve/kernels/dia.hpp>

namespace tcsolve {
namespace {

constexpr double million = 1e6;

/// Positions that a product reads, padding too.
double slots(Format format, Features const& f, Real values) {
  if (format == Format::sell) return double(f.slices_stored);
  if (format == Format::dia) return double(f.diagonals) * double(dia_length(f.rows));
  if (format == Format::bsell) {
    std::size_t const k = bsell_choice(f.dense, double(size_of(values)));
    return bsell_stored(f.dense[k]) * bsell_blocks[k] * bsell_blocks[k];
  }
  if (format == Format::csell)  // sorted where padding would be more than a little
    return std::min(double(f.slices_stored), 1.02 * double(f.entries)) + 32;
  if (format != Format::dasp) return double(f.entries);
  // Pieces of four: rows of 4; of 3 and 1; of 2 and 2; the rows of 1 that are left are single.
  auto const& with = f.short_rows;
  double const pieces = double(with[4]) + double(with[3]) + double(with[2]) / 2;
  double const single = std::max<double>(0, double(with[1] - with[3]));
  return double(f.medium_slots) + double(f.long_entries) + 4 * pieces + single;
}

}  // namespace

char const* name(Format format) {
  for (auto const& [value, text] : names(Format{}))
    if (value == format) return text;
  return "?";
}

double dot(Terms const& rates, Terms const& work) {
  auto const a = rates.array(), b = work.array();
  double sum = 0;
  for (std::size_t k = 0; k < Terms::count; ++k) sum += a[k] * b[k];
  return sum;
}

double stored_bytes(Format format, Features const& f, Real values) {
  auto const s = double(size_of(values)), rows = double(f.rows), entries = double(f.entries);
  switch (format) {
    case Format::csr: return entries * (s + 4) + 4 * (rows + 1);
    // 4 a row for its length, 32 a slice.
    case Format::sell:
      return double(f.slices_stored) * (s + 2) + double(f.slices_wide) * 2 + 4 * rows +
             32 * std::ceil(rows / 32);
    // Four bytes a column number where the slice is wide, one where x is read in runs, else two; 5
    // an entry of 32 for its base and the strip.
    case Format::csell: {
      double const wide = f.slices_stored > 0 ? double(f.slices_wide) / f.slices_stored : 0;
      double const narrow = double(f.tiles) < 0.2 * entries && f.long_entries == 0 ? 1 : 2;
      return slots(format, f, values) * (s + 4 * wide + narrow * (1 - wide) + 5.0 / 32) +
             (f.slices_stored > 1.03 * entries ? 4 * rows : 0);
    }
    // 4 a row for the order, 4 for its irregular entries, 16 for a unit of eight.
    case Format::dasp:
      return slots(format, f, values) * (s + 2) + 2 * double(f.medium_wide + f.long_entries) +
             10 * rows;
    // The lower half where A is symmetric; 16 a diagonal, filled up to a multiple of four.
    case Format::dia: {
      double const all = double(f.diagonals), stored = f.symmetric ? std::ceil(all / 2) : all;
      if (all == 0) return 0;
      return (stored * double(dia_length(f.rows)) + 32) * s + 16 * 4 * std::ceil(all / 4);
    }
    // 16 a slice; 4 a block row for the order.
    case Format::bsell: {
      std::size_t const k = bsell_choice(f.dense, s);
      double const block_rows = std::ceil(rows / bsell_blocks[k]);
      return bsell_bytes(f.dense[k], bsell_blocks[k], s) + 16 * std::ceil(block_rows / 32) +
             (bsell_sorts(f.dense[k]) ? 4 * block_rows : 0);
    }
    case Format::spaden: {
      double const side = entries - double(f.block_entries);
      return 16 * double(f.blocks) + s * double(f.block_entries) + (s + 4) * side + rows / 2 +
             (side > 0 ? 4 * rows : 0);
    }
  }
  return 0;
}

Terms work(Format format, Features const& f, Real values, Real vectors) {
  // The others share a long row among threads.
  bool const one_thread = format == Format::sell || format == Format::bsell;
  double const xy = double(size_of(vectors)) * (double(f.rows) + f.cols);
  return {.latency = 1,
          .stream = (stored_bytes(format, f, values) + xy) / million,
          .slots = slots(format, f, values) / million,
          .rows = f.rows / million,
          .tiles = double(f.tiles) / million,
          .long_entries = double(f.long_entries) / million,
          .longest = one_thread ? double(f.longest) / 1000 : 0};
}

RatesByType const& CostTable::of(Format format) const {
  switch (format) {
    case Format::csr: return csr;
    case Format::sell: return sell;
    case Format::csell: return csell;
    case Format::dasp: return dasp;
    case Format::spaden: return spaden;
    case Format::bsell: return bsell;
    case Format::dia: break;
  }
  return dia;
}

FormatRates const& CostTable::rates(Format format, Real values) const {
  RatesByType const& by = of(format);
  return values == Real::f64 ? by.fp64 : values == Real::f32 ? by.fp32 : by.fp16;
}

FormatRates& CostTable::rates(Format format, Real values) {
  return const_cast<FormatRates&>(std::as_const(*this).rates(format, values));
}

// Fitted to bench_spmv at 12745a9 on an H200, 17 matrices, cold (docs/formats/choosing.md); the
// steps read off bench_cg (docs/results/cg-h200.md). FP32 and FP16 values, with FP32 vectors, share
// one fit.
CostTable CostTable::h200() {
  CostTable t;
  t.device = "NVIDIA H200";
  FormatRates const csr_low{{8.925, 0.1769, 0.687, 0, 5.176, 0, 0}, 0, 0, 0};
  FormatRates const sell_low{{2.3, 0.07507, 0.5862, 7.365, 4.57, 0, 431.3}, 170, 28, 369};
  FormatRates const csell_low{{7.76, 0.1742, 0, 0, 5.348, 11.64, 0}, 268, 23.6, 0};
  FormatRates const dasp_low{{5.927, 0.1055, 0.3718, 1.402, 6.587, 0, 0}, 268, 11.2, 183};
  FormatRates const spaden_low{{7.008, 0.1936, 0, 0.8319, 16.16, 6.589, 0}, 177, 76, 0};
  FormatRates const dia_low{{7.896, 0.09553, 0.5997, 0, 0, 0, 0}, 162, 19.3, 47};
  t.csr = {{{8.978, 0.2982, 0, 3.206, 4.013, 0, 0}, 0, 0, 0}, csr_low, csr_low};
  t.sell = {{{2.279, 0, 1.774, 9.206, 4.41, 0, 543.2}, 169, 40, 360}, sell_low, sell_low};
  t.csell = {{{8.383, 0.2241, 0, 0, 5.057, 10.04, 0}, 291, 28.1, 0}, csell_low, csell_low};
  t.dasp = {{{6.058, 0.1682, 0, 2.576, 5.974, 0.2689, 0}, 284, 16.4, 147}, dasp_low, dasp_low};
  t.spaden = {{{8.22, 0, 1.675, 0, 25.03, 7.882, 0}, 196, 85.7, 0}, spaden_low, spaden_low};
  t.dia = {{{7.804, 0.1209, 0.9325, 0, 0, 0, 0}, 183, 27.4, 3.4}, dia_low, dia_low};
  // NOT MEASURED: the bandwidth of csell and a guess at a long block row, until bench_spmv has run.
  FormatRates const bsell_guess{{8.4, 0.2241, 0, 0, 0, 0, 100}, 290, 28, 0};
  t.bsell = {bsell_guess, bsell_guess, bsell_guess};
  t.step = 5;
  t.pass = 3.5;
  t.pass_stream = 0.25;
  t.csr.persistent = 8.5, t.csr.persistent_stream = 0.29;
  t.sell.persistent = 9.6, t.sell.persistent_stream = 0.11;
  t.dia.persistent = 8.6, t.dia.persistent_stream = 0.19;
  t.cache = 60;
  return t;
}

// Two cores of the machine of docs/results/host-products.md: csr and sell in FP64 by its figures
// beyond the cache, conversions and the rest by `tcsolve calibrate`; bsell in proportion to csr in
// one run on one core (docs/formats/bsell.md), to within a third: the machine was busy.
CostTable CostTable::host() {
  CostTable t;
  t.device = "the host";
  t.csr = {{{0, 15.4, 0, 220, 150, 400, 0}, 0, 0, 0},
           {{0, 0, 232, 515, 28, 368, 0}, 0, 0, 0},
           {{0, 0, 523, 815, 0, 223, 0}, 0, 0, 0}};
  t.sell = {{{0, 18, 0, 0, 150, 400, 0}, 0, 3700, 0},
            {{0, 20.8, 0, 142, 130, 0, 395}, 0, 3000, 0},
            {{0, 63.6, 271, 0, 64, 0, 873}, 0, 3000, 0}};
  t.csell = {{{0, 0, 352, 0, 418, 599, 0}, 0, 5600, 0},
             {{0, 66.1, 0, 0, 145, 75, 0}, 0, 4330, 0},
             {{0, 89.9, 780, 0, 0, 300, 0}, 0, 4100, 0}};
  t.dasp = {{{0, 0, 616, 0, 428, 574, 0}, 0, 3950, 19200},
            {{0, 52.8, 105, 0, 259, 222, 0}, 0, 2560, 23900},
            {{0, 0, 908, 0, 555, 428, 0}, 0, 2750, 25300}};
  t.spaden = {{{0, 0, 500, 0, 77, 283, 0}, 0, 3930, 19700},
              {{0, 0, 506, 0, 34, 228, 0}, 370, 2620, 9330},
              {{0, 0, 862, 0, 0, 95, 0}, 350, 3100, 9600}};
  t.bsell = {{{0, 0, 50, 0, 4500, 0, 0}, 0, 5500, 0},
             {{0, 0, 60, 0, 850, 0, 0}, 0, 5000, 0},
             {{0, 0, 550, 0, 0, 0, 0}, 0, 5000, 0}};
  t.dia = {{{0, 0, 184, 0, 0, 0, 0}, 0, 2160, 0},
           {{0, 0, 92, 215, 0, 0, 0}, 0, 2020, 0},
           {{0, 0, 517, 0, 0, 0, 0}, 0, 2020, 0}};
  t.pass = 0.2;
  t.pass_stream = 19;
  return t;
}

CostTable CostTable::shipped(Context const& ctx) {
  return ctx.space() == Space::cuda ? h200() : host();
}

CostTable CostTable::load(std::string const& path) {
  CostTable table;
  Diagnostics problems;
  read_params(load_yaml(path), table, problems, "the cost table");
  problems.throw_if_any();
  return table;
}

// Seven unknowns have 128 supports: the best one of those whose solution is positive is the answer.
Terms fit(std::vector<Terms> const& work, std::vector<double> const& times) {
  if (work.size() != times.size())
    throw ShapeError(cat("fit: ", work.size(), " products and ", times.size(), " times"));
  auto const m = static_cast<Eigen::Index>(work.size());
  Eigen::MatrixXd all(m, Eigen::Index(Terms::count));
  for (Eigen::Index k = 0; k < m; ++k) {
    double const time = times[std::size_t(k)];
    if (!(time > 0)) throw ShapeError(cat("fit: time ", k, " is ", time, "; needed is a positive"));
    auto const terms = work[std::size_t(k)].array();
    for (std::size_t t = 0; t < Terms::count; ++t) all(k, Eigen::Index(t)) = terms[t] / time;
  }
  double least = std::numeric_limits<double>::infinity();
  std::array<double, Terms::count> best{};
  for (unsigned support = 0; support < 1u << Terms::count; ++support) {
    std::vector<Eigen::Index> chosen;
    for (std::size_t t = 0; t < Terms::count; ++t)
      if ((support >> t & 1) != 0) chosen.push_back(Eigen::Index(t));
    Eigen::MatrixXd A(m, Eigen::Index(chosen.size()));
    for (std::size_t k = 0; k < chosen.size(); ++k) A.col(Eigen::Index(k)) = all.col(chosen[k]);
    Eigen::VectorXd const ones = Eigen::VectorXd::Ones(m);
    Eigen::VectorXd rates = Eigen::VectorXd::Zero(Eigen::Index(chosen.size()));
    if (!chosen.empty()) rates = A.colPivHouseholderQr().solve(ones);
    if ((rates.array() < 0).any()) continue;
    double const error = (A * rates - ones).squaredNorm();
    if (!(error < least)) continue;
    least = error;
    best.fill(0);
    for (std::size_t k = 0; k < chosen.size(); ++k)
      best[std::size_t(chosen[k])] = rates[Eigen::Index(k)];
  }
  return Terms::of(best);
}

}  // namespace tcsolve
