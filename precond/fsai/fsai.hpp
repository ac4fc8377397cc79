// SPDX-License-Identifier: Apache-2.0
/// M = G^T G, a factorised sparse approximate inverse of a symmetric positive definite A: of all
/// lower triangular G on a pattern the one for which ||I - G L||_F is least, A = L L^T (Kolotilina
/// and Yeremin 1993), with diag(G A G^T) = I.
///
///     row i of G on the pattern P, i its last:
///         A_PP y = e_i        a dense system of |P| unknowns
///         g = y / sqrt(y_i)
///
/// The pattern is the lower triangle of A^power, or, with `steps`, grows where the gradient of
/// Kaporin's number says that it pays (Janna and Ferronato 2011, section 2). A row costs the cube
/// of its entries, and so has at most `most` of them: of a full row of A the strongest. An
/// application is two products, and M is as positive definite as A.
///
/// Over ranks each makes its rows of G from the rows of A that these lead to (distributed/
/// overlap.hpp), so that G is that of one rank, and has its rows of G^T as well.
#pragma once

#include <tcsolve/configs/schema/field.hpp>
#include <tcsolve/formats/matrix_factory.hpp>
#include <tcsolve/matrix/csr.hpp>
#include <tcsolve/precond/from_factors.hpp>
#include <tcsolve/precond/over_ranks.hpp>

namespace tcsolve {

struct FsaiParams {
  int power = 1;
  double tolerance = 0;
  int steps = 0;
  int step_size = 2;
  double enough = 1e-3;
  Index most = 256;
  StoredReal values = StoredReal::f64;

  std::string check() const;
  static constexpr auto schema() {
    using P = FsaiParams;
    return std::tuple{
        field(&P::power, "power", between(1, 8), "the pattern is the lower triangle of A^power"),
        field(&P::tolerance, "tolerance", between(0.0, 1.0),
              "the pattern leaves out a_ij where |a_ij| <= tolerance sqrt(a_ii a_jj)"),
        field(&P::steps, "steps", between(0, 100),
              "above 0: the pattern grows from the diagonal in so many steps instead"),
        field(&P::step_size, "step_size", between(1, 100), "entries that a row grows by in a step"),
        field(&P::enough, "enough", between(0.0, 1.0),
              "a row stops growing once a step takes less than this part of its Kaporin number"),
        field(&P::most, "most", between(1, 1024),
              "entries of a row of G: the strongest of A's, then those nearest to the diagonal; a "
              "longer row of A leads to no others of a power"),
        field(&P::values, "values", "type of the stored factor; sums are fp64")};
  }
};

/// The lower triangle of A^power with its diagonal, without what `tolerance` leaves out of A; at
/// most `most` entries a row (FsaiParams). Of some rows: row r is
/// that of row first + r. Throws Cancelled. Cost: as many symbolic products as power - 1.
std::vector<std::vector<Index>> lower_pattern(CsrView<double> const& a, int power, double tolerance,
                                              Index most = FsaiParams{}.most,
                                              CancelFlag cancel = {}, SomeRows rows = {});
/// Patterns that grow: the diagonal, then in each step the entries with the largest gradient.
/// Cost: for each row and step a dense system, and a pass over the rows of A that it reaches.
std::vector<std::vector<Index>> grown_pattern(Context&, CsrView<double> const& a,
                                              FsaiParams const& params, SomeRows rows = {});
/// G, or some rows of it, on a pattern whose rows ascend and end on the diagonal. Throws
/// MatrixError naming a row of the pattern whose system is not positive definite. Cost: sum of
/// |P|^3 / 6, on all threads.
Csr<double> fsai(Context&, CsrView<double> const& a,
                 std::vector<std::vector<Index>> const& pattern);

class FsaiFactory final : public FromFactors, public OverRanks {
 public:
  using Params = FsaiParams;
  explicit FsaiFactory(Params const& params = {}) : params_(params) {}
  std::unique_ptr<Preconditioner> build(Context&, System const&) const override;
  bool needs_definite() const override { return true; }
  double least_seconds(Context&, System const&) const override;
  double bytes(Index rows, Offset entries) const override;
  /// A pattern that grows is counted on 4096 rows.
  MemoryNeed memory(Context&, System const&) const override;
  double most_bytes(Index rows, Offset entries) const override {
    return params_.steps > 0 || params_.power == 1
               ? 3 * bytes(rows, 2 * entries + rows)
               : PreconditionerFactory::most_bytes(rows, entries);
  }

 private:
  Params params_;
};

}  // namespace tcsolve
