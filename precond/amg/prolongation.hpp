// SPDX-License-Identifier: Apache-2.0
/// The prolongation of smoothed aggregation, in the Context's space (Vanek, Mandel and Brezina
/// 1996, Algebraic multigrid by smoothed aggregation for second and fourth order elliptic problems,
/// section 3):
///
///     B = T B_c             T^T T = I on the columns that are not zero
///     P = (I - omega D_F^-1 A_F) T,  omega = 4 / (3 lambda_max(D_F^-1 A_F))
///
/// B (n x k) are vectors that A nearly maps to zero. T, tentative, has in the rows of an aggregate
/// the Q of B's QR factorisation there, and the R are the rows of B_c, the same vectors on the
/// coarser level:
///
///           aggregate 0   1
///     T = [ q q          . . ]     rows of aggregate 0; k = 2 columns for each aggregate
///         [ q q          . . ]
///         [ . .          q q ]     rows of aggregate 1
///         [ . .          . . ]     a row in no aggregate has no entries
///
/// A column that depends on those before it, in an aggregate of fewer rows than vectors, or where
/// two vectors agree, is zero, and so are its row and column of the coarser matrix. The pattern
/// does not depend on values.
#pragma once

#include <tcsolve/precond/amg/aggregates.hpp>

namespace tcsolve {

/// Where T has entries, and the nodes of each aggregate, ascending.
struct TentativePattern {
  sparse::OwnedPattern pattern;  ///< (block nodes x k aggregates)
  Array<Index> nodes;            ///< (those in an aggregate) by aggregate
  Array<Index> begin;            ///< (aggregates + 1) of each in `nodes`
  Index block = 1, vectors = 1, aggregates = 0;
};

/// A column whose rest is at most this times its length depends on the others.
constexpr double dependent_column = 1e-8;

TentativePattern tentative_pattern(Context&, Aggregates const&, Index block, Index vectors);
/// T's values (entries), and B_c (k aggregates x k) of B (block nodes x k), by rows: Gram-Schmidt,
/// each column twice (Golub and Van Loan 2013, section 5.2.8). Cost: 4 k^2 flops a row, an
/// aggregate by one warp.
void tentative_values(Context&, TentativePattern const&, double const* B, double* values,
                      double* coarse);

/// d_i = 1 / f_ii of a filtered matrix F (sparse/filter.hpp); where f_ii is not positive a_ii takes
/// its place in F as well, and d_i = 0 where that is not either.
void positive_diagonal(Context&, CsrView<double> const& a, sparse::OwnedPattern const& filtered,
                       double* values, double* d);

/// P = T - omega D (A_F T); product: A_F T, whose pattern holds T's, with values; p: (its entries).
void smooth(Context&, CsrView<double> const& product, CsrView<double> const& tentative,
            double const* d, double omega, double* p);

}  // namespace tcsolve

namespace tcsolve {
namespace host {
TentativePattern tentative_pattern(Host&, Arena&, Aggregates const&, Index block, Index vectors);
void tentative_values(Host&, Arena&, TentativePattern const&, double const* B, double* values,
                      double* coarse);
void positive_diagonal(Host&, Arena&, CsrView<double> const& a,
                       sparse::OwnedPattern const& filtered, double* values, double* d);
void smooth(Host&, Arena&, CsrView<double> const& product, CsrView<double> const& tentative,
            double const* d, double omega, double* p);
}  // namespace host
namespace cuda {
TentativePattern tentative_pattern(Device&, Arena&, Aggregates const&, Index block, Index vectors);
void tentative_values(Device&, Arena&, TentativePattern const&, double const* B, double* values,
                      double* coarse);
void positive_diagonal(Device&, Arena&, CsrView<double> const& a,
                       sparse::OwnedPattern const& filtered, double* values, double* d);
void smooth(Device&, Arena&, CsrView<double> const& product, CsrView<double> const& tentative,
            double const* d, double omega, double* p);
}  // namespace cuda
}  // namespace tcsolve
