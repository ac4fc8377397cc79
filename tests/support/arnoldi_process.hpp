// SPDX-License-Identifier: Apache-2.0
/// The Arnoldi process of GMRES, step by step, for tests of what each step leaves.
#pragma once

#include <tcsolve/solvers/gmres/ops.hpp>

#include <cstddef>
#include <Eigen/Core>
#include <limits>
#include <utility>
#include <vector>

#include "tests/support/backend.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test::arnoldi {

using Matrix = Eigen::MatrixXd;
using Column = Eigen::VectorXd;

/// Runs the operations; the products are Eigen's.
template <class T, class S = T>
class Process {
 public:
  Process(Context& ctx, Matrix A, Index m, Column const& start, double zero, bool flexible = false)
      : ctx_(ctx),
        A_(std::move(A)),
        m_(m),
        n_(static_cast<Index>(A_.rows())),
        zero_(zero),
        flexible_(flexible),
        V_(ctx, std::vector<std::byte>(Basis<S>::bytes(n_, m), std::byte{0})),
        u_(ctx, std::vector<double>(n_, 0)),
        w_(ctx, std::vector<double>(n_, 0)),
        small_(ctx, std::vector<double>(2 * m + 1 + (m + 1) * m + m * m + 4 * m + 9 + m * m, 0)),
        partials_(ctx, std::vector<double>((2 * m + 1) * gram_blocks(ctx), 0)),
        history_(ctx, std::vector<double>(m + 1, 0)),
        progress_(ctx, Progress{}),
        state_(ctx, LoopState{}) {
    double* at = small_.data();
    auto take = [&](Index count) { return std::exchange(at, at + count); };
    H_ = {m_,          take(2 * m + 1), take((m + 1) * m), take(m * m), take(m), take(m),
          take(m + 1), take(m),         take(1),           take(1),     take(1), take(1),
          take(1),     take(1),         take(1),           take(1)};
    if (flexible) H_.S = take(m * m);
    LoopState fresh;
    fresh.limit = m + 1;
    fresh.divergence2 = std::numeric_limits<double>::infinity();
    fresh.threshold2 = 0;
    fresh.history = history_.data();
    fresh.progress = progress_.data();
    fresh.report_every = 1;
    state_.set(fresh);
    std::vector<double> r(start.data(), start.data() + start.size());
    Guarded<T> residual(ctx, r);
    dot<T>(ctx, residual.in(), residual.in(), H_.norm2);
    submit(ctx, ArnoldiStart<T>{n_, H_, residual.data(), u_.data()});
    ctx.synchronize();
  }

  /// As a run of a loop does: what the norm is compared with is where it began.
  void open() {
    LoopState fresh = state_.get();
    start2_ = fresh.start2 = norm2();
    state_.set(fresh);
  }
  double start2() const { return start2_; }
  double norm2() { return to_host(ctx_, H_.norm2, ctx_.space(), 1)[0]; }

  /// One step; the state after it.
  LoopState step() {
    auto u = u_.get();
    Column z = Eigen::Map<Column>(u.data(), n_);
    Index j = state_.get().iteration;
    if (flexible_)
      for (Index i = 0; i < n_; ++i) z[i] *= 1 + (i * 7 + j * 3) % 5;  // an M that changes
    Z.conservativeResize(n_, j + 1);
    Z.col(j) = z;
    Column w = A_ * z;
    set(w);
    ctx_.within(state_.data(), [&] {
      gram(ctx_,
           Gram<T, S>{n_, basis(V_.data()), u_.data(), w_.data(), H_, zero_, 0, partials_.data()});
      submit(ctx_, ArnoldiUpdate<T, S>{n_, basis(V_.data()), u_.data(), w_.data(), H_, zero_, 0,
                                       Observe{.norm2 = H_.norm2}});
    });
    ctx_.synchronize();
    // Whoever waits for the loop sees how it stands, also when it was ended by the first operation
    // of a step.
    LoopState const state = state_.get();
    EXPECT_EQ(progress_.get().stop, state.stop);
    return state;
  }

  Matrix V(Index columns) {
    auto bytes = V_.all();
    Basis<S> const stored = basis(bytes.data());
    Matrix V(n_, columns);
    for (Index j = 0; j < columns; ++j)
      for (Index i = 0; i < n_; ++i) V(i, j) = double(stored.at(j, i));
    return V;
  }
  Matrix H(Index columns) {
    auto all = to_host(ctx_, H_.h, ctx_.space(), std::size_t(m_ + 1) * m_);
    Matrix full = Eigen::Map<Matrix>(all.data(), m_ + 1, m_);
    return full.topLeftCorner(columns + 1, columns);
  }
  /// What the columns of H are of: z'_j = (z_j - sum_k s_k z'_k) / rho.
  Matrix multiplied() {
    if (!flexible_) return V(static_cast<Index>(Z.cols()));
    auto all = to_host(ctx_, H_.S, ctx_.space(), std::size_t(m_) * m_);
    Matrix s = Eigen::Map<Matrix>(all.data(), m_, m_), made = Z;
    for (Index j = 0; j < Z.cols(); ++j)
      made.col(j) = s(j, j) * (Z.col(j) - made.leftCols(j) * s.col(j).head(j));
    return made;
  }
  /// x = V y for the columns there are; of what was multiplied, where M changes.
  Column solution() {
    submit(ctx_, BackSubstitute{0, H_});
    if (flexible_) {
      auto y = to_host(ctx_, H_.y, ctx_.space(), columns());
      return Z.leftCols(columns()) * Eigen::Map<Column>(y.data(), columns());
    }
    submit(ctx_, CombineBasis<T, S>{n_, H_.columns, basis(V_.data()), H_.y, u_.data()});
    auto x = u_.get();
    return Eigen::Map<Column>(x.data(), n_);
  }
  Index columns() { return static_cast<Index>(to_host(ctx_, H_.columns, ctx_.space(), 1)[0]); }

  Matrix Z;  // what was multiplied by A

 private:
  Basis<S> basis(std::byte* room) const { return Basis<S>::of(room, n_, m_); }
  void set(Column const& w) {
    std::vector<T> values(n_);
    for (Index i = 0; i < n_; ++i) values[i] = T(w[i]);
    copy_bytes(ctx_, w_.data(), ctx_.space(), values.data(), Space::host, sizeof(T) * n_);
  }

  Context& ctx_;
  Matrix A_;
  Index m_, n_;
  double zero_, start2_ = 0;
  bool flexible_;
  There<std::byte> V_;
  Guarded<T> u_, w_;
  There<double> small_, partials_, history_;
  There<Progress> progress_;
  There<LoopState> state_;
  Hessenberg H_{};
};

inline Matrix random_matrix(Index n, std::uint64_t seed) {
  auto values = random_values(std::size_t(n) * n, seed);
  return Eigen::Map<Matrix>(values.data(), n, n);
}
inline Column random_column(Index n, std::uint64_t seed) {
  auto values = random_values(n, seed);
  return Eigen::Map<Column>(values.data(), n);
}

}  // namespace tcsolve::test::arnoldi
