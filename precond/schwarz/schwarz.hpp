// SPDX-License-Identifier: Apache-2.0
/// Additive Schwarz (Saad 2003, section 14.3): rows are cut into parts that overlap, and each part
/// is solved exactly.
///
///     parts           1 1 1|2 2 2        A_1: rows and columns 1..4, one layer of overlap
///     with overlap    1 1 1 1            A_2: rows and columns 3..6
///                         2 2 2 2
///
///     additive    M = sum_p R_p^T A_p^-1 R_p        symmetric where A is
///     restricted  M = sum_p Q_p^T A_p^-1 R_p        Q_p: without the overlap (Cai and Sarkis
///     1999);
///                                                   fewer iterations, and not symmetric
///
/// The inverses are dense, computed once and summed into one sparse matrix: an application is a
/// product, and blocks with one unknown a row of `size` 1 are Jacobi. A part costs the cube of its
/// rows, and a full row of A would put all of them into its part, and itself into every other. So a
/// row with more than `most` neighbours takes part in no overlap, which makes no part larger.
///
/// Of several ranks a part may also be all that a rank has, `parts: ranks`, which any
/// preconditioner inside solves (precond/schwarz/rank_parts.hpp).
#pragma once

#include <array>
#include <utility>
#include <vector>

#include <tcsolve/configs/schema/block.hpp>
#include <tcsolve/configs/schema/field.hpp>
#include <tcsolve/formats/matrix_factory.hpp>
#include <tcsolve/graph/parts/parts.hpp>
#include <tcsolve/matrix/csr.hpp>
#include <tcsolve/precond/from_factors.hpp>
#include <tcsolve/precond/over_ranks.hpp>

namespace tcsolve {

enum class Combine { automatic, additive, restricted };
constexpr auto names(Combine) {
  return std::array{std::pair{Combine::automatic, "auto"}, std::pair{Combine::additive, "additive"},
                    std::pair{Combine::restricted, "restricted"}};
}

enum class SchwarzParts { automatic, grow, metis, rows, ranks };
constexpr auto names(SchwarzParts) {
  return std::array{std::pair{SchwarzParts::automatic, "auto"},
                    std::pair{SchwarzParts::grow, "grow"}, std::pair{SchwarzParts::metis, "metis"},
                    std::pair{SchwarzParts::rows, "rows"}, std::pair{SchwarzParts::ranks, "ranks"}};
}

struct SchwarzParams {
  int size = 64;
  int overlap = 1;
  Index most = 0;
  Combine combine = Combine::automatic;
  SchwarzParts parts = SchwarzParts::automatic;
  Block inside = {};
  StoredReal values = StoredReal::f64;

  static constexpr auto schema() {
    using P = SchwarzParams;
    return std::tuple{
        field(&P::size, "size", between(1, 4096), "rows of a part without its overlap, about"),
        field(&P::overlap, "overlap", between(0, 16),
              "layers of neighbours added to each part; of `parts: ranks` at most 1"),
        field(&P::most, "most", between(0, 32768),
              "rows of a part with its overlap, or of its own where these are more: those found "
              "first; a row with more neighbours takes part in no overlap. 0: 8 times `size`, at "
              "least 1024"),
        field(&P::combine, "combine",
              "where parts overlap: additive adds their corrections, of `parts: ranks` divided by "
              "the parts that a row is in, restricted takes that of the row's own part; auto: "
              "additive for a symmetric pattern with symmetric values"),
        field(&P::parts, "parts",
              "how rows are cut into parts; grow: connected ones, breadth-first from those before; "
              "metis: by METIS, with fewer edges cut, which takes 70 to 300 times as long; rows: "
              "rows that follow each other; ranks: all that a rank has is a part; auto: grow"),
        field(
            &P::inside, "inside", block_of("preconditioner"),
            "of `parts: ranks`: what solves a part; not given: ic where A is symmetric, else ilu"),
        field(&P::values, "values", "type of the stored inverses; sums are fp64")};
  }
  std::string check() const {
    bool const by_ranks = parts == SchwarzParts::ranks;
    if (inside && !by_ranks) return "'inside' is for 'parts: ranks'";
    if (by_ranks && overlap > 1) return "'parts: ranks' takes an 'overlap' of 0 or 1";
    return "";
  }
};

/// Rows of each part: its own first, ascending, then those of the overlap, ascending.
struct OverlappingParts {
  std::vector<std::vector<Index>> rows;
  std::vector<Index> own;  ///< how many of them are its own
};
/// Parts of about `size` rows (graph/parts/parts.hpp) with `overlap` layers of neighbours. `most`:
/// see SchwarzParams. Throws what parts_of() throws.
OverlappingParts overlapping_parts(CsrView<double> const& a, int size, int overlap, Index most = 0,
                                   PartsBy by = PartsBy::automatic, CancelFlag cancel = {});
/// The same of parts that are there, by a queue search from each.
OverlappingParts with_overlap(Graph const&, Parts const& cut, int overlap, Index most,
                              CancelFlag cancel = {});
/// M, made where the Context computes (precond/schwarz/part_inverses.hpp). Throws MatrixError
/// naming a part that is singular, Cancelled. Cost: sum of size^3; memory of the square of the
/// parts' sizes.
Csr<double> schwarz(Context&, CsrView<double> const& a, OverlappingParts const& parts,
                    bool restricted);

class SchwarzFactory final : public FromFactors, public OverRanks {
 public:
  using Params = SchwarzParams;
  explicit SchwarzFactory(Params const& params = {}) : params_(params) {}
  std::unique_ptr<Preconditioner> build(Context&, System const&) const override;
  /// As if a layer of overlap doubled each part: the factor is known once the parts are.
  double bytes(Index rows, Offset entries) const override;
  /// The parts are made for it.
  MemoryNeed memory(Context&, System const&) const override;
  /// As if no part had any overlap.
  double least_seconds(Context&, System const&) const override;
  /// As if every part reached everywhere.
  double most_bytes(Index rows, Offset entries) const override;
  bool is_fixed() const override { return !by_ranks() || !inside() || inside()->is_fixed(); }
  bool goes_by_blocks() const override {
    return by_ranks() && inside() && inside()->goes_by_blocks();
  }
  bool over_ranks() const override { return by_ranks(); }

 private:
  bool by_ranks() const { return params_.parts == SchwarzParts::ranks; }
  /// Null where it depends on the matrix.
  std::unique_ptr<PreconditionerFactory> inside() const;
  struct Plan;
  std::shared_ptr<Plan> plan(Context&, System const&) const;
  Params params_;
};

}  // namespace tcsolve
