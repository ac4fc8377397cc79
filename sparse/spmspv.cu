// SPDX-License-Identifier: Apache-2.0
/// Products of CSR matrices and sparse vectors on the device (sparse/spmspv.hpp).
#include <tcsolve/kernels/cuda/steps.cuh>
#include <tcsolve/kernels/value_pairs.hpp>
#include <tcsolve/sparse/spmspv_backends.hpp>
#include <tcsolve/sparse/spmspv_entries_build.hpp>
#include <tcsolve/sparse/tiles_below_build.hpp>

namespace tcsolve::cuda {

StoredTilesBelow tiles_below_csr(Device& device, Arena& arena, PatternView const& a) {
  Converter on(device, arena);
  return sparse::tiles_below_csr(on, a);
}
bool rows_ascend(Device& device, Arena& arena, PatternView const& a) {
  Converter on(device, arena);
  return sparse::rows_ascend(on, a);
}
template <class S, class T>
SparseProductNotes spmspv_csr(Device& device, Arena& arena, CsrView<S> const& a,
                              SparseColumns<S> const& columns, SparseProduct<T> const& how,
                              SparseVectorView<T> const& x, SparseVectorArrays<T>& y,
                              SpmspvMemory<T>& memory) {
  SteppingConverter on(device, arena);
  if (columns.entries != nullptr)
    return spmspv::multiply_by_entries<T>(on, a, a.rows, *columns.entries, how, x, y, memory);
  return spmspv::multiply<T>(on, a, a.rows, columns.tiles, nullptr, how, x, y, memory);
}
template <class T>
void subtract_sparse(Device& device, Arena& arena, SparseVectorView<T> const& y, Out<T> r) {
  Converter on(device, arena);
  on.each(std::int64_t{y.tiles} * y.side, spmspv::Subtract<T>{y, r});
}

#define TCSOLVE_INSTANTIATE(S, T)                                                           \
  template SparseProductNotes spmspv_csr<S, T>(                                             \
      Device&, Arena&, CsrView<S> const&, SparseColumns<S> const&, SparseProduct<T> const&, \
      SparseVectorView<T> const&, SparseVectorArrays<T>&, SpmspvMemory<T>&);
TCSOLVE_VALUE_PAIRS(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE
template void subtract_sparse<double>(Device&, Arena&, SparseVectorView<double> const&,
                                      Out<double>);
template void subtract_sparse<float>(Device&, Arena&, SparseVectorView<float> const&, Out<float>);

}  // namespace tcsolve::cuda
