// SPDX-License-Identifier: Apache-2.0
/// Cost tables: rates that are fitted to times, and files.
#include <tcsolve/configs/schema/print.hpp>
#include <tcsolve/configs/schema/yaml.hpp>
#include <tcsolve/formats/choose/cost_model.hpp>

#include <array>
#include <cmath>

#include "tests/data/measured.hpp"
#include "tests/support/backend.hpp"
#include "tests/support/files.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

/// Of as many matrices as the shipped rates were fitted to, with no term the sum of others.
std::vector<Terms> unrelated_products(std::size_t count = measured.size()) {
  std::vector<double> const draws = random_values(count * Terms::count, 11);
  std::vector<Terms> products;
  for (std::size_t k = 0; k < count; ++k) {
    std::array<double, Terms::count> terms;
    for (std::size_t t = 0; t < Terms::count; ++t)
      terms[t] = 20 * std::abs(draws[k * Terms::count + t]);
    terms[0] = 1;
    products.push_back(Terms::of(terms));
  }
  return products;
}

TEST(CostModel, FitFindsTheRatesThatMadeTheTimes) {
  Terms const rates{5, 0.25, 0, 3, 7, 0, 0};
  std::vector<Terms> const products = unrelated_products();
  std::vector<double> times;
  for (Terms const& of : products) times.push_back(dot(rates, of));
  Terms const found = fit(products, times);
  for (std::size_t k = 0; k < Terms::count; ++k)
    EXPECT_NEAR(found.array()[k], rates.array()[k], 1e-6 * 7) << k;
}

/// No rate is negative, and none that is zero would lower the error if it grew (Kuhn and Tucker).
TEST(CostModel, FitOfNoisyTimesIsTheConstrainedMinimum) {
  for (Format const& format : formats()) {
    std::vector<Terms> products;
    std::vector<double> times;
    for (Measured const& m : measured)
      if (m.us(format.name) > 0) {
        products.push_back(work(format, m.features, Real::f64, Real::f64));
        times.push_back(m.us(format.name));
      }
    Terms const rates = fit(products, times);
    for (std::size_t t = 0; t < Terms::count; ++t) {
      EXPECT_GE(rates.array()[t], 0);
      double slope = 0, scale = 0;  // of the sum of squares, along rate t
      for (std::size_t i = 0; i < times.size(); ++i) {
        double const column = products[i].array()[t] / times[i];
        slope += column * (dot(rates, products[i]) / times[i] - 1);
        scale += column * column;
      }
      slope /= std::sqrt(scale) + 1e-300;
      if (rates.array()[t] > 0)
        EXPECT_NEAR(slope, 0, 1e-6) << format.name << " " << t;
      else
        EXPECT_GE(slope, -1e-9) << format.name << " " << t;
    }
  }
}

/// A device that starts a kernel in 2 us instead of 5 and is 1.5 times as slow, from three
/// matrices.
TEST(CostModel, RescalingFindsAnotherClock) {
  Terms const rates{5, 0.25, 0, 3, 7, 0, 0.5}, there{2, 0.375, 0, 4.5, 10.5, 0, 0.75};
  std::vector<Terms> const products = unrelated_products(3);
  std::vector<double> times;
  for (Terms const& of : products) times.push_back(dot(there, of));
  Terms const found = rescaled(rates, products, times);
  for (std::size_t k = 0; k < Terms::count; ++k)
    EXPECT_NEAR(found.array()[k], there.array()[k], 1e-9 * 11) << k;
  EXPECT_EQ(rescaled(rates, products, {4, 4, 4}), rates);
  EXPECT_THROW(rescaled(rates, {Terms{}}, {}), ShapeError);
}

TEST(CostModel, FitRefusesWhatHasNoAnswer) {
  EXPECT_THROW(fit({Terms{}}, {}), ShapeError);
  EXPECT_THROW(fit({Terms{.latency = 1}}, {0.0}), ShapeError);
  EXPECT_THROW(fit({Terms{.latency = 1}}, {std::nan("")}), ShapeError);
}

class CostTableFile : public ::testing::Test {
 protected:
  CostTable load(std::string const& text) {
    return CostTable::load(write_text(folder_ / "table.yaml", text));
  }
  TemporaryFolder folder_;
};

