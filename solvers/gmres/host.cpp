// SPDX-License-Identifier: Apache-2.0
/// The fused operations of GMRES on the host.
#include <tcsolve/kernels/host/execute.hpp>
#include <tcsolve/solvers/gmres/ops.hpp>

namespace tcsolve::host {

template <class T>
void gram(Host&, LoopState* state, Gram<T> const& op) {
  Frame frame{state, true};
  if (frame.stopped()) return;
  Index j = frame.step();
  for (Index k = 0; k <= j; ++k) {
    T const* column = op.column(j, k);
    auto dots = [&](std::int64_t begin, std::int64_t end, double* sum) {
      for (std::int64_t i = begin; i < end; ++i) {
        double a = double(column[i]), wi = double(op.w[i]);
        sum[0] += a * double(op.u[i]);
        sum[1] += a * wi;
        if (k == j) sum[2] += wi * wi;
      }
    };
    auto sum = reduce<3>(op.n, dots, [](double a, double b) { return a + b; });
    std::copy_n(sum.begin(), k == j ? 3 : 2, op.H.sums + 2 * k);
  }
  for (Index k = 0; k <= j; ++k) op.entry(j, k);
  op.finish(frame);
}
template void gram<double>(Host&, LoopState*, Gram<double> const&);
template void gram<float>(Host&, LoopState*, Gram<float> const&);

template struct Executes<Join<GmresOps<double>, OpList<ArnoldiUpdate<double>>>>;
template struct Executes<Join<GmresOps<float>, OpList<ArnoldiUpdate<float>>>>;
template struct Executes<OpList<BackSubstitute>>;

}  // namespace tcsolve::host
