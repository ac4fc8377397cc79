// SPDX-License-Identifier: Apache-2.0
/// Products of CSR matrices and sparse vectors on each backend (sparse/spmspv.hpp).
#pragma once

#include <tcsolve/sparse/spmspv.hpp>

namespace tcsolve {
namespace host {
StoredTilesBelow tiles_below_csr(Host&, Arena&, PatternView const& a);
bool rows_ascend(Host&, Arena&, PatternView const& a);
template <class S, class T>
SparseProductNotes spmspv_csr(Host&, Arena&, CsrView<S> const& a, SparseColumns<S> const& columns,
                              SparseProduct<T> const& how, SparseVectorView<T> const& x,
                              SparseVectorArrays<T>& y, SpmspvMemory<T>& memory);
template <class T>
void subtract_sparse(Host&, Arena&, SparseVectorView<T> const& y, Out<T> r);
}  // namespace host
namespace cuda {
StoredTilesBelow tiles_below_csr(Device&, Arena&, PatternView const& a);
bool rows_ascend(Device&, Arena&, PatternView const& a);
template <class S, class T>
SparseProductNotes spmspv_csr(Device&, Arena&, CsrView<S> const& a, SparseColumns<S> const& columns,
                              SparseProduct<T> const& how, SparseVectorView<T> const& x,
                              SparseVectorArrays<T>& y, SpmspvMemory<T>& memory);
template <class T>
void subtract_sparse(Device&, Arena&, SparseVectorView<T> const& y, Out<T> r);
}  // namespace cuda
}  // namespace tcsolve
