// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/solvers/driver/solve_frame.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include <tcsolve/kernels/reductions.hpp>
#include <tcsolve/operators/column.hpp>
#include <tcsolve/operators/composite.hpp>
#include <tcsolve/precond/preconditioner.hpp>
#include <tcsolve/solvers/driver/trial.hpp>

namespace tcsolve {
namespace {

/// ||A z|| of a null vector, relative to ||A||, that rounding in z and in the entries explains.
constexpr double of_a_null_vector = 1e-8;

std::size_t bytes(std::int64_t values) { return sizeof(double) * static_cast<std::size_t>(values); }

/// The elements of v are those of a row-major block, without gaps.
template <class T>
bool rows_are_packed(MultiView<T> const& v) {
  return v.is_vector() || (v.layout == Layout::row_major && v.ld == v.cols);
}

/// Rows with gaps between them are gathered by the host.
void require_host_rows(std::string const& solver, In<double> v) {
  if (v.space != Space::host)
    throw ShapeError(cat(solver, ": a row-major block with ", v.cols, " columns and rows ", v.ld,
                         " apart must lie on the host or in the Context's space"));
}

/// here = v from another space; `here` is row-major without gaps.
void fetch(Context& ctx, std::string const& solver, In<double> v, Out<double> here) {
  if (v.size() == 0) return;
  auto const put = [&](double const* from, Space space, Out<double> to) {
    copy_bytes(ctx, to.data, to.space, from, space, bytes(to.size()));
  };
  if (rows_are_packed(v)) return put(v.data, v.space, here);
  if (v.layout == Layout::row_major) {
    require_host_rows(solver, v);
    std::vector<double> rows;
    rows.reserve(static_cast<std::size_t>(v.size()));
    for (Index i = 0; i < v.rows; ++i)
      rows.insert(rows.end(), v.data + v.offset(i, 0), v.data + v.offset(i, 0) + v.cols);
    return put(rows.data(), Space::host, here);
  }
  auto scope = ctx.arena().scope();
  Out<double> const one = scope.vectors<double>(v.rows, 1);
  for (Index j = 0; j < v.cols; ++j) {
    put(v.data + v.offset(0, j), v.space, one);
    copy<double, double>(ctx, one, column(here, j));
  }
}

/// v = here, in another space, complete on return.
void deliver(Context& ctx, std::string const& solver, In<double> here, Out<double> v) {
  if (v.size() == 0) return;
  auto const put = [&](In<double> from, double* to, Space space) {
    copy_bytes(ctx, to, space, from.data, from.space, bytes(from.size()));
  };
  if (rows_are_packed(v)) return put(here, v.data, v.space);
  if (v.layout == Layout::row_major) {
    require_host_rows(solver, v);
    std::vector<double> rows(static_cast<std::size_t>(v.size()));
    put(here, rows.data(), Space::host);
    for (Index i = 0; i < v.rows; ++i)
      std::copy_n(rows.data() + std::int64_t{i} * v.cols, v.cols, v.data + v.offset(i, 0));
    return;
  }
  auto scope = ctx.arena().scope();
  Out<double> const one = scope.vectors<double>(v.rows, 1);
  for (Index j = 0; j < v.cols; ++j) {
    copy<double, double>(ctx, column(here, j), one);
    put(one, v.data + v.offset(0, j), v.space);
  }
}

}  // namespace

void SolveFrame::setup(Context& ctx, std::string const& solver, OperatorPtr<double> const& A) {
  solver_ = solver;
  A_ = A;
  // A setup() with new values in the same Context finds everything where it was.
  bool const anew = std::exchange(ctx_, &ctx) != &ctx;
  Permutation const* const P = framing_.order.get();
  if (P != nullptr && (A->rows() != P->size() || A->cols() != P->size()))
    throw ShapeError(cat(solver, ": A is ", A->rows(), " x ", A->cols(), ", its permutation has ",
                         P->size(), " elements; A is a square matrix in the new numbers"));
  if (P != nullptr && anew) {
    old_numbers_ = to_space(ctx, P->old_numbers().data(), P->old_numbers().size());
    new_numbers_ = to_space(ctx, P->new_numbers().data(), P->new_numbers().size());
  }
  if (framing_.nullspace.empty()) {
    N_ = nullptr;
    return;
  }
  if (anew) {
    auto vectors = framing_.nullspace;
    if (P != nullptr)
      for (std::vector<double>& z : vectors) {
        if (z.size() != P->old_numbers().size())
          throw ShapeError(cat("nullspace: A is ", A->rows(), " x ", A->cols(),
                               ", its vectors have ", z.size(), " entries"));
        std::vector<double> const old = z;
        std::ranges::transform(P->old_numbers(), z.begin(),
                               [&](Index i) { return old[static_cast<std::size_t>(i)]; });
      }
    N_ = std::make_shared<Projection>(ctx, std::move(vectors));
  }
  if (A->rows() != N_->rows() || A->cols() != N_->rows())
    throw ShapeError(cat("nullspace: A is ", A->rows(), " x ", A->cols(), ", its vectors have ",
                         N_->rows(), " entries"));
  check_nullspace(*A);
}

/// That A Z = 0, and whether A^T Z = 0: z^T A v of random v is then rounding. Formats need not have
/// a transpose for it.
void SolveFrame::check_nullspace(LinearOperator<double> const& A) {
  Context& ctx = *ctx_;
  double const size = ctx.communicator().agree(A.norm_estimate());
  double const limit = of_a_null_vector * (std::isfinite(size) ? size : 1.0);
  auto scope = ctx.arena().scope();
  Out<double> const v = scope.vectors<double>(A.rows(), 1), t = scope.vectors<double>(A.rows(), 1),
                    in_Z = scope.vectors<double>(A.rows(), 1);
  for (Index k = 0; k < N_->vectors(); ++k) {
    A.apply(ctx, N_->z(k), t);
    if (double const product = norm<double>(ctx, t); !(product <= limit))
      throw SetupError(cat("nullspace: ||A z|| = ", figure_text(product), " for vector ", k + 1,
                           " of unit length, and A is of size ", figure_text(size),
                           ": the vector is not in the nullspace of A"));
  }
  left_ = true;
  constexpr int probes = 3;
  for (int probe = 0; probe < probes; ++probe) {
    random_vector<double>(ctx, 200 + probe, v);
    double const length = norm<double>(ctx, v);
    A.apply(ctx, v, t);
    copy<double, double>(ctx, t, in_Z);
    N_->apply(ctx, -1.0, t, 1.0, in_Z);  // Z Z^T A v
    left_ = left_ && norm<double>(ctx, in_Z) <= limit * length;
  }
}

OperatorPtr<double> SolveFrame::around(OperatorPtr<double> M) const {
  if (!M || !projects()) return M;
  if (left_) M = std::make_shared<Product<double>>(std::move(M), N_);
  return std::make_shared<Product<double>>(N_, std::move(M));
}

/// here = P v.
void SolveFrame::bring(In<double> v, MultiVector<double>& here) {
  Context& ctx = *ctx_;
  here.resize(ctx.space(), v.rows, v.cols);
  if (!framing_.order) {
    if (v.space == ctx.space()) return copy<double, double>(ctx, v, here);
    return fetch(ctx, solver_, v, here);
  }
  if (v.space != ctx.space()) {
    staged_.resize(ctx.space(), v.rows, v.cols);
    fetch(ctx, solver_, v, staged_);
    v = staged_;
  }
  permute<double>(ctx, old_numbers_.data(), v, here);
}

auto SolveFrame::enter(In<double> b, Out<double> x, bool own) -> Inside {
  Context& ctx = *ctx_;
  given_x_ = x;
  if (projects()) {
    own_x_ = true;
    bring(x, out_);
    x_.resize(ctx.space(), x.rows, x.cols);
    N_->apply(ctx, out_, x_);
    bring(b, given_b_);
    outside_.assign(static_cast<std::size_t>(b.cols), 0.0);
    if (!left_) return {given_b_, x_};
    b_.resize(ctx.space(), b.rows, b.cols);
    N_->apply(ctx, given_b_, b_);
    copy<double, double>(ctx, given_b_, out_);
    axpby<double, double>(ctx, -1.0, b_, 1.0, out_.view());
    for (Index j = 0; j < b.cols; ++j) {
      auto scope = ctx.arena().scope();
      Out<double> const one = scope.vectors<double>(b.rows, 1);
      copy<double, double>(ctx, column<double const>(out_, j), one);
      outside_[static_cast<std::size_t>(j)] = norm<double>(ctx, one);
    }
    return {b_, x_};
  }
  auto const taken_as_it_is = [&](auto const& v) {
    return !own && !framing_.order && v.space == ctx.space() && v.is_vector();
  };
  Inside inside{b, x};
  if (!taken_as_it_is(b)) {
    bring(b, b_);
    inside.b = b_;
  }
  own_x_ = !taken_as_it_is(x);
  if (own_x_) {
    bring(x, x_);
    inside.x = x_;
  }
  return inside;
}

void SolveFrame::leave() {
  if (!own_x_) return;
  Context& ctx = *ctx_;
  Out<double> const x = given_x_;
  bool const here = x.space == ctx.space();
  In<double> result = x_;
  if (projects()) {
    N_->apply(ctx, x_, out_);
    result = out_;
  }
  if (framing_.order) {
    if (!here) staged_.resize(ctx.space(), x.rows, x.cols);
    Out<double> const to = here ? x : staged_.view();
    permute<double>(ctx, new_numbers_.data(), result, to);
    result = to;
  } else if (here) {
    copy<double, double>(ctx, result, x);
  }
  if (here) return ctx.synchronize();
  deliver(ctx, solver_, result, x);
}

void SolveFrame::judge(Index j, SolveReport& report) {
  if (!projects() || !std::isfinite(report.true_residual)) return;  // b, x or A hold NaN or Inf
  Context& ctx = *ctx_;
  auto scope = ctx.arena().scope();
  auto const single = [&](MultiVector<double> const& v) {
    Out<double> const one = scope.vectors<double>(v.rows(), 1);
    copy<double, double>(ctx, column<double const>(v, j), one);
    return In<double>(one);
  };
  In<double> const b = single(given_b_), x = single(out_);
  auto const [b_norm] = norms(ctx, b);
  double const outside = outside_[static_cast<std::size_t>(j)];
  double const tolerance = report.tolerance >= 0 ? report.tolerance : 0.0;
  double const size = ctx.communicator().agree(A_->norm_estimate());
  Measured const now = Measurement(ctx, *A_, b, x, scope.vectors<double>(b.rows, 1), Summed::exact,
                                   row_rule({}, tolerance, b_norm), nullptr)
                           .wait();
  report.rhs_norm = b_norm;
  report.initial_residual = std::hypot(report.initial_residual, outside);
  report.true_residual = now.residual;
  report.rowwise_error = now.rows.relative;
  report.rows_unmet = now.rows.unmet;
  report.backward_error = backward_error(now.residual, size, now.x_norm, b_norm);
  if (!std::isnan(now.rows.size))
    report.attainable =
        attainable_residual(now.rows.size, size, double(ctx.communicator().global_size(x.rows)));
  if (now.residual <= tolerance) {
    if (!report.converged()) report.reason = Stop::converged, report.cause = Cause::none;
  } else if (report.converged()) {
    bool const inconsistent = outside > tolerance || now.residual <= std::hypot(tolerance, outside);
    report.reason = inconsistent ? Stop::least_squares : Stop::false_convergence;
    report.cause = inconsistent ? Cause::inconsistent : Cause::nullspace;
    report.value = outside;
  }
}

double SolveFrame::vectors() const {
  double const ordered = framing_.order ? 3 : 0;  // b', x' and a staged copy
  auto const null = static_cast<double>(framing_.nullspace.size());
  return ordered + (null > 0 ? 4 + null : 0);
}

}  // namespace tcsolve