TEST_F(CostTableFile, IsReadAsItWasWritten) {
  EXPECT_EQ(load(dump_yaml(CostTable::h200())), CostTable::h200());
}

/// The tables in configs/rates/ are those that the library carries.
TEST_F(CostTableFile, ShippedRatesAreThoseOfTheirFiles) {
  std::string const folder = TCSOLVE_SOURCE_DIR "/configs/rates/";
  EXPECT_EQ(CostTable::load(folder + "h200.yaml"), CostTable::h200());
  EXPECT_EQ(CostTable::load(folder + "h100.yaml"), CostTable::h100());
  EXPECT_EQ(CostTable::load(folder + "host.yaml"), CostTable::host());
  for (CostTable const& table : {CostTable::h200(), CostTable::h100(), CostTable::host()})
    for (Format const& format : formats())
      for (Real const values : {Real::f64, Real::f32, Real::f16})
        EXPECT_TRUE(table.rates(format.name, values).product != Terms{} ||
                    table.rates(format.name, values).block != Terms{})
            << table.device << ", " << format.name << ", " << name(values);
}

TEST_F(CostTableFile, AFormatMayBeMissing) {
  CostTable const table = load("device: a new one\ncsr: {fp64: {product: {latency: 2}}}\n");
  EXPECT_EQ(table.rates("csr", Real::f64).product.latency, 2);
  EXPECT_EQ(table.by_format.size(), 1u);
  for (Format const& format : formats())
    if (format.converted) EXPECT_EQ(table.rates(format.name, Real::f64).product, Terms{});
}

/// As `tcsolve calibrate` wrote it once.
TEST_F(CostTableFile, RatesForMixedTypesMayStandBesideTheFormat) {
  CostTable const table = load("csr_mixed: {product: {latency: 3}}");
  EXPECT_EQ(table.rates("csr", Real::f16, Real::f64).product.latency, 3);
  EXPECT_EQ(table.rates("csr", Real::f64, Real::f64).product, Terms{});
  EXPECT_EQ(table, load("csr: {mixed: {product: {latency: 3}}}"));
  EXPECT_EQ(table, load(dump_yaml(table)));
}

TEST_F(CostTableFile, RatesOfSparseProductsAreThoseOfAFormat) {
  CostTable const table = load("csr: {sparse: {rows: 30, columns_looked: 900}}");
  SparseRates const& of = table.of("csr").sparse;
  EXPECT_EQ(of.rows, 30);
  EXPECT_EQ(of.columns_looked, 900);
  EXPECT_EQ(of.rows_looked, SpmspvRates{}.rows_looked) << "what is not given is as without rates";
  EXPECT_EQ(table, load(dump_yaml(table)));
  EXPECT_THROW(load("csr: {sparse: {rows: -1}}"), ConfigError);
}

/// Three rates that were hidden in times are found again.
TEST(CostModel, FitsAnyNumberOfTerms) {
  std::array<double, 3> const rates{34, 0, 7.5};
  std::vector<std::array<double, 3>> work;
  std::vector<double> times;
  for (int k = 0; k < 6; ++k) {
    work.push_back({1, 1.0 + k, double(k * k)});
    times.push_back(rates[0] + rates[1] * work.back()[1] + rates[2] * work.back()[2]);
  }
  auto const found = fit_rates(work, times);
  for (std::size_t t = 0; t < 3; ++t) EXPECT_NEAR(found[t], rates[t], 1e-9);
}

TEST_F(CostTableFile, RefusesWhatIsNoTable) {
  auto const refused = [&](std::string const& text) {
    return message_of<ConfigError>([&] { load(text); });
  };
  for (std::string const& format : formats().names()) {
    std::string const below = format + ": {fp64: {product: {stream: -1}}}";
    EXPECT_NE(refused(below).find("stream"), std::string::npos) << below;
    std::string const misspelt = format + "z: {}";
    EXPECT_NE(refused(misspelt).find("did you mean '" + format + "'?"), std::string::npos)
        << refused(misspelt);
  }
  EXPECT_THROW(CostTable::load(folder_ / "none.yaml"), ConfigError);
}

}  // namespace
}  // namespace tcsolve::test
