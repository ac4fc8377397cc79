// SPDX-License-Identifier: Apache-2.0
/// Tiles of 16 x 16 on the host: conversion and products.
#include <tcsolve/formats/tile16/build.hpp>
#include <tcsolve/formats/tile16/gather.hpp>
#include <tcsolve/formats/tile16/ops.hpp>
#include <tcsolve/kernels/host/execute.hpp>
#include <tcsolve/kernels/host/residual_walk.hpp>
#include <tcsolve/kernels/host/steps.hpp>
#include <tcsolve/sparse/spmspv_build.hpp>

namespace tcsolve::host {

template <class S>
Tile16Arrays<S> build_tile16(Host&, Arena& arena, CsrView<S> const& a, Tile16Tuning const& tuning) {
  Converter on(arena);
  return tile16::build(on, a, tuning);
}
template <class S>
void refill_tile16(Host&, Arena& arena, CsrView<S> const& a, Tile16Arrays<S>& m) {
  Converter on(arena);
  tile16::refill(on, a, m);
}
template <class S>
CsrArrays<S> entries_tile16(Host&, Arena& arena, Tile16View<S> const& a) {
  Converter on(arena);
  return tile16::entries(on, a);
}
template <class S>
StoredTilesBelow below_tile16(Host&, Arena& arena, Tile16View<S> const& a) {
  Converter on(arena);
  return tile16::below(on, a);
}
template <class S, class T>
SparseProductNotes spmspv_tile16(Host&, Arena& arena, Tile16View<S> const& a,
                                 TilesBelow const& below, T const* sums,
                                 SparseProduct<T> const& how, SparseVectorView<T> const& x,
                                 SparseVectorArrays<T>& y, SpmspvMemory<T>& memory) {
  Converter on(arena);
  return spmspv::multiply<T>(on, a, a.rows, below, sums, how, x, y, memory);
}

#define TCSOLVE_INSTANTIATE(S)                                                                     \
  template Tile16Arrays<S> build_tile16<S>(Host&, Arena&, CsrView<S> const&, Tile16Tuning const&); \
  template void refill_tile16<S>(Host&, Arena&, CsrView<S> const&, Tile16Arrays<S>&);              \
  template CsrArrays<S> entries_tile16<S>(Host&, Arena&, Tile16View<S> const&);                    \
  template StoredTilesBelow below_tile16<S>(Host&, Arena&, Tile16View<S> const&);
TCSOLVE_VALUES(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE
#define TCSOLVE_INSTANTIATE(S, T)                                                                \
  template SparseProductNotes spmspv_tile16<S, T>(                                               \
      Host&, Arena&, Tile16View<S> const&, TilesBelow const&, T const*, SparseProduct<T> const&, \
      SparseVectorView<T> const&, SparseVectorArrays<T>&, SpmspvMemory<T>&);
TCSOLVE_VALUE_PAIRS(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE

template struct WalksExactly<Tile16ExactOps>;
template struct Executes<Tile16Ops>;

}  // namespace tcsolve::host
