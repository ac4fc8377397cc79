// SPDX-License-Identifier: Apache-2.0
/// Cost tables: rates that are fitted to times, and files.
#include <tcsolve/configs/schema/print.hpp>
#include <tcsolve/configs/schema/yaml.hpp>
#include <tcsolve/operators/cost_model.hpp>

#include <cmath>

#include "tests/support/backend.hpp"
#include "tests/support/files.hpp"
#include "tests/support/measured.hpp"

namespace tcsolve::test {
namespace {

TEST(CostModel, FitFindsTheRatesThatMadeTheTimes) {
  Terms const rates{5, 0.25, 0, 3, 7, 0, 0};
  std::vector<Terms> products;
  std::vector<double> times;
  for (Measured const& m : measured) {
    products.push_back(work(Format::dasp, m.features, Real::f64, Real::f64));
    times.push_back(dot(rates, products.back()));
  }
  Terms const found = fit(products, times);
  for (std::size_t k = 0; k < Terms::count; ++k)
    EXPECT_NEAR(found.array()[k], rates.array()[k], 1e-6 * 7) << k;
}

/// No rate is negative, and none that is zero would lower the error if it grew (Kuhn and Tucker).
TEST(CostModel, FitOfNoisyTimesIsTheConstrainedMinimum) {
  for (int k = 0; k < 5; ++k) {
    std::vector<Terms> products;
    std::vector<double> times;
    for (Measured const& m : measured)
      if (m.fp64[k] > 0) {
        products.push_back(work(formats[k], m.features, Real::f64, Real::f64));
        times.push_back(m.fp64[k]);
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
        EXPECT_NEAR(slope, 0, 1e-6) << name(formats[k]) << " " << t;
      else
        EXPECT_GE(slope, -1e-9) << name(formats[k]) << " " << t;
    }
  }
}

/// A device that starts a kernel in 2 us instead of 5 and is 1.5 times as slow, from three
/// matrices.
TEST(CostModel, RescalingFindsAnotherClock) {
  Terms const rates{5, 0.25, 0, 3, 7, 0, 0.5}, there{2, 0.375, 0, 4.5, 10.5, 0, 0.75};
  std::vector<Terms> products;
  std::vector<double> times;
  for (std::size_t k = 0; k < 3; ++k) {
    products.push_back(work(Format::bsell, measured[k].features, Real::f64, Real::f64));
    times.push_back(dot(there, products.back()));
  }
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

TEST_F(CostTableFile, RefusesWhatIsNoTable) {
  auto const refused = [&](std::string const& text) {
    return message_of<ConfigError>([&] { load(text); });
  };
  EXPECT_NE(refused("dasp: {fp64: {product: {stream: -1}}}").find("stream"), std::string::npos);
  EXPECT_NE(refused("dapz: 1").find("dasp"), std::string::npos);
  EXPECT_THROW(CostTable::load(folder_ / "none.yaml"), ConfigError);
}

}  // namespace
}  // namespace tcsolve::test
