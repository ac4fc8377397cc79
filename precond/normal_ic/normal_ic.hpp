// SPDX-License-Identifier: Apache-2.0
/// M = R^-1 with R^T R an incomplete Cholesky factorisation of A^T A (Saad 2003, section 10.8): for
/// lsmr, which takes M from the right, so that A M has nearly orthonormal columns.
#pragma once

#include <tcsolve/configs/schema/field.hpp>
#include <tcsolve/factors/factorisation.hpp>
#include <tcsolve/formats/matrix_factory.hpp>
#include <tcsolve/precond/preconditioner.hpp>
#include <tcsolve/precond/stored_real.hpp>

namespace tcsolve {

struct NormalIcParams {
  double drop_tolerance = 0.01;
  double fill_factor = 10;
  FactorOrder order = FactorOrder::automatic;
  StoredReal values = StoredReal::f64;
  TriangularSolves triangular = TriangularSolves::automatic;
  int sweeps = 5;

  static constexpr auto schema() {
    using P = NormalIcParams;
    return std::tuple{
        field(&P::drop_tolerance, "drop_tolerance", between(0.0, 1.0),
              "what is smaller than this times the typical entry of its row is dropped"),
        field(&P::fill_factor, "fill_factor", above(0.0),
              "most entries of a row of R over the mean row of A^T A"),
        field(&P::order, "order",
              "of the factor: rcm, amd (little fill), metis (nested dissection), colours; auto "
              "takes amd"),
        field(&P::values, "values", "type of the stored factor; sums are fp64"),
        field(&P::triangular, "triangular",
              "exact: level by level; isai: a product with a sparse approximate inverse of R; "
              "sweeps: that many Jacobi sweeps; auto: what suits the number of levels"),
        field(&P::sweeps, "sweeps", between(1, 1000), "with triangular: sweeps; how many")};
  }
};

/// A^T A with a diagonal; 1 stands on it where a column of A is empty. Throws MemoryError where
/// long rows of A would fill it, Cancelled. Cost: sum over the rows of A of the square of their
/// lengths.
Csr<double> normal_matrix(CsrView<double> const& a, CancelFlag cancel = {});

class NormalIcFactory final : public PreconditionerFactory {
 public:
  using Params = NormalIcParams;
  explicit NormalIcFactory(Params const& params = {}) : params_(params) {}
  std::unique_ptr<Preconditioner> build(Context&, System const&) const override;
  bool bytes_are_all() const override { return false; }
  /// A^T A is made for it.
  MemoryNeed memory(Context&, System const&) const override;

 private:
  FactorRecipe recipe() const;
  Params params_;
};

}  // namespace tcsolve
