// SPDX-License-Identifier: Apache-2.0
/// M = (L U)^-1, an incomplete LU factorisation of A (Meijerink and van der Vorst 1977; Saad 2003,
/// sections 10.3 and 10.4), after a matching, scaling and an order (factors/arrangement.hpp).
#pragma once

#include <tcsolve/configs/schema/field.hpp>
#include <tcsolve/factors/factorisation.hpp>
#include <tcsolve/formats/matrix_factory.hpp>
#include <tcsolve/precond/from_factors.hpp>

namespace tcsolve {

struct IluParams {
  int level = 0;
  double drop_tolerance = 0;
  double fill_factor = 10;
  double complete_below = 0;
  int block = 1;
  double pivot_floor = 1e-6;
  ArrangementParams arrangement;
  StoredReal values = StoredReal::f64;
  TriangularSolves triangular = TriangularSolves::automatic;
  int sweeps = 5;
  int corrections = 1;
  int part = 1024;

  std::string check() const;
  static constexpr auto schema() {
    using P = IluParams;
    return std::tuple{
        field(&P::level, "level", between(0, 100),
              "of fill: 0 keeps the pattern of A, k adds what comes of k entries already added"),
        field(&P::drop_tolerance, "drop_tolerance", between(0.0, 1.0),
              "above 0: fill by size instead of level (ILUT): what is smaller than this times the "
              "typical entry of its row is dropped"),
        field(&P::fill_factor, "fill_factor", above(0.0),
              "with drop_tolerance: most entries of a row of L, and of U, over the mean row of A"),
        field(&P::complete_below, "complete_below", at_least(0.0),
              "with drop_tolerance: nothing is dropped where complete factors have at most so many "
              "times the entries of A"),
        field(&P::block, "block", between(0, 64),
              "unknowns of a node: above 1, blocks of so many rows and columns are kept whole and "
              "take the part of entries; 0 finds nodes, rows that follow each other with the same "
              "pattern"),
        field(&P::pivot_floor, "pivot_floor", between(0.0, 1.0),
              "a smaller pivot, relative to its row, takes this size"),
        include(&P::arrangement),
        field(&P::values, "values", "type of the stored factors; sums are fp64"),
        field(&P::triangular, "triangular",
              "exact: level by level; isai: products with sparse approximate inverses of L and U; "
              "sweeps: that many Jacobi sweeps; parts: exactly within parts of rows, without what "
              "couples them; host: exact, on the host, and the vectors travel; "
              "auto: exact on the host, on a device what suits the number of levels"),
        field(&P::sweeps, "sweeps", between(1, 1000), "with triangular: sweeps; how many"),
        field(&P::corrections, "corrections", between(0, 20),
              "with triangular: isai; y += W (b - L y) so many times after y = W b, W the "
              "approximate inverse"),
        field(&P::part, "part", between(32, 4096), "with triangular: parts; rows of a part")};
  }
};

class IluFactory final : public FromFactors {
 public:
  using Params = IluParams;
  explicit IluFactory(Params const& params = {}) : params_(params) {}
  std::unique_ptr<Preconditioner> build(Context&, System const&) const override;
  double bytes(Index rows, Offset entries) const override;
  MemoryNeed memory(Context&, System const&) const override;
  double most_bytes(Index rows, Offset entries) const override;
  bool goes_by_blocks() const override { return params_.block != 1; }

 private:
  FactorRecipe recipe() const;
  Params params_;
};

}  // namespace tcsolve
