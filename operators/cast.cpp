// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/operators/cast.hpp>

#include <tcsolve/matrix/scaled.hpp>
#include <tcsolve/operators/rescaled.hpp>

namespace tcsolve {

template <class T, class U>
Cost Cast<T, U>::cost(Index k) const {
  Cost cost = A_->cost(k);
  cost.bytes += k * double(sizeof(T) + sizeof(U)) * (double(this->rows()) + this->cols());
  return cost;
}

template <class T, class U>
void Cast<T, U>::do_apply(Context& ctx, T alpha, In<T> x, T beta, Out<T> y, Op op) const {
  auto scope = ctx.arena().scope();
  Out<U> const u = scope.template vectors<U>(x.rows, x.cols);
  Out<U> const w = scope.template vectors<U>(y.rows, y.cols);
  copy<T, U>(ctx, x, u);
  A_->apply(ctx, U(1), u, U(0), w, op);
  axpby<U, T>(ctx, alpha, w, beta, y);
}

template <class T, class U>
void Cast<T, U>::do_update_values(Context& ctx, CsrView<T> const& a) {
  if (!changes_) throw Unsupported(cat(this->name(), ": update_values"));
  if constexpr (std::is_same_v<U, float>) {
    // What rounds them itself is given them as they are: they would be rounded twice.
    if (auto* const rounds = dynamic_cast<Rescaled<float>*>(changes_.get()))
      return rounds->update_from(ctx, a);
    NarrowCsr<float> const narrow(ctx, a, Beyond::refuse_infinite);
    changes_->update_values(ctx, narrow.view());
  } else {
    throw Unsupported(cat(this->name(), ": update_values of a wider operator"));
  }
}

template class Cast<double, float>;
template class Cast<float, double>;

}  // namespace tcsolve
