// SPDX-License-Identifier: Apache-2.0
/// Classical coarsening: a level's rows are some of the finer one's, C, and the rest, F,
/// interpolates from them.
///
///     o C o o C      C   coarse points: by PMIS, no two strongly coupled both ways
///     o o o C o      o   fine ones; one without a strong coupling to C has a row of zeros in P
///
///     strong    i on j where -a_ij >= strength max_k -a_ik; no row whose sum exceeds max_row_sum
///               a_ii is strong on any (Ruge and Stueben 1987, Algebraic multigrid)
///     C         i joins where more rows are strong on it than on any that waits around it, a hash
///               between equal ones; what is strong on a member is F (De Sterck, Yang and Heys
///               2006, Reducing complexity in parallel algebraic multigrid preconditioners)
///     P         extended interpolation, from C and over F, as a product of two sparse matrices
///               (Li, Sjoegreen and Yang 2021, A new class of AMG interpolation methods based on
///               matrix-matrix multiplications, MM-ext):
///
///               P_F = -(D_F + D_w)^-1 (A_FF + D_b) D_b^-1 A_FC     strong couplings
///               D_b = row sums of A_FC, D_w of the weak couplings and those to rows without C
///
///               of each row the largest few entries, times what keeps their sum
///
/// For matrices whose off-diagonal entries are negative, however much they vary: it asks for ratios
/// within a row alone.
#pragma once

#include <memory>
#include <optional>

#include <tcsolve/precond/amg/level.hpp>
#include <tcsolve/sparse/filter.hpp>
#include <tcsolve/sparse/product.hpp>

namespace tcsolve {

/// Which rows are coarse.
struct CoarsePoints {
  Array<Index> number;  ///< (rows) of the coarse ones in ascending order, -1 for all others
  Index count = 0;
};
/// Row i depends on j where the graph of what is strong has an entry; the same on every run and
/// backend. Cost: some log2(rows) rounds of two passes over the graph and its transpose.
CoarsePoints coarse_points(Context&, sparse::OwnedPattern const& strong,
                           sparse::OwnedPattern const& strong_transposed);

/// The sum of positive off-diagonal entries over that of the sizes of all; 0 where there are none.
/// A pass, a wait.
double positive_share(Context&, CsrView<double> const& a);
/// At most this share are as good as none.
constexpr double few_positive = 0.01;

/// Whether classical coarsening suits a matrix better than aggregation: no more than a hundredth of
/// the off-diagonal sizes is positive, and the diagonal varies by a hundred and more among rows
/// with couplings. Two passes, two waits.
bool varies_as_an_m_matrix(Context&, CsrView<double> const& a);

class Classical final : public AmgTransfer {
 public:
  struct Rule {
    double strength = 0.25;
    double max_row_sum = 0.9;
    int most = 4;  ///< entries of a row of P
    std::shared_ptr<SetupClock> clock = nullptr;
  };
  /// Of a, canonical, in the Context's space.
  Classical(Context&, CsrView<double> const& a, Rule const& rule);

  /// With fewer strong couplings, and fewer coarse points.
  bool thin_out(Context&, CsrView<double> const& a) override;
  /// Never: which entries of P are the largest depends on values.
  bool suits(Context&, CsrView<double> const&) override { return false; }

 private:
  void plan(Context&, CsrView<double> const& a);
  sparse::OwnedPattern const& pattern_of_p() const override { return largest_->pattern(); }
  void interpolate(Context&, CsrView<double> const& a, double lambda_max, double* p) override;
  double own_bytes() const override;
  /// Values of the interpolation with all of its entries.
  void all_values(Context&, CsrView<double> const& a, double* values);

  Rule rule_;
  CoarsePoints coarse_;
  std::optional<sparse::Filter> fine_;      // pattern of A_FF + D_b on F, I on C
  sparse::OwnedPattern to_coarse_;          // of D_b^-1 A_FC on F, I on C
  std::optional<sparse::Product> product_;  // of both
  std::optional<sparse::Filter> largest_;   // of its rows: P
};

}  // namespace tcsolve

namespace tcsolve {

/// What classical coarsening goes through in passes.
struct ClassicalRows {
  double strength, max_row_sum;
};

namespace host {
void mark_classical(Host&, Arena&, CsrView<double> const& a, ClassicalRows, std::uint8_t* keep);
CoarsePoints coarse_points(Host&, Arena&, PatternView const& strong, PatternView const& back);
void mark_fine(Host&, Arena&, CsrView<double> const& a, std::uint8_t const* strong,
               Index const* number, std::uint8_t* keep);
sparse::OwnedPattern coarse_pattern(Host&, Arena&, CsrView<double> const& a,
                                    std::uint8_t const* strong, CoarsePoints const&);
void interpolation_factors(Host&, Arena&, CsrView<double> const& a, std::uint8_t const* strong,
                           Index const* number, sparse::OwnedPattern const& fine,
                           sparse::OwnedPattern const& to_coarse, double* left, double* right);
void mark_largest(Host&, Arena&, CsrView<double> const& p, int most, std::uint8_t* keep);
void keep_sums(Host&, Arena&, CsrView<double> const& all, CsrView<double> const& kept, double* to);
}  // namespace host
namespace cuda {
void mark_classical(Device&, Arena&, CsrView<double> const& a, ClassicalRows, std::uint8_t* keep);
CoarsePoints coarse_points(Device&, Arena&, PatternView const& strong, PatternView const& back);
void mark_fine(Device&, Arena&, CsrView<double> const& a, std::uint8_t const* strong,
               Index const* number, std::uint8_t* keep);
sparse::OwnedPattern coarse_pattern(Device&, Arena&, CsrView<double> const& a,
                                    std::uint8_t const* strong, CoarsePoints const&);
void interpolation_factors(Device&, Arena&, CsrView<double> const& a, std::uint8_t const* strong,
                           Index const* number, sparse::OwnedPattern const& fine,
                           sparse::OwnedPattern const& to_coarse, double* left, double* right);
void mark_largest(Device&, Arena&, CsrView<double> const& p, int most, std::uint8_t* keep);
void keep_sums(Device&, Arena&, CsrView<double> const& all, CsrView<double> const& kept,
               double* to);
}  // namespace cuda
}  // namespace tcsolve
