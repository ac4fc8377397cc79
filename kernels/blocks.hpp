// SPDX-License-Identifier: Apache-2.0
/// Passes over blocks of n x k vectors, k at most 64, row-major, which block methods are made of.
/// Vectors are FP64, or FP32 of at most 16 columns and without D; sums and the small matrices are
/// FP64 and lie in the Context's space, so that nothing waits for the host.
///
///     gram        C = X^T Y                p x q, added in a fixed order; also D = X^T Z
///     combine     Y = S + alpha X C        X n x p, C p x q; S may be Y or nothing; C of columns
///                                          beyond p or q is not read; also V = U + alpha X D
///     orthonormalise_block                 P = W T with P^T P = I, W's dependent columns left out
///
///           k columns            a warp of the device takes 4 rows (gram) or 8 (combine) at a time
///         +-----------+          and multiplies by m8n8k4.f64, 8 x 8 sums a tile of C: at k = 16
///     n   |     X     |          the passes are bound by memory, sizeof(T) n (p + q) bytes
///         +-----------+
///
/// The host adds stretches of rows, whose number depends on n alone, in order; the device adds its
/// blocks in order. Each gives the same bits on every run; they differ from one to the other by
/// rounding.
#pragma once

#include <tcsolve/core/context.hpp>
#include <tcsolve/kernels/operation.hpp>
#include <tcsolve/kernels/small_matrix.hpp>

