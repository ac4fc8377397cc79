// SPDX-License-Identifier: Apache-2.0
/// Rates of GPUs that nobody measured, from what their drivers say; those of an H200 and an
/// H100 are as measured.
#include <tcsolve/formats/choose/planner.hpp>

#include <gtest/gtest.h>

#include "tests/data/measured.hpp"

namespace tcsolve::test {
namespace {

struct Gpu {
  cuda::Facts facts;
  cuda::Speeds speeds;
  CostTable table() const { return CostTable::of_gpu(facts, speeds); }
};

Gpu gpu(char const* name, int capability, int multiprocessors, std::size_t l2,
        cuda::Speeds const& speeds) {
  cuda::Facts facts;
  facts.name = name, facts.compute_capability = capability;
  facts.multiprocessors = multiprocessors, facts.l2 = l2 << 20;
  return {facts, speeds};
}
Gpu const h200 = gpu("NVIDIA H200", 90, 132, 60, {4.917e12, 1.98e9, 2});
Gpu const a100 = gpu("NVIDIA A100-SXM4-80GB", 80, 108, 40, {2.039e12, 1.41e9, 2});
Gpu const rtx4090 = gpu("NVIDIA GeForce RTX 4090", 89, 128, 72, {1.008e12, 2.52e9, 64});

double product(CostTable const& table, Format const& format, Features const& f,
               Real values = Real::f64) {
  return dot(table.rates(format.name, values, Real::f64).product,
             work(format, f, values, Real::f64));
}

/// The part of a product on an H200 that comes from the caches or waits for one thread.
double cache_share(Format const& format, Features const& f) {
  Terms const rates = CostTable::h200().rates(format.name, Real::f64).product;
  Terms const of = work(format, f, Real::f64, Real::f64);
  return (rates.tiles * of.tiles + rates.longest * of.longest) / dot(rates, of);
}

TEST(GpuRates, OfAnH200AreThoseMeasured) {
  EXPECT_EQ(h200.table(), CostTable::h200());
  Gpu silent = h200;
  silent.speeds = {};  // a driver that does not know its clocks
  EXPECT_EQ(silent.table(), CostTable::h200());
}

TEST(GpuRates, OfAnH100AreThoseMeasuredThere) {
  Gpu h100 = h200;
  h100.facts.name = "NVIDIA H100 80GB HBM3";
  EXPECT_EQ(h100.table(), CostTable::h100());
  EXPECT_NE(h100.table().rates("csr", Real::f64), CostTable::h200().rates("csr", Real::f64));
  h100.facts.name = "NVIDIA H100 PCIe";  // other memory
  EXPECT_NE(h100.table().device.find("scaled"), std::string::npos);
}

/// What is not known scales nothing; the name is that of the device all the same.
TEST(GpuRates, OfADeviceThatSaysNothingAreThoseMeasured) {
  Gpu const unknown = gpu("some GPU", 90, 0, 0, {});
  CostTable table = unknown.table();
  EXPECT_NE(table.device.find("some GPU"), std::string::npos) << table.device;
  EXPECT_NE(table.device.find("scaled"), std::string::npos) << table.device;
  table.device = CostTable::h200().device;
  EXPECT_EQ(table, CostTable::h200());
}

/// Large products go by the bandwidth of the memory, but for what comes from the caches, which are
/// no slower on these.
TEST(GpuRates, LargeProductsGoByTheBandwidth) {
  Features const& f = measured[0].features;  // poisson27_96
  for (Gpu const& on : {a100, rtx4090}) {
    double const slower = h200.speeds.bandwidth / on.speeds.bandwidth;
    int compared = 0;
    for (Format const& format : formats()) {
      if (!why_not(format, f, {}).empty() || cache_share(format, f) > 0.25) continue;
      SCOPED_TRACE(cat(on.facts.name, " ", format.name));
      double const times = product(on.table(), format, f) / product(CostTable::h200(), format, f);
      EXPECT_GT(times, 0.65 * slower);
      EXPECT_LT(times, slower);
      ++compared;
    }
    EXPECT_GE(compared, 4);
  }
}

TEST(GpuRates, AreNamedAfterTheDeviceAndSaidToBeScaled) {
  for (Gpu const& on : {a100, rtx4090}) {
    Plan const plan = make_plan(measured[0].features, {}, on.table());
    EXPECT_EQ(plan.device.find(on.facts.name), 0u) << plan.device;
    EXPECT_NE(plan.device.find("scaled"), std::string::npos) << plan.device;
    EXPECT_NE(text(plan).find(on.facts.name), std::string::npos);
  }
}

/// An RTX 4090 makes 128 x 2 multiplications in FP64 a clock: 645 thousand a microsecond.
TEST(GpuRates, NoProductIsFasterThanTheUnitsOfFp64) {
  double const million = 1e6 / (128.0 * 2 * 2520);
  for (Format const& format : formats())
    for (Real const values : {Real::f64, Real::f32, Real::f16}) {
      FormatRates const rates = rtx4090.table().rates(format.name, values);
      // Of formats for blocks of columns alone, a column's.
      Terms const& one = rates.product != Terms{} ? rates.product : rates.column;
      EXPECT_GE(one.slots, 0.999 * million) << format.name;
    }
  EXPECT_EQ(a100.table().rates("csr", Real::f64).product.slots, 0);  // nothing waits for them there
}

/// The limit of a persistent loop is the format's share of the device's cache, as in solvers/.
TEST(GpuRates, PersistentLoopsGoByTheCacheOfTheDevice) {
  EXPECT_EQ(a100.table().cache, 40);
  EXPECT_EQ(rtx4090.table().cache, 72);
  Features f = measured[10].features;  // poisson27_32
  auto const one_kernel = [&](CostTable const& table) {
    Plan const plan = make_plan(f, {.applies = 1e4}, table);
    for (Candidate const& c : plan.candidates)
      if (!c.format->converted) return c.persistent;
    return false;
  };
  EXPECT_TRUE(one_kernel(a100.table()));
  CostTable small =
      CostTable::of_gpu(gpu("a small one", 80, 108, 4, a100.speeds).facts, a100.speeds);
  EXPECT_EQ(small.cache, 4);
  EXPECT_FALSE(one_kernel(small));  // 10 MB of matrix, 1.3 of vectors; 8 at most
}

/// A step beyond the cache, and one of values that no persistent kernel multiplies by.
TEST(GpuRates, OneKernelIsPromisedWhereThereIsOne) {
  Features const& f = measured[10].features;
  auto const persistent = [&](PlanRequest const& request) {
    int count = 0;
    for (Candidate const& c : make_plan(f, request, CostTable::h200()).candidates)
      count += c.persistent;
    return count;
  };
  EXPECT_GT(persistent({.applies = 1e4}), 0);
  EXPECT_EQ(persistent({.values = Real::f32, .applies = 1e4}), 0);
  EXPECT_EQ(persistent({.values = Real::bf16, .applies = 1e4}), 0);
  EXPECT_GT(persistent({.values = Real::f32, .vectors = Real::f32, .applies = 1e4}), 0);
  EXPECT_EQ(persistent({.values = Real::bf16, .vectors = Real::f32, .applies = 1e4}), 0);
  EXPECT_EQ(persistent({.applies = 1e4, .persistent = false}), 0);
}

/// The plan's limit counts what a conversion needs besides.
TEST(GpuRates, MemoryCountsTheScratchOfConversions) {
  Features const& f = measured[1].features;  // elasticity_56, which every format can hold
  double const csr = formats().source().layout(f, Real::f64).stored;
  for (Format const& format : formats()) {
    FormatLayout const layout = format.layout(f, Real::f64);
    double const both = layout.stored + csr;
    auto const excluded = [&](double memory) {
      PlanRequest const request{.applies = 1e6, .memory = memory};
      return make_plan(f, request, CostTable::h200()).of(format).excluded;
    };
    if (!format.converted) {
      EXPECT_EQ(excluded(0), "");
      continue;
    }
    EXPECT_GT(layout.scratch, 1e6) << format.name;
    // One that plans leave out for another reason says that.
    if (std::string const otherwise = why_not(format, f, {}); !otherwise.empty()) {
      EXPECT_EQ(excluded(0), otherwise);
      continue;
    }
    EXPECT_EQ(excluded(both + 0.5 * layout.scratch), "too little memory") << format.name;
    EXPECT_NE(excluded(both + 2 * layout.scratch), "too little memory") << format.name;
  }
}

class FirstPossible : public ::testing::Test {
 protected:
  struct Log : Observer {
    void on(LogEvent const& e) override { text += e.text + "\n"; }
    std::string text;
  } log_;
  Context ctx_{Backend::host, {}, &log_};
};

/// Memory that a conversion does not get passes the format over, as values beyond its range do.
TEST_F(FirstPossible, PassesOverWhatHasNoRoom) {
  Plan const plan = make_plan(measured[0].features, {.applies = 1e6}, CostTable::h200());
  std::vector<Format const*> tried;
  int surveys = 0;
  auto const all_of = [&] { return ++surveys, plan; };
  auto const make = [&](Format const& format) -> OperatorPtr<double> {
    tried.push_back(&format);
    if (tried.size() == 1) throw MemoryError("device memory: none");
    if (tried.size() == 2) throw MatrixError("row 1");
    return nullptr;
  };
  EXPECT_EQ(first_possible(ctx_, plan, make, all_of), nullptr);
  ASSERT_EQ(tried.size(), 3u);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(tried[k], plan.candidates[k].format);
  EXPECT_EQ(surveys, 2);
  std::string const says = cat("format: not ", tried[0]->name, ": device memory: none");
  EXPECT_NE(log_.text.find(says), std::string::npos) << log_.text;
}

TEST_F(FirstPossible, ThrowsWhatTheLastOneThrew) {
  Plan const plan = make_plan(measured[0].features, {.applies = 1e6}, CostTable::h200());
  std::size_t usable = 0, tried = 0;
  for (Candidate const& c : plan.candidates) usable += c.excluded.empty();
  auto const make = [&](Format const& format) -> OperatorPtr<double> {
    ++tried;
    throw MemoryError(format.name);
  };
  try {
    first_possible(ctx_, plan, make, [&] { return plan; });
    ADD_FAILURE() << "nothing was thrown";
  } catch (MemoryError const& e) { EXPECT_EQ(e.what(), plan.candidates[usable - 1].format->name); }
  EXPECT_EQ(tried, usable);
}

/// Anything else is not about the format.
TEST_F(FirstPossible, LeavesOtherErrorsAlone) {
  Plan const plan = make_plan(measured[0].features, {.applies = 1e6}, CostTable::h200());
  auto const make = [](Format const&) -> OperatorPtr<double> { throw DeviceError("gone"); };
  EXPECT_THROW(first_possible(ctx_, plan, make, [&] { return plan; }), DeviceError);
}

}  // namespace
}  // namespace tcsolve::test
