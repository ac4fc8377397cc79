// SPDX-License-Identifier: Apache-2.0
/// CSR to bitmap blocks on the device (formats/bitblock/build.hpp).
#include <tcsolve/formats/bitblock/build.hpp>
#include <tcsolve/kernels/cuda/convert.cuh>
#include <tcsolve/kernels/value_pairs.hpp>

namespace tcsolve::cuda {

template <class S>
BitblockArrays<S> build_bitblock(Device& device, Arena& arena, CsrView<S> const& a,
                                 BitblockTuning const& tuning) {
  Converter on(device, arena);
  return bitblock::build(on, a, tuning);
}

template <class S>
void refill_bitblock(Device& device, Arena& arena, CsrView<S> const& a, BitblockArrays<S>& m) {
  Converter on(device, arena);
  bitblock::refill(on, a, m);
}

#define TCSOLVE_INSTANTIATE(S)                                                     \
  template BitblockArrays<S> build_bitblock<S>(Device&, Arena&, CsrView<S> const&, \
                                               BitblockTuning const&);             \
  template void refill_bitblock<S>(Device&, Arena&, CsrView<S> const&, BitblockArrays<S>&);
TCSOLVE_VALUES(TCSOLVE_INSTANTIATE)

}  // namespace tcsolve::cuda
