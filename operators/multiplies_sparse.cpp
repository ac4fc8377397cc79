// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/operators/multiplies_sparse.hpp>

namespace tcsolve {

template <class T>
SparseProductNotes multiply_sparse_by_dense(Context& ctx, LinearOperator<T> const& A,
                                            SparseProduct<T> const& how, SparseVector<T> const& x,
                                            SparseVector<T>& y) {
  Context::Entry const entry(ctx);
  bool const turned = how.op != Op::none;
  require_multiplies(ctx, turned ? A.cols() : A.rows(), turned ? A.rows() : A.cols(), how, x, y);
  if (how.semiring != Semiring::plus_times)
    throw Unsupported("sparse product: a dense product has plus_times alone; go by rows");
  auto memory = ctx.arena().scope();
  std::optional<In<T>> dense = x.as_dense();
  if (!dense) {
    Out<T> const written = memory.template vectors<T>(x.rows(), 1);
    x.to_dense(ctx, written);
    dense = written;
  }
  y.become_dense(ctx, how.beta != T(0), how.mask, how.complement,
                 [&](Out<T> all) { A.apply(ctx, how.alpha, *dense, how.beta, all, how.op); });
  return {SpmspvWay::dense, y.tiles(), y.tiles()};
}

#define TCSOLVE_INSTANTIATE(T)                                                             \
  template SparseProductNotes multiply_sparse_by_dense<T>(                                 \
      Context&, LinearOperator<T> const&, SparseProduct<T> const&, SparseVector<T> const&, \
      SparseVector<T>&);
TCSOLVE_INSTANTIATE(double)
TCSOLVE_INSTANTIATE(float)
#undef TCSOLVE_INSTANTIATE

}  // namespace tcsolve
