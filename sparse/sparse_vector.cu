// SPDX-License-Identifier: Apache-2.0
/// Sparse vectors on the device (sparse/sparse_vector.hpp).
#include <tcsolve/kernels/cuda/convert.cuh>
#include <tcsolve/sparse/sparse_vector_build.hpp>

namespace tcsolve::cuda {

template <class T>
SparseVectorArrays<T> sparse_from_sorted(Device& device, Arena& arena, Index rows, int side,
                                         Index const* indices, T const* values, Index count) {
  Converter on(device, arena);
  return sparse::from_sorted(on, rows, side, indices, values, count);
}
template <class T>
SparseVectorArrays<T> sparse_from_dense(Device& device, Arena& arena, int side, In<T> x) {
  Converter on(device, arena);
  return sparse::from_source<T>(on, x.rows, side, sparse::DenseSource<T>{x});
}
template <class T>
SparseVectorArrays<T> sparse_from_bits(Device& device, Arena& arena, Index rows, int side,
                                       std::uint64_t const* words) {
  Converter on(device, arena);
  return sparse::from_source<T>(on, rows, side, sparse::BitSource<T>{words});
}
template <class T>
Index count_entries(Device& device, Arena& arena, SparseVectorView<T> const& x) {
  Converter on(device, arena);
  return sparse::count_entries(on, x);
}
template <class T>
void sparse_to_sorted(Device& device, Arena& arena, SparseVectorView<T> const& x, Index* indices,
                      T* values) {
  Converter on(device, arena);
  sparse::to_sorted(on, x, indices, values);
}
template <class T>
void sparse_to_dense(Device& device, Arena& arena, SparseVectorView<T> const& x, Out<T> to) {
  Converter on(device, arena);
  on.each(x.rows, sparse::ToDense<T>{x, to});
}
template <class T>
void sparse_to_bits(Device& device, Arena& arena, SparseVectorView<T> const& x,
                    std::uint64_t* words) {
  Converter on(device, arena);
  on.each((std::int64_t{x.rows} + 63) / 64, sparse::ToBits<T>{x, words});
}
template <class T>
void sparse_keep_nonzeros(Device& device, Arena& arena, SparseVectorArrays<T>& x,
                          SparseVectorView<T> const* mask, bool complement) {
  Converter on(device, arena);
  sparse::keep_nonzeros(on, x, mask, complement);
}

#define TCSOLVE_INSTANTIATE(T)                                                                    \
  template SparseVectorArrays<T> sparse_from_sorted<T>(Device&, Arena&, Index, int, Index const*, \
                                                       T const*, Index);                          \
  template SparseVectorArrays<T> sparse_from_dense<T>(Device&, Arena&, int, In<T>);               \
  template SparseVectorArrays<T> sparse_from_bits<T>(Device&, Arena&, Index, int,                 \
                                                     std::uint64_t const*);                       \
  template Index count_entries<T>(Device&, Arena&, SparseVectorView<T> const&);                   \
  template void sparse_to_sorted<T>(Device&, Arena&, SparseVectorView<T> const&, Index*, T*);     \
  template void sparse_to_dense<T>(Device&, Arena&, SparseVectorView<T> const&, Out<T>);          \
  template void sparse_to_bits<T>(Device&, Arena&, SparseVectorView<T> const&, std::uint64_t*);   \
  template void sparse_keep_nonzeros<T>(Device&, Arena&, SparseVectorArrays<T>&,                  \
                                        SparseVectorView<T> const*, bool);
TCSOLVE_INSTANTIATE(double)
TCSOLVE_INSTANTIATE(float)
#undef TCSOLVE_INSTANTIATE

}  // namespace tcsolve::cuda
