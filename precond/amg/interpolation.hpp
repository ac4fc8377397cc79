// SPDX-License-Identifier: Apache-2.0
/// Interpolation of classical coarsening: fine rows F from coarse ones C, over other fine rows, as
/// products of sparse matrices (Li, Sjoegreen and Yang 2021, A new class of AMG interpolation
/// methods based on matrix-matrix multiplications):
///
///     mm_ext     P_F = -D^-1 (A_FF + D_b) D_b^-1 A_FC           strong couplings
///                D_b   row sums of A_FC
///                D     the diagonal, the weak couplings, and those to rows without C
///
///     mm_ext_i   the way back from k to i counts too: for a_ki stands the mean l_k of the couplings
///                of k in A_FF
///                D_b   row sums of A_FC, and l
///                D_i   as above, and sum_k a_ik l_k / (D_b)_k
///
///     of each row the largest few entries, times what keeps their sum
///
/// Aggressive coarsening takes two stages of it: rows C_1 are coarse points of the first, of which
/// C_2 stay. C_1 is interpolated from C_2 over all fine rows, two strong couplings far, F_1 from
/// C_1, and P is the product.
#pragma once

#include <optional>

#include <tcsolve/core/array.hpp>
#include <tcsolve/core/context.hpp>
#include <tcsolve/sparse/filter.hpp>
#include <tcsolve/sparse/product.hpp>

namespace tcsolve {

/// Which rows are coarse.
struct CoarsePoints {
  Array<Index> number;  ///< (rows) of the coarse ones in ascending order, -1 for all others
  Index count = 0;
};

/// The product of two sparse matrices, of each row the largest few entries, times what keeps their
/// sum.
class CutProduct {
 public:
  /// At most `most` entries a row, of these values; of equal ones the first.
  CutProduct(Context&, CsrView<double> const& left, CsrView<double> const& right, int most);
  sparse::OwnedPattern const& pattern() const { return largest_->pattern(); }
  /// Ends the plan: its pattern for somebody who stores it.
  sparse::OwnedPattern release() && { return std::move(*largest_).release(); }
  /// Writes the values (entries) of new factors on the same patterns, the same places being kept.
  void values(Context&, CsrView<double> const& left, CsrView<double> const& right,
              double* to) const;
  double bytes() const;

 private:
  sparse::Product product_;
  std::optional<sparse::Filter> largest_;
};

struct InterpolationRule {
  bool way_back = false;  ///< mm_ext_i
  int most = 4;           ///< entries of a row
};

/// A stage: rows of P are those of the matrix, columns the coarse points.
class Interpolation {
 public:
  /// Of a, canonical, in the Context's space, and its strong couplings (entries of a). rows: (rows
  /// of a) P has entries in those with a number >= 0; null: in all. Throws what Product throws.
  Interpolation(Context&, CsrView<double> const& a, std::uint8_t const* strong, CoarsePoints coarse,
                Index const* rows, InterpolationRule const& rule);
  sparse::OwnedPattern const& pattern() const { return product_->pattern(); }
  /// Ends the plan: its pattern for somebody who stores it.
  sparse::OwnedPattern release() && { return std::move(*product_).release(); }
  /// Writes the values (entries) of a matrix on the same pattern; what is strong stays.
  void values(Context&, CsrView<double> const& a, std::uint8_t const* strong, double* p) const;
  double bytes() const;

 private:
  /// f(left, right) with the values of both factors.
  template <class F>
  void with_factors(Context&, CsrView<double> const& a, std::uint8_t const* strong,
                    F const& f) const;

  InterpolationRule rule_;
  CoarsePoints coarse_;
  std::optional<sparse::Filter> fine_;  // pattern of A_FF + D_b on F, I on C
  sparse::OwnedPattern to_coarse_;      // of D_b^-1 A_FC on F, I on C
  std::optional<CutProduct> product_;
};

}  // namespace tcsolve

namespace tcsolve {

/// What passes of interpolation read.
struct InterpolationView {
  CsrView<double> a;
  std::uint8_t const* strong;  ///< (entries of a)
  Index const* number;         ///< (rows) of coarse points, -1 for others
  Index const* rows;           ///< (rows) >= 0 where P has entries; null: everywhere
};

namespace host {
void mark_fine(Host&, Arena&, InterpolationView const&, std::uint8_t* keep);
sparse::OwnedPattern coarse_pattern(Host&, Arena&, InterpolationView const&, Index coarse);
void interpolation_factors(Host&, Arena&, InterpolationView const&, bool way_back,
                           PatternView const& fine, PatternView const& to_coarse, double* left,
                           double* right);
void mark_largest(Host&, Arena&, CsrView<double> const& p, int most, std::uint8_t* keep);
void keep_sums(Host&, Arena&, CsrView<double> const& all, CsrView<double> const& kept, double* to);
}  // namespace host
namespace cuda {
void mark_fine(Device&, Arena&, InterpolationView const&, std::uint8_t* keep);
sparse::OwnedPattern coarse_pattern(Device&, Arena&, InterpolationView const&, Index coarse);
void interpolation_factors(Device&, Arena&, InterpolationView const&, bool way_back,
                           PatternView const& fine, PatternView const& to_coarse, double* left,
                           double* right);
void mark_largest(Device&, Arena&, CsrView<double> const& p, int most, std::uint8_t* keep);
void keep_sums(Device&, Arena&, CsrView<double> const& all, CsrView<double> const& kept,
               double* to);
}  // namespace cuda
}  // namespace tcsolve
