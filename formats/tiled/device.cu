// SPDX-License-Identifier: Apache-2.0
/// Products of FP64 vectors with panels (formats/tiled/product.cuh), and the exact residual.
#include <tcsolve/formats/tiled/product.cuh>
#include <tcsolve/kernels/cuda/execute.cuh>

namespace tcsolve::cuda {

#define TCSOLVE_INSTANTIATE(S)                                                                  \
  template void spmm_tiled<S, double>(Device&, Arena&, LoopState*, double, TiledView<S> const&, \
                                      In<double>, double, Out<double>);
TCSOLVE_VALUES(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE

template struct Executes<TiledExactOps>;

}  // namespace tcsolve::cuda
