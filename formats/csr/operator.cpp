// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/formats/csr/operator.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <tcsolve/formats/csr/long_rows.hpp>
#include <tcsolve/formats/csr/ops.hpp>
#include <tcsolve/kernels/matrix_ops.hpp>
#include <tcsolve/kernels/norm_inf.hpp>
#include <tcsolve/kernels/reductions.hpp>
#include <tcsolve/matrix/same_pattern.hpp>
#include <tcsolve/matrix/scaled.hpp>
#include <tcsolve/sparse/transpose.hpp>

namespace tcsolve {

namespace {

template <class S>
CsrView<S> const& with_indices(CsrView<S> const& a) {
  if (a.space == Space::host) require_indices(a);
  return a;
}
template <class S>
Csr<S> with_indices(Csr<S> a) {
  require_indices(a.view());
  return a;
}

/// The values of A^T, on its pattern.
template <class S>
void fill_transpose(Context& ctx, CsrView<S> const& a, CsrStorage<S>& to) {
  CsrView<S> const& at = to.view();
  RowShares const shares = row_shares(at);
  submit(ctx,
         TransposeValues<S>{shares.threads(at.entries), shares, a, at.columns, to.own_values()});
}

}  // namespace

template <class T, class S>
CsrOperator<T, S>::Side::Side(Context& ctx, CsrStorage<S> a, double* norm) : matrix(std::move(a)) {
  CsrView<S> const& view = matrix.view();
  constexpr Offset most = CsrParts<S>::length;
  auto scope = ctx.arena().scope();
  std::array<double, 2> found{};  // the longest row, the norm
  double* const there = scope.template take<double>(found.size());
  ctx.within(nullptr, [&] {  // stopped or not
    submit(ctx, LongestRow<S>{view.rows, view, there});
    if (norm != nullptr) norm_inf(ctx, view, there + 1);
  });
  copy_bytes(ctx, found.data(), Space::host, there, ctx.space(),
             (norm != nullptr ? 2 : 1) * sizeof(double));
  if (norm != nullptr) *norm = found[1];
  if (!(found[0] > double(most))) return;
  CsrLongRows rows = ctx.visit([&](auto& on) { return long_rows(on, ctx.arena(), view, most); });
  row = std::move(rows.row), start = std::move(rows.start);
  sums = Array<T>(ctx.space(), static_cast<std::size_t>(rows.parts));
}

template <class T, class S>
CsrParts<S> CsrOperator<T, S>::Side::parts() const {
  return {matrix.view(), static_cast<Index>(row.size()), static_cast<Index>(sums.size()),
          row.data(), start.data()};
}

template <class T, class S>
void CsrOperator<T, S>::product(Context& ctx, Side const& side, T alpha, In<T> x, T beta, Out<T> y,
                                double* sigma) {
  CsrParts<S> const parts = side.parts();
  T* const sums = side.sums.data();
  auto call = [=](Context& c) {
    c.visit([&]<class On>(On& on) {
      if constexpr (OnDevice<On>)
        spmm_csr(on, c.loop(), alpha, parts, sums, x, beta, y);
      else
        spmm_csr(on, c.loop(), alpha, parts.a, x, beta, y);
    });
    if (sigma != nullptr) dot<T>(c, x, y, sigma);
  };
  if (x.is_vector() && y.is_vector())
    ctx.submit_op(CsrMultiply<S, T>{parts.a.rows, alpha, parts.a, x.data, beta, y.data, sigma},
                  call);
  else
    ctx.submit("csr_multiply", call);
}

template <class T, class S>
CsrOperator<T, S>::CsrOperator(Context& ctx, CsrView<S> const& a, Arrays arrays)
    : CsrOperator(ctx, CsrStorage<S>(ctx, with_indices(a), arrays)) {}

template <class T, class S>
CsrOperator<T, S>::CsrOperator(Context& ctx, Csr<S> a)
    : CsrOperator(ctx, CsrStorage<S>(ctx, with_indices(std::move(a)))) {}

template <class T, class S>
CsrOperator<T, S>::CsrOperator(Context& ctx, CsrStorage<S> a, CsrNorm norm)
    : LinearOperator<T>(a.view().rows, a.view().cols),
      asked_(norm),
      side_(ctx, std::move(a), norm == CsrNorm::taken ? &norm_ : nullptr) {}

template <class T, class S>
CsrOperator<T, S>::~CsrOperator() = default;

template <class T, class S>
void CsrOperator<T, S>::update_values(Context& ctx, CsrView<S> const& a) {
  Context::Entry const entry(ctx);
  require_extents("csr", view(), a);
  side_.matrix.update_values(ctx, a);
  follow(ctx);
}

template <class T, class S>
void CsrOperator<T, S>::update_values(Context& ctx, Csr<S> a) {
  Context::Entry const entry(ctx);
  require_extents("csr", view(), a.view());
  side_.matrix.update_values(ctx, std::move(a));
  follow(ctx);
}

template <class T, class S>
void CsrOperator<T, S>::do_update_values(Context& ctx, CsrView<T> const& a) {
  if constexpr (std::is_same_v<T, S>) {
    update_values(ctx, a);
  } else {
    auto const beyond = Beyond::refuse_infinite;  // as it was made
    if (side_.matrix.own_values() != nullptr) {
      auto memory = ctx.arena().scope();
      return update_values(ctx, NarrowCsr<S>(ctx, a, beyond, memory).view());
    }
    NarrowCsr<S> narrow(ctx, a, beyond);
    require_extents("csr", view(), narrow.view());
    side_.matrix = std::move(narrow).owned(ctx);
    follow(ctx);
  }
}

/// What was made of the matrix before follows its new values.
template <class T, class S>
void CsrOperator<T, S>::follow(Context& ctx) {
  if (transposed_) fill_transpose(ctx, side_.matrix.view(), transposed_->matrix);
  if constexpr (std::is_same_v<T, S>) {
    if (dense_.A) dense_.A->update_values(ctx, view());
  } else {
    dense_ = {};
  }
  if (asked_ == CsrNorm::taken) norm_ = norm_inf(ctx, view());
}

template <class T, class S>
void CsrOperator<T, S>::prepare(Context& ctx, Op op) const {
  if (op == Op::none) return;
  std::call_once(transposed_once_, [&] {
    CsrView<S> const& a = side_.matrix.view();
    if (a.space == Space::host) {
      transposed_ = std::make_unique<Side>(ctx, CsrStorage<S>(ctx, transpose(a)));
      return;
    }
    transposed_ = std::make_unique<Side>(ctx, sparse::transposed<S>(ctx, a));
  });
}

template <class T, class S>
Traits CsrOperator<T, S>::traits() const {
  Real accumulate = side_.matrix.view().space == Space::host ? Real::f64 : real_of<T>;
  return {.precision = {real_of<S>, real_of<T>, accumulate},
          .transpose = true,
          .operations = true,
          .ends_in_steps = ends_in_steps<S, T>};
}

template <class T, class S>
Cost CsrOperator<T, S>::cost(Index k) const {
  CsrView<S> const& a = side_.matrix.view();
  double entries = static_cast<double>(a.entries);
  double vectors = static_cast<double>(k) * (double(a.rows) + a.cols) * sizeof(T);
  return {2 * entries * k,
          entries * (sizeof(S) + 4) + (a.offsets.wide ? 8.0 : 4.0) * (double(a.rows) + 1) + vectors,
          1};
}

template <class T, class S>
void CsrOperator<T, S>::do_apply(Context& ctx, T alpha, In<T> x, T beta, Out<T> y, Op op) const {
  if (op == Op::transpose) {
    prepare(ctx, op);
    product(ctx, *transposed_, alpha, x, beta, y, nullptr);
  } else {
    product(ctx, side_, alpha, x, beta, y, nullptr);
  }
}

template <class T, class S>
void CsrOperator<T, S>::do_apply_dot(Context& ctx, T alpha, In<T> x, Out<T> y,
                                     double* sigma) const {
  product(ctx, side_, alpha, x, T(0), y, sigma);
}

template <class T, class S>
void CsrOperator<T, S>::do_apply_then(Context& ctx, T alpha, In<T> x, T beta, Out<T> y,
                                      SmoothingStep<T> const& step) const {
  if constexpr (ends_in_steps<S, T>)
    ctx.visit([&]<class On>(On& on) {
      if constexpr (OnDevice<On>)
        spmv_then_csr(on, ctx.loop(), alpha, side_.parts(), const_cast<T*>(side_.sums.data()), x,
                      beta, y, step);
    });
}

/// The columns of op(A), for products by entries.
template <class T, class S>
CsrView<S> const& CsrOperator<T, S>::columns_of(Context& ctx, Op op) const {
  if (!ascends_) ascends_ = rows_ascend(ctx, view());
  if (!*ascends_)
    throw Unsupported(
        "csr: a sparse product by entries adds a row by ascending column, and columns of this "
        "matrix do not ascend; go by columns or by rows");
  if (op != Op::none) return view();
  prepare(ctx, Op::transpose);
  return transposed_->matrix.view();
}
/// The same where a product that may choose goes by them, else null.
template <class T, class S>
CsrView<S> const* CsrOperator<T, S>::columns_if_fit(Context& ctx, Op op) const {
  if (op == Op::none && !transposed_) {
    // A^T, and what finds its pattern (sparse/transpose.hpp).
    double const bytes = double(view().entries) * (sizeof(S) + 28);
    if (no_room_ || bytes > double(ctx.available_memory())) return nullptr;
    try {
      prepare(ctx, Op::transpose);
    } catch (MemoryError const&) {
      no_room_ = true;
      return nullptr;
    }
  }
  Side const& side = op == Op::none ? *transposed_ : side_;
  if (!ascends_) ascends_ = rows_ascend(ctx, view());
  return *ascends_ && side.row.size() == 0 ? &side.matrix.view() : nullptr;
}

template <class T, class S>
void CsrOperator<T, S>::dense_by(DenseProduct<T> best) {
  if (best.A && (best.A->rows() != this->rows() || best.A->cols() != this->cols()))
    throw ShapeError(cat("csr is ", this->rows(), " x ", this->cols(),
                         ", the dense product given, ", best.A->name(), ", is ", best.A->rows(),
                         " x ", best.A->cols()));
  dense_ = std::move(best);
}

template <class T, class S>
SparseProductNotes CsrOperator<T, S>::multiply_sparse(Context& ctx, SparseProduct<T> const& how,
                                                      SparseVector<T> const& x,
                                                      SparseVector<T>& y) const {
  Context::Entry const entry(ctx);
  bool const turned = how.op != Op::none;
  auto const [rows, cols] =
      turned ? std::pair(view().cols, view().rows) : std::pair(view().rows, view().cols);
  require_multiplies(ctx, rows, cols, how, x, y);
  bool const has_dense = dense_.A != nullptr && (!turned || dense_.A->traits().transpose);
  if (how.way == SpmspvWay::dense && has_dense)
    return multiply_sparse_by_dense(ctx, *dense_.A, how, x, y);
  prepare(ctx, how.op);
  Side const& side = turned ? *transposed_ : side_;
  CsrView<S> const& a = side.matrix.view();
  bool const wide = a.entries > std::numeric_limits<Index>::max();
  bool const chooses = how.way == SpmspvWay::automatic && !wide && x.tiles() > 0;
  if ((how.way == SpmspvWay::columns || chooses) && side.below.view.starts == nullptr)
    side.below = tiles_below(ctx, a);
  SparseProduct<T> straight = how;
  straight.op = Op::none;
  CsrView<S> const* columns = nullptr;
  if (how.way == SpmspvWay::entries) columns = &columns_of(ctx, how.op);
  if (chooses) {
    SpmspvRates const& rates = this->rates(ctx, how);
    SpmspvCounts counts = counts_of(a, side.below.view, x, true);
    counts.dense = has_dense && how.semiring == Semiring::plus_times;
    counts.given = dense_.us;
    straight.way = choose_way(rates, counts);
    if (straight.way == SpmspvWay::entries) columns = columns_if_fit(ctx, how.op);
    counts.by_entries = columns != nullptr;
    if (straight.way == SpmspvWay::entries) straight.way = choose_way(rates, counts);
    if (straight.way == SpmspvWay::dense)
      return multiply_sparse_by_dense(ctx, *dense_.A, how, x, y);
  }
  return tcsolve::multiply_sparse(ctx, a, straight, x, y, memory_, side.below.view, columns);
}

template <class T, class S>
void CsrOperator<T, S>::do_exact_residual(Context& ctx, ResidualVectors const& v) const {
  if constexpr (all_double) {
    CsrParts<S> const parts = side_.parts();
    if (parts.count == 0) return tcsolve::exact_residual(ctx, parts.a, v);
    tcsolve::exact_residual(ctx, parts, v);
  }
}

template <class T, class S>
bool CsrOperator<T, S>::inverse_column_norms(Context& ctx, Out<double> d) const {
  if constexpr (all_double) {
    if (!std::isfinite(norm_) || norm_ == 0) return false;
    prepare(ctx, Op::transpose);
    PowerOfTwo const two(-std::min(std::ilogb(norm_), 0));
    submit(ctx,
           InverseRowNorms<S>{d.rows, transposed_->matrix.view(), two.factor, two.factor2, d.data});
    return true;
  } else {
    return false;
  }
}

template class CsrOperator<double, double>;
template class CsrOperator<double, float>;
template class CsrOperator<double, half>;
template class CsrOperator<double, bfloat16>;
template class CsrOperator<float, float>;
template class CsrOperator<float, half>;
template class CsrOperator<float, bfloat16>;

}  // namespace tcsolve
