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
    std::size_t const k = bsell_choice(f.dense, f.entries, double(size_of(values)));
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
      std::size_t const k = bsell_choice(f.dense, f.entries, s);
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

// Arrays of the length of rows, block rows, slices or units, and what sorting takes; of spaden the
// cuts of its shares as well (kernels/*_build.hpp).
double conversion_scratch(Format format, Features const& f) {
  double const rows = f.rows, entries = double(f.entries);
  switch (format) {
    case Format::csr: return 0;
    case Format::sell: return 3 * rows;
    case Format::csell: return 40 * rows;
    case Format::dasp: return 20 * rows;
    case Format::spaden: return 20 * rows + entries / 2;
    case Format::bsell: return 16 * rows;
    case Format::dia: break;
  }
  return 8 * (rows + f.cols);
}

Terms work(Format format, Features const& f, Real values, Real vectors) {
  // What one thread walks from end to end, or a warp of csr's plain kernel: of dia every diagonal;
  // the others share a long row.
  Offset walked = 0;
  if (format == Format::sell || format == Format::bsell || format == Format::csr)
    walked = f.longest;
  if (format == Format::dia) walked = f.diagonals;
  double const xy = double(size_of(vectors)) * (double(f.rows) + f.cols);
  return {.latency = 1,
          .stream = (stored_bytes(format, f, values) + xy) / million,
          .slots = slots(format, f, values) / million,
          .rows = f.rows / million,
          .tiles = double(f.tiles) / million,
          .long_entries = double(f.long_entries) / million,
          .longest = double(walked) / 1000};
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

FormatRates const& CostTable::rates(Format format, Real values, Real vectors) const {
  bool const mixed = format == Format::csr && values != vectors && csr_mixed.product != Terms{};
  return mixed ? csr_mixed : rates(format, values);
}

FormatRates& CostTable::rates(Format format, Real values) {
  return const_cast<FormatRates&>(std::as_const(*this).rates(format, values));
}

// Fitted to bench_spmv at 0f22ff8 on an H200, 17 matrices, cold (docs/formats/choosing.md), 2-byte
// values to FP16 and BF16 together, csell's FP32 to FP32 and FP16; the steps read off bench_cg
// (docs/results/cg-h200.md).
CostTable CostTable::h200() {
  CostTable t;
  t.device = "NVIDIA H200";
  t.csr = {{{8.879, 0.3017, 0, 2.534, 4.076, 0, 0}, 0, 0, 0},
           {{9.199, 0.1731, 0.729, 0, 5.252, 0, 0}, 0, 0, 0},
           {{5.479, 0, 2.247, 0, 4.874, 20.86, 0.0496}, 0, 0, 0}};
  t.csr_mixed = t.csr.fp16;  // our own kernel, whatever the types
  t.sell = {{{3.941, 0.01692, 1.469, 4.406, 5.676, 22.61, 107.6}, 74.2, 9.08, 0},
            {{4.39, 0.009002, 0.8973, 1.377, 5.729, 91.6, 99.44}, 72.3, 6.86, 0.356},
            {{4.277, 0.0223, 0.6148, 1.658, 5.806, 0, 106.1}, 70.1, 5.47, 6.84}};
  t.csell = {{{8.478, 0.225, 0, 0, 4.98, 10.3, 0}, 169, 18.8, 0},
             {{7.896, 0.1726, 0, 0, 5.378, 11.62, 0}, 169, 14.5, 0},
             {{8.103, 0.2009, 0, 0, 5.25, 11.86, 0}, 168, 10.8, 0}};
  t.dasp = {{{6.106, 0.1664, 0, 2.871, 5.986, 0.2835, 0}, 167, 12.1, 72.3},
            {{6.068, 0.1625, 0, 1.246, 6.165, 0, 0}, 167, 7.09, 98.2},
            {{6.11, 0.0578, 0.568, 1.492, 6.604, 0, 0}, 164, 5.96, 109}};
  t.spaden = {{{8.263, 0, 1.678, 0, 25.05, 7.891, 0}, 130, 77.4, 0},
              {{7.332, 0.1615, 0, 0, 18.68, 6.314, 0}, 128, 69.6, 0},
              {{7.012, 0.1961, 0, 2.623, 14.99, 6.073, 0}, 144, 52.7, 0}};
  t.dia = {{{3.367, 0.1553, 0.7501, 0, 0, 0, 104.2}, 114, 14.9, 0},
           {{3.538, 0.1878, 0.2974, 0, 0.02224, 0, 106.7}, 111, 10.4, 8.14},
           {{4.145, 0.1784, 0.3268, 0, 0.2163, 0, 112.5}, 104, 9.14, 14.3}};
  t.bsell = {{{5.23, 0, 1.636, 19.76, 0.407, 33.64, 13.42}, 272, 16.4, 0},
             {{5.511, 0.1838, 0, 14.73, 0, 53.27, 7.465}, 275, 13.1, 0},
             {{5.32, 0.1663, 0, 23.56, 0, 17.55, 11.7}, 272, 12.4, 0}};
  t.step = 5;
  t.pass = 3.5;
  t.pass_stream = 0.25;
  t.csr.persistent = 8.5, t.csr.persistent_stream = 0.29;
  t.sell.persistent = 9.6, t.sell.persistent_stream = 0.11;
  t.dia.persistent = 8.6, t.dia.persistent_stream = 0.19;
  t.cache = 60;
  // bench_reorder: 2.4 to 13 ms, of which no count tells how many levels there are; serial on the
  // host beside it 28,000 to 46,000 us a million entries, metis in proportion to that.
  t.order = {.levels = 4000,
             .levels_entries = 350,
             .serial_entries = 40e3,
             .metis_entries = 115e3,
             .permute = 200,
             .permute_entries = 90};
  return t;
}

// Two cores of the machine of docs/results/host-products.md: csr and sell in FP64 by its figures
// beyond the cache, dia by those in proportion to csr; conversions and the rest by `tcsolve
// calibrate`, dia in FP32 and FP16, sell and bsell in FP16 in proportion to csr in one run of it;
// bsell in FP64 and FP32 in proportion to csr on one core (docs/formats/bsell.md), to within a
// third: the machine was busy.
CostTable CostTable::host() {
  CostTable t;
  t.device = "the host";
  t.csr = {{{0, 15.4, 0, 220, 150, 400, 0}, 0, 0, 0},
           {{0, 0, 232, 515, 28, 368, 0}, 0, 0, 0},
           {{0, 0, 523, 815, 0, 223, 0}, 0, 0, 0}};
  t.sell = {{{0, 18, 0, 0, 150, 400, 0}, 0, 3700, 0},
            {{0, 20.8, 0, 142, 130, 0, 395}, 0, 3000, 0},
            {{0, 0, 213, 1030, 49, 0, 400}, 0, 3000, 0}};
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
             {{0, 0, 225, 0, 0, 0, 0}, 0, 5000, 0}};
  t.dia = {{{0, 0, 96, 560, 0, 0, 0}, 0, 2160, 0},
           {{0, 0, 39, 200, 0, 0, 0}, 0, 2020, 0},
           {{0, 0, 109, 260, 0, 0, 0}, 0, 2020, 0}};
  t.pass = 0.2;
  t.pass_stream = 19;
  // By the table of docs/reordering.md, one core: rcm 76,000 to 140,000 us a million entries, metis
  // 140,000 to 375,000, P A P^T 45,000 to 82,000.
  t.order = {.serial_entries = 100e3, .metis_entries = 230e3, .permute_entries = 60e3};
  return t;
}

