// SPDX-License-Identifier: Apache-2.0
/// The fused operations of GMRES on the host.
#include <vector>

#include <tcsolve/kernels/host/execute.hpp>
#include <tcsolve/solvers/gmres/ops.hpp>
#include <tcsolve/solvers/gmres/strips.hpp>

namespace tcsolve::host {

template <class T>
struct Walk<ArnoldiUpdate<T>> {
  static void elements(ArnoldiUpdate<T> const& op, typename ArnoldiUpdate<T>::Coefficients const& c,
                       std::int64_t begin, std::int64_t end, double* sum) {
    strips::update(op, c, begin, end, sum);
  }
  static std::int64_t grain(ArnoldiUpdate<T> const&) { return chunk; }
};

template <class T>
struct Walk<CombineBasis<T>> {
  static void elements(CombineBasis<T> const& op, typename CombineBasis<T>::Coefficients const& c,
                       std::int64_t begin, std::int64_t end, double*) {
    strips::combine(op, c, begin, end);
  }
  static std::int64_t grain(CombineBasis<T> const&) { return chunk; }
};

template <class T>
void gram(Host& on, LoopState* state, Gram<T> const& op) {
  Frame frame{state, true};
  if (frame.stopped()) return;
  Index const j = frame.step(), width = Gram<T>::sums(j);
  std::int64_t const chunks = (op.n + chunk - 1) / chunk;
  // A chunk of u and w stays in the second-level cache while the basis goes by.
  std::vector<double> partial(static_cast<std::size_t>(chunks * width));
  parallel(chunks, 2, [&](std::int64_t c) {
    std::int64_t const begin = c * chunk, end = std::min(op.n, begin + chunk);
    double* const sum = partial.data() + c * width;
    for (Index k = 0; k < j; k += strips::together)
      strips::dots(op, k, std::min(strips::together, j - k), begin, end, sum + 2 * k);
    double uu = 0, uw = 0, ww = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      double const ui = double(op.u[i]), wi = double(op.w[i]);
      uu += ui * ui;
      uw += ui * wi;
      ww += wi * wi;
    }
    sum[2 * j] = uu;
    sum[2 * j + 1] = uw;
    sum[2 * j + 2] = ww;
  });
  std::fill_n(op.H.sums, width, 0.0);
  end_sums<Add>(on, partial.data(), chunks, width, op.H.sums);
  for (Index k = 0; k <= j; ++k) op.entry(j, k);
  op.finish(frame);
}
template void gram<double>(Host&, LoopState*, Gram<double> const&);
template void gram<float>(Host&, LoopState*, Gram<float> const&);

template struct Executes<Join<GmresOps<double>, OpList<ArnoldiUpdate<double>>>>;
template struct Executes<Join<GmresOps<float>, OpList<ArnoldiUpdate<float>>>>;
template struct Executes<OpList<BackSubstitute>>;

}  // namespace tcsolve::host
