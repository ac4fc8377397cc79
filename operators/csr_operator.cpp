// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/operators/csr_operator.hpp>

#include <tcsolve/kernels/reductions.hpp>
#include <tcsolve/kernels/verbs/matrix.hpp>

namespace tcsolve {

template <class S>
CsrStorage<S>::CsrStorage(Context& ctx, CsrView<S> const& a) : view_(a) {
  if (a.space != ctx.space()) copy(ctx, a);
}

template <class S>
CsrStorage<S>::CsrStorage(Context& ctx, Csr<S> a) : owned_(std::move(a)), view_(owned_.view()) {
  if (ctx.space() == Space::host) return;
  copy(ctx, owned_.view());
  owned_ = {};
}

template <class S>
void CsrStorage<S>::copy(Context& ctx, CsrView<S> const& a) {
  if (a.space != Space::host) throw ShapeError("a matrix in device memory needs a Context on the device");
  std::size_t offsets = static_cast<std::size_t>(a.rows) + 1, entries = a.entries;
  if (a.entries <= std::numeric_limits<std::int32_t>::max()) {
    std::vector<std::int32_t> narrowed(offsets);
    for (std::size_t i = 0; i < offsets; ++i) narrowed[i] = static_cast<std::int32_t>(a.offsets[i]);
    narrow_offsets_ = to_space(ctx, narrowed.data(), offsets);
    view_.offsets = narrow_offsets_.data();
  } else {
    wide_offsets_ = to_space(ctx, static_cast<std::int64_t const*>(a.offsets.data), offsets);
    view_.offsets = wide_offsets_.data();
  }
  columns_ = to_space(ctx, a.columns, entries);
  values_ = to_space(ctx, a.values, entries);
  view_.columns = columns_.data();
  view_.values = values_.data();
  view_.space = ctx.space();
}

namespace {

/// The plan of a uniform product on the device; null where there is none.
template <class T, class S>
std::shared_ptr<cuda::CsrPlan> plan_for(Context& ctx, CsrView<S> const& a) {
  if constexpr (std::is_same_v<T, S>)
    return ctx.visit([&](cuda::Device& on) { return cuda::plan_csr(on, a); },
                     [](Host&) { return std::shared_ptr<cuda::CsrPlan>(); });
  else
    return nullptr;
}

template <class T, class S>
void product(Context& ctx, CsrView<S> const& a, cuda::CsrPlan* plan, T alpha, In<T> x, T beta, Out<T> y) {
  ctx.visit(
      [&](cuda::Device& on) {
        if constexpr (std::is_same_v<T, S>)
          if (plan != nullptr) return cuda::spmm_csr(on, *plan, alpha, x, beta, y);
        cuda::spmm_csr(on, alpha, a, x, beta, y);
      },
      [&](Host& on) { host::spmm_csr(on, alpha, a, x, beta, y); });
}

}  // namespace

template <class T, class S>
CsrOperator<T, S>::CsrOperator(Context& ctx, CsrView<S> const& a)
    : LinearOperator<T>(a.rows, a.cols), matrix_(ctx, a), plan_(plan_for<T>(ctx, matrix_.view())) {
  measure(ctx);
}

template <class T, class S>
CsrOperator<T, S>::CsrOperator(Context& ctx, Csr<S> a)
    : LinearOperator<T>(a.rows, a.cols),
      matrix_(ctx, std::move(a)),
      plan_(plan_for<T>(ctx, matrix_.view())) {
  measure(ctx);
}

template <class T, class S>
CsrOperator<T, S>::~CsrOperator() = default;

template <class T, class S>
void CsrOperator<T, S>::measure(Context& ctx) {
  CsrView<S> const& a = matrix_.view();
  auto scope = ctx.arena().scope();
  double* value = scope.take<double>(1);
  sweep(ctx, MaxRowSum<S>{a.rows, a, value});
  norm_ = read(ctx, value);
}

template <class T, class S>
void CsrOperator<T, S>::prepare(Context& ctx, Op op) const {
  if (op == Op::none) return;
  std::call_once(transposed_once_, [&] {
    CsrView<S> a = matrix_.view();
    Csr<S> at;
    if (a.space == Space::host) {
      at = transpose(a);
    } else {
      std::size_t n = static_cast<std::size_t>(a.rows) + 1;
      Csr<S> here;
      here.rows = a.rows, here.cols = a.cols;
      if (a.offsets.wide) {
        here.offsets = to_host(ctx, static_cast<std::int64_t const*>(a.offsets.data), a.space, n);
      } else {
        auto narrowed = to_host(ctx, static_cast<std::int32_t const*>(a.offsets.data), a.space, n);
        here.offsets.assign(narrowed.begin(), narrowed.end());
      }
      here.columns = to_host(ctx, a.columns, a.space, a.entries);
      here.values = to_host(ctx, a.values, a.space, a.entries);
      at = transpose(here.view());
    }
    CsrStorage<S> storage(ctx, std::move(at));
    auto plan = plan_for<T>(ctx, storage.view());
    transposed_.reset(new Side{std::move(storage), std::move(plan)});
  });
}

template <class T, class S>
Traits CsrOperator<T, S>::traits() const {
  Real accumulate = matrix_.view().space == Space::host ? Real::f64 : real_of<T>;
  return {.precision = {real_of<S>, real_of<T>, accumulate}, .transpose = true};
}

template <class T, class S>
Cost CsrOperator<T, S>::cost(Index k) const {
  CsrView<S> const& a = matrix_.view();
  double entries = static_cast<double>(a.entries);
  double vectors = static_cast<double>(k) * (double(a.rows) + a.cols) * sizeof(T);
  return {2 * entries * k,
          entries * (sizeof(S) + 4) + (a.offsets.wide ? 8.0 : 4.0) * (double(a.rows) + 1) + vectors, 1};
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

template class CsrStorage<double>;
template class CsrStorage<float>;
template class CsrStorage<half>;
template class CsrOperator<double, double>;
template class CsrOperator<double, float>;
template class CsrOperator<double, half>;
template class CsrOperator<float, float>;
template class CsrOperator<float, half>;

}  // namespace tcsolve
