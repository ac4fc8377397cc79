// SPDX-License-Identifier: Apache-2.0
/// Coarsening by smoothed aggregation: a level's nodes are aggregates of the finer one's
/// (aggregates.hpp), P is made of the near-nullspace in each (prolongation.hpp).
///
/// Where A is not symmetric its symmetric part H = (A + A^T) / 2 takes its place in both, while the
/// coarser matrix is P^T A P: what convection adds to diffusion is skew but for what stabilises it,
/// and H is the diffusion that vectors have to be smooth in. (Notay 2012, Aggregation-based
/// algebraic multigrid for convection-diffusion equations, groups by H as well.)
#pragma once

#include <memory>
#include <optional>

#include <tcsolve/precond/amg/level.hpp>
#include <tcsolve/precond/amg/prolongation.hpp>
#include <tcsolve/sparse/filter.hpp>
#include <tcsolve/sparse/product.hpp>
#include <tcsolve/sparse/symmetric_part.hpp>

namespace tcsolve {

class Aggregation final : public AmgTransfer {
 public:
  /// How a level is coarsened.
  struct Rule {
    Index block = 1;
    Index vectors = 1;
    double strength = 0;
    bool smooth = true;     ///< false: P = T, plain aggregation
    bool symmetric = true;  ///< false: by the symmetric part of a
    int lanczos_steps = 10;
    std::shared_ptr<SetupClock> clock = nullptr;
  };
  /// Of a, canonical, in the Context's space; B: its near-nullspace (rows x vectors). With
  /// `strength` > 0 falls back to 0 where the next level would have more than 0.7 times the rows.
  Aggregation(Context&, CsrView<double> const& a, double const* B, Rule const& rule);

  /// P = T.
  bool thin_out(Context&, CsrView<double> const& a) override;
  std::uint8_t const* strong() const override {
    return !symmetric_part_ || symmetric_part_->keeps_pattern() ? keep_.data() : nullptr;
  }
  /// Where a block counts from 1e-4 of the diagonals on, entries that vanish are less of it than
  /// what others are rounded by: a few that should be zero, as rounding has left them.
  std::uint8_t const* endangered() const override { return strength_ > 1e-4 ? nullptr : strong(); }
  /// Whether H_F = H.
  bool keeps_all() const { return !filter_; }
  /// Its strength graph is the same.
  bool suits(Context&, CsrView<double> const& a) override;

 private:
  /// H, whose values are made of those of a; A itself where that is symmetric.
  CsrView<double> symmetric(Context&, CsrView<double> const& a);
  Aggregates aggregate(Context&, CsrView<double> const& h);
  void plan_prolongation(Context&, CsrView<double> const& h, Aggregates const&, double const* B);
  void filter(Context&, CsrView<double> const& h);
  sparse::OwnedPattern const& planned_p() const override {
    return joined_ ? *joined_ : product_ ? product_->pattern() : tentative_.pattern;
  }
  sparse::OwnedPattern release_p() override;
  void interpolate(Context&, CsrView<double> const& a, double lambda_max, double* p) override;
  double own_bytes() const override;

  Rule rule_;
  std::optional<sparse::SymmetricPart> symmetric_part_;  // A -> H; empty: A is symmetric
  Array<double> h_;                                      // values of H
  bool h_is_new_ = false;   // they are of the values that interpolate() will be given
  bool keeps_all_ = false;  // the strength graph: of H's entries
  TentativePattern tentative_;
  sparse::OwnedPattern blocks_;           // of the nodes of H, where one has several rows
  Array<double> t_;                       // values of T
  std::optional<sparse::Filter> filter_;  // H -> H_F; empty: H_F = H
  // H_F T, of one vector and of several; both empty: P = T.
  std::optional<sparse::OwnedPattern> joined_;
  std::optional<sparse::Product> product_;
};

}  // namespace tcsolve
