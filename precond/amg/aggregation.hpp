// SPDX-License-Identifier: Apache-2.0
/// Coarsening by smoothed aggregation: a level's nodes are aggregates of the finer one's
/// (aggregates.hpp), P is made of the near-nullspace in each (prolongation.hpp).
#pragma once

#include <memory>
#include <optional>

#include <tcsolve/precond/amg/level.hpp>
#include <tcsolve/precond/amg/prolongation.hpp>
#include <tcsolve/sparse/filter.hpp>
#include <tcsolve/sparse/product.hpp>

namespace tcsolve {

class Aggregation final : public AmgTransfer {
 public:
  /// How a level is coarsened.
  struct Rule {
    Index block = 1;
    Index vectors = 1;
    double strength = 0;
    bool smooth = true;  ///< false: P = T
    int lanczos_steps = 10;
    std::shared_ptr<SetupClock> clock = nullptr;
  };
  /// Of a, canonical, in the Context's space; B: its near-nullspace (rows x vectors). With
  /// `strength` > 0 falls back to 0 where the next level would have more than 0.7 times the rows.
  Aggregation(Context&, CsrView<double> const& a, double const* B, Rule const& rule);

  /// P = T.
  bool thin_out(Context&, CsrView<double> const& a) override;
  double const* coarse_vectors() const override { return coarse_B_.data(); }
  /// Whether A_F = A.
  bool keeps_all() const { return !filter_; }
  /// Its strength graph is the same.
  bool suits(Context&, CsrView<double> const& a) const override;

 private:
  Aggregates aggregate(Context&, CsrView<double> const& a);
  void plan_prolongation(Context&, CsrView<double> const& a, Aggregates const&, double const* B);
  sparse::OwnedPattern const& pattern_of_p() const override {
    return product_ ? product_->pattern() : tentative_.pattern;
  }
  void interpolate(Context&, CsrView<double> const& a, double lambda_max, double* p) override;
  double own_bytes() const override;

  Rule rule_;
  TentativePattern tentative_;
  Array<double> t_, coarse_B_;              // values of T; the coarser near-nullspace
  std::optional<sparse::Filter> filter_;    // A -> A_F; empty: A_F = A
  std::optional<sparse::Product> product_;  // A_F T; empty: P = T
};

}  // namespace tcsolve
