// SPDX-License-Identifier: Apache-2.0
/// Classical coarsening: a level's rows are some of the finer one's, C, and the rest, F,
/// interpolates from them.
///
///     o C o o C      C   coarse points: by PMIS, no two strongly coupled both ways
///     o o o C o      o   fine ones; one without a strong coupling to C has a row of zeros in P
///
///     strong    i on j where -a_ij >= strength max_k -a_ik, or |a_ij| in its place (absolute); no
///               row whose sum exceeds max_row_sum a_ii is strong on any (Ruge and Stueben 1987,
///               Algebraic multigrid)
///     C         i joins where more rows are strong on it than on any that waits around it, a hash
///               between equal ones; what is strong on a member is F (De Sterck, Yang and Heys
///               2006, Reducing complexity in parallel algebraic multigrid preconditioners)
///     P         from C and over F (interpolation.hpp)
///
/// Aggressive coarsening takes fewer: PMIS once more among the points of C, of which i is strong on
/// j where a path of one or two strong couplings leads there, over any row (De Sterck, Yang and
/// Heys 2006, section 5: A1). What is left of C is interpolated in two stages.
///
/// For matrices whose off-diagonal entries are negative, however much they vary: it asks for ratios
/// within a row alone.
#pragma once

#include <memory>
#include <optional>

#include <tcsolve/precond/amg/interpolation.hpp>
#include <tcsolve/precond/amg/level.hpp>

namespace tcsolve {

/// Row i depends on j where the graph of what is strong has an entry; the same on every run and
/// backend. Cost: some log2(rows) rounds of two passes over the graph and its transpose.
CoarsePoints coarse_points(Context&, sparse::OwnedPattern const& strong,
                           sparse::OwnedPattern const& strong_transposed);
/// Which of the points `among` stay coarse where coarsening is aggressive; strong: (entries of a).
/// Every other one of them has a path of two strong couplings or fewer to one that stays. Cost: a
/// product of patterns, and as coarse_points().
CoarsePoints coarse_points_among(Context&, CsrView<double> const& a, std::uint8_t const* strong,
                                 CoarsePoints const& among);

/// The sum of positive off-diagonal entries over that of the sizes of all; 0 where there are none.
/// A pass, a wait.
double positive_share(Context&, CsrView<double> const& a);
/// At most this share are as good as none.
constexpr double few_positive = 0.01;

/// Whether classical coarsening suits a matrix better than aggregation: no more than a hundredth of
/// the off-diagonal sizes is positive, and the diagonal varies by a hundred and more among rows
/// with couplings. Two passes, two waits.
bool varies_as_an_m_matrix(Context&, CsrView<double> const& a);

/// The part of the couplings that aggregation holds strong, by `theta`, and that are weak in their
/// row, by `strength`: an anisotropy that lies along no line of the grid. 0 on the grids of the
/// generators, 0.2 and more where classical coarsening gains. Two passes, a wait.
double hidden_anisotropy(Context&, CsrView<double> const& a, double theta, double strength);

class Classical final : public AmgTransfer {
 public:
  struct Rule {
    double strength = 0.25;
    bool absolute = false;
    double max_row_sum = 0.9;
    InterpolationRule interpolation;
    bool aggressive = false;
    std::shared_ptr<SetupClock> clock = nullptr;
  };
  /// Of a, canonical, in the Context's space.
  Classical(Context&, CsrView<double> const& a, Rule const& rule);

  /// With fewer strong couplings, or else with fewer coarse points, aggressively, or both.
  bool thin_out(Context&, CsrView<double> const& a) override;
  /// Never: which entries of P are the largest depends on values.
  bool suits(Context&, CsrView<double> const&) override { return false; }

 private:
  void plan(Context&, CsrView<double> const& a);
  /// fewer: of the points, where coarsening is aggressive.
  void plan_prolongation(Context&, CsrView<double> const& a, CoarsePoints points,
                         CoarsePoints fewer);
  sparse::OwnedPattern const& planned_p() const override {
    return both_ ? both_->pattern() : stage_->pattern();
  }
  sparse::OwnedPattern release_p() override;
  void interpolate(Context&, CsrView<double> const& a, double lambda_max, double* p) override;
  double own_bytes() const override;
  /// f(first, second) with the values of both stages.
  template <class F>
  void with_stages(Context&, CsrView<double> const& a, F const& f);

  Rule rule_;
  std::optional<Interpolation> stage_;   // P; aggressive: the first stage (rows x rows)
  std::optional<Interpolation> second_;  // (rows x coarse), with entries in rows of C_1
  std::optional<CutProduct> both_;
};

}  // namespace tcsolve

namespace tcsolve {

/// What classical coarsening goes through in passes.
struct ClassicalRows {
  double strength, max_row_sum;
  bool absolute;
};

namespace host {
void mark_classical(Host&, Arena&, CsrView<double> const& a, ClassicalRows, std::uint8_t* keep);
CoarsePoints coarse_points(Host&, Arena&, PatternView const& strong, PatternView const& back);
void mark_two_steps(Host&, Arena&, CsrView<double> const& a, std::uint8_t const* strong,
                    Index const* number, std::uint8_t* first, std::uint8_t* second);
void stay_in_place(Host&, Arena&, Index rows, Index* number);
}  // namespace host
namespace cuda {
void mark_classical(Device&, Arena&, CsrView<double> const& a, ClassicalRows, std::uint8_t* keep);
CoarsePoints coarse_points(Device&, Arena&, PatternView const& strong, PatternView const& back);
void mark_two_steps(Device&, Arena&, CsrView<double> const& a, std::uint8_t const* strong,
                    Index const* number, std::uint8_t* first, std::uint8_t* second);
void stay_in_place(Device&, Arena&, Index rows, Index* number);
}  // namespace cuda
}  // namespace tcsolve
