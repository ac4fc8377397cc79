// SPDX-License-Identifier: Apache-2.0
/// The fused operations of GMRES on the host.
#include <vector>

#include <tcsolve/kernels/host/execute.hpp>
#include <tcsolve/solvers/gmres/ops.hpp>
#include <tcsolve/solvers/gmres/strips.hpp>

namespace tcsolve::host {

template <class T, class S>
struct Walk<ArnoldiUpdate<T, S>> {
  using Op = ArnoldiUpdate<T, S>;
  static void elements(Op const& op, typename Op::Coefficients const& c, std::int64_t begin,
                       std::int64_t end, double* sum) {
    strips::update(op, c, begin, end, sum);
  }
  static std::int64_t grain(Op const&) { return chunk; }
};

template <class T, class S>
struct Walk<CombineBasis<T, S>> {
  using Op = CombineBasis<T, S>;
  static void elements(Op const& op, typename Op::Coefficients const& c, std::int64_t begin,
                       std::int64_t end, double*) {
    strips::combine(op, c, begin, end);
  }
  static std::int64_t grain(Op const&) { return chunk; }
};

template <class T, class S>
void gram(Host& on, LoopState* state, Gram<T, S> const& op) {
  Frame frame{state, true};
  if (frame.stopped()) return;
  Index const j = frame.step(), width = Gram<T, S>::sums(j);
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

template struct Executes<GmresOps<double>>;
template struct Executes<GmresOps<float>>;
template struct Executes<OpList<BackSubstitute>>;
#define TCSOLVE_BASIS(T, S)                                       \
  template void gram<T, S>(Host&, LoopState*, Gram<T, S> const&); \
  template struct Executes<OpList<ArnoldiUpdate<T, S>, CombineBasis<T, S>>>;
TCSOLVE_EACH_BASIS(TCSOLVE_BASIS)
#undef TCSOLVE_BASIS

}  // namespace tcsolve::host
