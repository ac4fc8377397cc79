// SPDX-License-Identifier: Apache-2.0
/// Tiles of 16 x 16 on the device: conversion and products.
#include <tcsolve/formats/tile16/build.hpp>
#include <tcsolve/formats/tile16/gather.hpp>
#include <tcsolve/formats/tile16/ops.hpp>
#include <tcsolve/kernels/cuda/execute.cuh>
#include <tcsolve/kernels/cuda/steps.cuh>
#include <tcsolve/sparse/spmspv_build.hpp>

namespace tcsolve::cuda {

template <class S>
Tile16Arrays<S> build_tile16(Device& device, Arena& arena, CsrView<S> const& a,
                             Tile16Tuning const& tuning) {
  Converter on(device, arena);
  return tile16::build(on, a, tuning);
}
template <class S>
void refill_tile16(Device& device, Arena& arena, CsrView<S> const& a, Tile16Arrays<S>& m) {
  Converter on(device, arena);
  tile16::refill(on, a, m);
}
template <class S>
CsrArrays<S> entries_tile16(Device& device, Arena& arena, Tile16View<S> const& a) {
  Converter on(device, arena);
  return tile16::entries(on, a);
}
template <class S>
StoredTilesBelow below_tile16(Device& device, Arena& arena, Tile16View<S> const& a) {
  Converter on(device, arena);
  return tile16::below(on, a);
}
template <class S, class T>
SparseProductNotes spmspv_tile16(Device& device, Arena& arena, Tile16View<S> const& a,
                                 TilesBelow const& below, T const* sums,
                                 SparseProduct<T> const& how, SparseVectorView<T> const& x,
                                 SparseVectorArrays<T>& y, SpmspvMemory<T>& memory) {
  SteppingConverter on(device, arena);
  return spmspv::multiply<T>(on, a, a.rows, below, sums, how, x, y, memory);
}

#define TCSOLVE_INSTANTIATE(S)                                                          \
  template Tile16Arrays<S> build_tile16<S>(Device&, Arena&, CsrView<S> const&,          \
                                           Tile16Tuning const&);                        \
  template void refill_tile16<S>(Device&, Arena&, CsrView<S> const&, Tile16Arrays<S>&); \
  template CsrArrays<S> entries_tile16<S>(Device&, Arena&, Tile16View<S> const&);       \
  template StoredTilesBelow below_tile16<S>(Device&, Arena&, Tile16View<S> const&);
TCSOLVE_VALUES(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE
#define TCSOLVE_INSTANTIATE(S, T)                                                                  \
  template SparseProductNotes spmspv_tile16<S, T>(                                                 \
      Device&, Arena&, Tile16View<S> const&, TilesBelow const&, T const*, SparseProduct<T> const&, \
      SparseVectorView<T> const&, SparseVectorArrays<T>&, SpmspvMemory<T>&);
TCSOLVE_VALUE_PAIRS(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE

template struct Executes<Tile16Ops>;

}  // namespace tcsolve::cuda