namespace tcsolve {

constexpr Index most_block_columns = 64;
/// A format that makes X^T A X in the pass of its product does so for no more columns.
constexpr Index most_fused_columns = 8;

/// Blocks of the same shape one after the other, of which the first *count exist: a basis that
/// grows on the device. For gram() and combine() X may be one, C then is as many matrices.
template <class T>
struct BlockBasis {
  T const* data;
  Index most;           ///< blocks that there is room for
  std::int64_t stride;  ///< from one to the next
  double const* count;
};

/// C = X^T Y; C is row-major, its rows q apart.                        reads n (p + q) values
/// D = X^T Z with a Z of Y's shape reads n q more.
template <class T>
struct BlockGram {
  static constexpr char const* name = "block_gram";
  static constexpr bool only_sums = true;
  std::int64_t n;
  T const *X, *Y;
  Index p, q;
  std::int64_t ldx, ldy;
  double* C;
  double* partials;      ///< gram_partials() doubles, for each block of X, and for Y and Z
  double const* wanted;  ///< nothing happens where this is 0; null: it always happens
  Index blocks = 1;      ///< of X, `stride` apart: C is as many matrices
  std::int64_t stride = 0;
  double const* count = nullptr;  ///< that exist; null: all
  T const* Z = nullptr;
  double* D = nullptr;  ///< null: none is wanted
  TCSOLVE_HD bool has(Index b) const { return count == nullptr || b < *count; }
};

/// Y = S + alpha X C; C is row-major, its rows q apart. S = null stands for 0. Y may be S, and X
/// where p = q.                                                 reads n (p + q), writes n q values
template <class T>
struct BlockCombine {
  static constexpr char const* name = "block_combine";
  std::int64_t n;
  T const* X;
  Index p, q;
  std::int64_t ldx;
  double alpha;
  double const* C;
  T const* S;
  T* Y;
  std::int64_t ldy;      ///< of S too
  double const* wanted;  ///< as in BlockGram
  Index blocks = 1;      ///< of X, and of C, whose products are added in order
  std::int64_t stride = 0;
  double const* count = nullptr;
  double const* D = nullptr;  ///< V = U + alpha X D, of Y's shape; null: no V. Neither may be X
  T const* U = nullptr;
  T* V = nullptr;
  TCSOLVE_HD Index present() const {
    return count == nullptr ? blocks : static_cast<Index>(*count);
  }
};

/// How a block is made orthonormal: two rounds of CholeskyQR (Yamamoto et al. 2015), each with the
/// largest pivot first. In the first round a column that depends on the others but for a part of
/// 1e-5 of its length or less keeps this part, enlarged; the second measures it anew and leaves out
/// what was rounding. So columns count as dependent below about 1e-10 of their length, where one
/// round could tell them apart to 1e-8 at best. Where the first round met no small pivot, the
/// second is left out; where the second kept a column that is nearly dependent, P is made anew by
/// Householder QR (kernels/tsqr.hpp). A round whose smallest pivot is g leaves P^T P = I to about
/// 1e-16 / g.
struct OrthonormalBlock {
  static TCSOLVE_HD Dependence rule(bool second) {
    return second ? Dependence{.scale = false, .drop = 1e-6, .least = 0}
                  : Dependence{.scale = true, .drop = 1e-10, .least = 1e-14};
  }
  static constexpr double dependent = 1e-10;  ///< of a column's length, for Householder QR
  /// Pivots of a round that is enough, in a recurrence that corrects itself ...
  static constexpr double fair = 1e-4;
  /// ... and where P^T P is to be I to 1e-14.
  static constexpr double full = 0.05;
  double* T;             ///< (w, w)  of the round at hand
  double* again;         ///< (2) whether there is a second round, and Householder QR, 0 or 1
  double* rank;          ///< columns of P that are not zero, the first ones; -1: W holds no numbers
  double enough = fair;  ///< pivots of a round that is
  /// (w) squares of the lengths at which columns are nothing but rounding; null: none are.
  double const* floor = nullptr;
};

/// T of a round from G = W^T W (w x w). Where G holds no numbers, the rank is -1.
struct OrthonormaliseRound {
  static constexpr char const* name = "orthonormalise_round";
  Index w;
  bool second;
  double const* G;
  OrthonormalBlock to;
  /// Two more than are used: the device's compiler reads them in pairs.
  static constexpr Index work(Index w) { return 2 * w * w + w + 2; }
  Index work() const { return work(w); }
  TCSOLVE_HD void run(SmallTeam t, Frame, double* memory) const {
    if (second && to.again[0] == 0) return;
    double sum = 0;
    for (Index i = 0; i < w; ++i) sum += G[i * w + i];
    if (!(sum - sum == 0)) {
      t.sync();  // all have looked
      if (t.leads()) *to.rank = -1, to.again[0] = to.again[1] = 0;
      return;
    }
    Dependence rule = OrthonormalBlock::rule(second);
    if (!second) rule.floor = to.floor;
    Independent const found = orthogonalise(t, w, G, to.T, rule, memory);
    if (!t.leads()) return;
    *to.rank = found.taken;
    bool const enough = found.pivot > to.enough;
    if (!second) to.again[0] = found.taken == w && enough ? 0 : 1;
    to.again[1] = second && !enough ? 1 : 0;
  }
};

namespace host {
void execute(Host&, LoopState*, BlockGram<double> const&);
void execute(Host&, LoopState*, BlockGram<float> const&);
void execute(Host&, LoopState*, BlockCombine<double> const&);
void execute(Host&, LoopState*, BlockCombine<float> const&);
void execute(Host&, LoopState*, OrthonormaliseRound const&);
std::int64_t gram_partials(Host&, std::int64_t n, Index p, Index q);
}  // namespace host
namespace cuda {
void execute(Device&, LoopState*, BlockGram<double> const&);
void execute(Device&, LoopState*, BlockGram<float> const&);
void execute(Device&, LoopState*, BlockCombine<double> const&);
void execute(Device&, LoopState*, BlockCombine<float> const&);
void execute(Device&, LoopState*, OrthonormaliseRound const&);
std::int64_t gram_partials(Device&, std::int64_t n, Index p, Index q);
}  // namespace cuda

/// C = X^T Y. Throws Unsupported beyond 64 columns, on FP32 vectors beyond 16.
void gram(Context&, In<double> X, In<double> Y, double* C, double const* wanted = nullptr);
void gram(Context&, In<float> X, In<float> Y, double* C);
/// C = X^T Y, D = X^T Z, Y and Z blocks of one shape.
void gram(Context&, In<double> X, In<double> Y, double* C, In<double> Z, double* D);
/// Y = S + alpha X C, S null or of Y's shape. Throws Unsupported beyond 64 columns.
void combine(Context&, double alpha, In<double> X, double const* C, double const* S, Out<double> Y,
             double const* wanted = nullptr);
/// Y = S + X C, V = U + X D, blocks of one shape; neither Y nor V is X.
void combine(Context&, In<double> X, double const* C, double const* S, Out<double> Y,
             double const* D, double const* U, Out<double> V);
/// C_b = X_b^T Y for the blocks of a basis, each of p columns. T is double or float.
template <class T>
void gram(Context&, BlockBasis<T> const& X, Index p, In<std::type_identity_t<T>> Y, double* C);
/// Y = S + alpha sum_b X_b C_b. Throws Unsupported beyond 16 columns.
template <class T>
void combine(Context&, double alpha, BlockBasis<T> const& X, Index p, double const* C,
             std::type_identity_t<T> const* S, Out<std::type_identity_t<T>> Y);
/// The first *to.rank columns of P are an orthonormal basis of the span of W's columns, the others
/// are zero. W and P have w columns each and are distinct; G (w, w) is scratch.
/// Cost: three passes, three more where W's columns are dependent, some 3 w where one is so nearly
/// (kernels/tsqr.hpp); a block of n x w of workspace; no wait.
void orthonormalise(Context&, In<double> W, double* G, OrthonormalBlock const& to, Out<double> P);

}  // namespace tcsolve
