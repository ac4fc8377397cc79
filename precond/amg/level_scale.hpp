// SPDX-License-Identifier: Apache-2.0
/// Levels in narrow types. Each is scaled by powers of two that bring its diagonal near 1, alike
/// for rows and columns, so that it stays symmetric, and all of them by one power more:
///
///     A'_l = 2^-h S_l A_l S_l          1 <= a'_ii < 4 but for rows of zeros; |a'_ij| < 4 where A is
///     P'_l = S_l^-1 P_l S_{l+1}        positive definite
///     R'_l = P'_l^T                    P'^T A' P' = A'_{l+1}
///     W'_l = 2^h S_l^-1 W_l S_l^-1
///
/// 2^h is about the largest diagonal entry of A_0. Nothing is rounded by it, so that a cycle of
/// these levels is that of the given ones, M = 2^-h S_0 M' S_0, and the cycle of A times a power of
/// two has the same bits.
#pragma once

#include <cstdint>

#include <tcsolve/core/context.hpp>
#include <tcsolve/core/csr_view.hpp>
#include <tcsolve/core/half.hpp>

namespace tcsolve {

/// 2^power diag(left)^e diag(right)^f of a matrix, e and f 1 or -1; null: the identity.
struct LevelScale {
  int power = 0;
  double const* left = nullptr;   ///< (rows)
  double const* right = nullptr;  ///< (cols)
  bool divide_left = false, divide_right = false;
};

/// h: 2^h <= the largest of d, a diagonal, < 2^(h + 1); 0 where none is normal. A wait.
int largest_exponent(Context&, In<double> d);
/// s, which comes in as a diagonal d, becomes s_i = 2^e with 2^-h d_i s_i^2 in [1, 4); 1 where d_i
/// is not positive.
void level_scale(Context&, int h, Out<double> s);
/// to_i = w_i 2^h / s_i^2.
template <class T>
void scale_weights(Context&, double const* w, int h, double const* s, std::int64_t rows, T* to);
/// to_k = the scaled entry k, rounded to S.
template <class S>
void scale_entries(Context&, CsrView<double> const& a, LevelScale const&, S* to);
/// The same; returns whether one that is not zero, and that keep (entries, null: none is asked for)
/// holds to be strong, became zero, or one became infinite: others may then not be written. A wait.
template <class S>
bool scale_entries(Context&, CsrView<double> const& a, LevelScale const&, std::uint8_t const* keep,
                   S* to);

}  // namespace tcsolve

#define TCSOLVE_LEVEL_REALS(X) X(double) X(float) X(half) X(bfloat16)

namespace tcsolve {
namespace host {
void level_scale(Host&, Arena&, std::int64_t rows, int h, double* s);
template <class T>
void scale_weights(Host&, Arena&, double const* w, int h, double const* s, std::int64_t rows,
                   T* to);
template <class S>
void scale_entries(Host&, Arena&, CsrView<double> const& a, LevelScale const&, S* to);
template <class S>
bool scale_entries(Host&, Arena&, CsrView<double> const& a, LevelScale const&,
                   std::uint8_t const* keep, S* to);
}  // namespace host
namespace cuda {
void level_scale(Device&, Arena&, std::int64_t rows, int h, double* s);
template <class T>
void scale_weights(Device&, Arena&, double const* w, int h, double const* s, std::int64_t rows,
                   T* to);
template <class S>
void scale_entries(Device&, Arena&, CsrView<double> const& a, LevelScale const&, S* to);
template <class S>
bool scale_entries(Device&, Arena&, CsrView<double> const& a, LevelScale const&,
                   std::uint8_t const* keep, S* to);
}  // namespace cuda
}  // namespace tcsolve
