// SPDX-License-Identifier: Apache-2.0
/// M x = C Q^T (L D U)^-1 P R x, of the factors of an arranged matrix
/// (factors/arrange/arrangement.hpp).
#pragma once

#include <bit>
#include <memory>
#include <mutex>
#include <optional>

#include <tcsolve/core/array.hpp>
#include <tcsolve/core/half.hpp>
#include <tcsolve/factors/apply/reach_search.hpp>
#include <tcsolve/factors/apply/sparse_solves.hpp>
#include <tcsolve/factors/arrange/arrangement.hpp>
#include <tcsolve/factors/make/incomplete.hpp>
#include <tcsolve/factors/make/joint_factors.hpp>
#include <tcsolve/factors/triangle.hpp>
#include <tcsolve/matrix/transfer.hpp>
#include <tcsolve/operators/linear_operator.hpp>

namespace tcsolve {

/// Exact triangular solves with factors stored as S, in FP64 arithmetic; a launch for each triangle
/// on a device; a third where D is made of blocks, whose product joins the first triangle. Up to
/// sixteen columns are solved together.
///
///   bytes   entries (sizeof(S) + 4), 36 a row for each triangle, x and y once; of several columns
///           16 to 32 more a row and column, in the workspace
///   bounds  levels: an unknown of a level waits for the one before, about a microsecond on a
///           device
///   op      M^T is made of the transposed factors when it is first asked for: where they lie,
///           where they are joint
///   sparse  of an x with few entries the rows that it reaches alone are visited: on the host
///           (factors/apply/sparse_solves.hpp), and on a device where the factors have many levels
///           (factors/apply/reach_search.hpp), unless they never are (ReachOnDevice)
///
/// One operator serves one Context at a time: the unknowns lie in it.
template <class S = double>
class FactoredInverse final : public LinearOperator<double> {
 public:
  using Host = std::shared_ptr<TriangularFactors const>;  ///< copied to a device, or to S
  using Joint = std::shared_ptr<JointFactors const>;      ///< lie there; shared where S = double
  /// Throws MatrixError where a factor's entry is beyond the range of S.
  FactoredInverse(Context&, Host factors, TwoSided sides, ReachOnDevice = ReachOnDevice::searched);
  FactoredInverse(Context&, Joint factors, TwoSided sides, ReachOnDevice = ReachOnDevice::searched);
  ~FactoredInverse() override;
  /// Factors of the same patterns with other values; recordings stay valid.
  void update(Context&, Host factors, TwoSided sides);
  void update(Context&, Joint factors, TwoSided sides);

  void prepare(Context&, Op) const override;
  Traits traits() const override;
  Cost cost(Index k) const override;
  std::string name() const override { return "factors"; }
  /// Entries gone through by the last application to a sparse x that visited its reach alone.
  Offset visited() const { return sparse_.visited(); }
  /// What the last application of one column on a device has found; none where it does not search.
  std::optional<ReachSearch::Found> reached(Context& ctx) const {
    return reach_ ? std::optional(reach_->found(ctx)) : std::nullopt;
  }
  Index levels() const { return lower_.levels + upper_.levels; }

 private:
  struct Part {
    Index levels = 0;
    LevelOrder order;     // of factors that were made on the host, or that it solves with
    Array<Index> row_of;  // of the order; joint factors have their own
    std::optional<CsrStorage<S>> storage;  // of a factor that was made on the host
    TriangleView<S> view;
  };

  struct Solves {
    TriangleSolve down, up;
  };
  static Index width_of(Index columns) {
    return static_cast<Index>(std::bit_ceil(static_cast<unsigned>(columns)));
  }
  void do_apply(Context&, double alpha, In<double> x, double beta, Out<double> y,
                Op) const override;
  Solves solves(double alpha, In<double> x, double beta, Out<double> y, Index width,
                double* unknowns) const;
  bool sparse_columns(Context&, In<double> x) const;
  void solve_column(Context&, double alpha, In<double> x, double beta, Out<double> y) const;
  void solve_columns(Context&, double alpha, In<double> x, double beta, Out<double> y,
                     double* unknowns, unsigned* tickets) const;
  void arrange(Context&, TwoSided sides);
  void store(Context&);
  void store(Context&, Part&, Csr<double> const& triangle, Arrays);
  void share(Context&);
  void make_reach(Context&);
  void scale(Context&, TwoSided sides);
  template <class On>
  void clean(On&) const;

  Host factors_;
  Joint joint_;
  TwoSided sides_;
  Part lower_, upper_;
  Array<S> values_;  // of the joint factors in another type
  Array<Index> from_, to_;
  Array<double> row_scale_, inverse_pivots_, column_scale_;
  mutable Array<double> y_, z_;
  mutable SparseSolves<S> sparse_;      // on the host
  std::unique_ptr<ReachSearch> reach_;  // on a device
  ReachOnDevice reaches_;
  mutable Array<unsigned> tickets_;
  mutable bool clean_ = false;  // the scratch of a device's solves is as they need it
  mutable std::once_flag transposed_once_;
  mutable std::shared_ptr<JointFactors> joint_transposed_;
  mutable std::unique_ptr<FactoredInverse> transposed_;
};

}  // namespace tcsolve
