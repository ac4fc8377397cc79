// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/formats/choose/cost_model.hpp>

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <utility>

#include <tcsolve/configs/schema/print.hpp>
#include <tcsolve/configs/schema/read.hpp>
#include <tcsolve/configs/schema/yaml.hpp>
#include <tcsolve/formats/choose/shipped_rates.hpp>

namespace tcsolve {
namespace {

constexpr double million = 1e6;

}  // namespace

double dot(Terms const& rates, Terms const& work) {
  auto const a = rates.array(), b = work.array();
  double sum = 0;
  for (std::size_t k = 0; k < Terms::count; ++k) sum += a[k] * b[k];
  return sum;
}

double product_time(FormatRates const& rates, Terms const& work, Index columns) {
  if (columns == 1 || rates.block == Terms{}) return columns * dot(rates.product, work);
  Index const passes = (columns + columns_of_block - 1) / columns_of_block;
  return passes * dot(rates.block, work) + columns * dot(rates.column, work);
}

Terms work(Format const& format, Features const& f, Real values, Real vectors) {
  FormatLayout const layout = format.layout(f, values);
  double const xy = double(size_of(vectors)) * (double(f.rows) + f.cols);
  return {.latency = 1,
          .stream = (layout.stored + xy) / million,
          .slots = layout.slots / million,
          .rows = f.rows / million,
          .tiles = double(f.tiles) / million,
          .long_entries = double(f.long_entries) / million,
          .longest = layout.walked / 1000};
}

RatesByType const& CostTable::of(std::string const& format) const {
  static RatesByType const none;
  auto const at = by_format.find(format);
  return at == by_format.end() ? none : at->second;
}

namespace {

template <class Rates>
auto& by_type(Rates& rates, Real values) {
  if (values == Real::f64) return rates.fp64;
  return values == Real::f32 ? rates.fp32 : rates.fp16;
}

}  // namespace

FormatRates const& CostTable::rates(std::string const& format, Real values) const {
  return by_type(of(format), values);
}

FormatRates const& CostTable::rates(std::string const& format, Real values, Real vectors) const {
  RatesByType const& all = of(format);
  bool const mixed = values != vectors && vectors == Real::f64 && all.mixed != FormatRates{};
  return mixed ? all.mixed : by_type(all, values);
}

FormatRates& CostTable::rates(std::string const& format, Real values) {
  return by_type(by_format[format], values);
}

CostTable CostTable::h200() {
  static CostTable const table = parse(shipped_rates("h200"), "configs/rates/h200.yaml");
  return table;
}

CostTable CostTable::h100() {
  static CostTable const table = parse(shipped_rates("h100"), "configs/rates/h100.yaml");
  return table;
}

CostTable CostTable::host() {
  static CostTable const table = parse(shipped_rates("host"), "configs/rates/host.yaml");
  return table;
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

void scale(Terms& p, Factors const& by) {
  p.stream *= by.memory, p.slots *= by.memory, p.rows *= by.memory, p.long_entries *= by.memory;
  p.tiles *= by.caches, p.longest *= by.clock;
}

void scale(FormatRates& rates, Factors const& by, double floor) {
  for (Terms* p : {&rates.product, &rates.block, &rates.column}) scale(*p, by);
  if (rates.product != Terms{}) rates.product.slots = std::max(rates.product.slots, floor);
  if (rates.column != Terms{}) rates.column.slots = std::max(rates.column.slots, floor);
  rates.convert_entries *= by.memory, rates.convert_rows *= by.memory;
}

}  // namespace

CostTable CostTable::of_gpu(cuda::Facts const& facts, cuda::Speeds const& speeds) {
  CostTable t = h200();
  if (facts.name == t.device) return t;
  if (CostTable own = h100(); facts.name == own.device) return own;
  t.device = cat(facts.name, ", by rates of an ", t.device, ", scaled");
  Factors const by(facts, speeds);
  double const floor = fp64_floor(facts, speeds);
  for (auto& [format, all] : t.by_format) {
    for (FormatRates* rates : {&all.fp64, &all.fp32, &all.fp16, &all.mixed})
      scale(*rates, by, floor);
    SparseRates& of = all.sparse;  // walks over tiles that the caches hold, or would
    for (double* rate : {&of.rows_looked, &of.columns_looked, &of.entries_looked, &of.dense_looked,
                         &of.rows_multiplied, &of.columns_multiplied, &of.entries_multiplied,
                         &of.dense_multiplied})
      *rate *= by.caches;
    all.persistent_stream *= by.caches;
    all.persistent_memory *= by.memory;
    all.persistent_longest *= by.clock;
  }
  t.pass_stream *= by.memory;
  if (facts.l2 > 0) t.cache = double(facts.l2) / (1 << 20);
  t.order.levels_entries *= by.caches, t.order.permute_entries *= by.memory;
  FactorRates& f = t.factors;  // rows that wait for one another go by the clock
  for (double* rate : {&f.solve_level, &f.solve_wait, &f.make_level, &f.make_wait})
    *rate *= by.clock;
  f.make_subtraction *= by.caches;
  f.step_entries *= by.memory;
  return t;
}

CostTable CostTable::shipped(Context const& ctx) {
  if (ctx.device() == nullptr) return host();
  return of_gpu(cuda::facts(*ctx.device()), cuda::speeds(*ctx.device()));
}

namespace {

/// `csr_mixed: ...` is what older tables have for `csr: {mixed: ...}`.
constexpr char const* former_mixed = "_mixed";

CostTable read_table(ConfigNode const& node, FormatList const& among) {
  CostTable table;
  Diagnostics problems;
  std::vector<std::string> known = among.names();
  for (std::string const& name : among.names()) {
    if (ConfigNode const* const given = node.find(name))
      read_params(*given, table.by_format[name], problems, cat("'", name, "'"));
    std::string const mixed = name + former_mixed;
    if (ConfigNode const* const given = node.find(mixed)) {
      read_params(*given, table.by_format[name].mixed, problems, cat("'", mixed, "'"));
      known.push_back(mixed);
    }
  }
  detail::read_map(node, table, problems, "the cost table", {}, known);
  problems.throw_if_any();
  return table;
}

}  // namespace

CostTable CostTable::load(std::string const& path, FormatList const& among) {
  return read_table(load_yaml(path), among);
}

CostTable CostTable::parse(std::string const& text, std::string const& name,
                           FormatList const& among) {
  return read_table(parse_yaml(text, name), among);
}

ConfigNode to_node(CostTable const& table) {
  ConfigNode map = to_node<CostTable>(table);
  auto after_device = map.entries.begin() + 1;
  for (auto const& [name, rates] : table.by_format)
    after_device = 1 + map.entries.insert(after_device, {name, {}, to_node(rates)});
  return map;
}

// Seven unknowns have 128 supports: the best one of those whose solution is positive is the answer.
template <std::size_t n>
std::array<double, n> fit_rates(std::vector<std::array<double, n>> const& work,
                                std::vector<double> const& times) {
  if (work.size() != times.size())
    throw ShapeError(cat("fit: ", work.size(), " products and ", times.size(), " times"));
  auto const m = static_cast<Eigen::Index>(work.size());
  Eigen::MatrixXd all(m, Eigen::Index(n));
  for (Eigen::Index k = 0; k < m; ++k) {
    double const time = times[std::size_t(k)];
    if (!(time > 0)) throw ShapeError(cat("fit: time ", k, " is ", time, "; needed is a positive"));
    for (std::size_t t = 0; t < n; ++t) all(k, Eigen::Index(t)) = work[std::size_t(k)][t] / time;
  }
  double least = std::numeric_limits<double>::infinity();
  std::array<double, n> best{};
  for (unsigned support = 0; support < 1u << n; ++support) {
    std::vector<Eigen::Index> chosen;
    for (std::size_t t = 0; t < n; ++t)
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
  return best;
}
template std::array<double, 3> fit_rates(std::vector<std::array<double, 3>> const&,
                                         std::vector<double> const&);

Terms fit(std::vector<Terms> const& work, std::vector<double> const& times) {
  std::vector<std::array<double, Terms::count>> rows;
  for (Terms const& w : work) rows.push_back(w.array());
  return Terms::of(fit_rates(rows, times));
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
