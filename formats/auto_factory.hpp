// SPDX-License-Identifier: Apache-2.0
/// `operator: {format: auto}`: the format that costs least (formats/choose/planner.hpp), now, once
/// it has paid, or by the clock.
#pragma once

#include <optional>

#include <tcsolve/formats/matrix_factory.hpp>

namespace tcsolve {

/// How a format is chosen: by the cost model, or by the clock.
enum class Autotune { none, measure };
constexpr auto names(Autotune) {
  return std::array{std::pair{Autotune::none, "none"}, std::pair{Autotune::measure, "measure"}};
}

/// When a matrix is converted: before the first product, or once the products made have lost as
/// much time as that takes.
enum class Conversion { before, lazy };
constexpr auto names(Conversion) {
  return std::array{std::pair{Conversion::before, "before"}, std::pair{Conversion::lazy, "lazy"}};
}

struct AutoParams {
  MatrixParams matrix{.reorder = Reorder::automatic};
  double expected_applies = 0;
  Conversion conversion = Conversion::before;
  Autotune autotune = Autotune::none;
  double budget = 1;
  std::string calibration;
  static constexpr auto schema() {
    using P = AutoParams;
    return std::tuple{
        include(&P::matrix),
        field(&P::expected_applies, "expected_applies", at_least(0.0),
              "products that the conversion is to pay for; 0: what the solver may take at most, "
              "but no more than 500"),
        field(
            &P::conversion, "conversion",
            "lazy: starts with csr, and converts in the background once the time lost equals that "
            "of the conversion, ignoring `expected_applies`; needs `deterministic: false`, since "
            "the clock decides which products are made in which format"),
        field(&P::autotune, "autotune",
              "measure: times the best three for real and keeps the fastest; needs "
              "`deterministic: false`, since the answer depends on the clock"),
        field(&P::budget, "budget", above(0.0), "seconds that autotune may take"),
        field(&P::calibration, "calibration",
              "cost table of this device, written by `tcsolve calibrate`; none: the shipped one")};
  }
};

class AutoFactory final : public MatrixFactory {
 public:
  using Params = AutoParams;
  /// Throws Unsupported for parameters that exclude each other, ConfigError for a cost table that
  /// cannot be read.
  AutoFactory(Params const& params, FormatList const& among);

  OperatorPtr<double> build(Context& ctx, Csr<double> const& a,
                            OperatorUse const& use) const override;
  OrderedMatrix order(Context& ctx, Csr<double> const& a, OperatorUse const& use) const override;
  /// What was measured is kept by a hash of the pattern.
  bool needs_host() const override { return params_.autotune == Autotune::measure; }

 private:
  CostTable table(Context const& ctx) const override;
  bool needs_no_plan(Context const&, OperatorUse const&) const;
  PlanRequest request(Context const& ctx, OperatorUse const& use) const override;

  Params params_;
  std::optional<CostTable> table_;
};

}  // namespace tcsolve
