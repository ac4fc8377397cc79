// SPDX-License-Identifier: Apache-2.0
/// Products of FP32 vectors with panels (formats/tiled/product.cuh).
#include <tcsolve/formats/tiled/product.cuh>

namespace tcsolve::cuda {

#define TCSOLVE_INSTANTIATE(S)                                                                \
  template void spmm_tiled<S, float>(Device&, Arena&, LoopState*, float, TiledView<S> const&, \
                                     In<float>, float, Out<float>);
TCSOLVE_INSTANTIATE(float)
TCSOLVE_INSTANTIATE(half)
TCSOLVE_INSTANTIATE(bfloat16)
#undef TCSOLVE_INSTANTIATE

}  // namespace tcsolve::cuda
