// SPDX-License-Identifier: Apache-2.0
/// CSR to DASP on the device (kernels/dasp_build.hpp).
#include <tcsolve/kernels/cuda/convert.cuh>
#include <tcsolve/kernels/dasp_build.hpp>

namespace tcsolve::cuda {

template <class S>
DaspArrays<S> build_dasp(Device& device, Arena& arena, CsrView<S> const& a,
                         DaspTuning const& tuning) {
  Converter on(device, arena);
  return dasp::build(on, a, tuning);
}

#define TCSOLVE_INSTANTIATE(S) \
  template DaspArrays<S> build_dasp<S>(Device&, Arena&, CsrView<S> const&, DaspTuning const&);
TCSOLVE_INSTANTIATE(double)
TCSOLVE_INSTANTIATE(float)
TCSOLVE_INSTANTIATE(half)

}  // namespace tcsolve::cuda