namespace {

/// The device that the rates were measured on.
struct Reference {
  static constexpr double bandwidth = 4.917e12, multiprocessors = 132, clock = 1.98e9;
};

/// Times on another device over those on the reference; 1 where a fact is not known.
struct Factors {
  double memory, caches, clock;
  Factors(cuda::Facts const& facts, cuda::Speeds const& of) {
    auto const ratio = [](double reference, double here) {
      return here > 0 ? reference / here : 1;
    };
    memory = ratio(Reference::bandwidth, of.bandwidth);
    clock = ratio(Reference::clock, of.clock);
    caches = ratio(Reference::multiprocessors, facts.multiprocessors) * clock;
  }
};

/// us of a million multiplications in FP64 where these are few; 0 where no product waits for them.
double fp64_floor(cuda::Facts const& facts, cuda::Speeds const& of) {
  constexpr int few = 4;
  if (of.single_to_double <= few || of.clock == 0 || facts.multiprocessors == 0) return 0;
  double const single = facts.compute_capability == 80 ? 64 : 128;  // a clock of a multiprocessor
  return 1e12 * of.single_to_double / (single * of.clock * facts.multiprocessors);
}

void scale(FormatRates& rates, Factors const& by, double floor) {
  Terms& p = rates.product;
  if (p == Terms{}) return;
  p.stream *= by.memory, p.slots *= by.memory, p.rows *= by.memory, p.long_entries *= by.memory;
  p.tiles *= by.caches, p.longest *= by.clock;
  p.slots = std::max(p.slots, floor);
  rates.convert_entries *= by.memory, rates.convert_rows *= by.memory;
}

}  // namespace

CostTable CostTable::of_gpu(cuda::Facts const& facts, cuda::Speeds const& speeds) {
  CostTable t = h200();
  if (facts.name == t.device) return t;
  t.device = cat(facts.name, ", by rates of an ", t.device, ", scaled");
  Factors const by(facts, speeds);
  double const floor = fp64_floor(facts, speeds);
  for (RatesByType* format : {&t.csr, &t.sell, &t.csell, &t.dasp, &t.spaden, &t.dia, &t.bsell}) {
    for (FormatRates* rates : {&format->fp64, &format->fp32, &format->fp16})
      scale(*rates, by, floor);
    format->persistent_stream *= by.caches;
  }
  scale(t.csr_mixed, by, floor);
  t.pass_stream *= by.memory;
  if (facts.l2 > 0) t.cache = double(facts.l2) / (1 << 20);
  t.order.levels_entries *= by.caches, t.order.permute_entries *= by.memory;
  return t;
}

CostTable CostTable::shipped(Context const& ctx) {
  if (ctx.device() == nullptr) return host();
  return of_gpu(cuda::facts(*ctx.device()), cuda::speeds(*ctx.device()));
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

Terms rescaled(Terms const& rates, std::vector<Terms> const& work,
               std::vector<double> const& times) {
  Terms others = rates;
  others.latency = 0;
  std::vector<Terms> two;
  for (Terms const& w : work) two.push_back({.latency = w.latency, .stream = dot(others, w)});
  Terms const found = fit(two, times);
  if (found.stream == 0) return rates;
  auto scaled = others.array();
  for (double& rate : scaled) rate *= found.stream;
  Terms to = Terms::of(scaled);
  to.latency = found.latency;
  return to;
}

}  // namespace tcsolve
