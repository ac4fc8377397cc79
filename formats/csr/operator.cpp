// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/formats/csr/operator.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include <tcsolve/formats/csr/ops.hpp>
#include <tcsolve/kernels/matrix_ops.hpp>
#include <tcsolve/kernels/norm_inf.hpp>
#include <tcsolve/kernels/reductions.hpp>
#include <tcsolve/matrix/same_pattern.hpp>
#include <tcsolve/matrix/scaled.hpp>

namespace tcsolve {

namespace {

/// The plan of a uniform product on the device; null where there is none.
template <class T, class S>
std::shared_ptr<cuda::CsrPlan> plan_for(Context& ctx, CsrView<S> const& a) {
  if constexpr (std::is_same_v<T, S>)
    return ctx.visit([&]<class On>(On& on) {
      if constexpr (OnDevice<On>)
        return plan_csr(on, a, ctx.options().deterministic);
      else
        return std::shared_ptr<cuda::CsrPlan>();
    });
  else
    return nullptr;
}

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

template <class T, class S>
void product(Context& ctx, CsrView<S> const& a, cuda::CsrPlan* plan, T alpha, In<T> x, T beta,
             Out<T> y, double* sigma = nullptr) {
  auto call = [=](Context& c) {
    c.visit([&]<class On>(On& on) {
      if constexpr (OnDevice<On> && std::is_same_v<T, S>) {
        bool const planned = (x.is_vector() && y.is_vector()) || !c.options().deterministic;
        if (plan != nullptr && planned) return spmm_csr(on, *plan, alpha, x, beta, y);
      }
      spmm_csr(on, alpha, a, x, beta, y);
    });
    if (sigma != nullptr) dot<T>(c, x, y, sigma);
  };
  if (x.is_vector() && y.is_vector())
    ctx.submit_op(CsrMultiply<S, T>{a.rows, alpha, a, x.data, beta, y.data, sigma}, call);
  else
    ctx.submit("csr_multiply", call);
}

}  // namespace

template <class T, class S>
CsrOperator<T, S>::CsrOperator(Context& ctx, CsrView<S> const& a, Arrays arrays)
    : CsrOperator(ctx, CsrStorage<S>(ctx, with_indices(a), arrays)) {}

template <class T, class S>
CsrOperator<T, S>::CsrOperator(Context& ctx, Csr<S> a)
    : CsrOperator(ctx, CsrStorage<S>(ctx, with_indices(std::move(a)))) {}

template <class T, class S>
CsrOperator<T, S>::CsrOperator(Context& ctx, CsrStorage<S> a)
    : LinearOperator<T>(a.view().rows, a.view().cols),
      matrix_(std::move(a)),
      plan_(plan_for<T>(ctx, matrix_.view())) {
  measure(ctx);
}

template <class T, class S>
CsrOperator<T, S>::~CsrOperator() = default;

template <class T, class S>
void CsrOperator<T, S>::measure(Context& ctx) {
  norm_ = norm_inf(ctx, matrix_.view());
}

template <class T, class S>
void CsrOperator<T, S>::update_values(Context& ctx, CsrView<S> const& a) {
  Context::Entry const entry(ctx);
  CsrView<S> before = matrix_.view();
  require_extents("csr", before, a);
  matrix_.update_values(ctx, a);
  follow(ctx, before);
}

template <class T, class S>
void CsrOperator<T, S>::update_values(Context& ctx, Csr<S> a) {
  Context::Entry const entry(ctx);
  CsrView<S> before = matrix_.view();
  require_extents("csr", before, a.view());
  matrix_.update_values(ctx, std::move(a));
  follow(ctx, before);
}

template <class T, class S>
void CsrOperator<T, S>::do_update_values(Context& ctx, CsrView<T> const& a) {
  if constexpr (std::is_same_v<T, S>) {
    update_values(ctx, a);
  } else {
    auto const beyond = Beyond::refuse_infinite;  // as it was made
    if (matrix_.own_values() != nullptr) {
      auto memory = ctx.arena().scope();
      return update_values(ctx, NarrowCsr<S>(ctx, a, beyond, memory).view());
    }
    NarrowCsr<S> narrow(ctx, a, beyond);
    CsrView<S> const before = matrix_.view();
    require_extents("csr", before, narrow.view());
    matrix_ = std::move(narrow).owned(ctx);
    follow(ctx, before);
  }
}

/// What was made of the matrix before follows its new values.
template <class T, class S>
void CsrOperator<T, S>::follow(Context& ctx, CsrView<S> const& before) {
  CsrView<S> const& a = matrix_.view();
  // cuSPARSE's plan holds the addresses, and beside them what the pattern alone says.
  if (a.offsets.data != before.offsets.data || a.columns != before.columns ||
      a.values != before.values)
    plan_ = plan_for<T>(ctx, a);
  if (transposed_) {
    CsrView<S> const& at = transposed_->matrix.view();
    RowShares shares = row_shares(at);
    submit(ctx, TransposeValues<S>{shares.threads(at.entries), shares, a, at.columns,
                                   transposed_->matrix.own_values()});
  }
  measure(ctx);
}

template <class T, class S>
void CsrOperator<T, S>::prepare(Context& ctx, Op op) const {
  if (op == Op::none) return;
  std::call_once(transposed_once_, [&] {
    CsrView<S> const& a = matrix_.view();
    Csr<S> at = a.space == Space::host ? transpose(a) : transpose(to_host(ctx, a).view());
    CsrStorage<S> storage(ctx, std::move(at));
    auto plan = plan_for<T>(ctx, storage.view());
    transposed_.reset(new Side{std::move(storage), std::move(plan)});
  });
}

template <class T, class S>
Traits CsrOperator<T, S>::traits() const {
  Real accumulate = matrix_.view().space == Space::host ? Real::f64 : real_of<T>;
  return {.precision = {real_of<S>, real_of<T>, accumulate}, .transpose = true, .operations = true};
}

template <class T, class S>
Cost CsrOperator<T, S>::cost(Index k) const {
  CsrView<S> const& a = matrix_.view();
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
    product(ctx, transposed_->matrix.view(), transposed_->plan.get(), alpha, x, beta, y);
  } else {
    product(ctx, matrix_.view(), plan_.get(), alpha, x, beta, y);
  }
}

