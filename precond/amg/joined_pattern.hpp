// SPDX-License-Identifier: Apache-2.0
/// The prolongation of one vector, P = (I - omega D^-1 A_F) T, in the Context's space. T has one
/// entry a row at most then: A_F T is A_F with the aggregate of each column in place of its number,
/// those of a row that are alike added up, and P is one pass over A_F:
///
///     row i of A_F         columns  3 4 9 12 13         aggregate of  3 4 9 12 13:  7 7 2 . 2
///                          values   a b c  d  e         T there                     s t u . v
///
///     row i of A_F T       columns  2         7         d: of a row without entries in T
///                          values   c u + e v a s + b t
///
/// The sums are those of sparse/product.hpp, in its order: the same bits. The difference from T is
/// rounded as in smooth(), on a device once less (FMA).
#pragma once

#include <optional>

#include <tcsolve/core/context.hpp>
#include <tcsolve/sparse/owned_pattern.hpp>

namespace tcsolve {

/// A row of P with more aggregates is for a product of sparse matrices.
constexpr int most_joined = 32;

/// The pattern of F T, of an F (n x n) and a T (n x aggregates) with one entry a row at most;
/// nothing where a row has more than most_joined. Values of F are not read and may be null. Cost:
/// two passes over the columns of F.
std::optional<sparse::OwnedPattern> joined_pattern(Context&, CsrView<double> const& f,
                                                   PatternView const& tentative);

/// P = T - omega D (F T) on joined_pattern(); p: (its entries). Cost: a pass over F, and 12 bytes
/// an entry of it at random.
void smooth_joined(Context&, CsrView<double> const& f, CsrView<double> const& tentative,
                   double const* d, double omega, sparse::OwnedPattern const& pattern, double* p);

}  // namespace tcsolve

namespace tcsolve {
namespace host {
std::optional<sparse::OwnedPattern> joined_pattern(Host&, Arena&, CsrView<double> const& f,
                                                   PatternView const& tentative);
void smooth_joined(Host&, Arena&, CsrView<double> const& f, CsrView<double> const& tentative,
                   double const* d, double omega, sparse::OwnedPattern const& pattern, double* p);
}  // namespace host
namespace cuda {
std::optional<sparse::OwnedPattern> joined_pattern(Device&, Arena&, CsrView<double> const& f,
                                                   PatternView const& tentative);
void smooth_joined(Device&, Arena&, CsrView<double> const& f, CsrView<double> const& tentative,
                   double const* d, double omega, sparse::OwnedPattern const& pattern, double* p);
}  // namespace cuda
}  // namespace tcsolve
