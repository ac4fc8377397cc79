// SPDX-License-Identifier: Apache-2.0
/// The levels, from the matrix to the one that is solved.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <tcsolve/precond/amg/level.hpp>
#include <tcsolve/precond/amg/near_nullspace.hpp>
#include <tcsolve/precond/amg/params.hpp>
#include <tcsolve/precond/hierarchy_facts.hpp>
#include <tcsolve/precond/preconditioner.hpp>

namespace tcsolve {

/// What is found out of a matrix before the levels are made.
struct AmgStart {
  NearNullspace space;
  std::unique_ptr<AmgTransfer> first;  ///< null where A is the coarsest level
  std::shared_ptr<SetupClock> clock;
  bool classical = false;  ///< how it is coarsened
  bool symmetric = true;   ///< A is
};
AmgStart amg_start(Context&, System const&, AmgParams const&);
/// With a near-nullspace that is known; the seconds that it took are the clock's, if there is one.
AmgStart amg_start(Context&, System const&, AmgParams const&, NearNullspace,
                   std::shared_ptr<SetupClock> clock = nullptr);
/// As the System says, or as a look at the matrix finds it.
bool is_symmetric(Context&, System const&);

/// Whether a hierarchy keeps what new values are made by, one to five times what a cycle reads.
enum class AmgPlans { kept, ended };

class AmgHierarchy {
 public:
  /// Throws SetupError where A or, if it is not symmetric, its diagonal shows itself not positive
  /// definite, where the smoother needs symmetry, where the near-nullspace does not fit A, or where
  /// the levels would hold more than max_complexity times A's entries; ShapeError for a matrix that
  /// is not square; Cancelled, OutOfTime. Cost: of a level some 30 products with its matrix, and
  /// the Galerkin products. Of no more than `transfers` levels beside that of A, until complete()
  /// makes the others.
  AmgHierarchy(Context&, System const&, AmgParams const&, AmgStart start,
               AmgPlans plans = AmgPlans::kept, int transfers = all);
  static constexpr int all = 100;
  void complete(Context&);
  /// New values on the pattern that it was made of: aggregates and patterns stay, P, the Galerkin
  /// products, the smoothers and the coarse solve follow. With reuse: interpolation P stays, too;
  /// with reuse: exact the levels are made
  /// again from the first on whose strength graph has changed. They are symmetric if those before
  /// were. Returns whether all patterns are those of before. Throws as the constructor.
  bool renew(Context&, System const&);
  /// Whether it can: plans are kept, and `reuse` has a use for them. Patterns of classical
  /// coarsening and learned vectors go by values, so that `exact` has none.
  bool renewable() const { return renewable_; }
  /// Once it is stored, where it is not renewable: of the matrices that each transfer has made no
  /// more stays than what is read in place; {}: nothing is. A near-nullspace that files have told
  /// stays, for another set-up.
  void leave(std::vector<AmgInPlace> const& read);
  /// What such a set-up begins with; none where it is to be found anew.
  std::optional<NearNullspace> take_near_nullspace();

  /// Until the next new values the smoothers, where they go by the largest eigenvalue of W A, go by
  /// ||W A||_inf, which it does not exceed: Lanczos steps come to it from below, and a smoother
  /// that ends before it amplifies what lies beyond. P stays. False where nothing is larger by
  /// that. Cost: of each level one pass, a wait.
  bool bound_spectra(Context&);

  /// What the matrices of cycles are stored in from now on.
  void take_values(AmgValues values) { params_.values = values; }

  std::vector<AmgLevel> const& levels() const { return levels_; }
  /// To each level from the one before it.
  AmgTransfer const& transfer(std::size_t level) const { return *transfers_[level]; }
  /// Of a node of a level.
  Index node_rows(std::size_t level) const { return level == 0 ? block_ : vectors_; }
  bool is_coarsest(std::size_t level) const { return level == transfers_.size(); }
  /// A_l, in the Context's space; that of level 0 is the caller's, and lies there as long as his.
  CsrView<double> matrix(std::size_t level) const {
    return level == 0 ? given_ : transfers_[level - 1]->coarse();
  }
  /// Of the coarsest level, where it is solved; nothing where it is smoothed.
  std::optional<CsrStorage<double>> const& inverse() const { return inverse_; }
  /// With the smoother that was found.
  AmgParams const& params() const { return params_; }
  bool symmetric() const { return symmetric_; }
  SetupClock& clock() const { return *clock_; }
  /// That it holds, in the Context's space, of the levels that are made; and that stays once it is
  /// left, besides what is read in place.
  double bytes() const;
  double bytes_left() const;
  /// Rows of all levels, and their entries, over those of A.
  double grid_complexity() const;
  double operator_complexity() const;
  /// In a sentence.
  std::string summary() const;
  /// Without what levels are stored in.
  HierarchyFacts facts() const;

 private:
  /// Levels from `first` on, of its matrix; those before it are there. transfer: the first one.
  void make_levels(Context&, std::size_t first, CsrView<double> a, OperatorPtr<double> A,
                   std::unique_ptr<AmgTransfer> transfer, int transfers = all);
  std::unique_ptr<AmgTransfer> next_transfer(Context&, std::size_t level,
                                             CsrView<double> const& a) const;
  void weigh(Context&, CsrView<double> const& a, std::size_t level);
  /// The level's weights become those of the smoother.
  void weigh_smoother(Context&, CsrView<double> const& a, std::size_t level);
  void solve_coarsest(Context&, CsrView<double> const& a);
  bool near_nullspace_of_files() const;

  AmgParams params_;
  Index block_ = 1, vectors_ = 1;
  bool classical_ = false, symmetric_ = true, complete_ = false, renewable_ = true;
  std::vector<double> ratios_;
  Array<double> near_nullspace_;
  bool given_vectors_ = false;
  std::vector<AmgLevel> levels_;
  std::vector<std::unique_ptr<AmgTransfer>> transfers_;
  std::optional<CsrStorage<double>> inverse_;
  CsrView<double> given_;
  std::shared_ptr<SetupClock> clock_;
};

}  // namespace tcsolve