template <class T, class S>
void CsrOperator<T, S>::do_apply_dot(Context& ctx, T alpha, In<T> x, Out<T> y,
                                     double* sigma) const {
  product(ctx, matrix_.view(), plan_.get(), alpha, x, T(0), y, sigma);
}

template <class T, class S>
void CsrOperator<T, S>::cut_long_rows(Context& ctx) const {
  CsrView<S> const& a = matrix_.view();
  constexpr Offset most = CsrParts<S>::length;
  auto scope = ctx.arena().scope();
  double* const longest = scope.template take<double>(1);
  ctx.within(nullptr, [&] { submit(ctx, LongestRow<S>{a.rows, a, longest}); });  // stopped or not
  if (!(read(ctx, longest) > double(most))) return;
  std::vector<Offset> const offsets = offsets_to_host(ctx, a);
  std::vector<Index> row, start{0};
  for (Index i = 0; i < a.rows; ++i) {
    Offset const length = offsets[i + 1] - offsets[i];
    if (length <= most) continue;
    row.push_back(i);
    start.push_back(narrow(start.back() + (length + most - 1) / most, "parts of long rows"));
  }
  long_rows_ = {start.back(), to_space(ctx, row.data(), row.size()),
                to_space(ctx, start.data(), start.size())};
}

template <class T, class S>
void CsrOperator<T, S>::do_exact_residual(Context& ctx, ResidualVectors const& v) const {
  if constexpr (all_double) {
    std::call_once(cut_once_, [&] { cut_long_rows(ctx); });
    CsrView<S> const& a = matrix_.view();
    if (long_rows_.parts == 0) return tcsolve::exact_residual(ctx, a, v);
    tcsolve::exact_residual(
        ctx,
        CsrParts<S>{a, static_cast<Index>(long_rows_.row.size()), long_rows_.parts,
                    long_rows_.row.data(), long_rows_.start.data()},
        v);
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
