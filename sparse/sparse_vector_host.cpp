// SPDX-License-Identifier: Apache-2.0
/// Sparse vectors on the host (sparse/sparse_vector.hpp).
#include <tcsolve/kernels/host/convert.hpp>
#include <tcsolve/sparse/sparse_vector_build.hpp>

namespace tcsolve::host {

template <class T>
SparseVectorArrays<T> sparse_from_sorted(Host&, Arena& arena, Index rows, int side,
                                         Index const* indices, T const* values, Index count) {
  Converter on(arena);
  return sparse::from_sorted(on, rows, side, indices, values, count);
}
template <class T>
SparseVectorArrays<T> sparse_from_dense(Host&, Arena& arena, int side, In<T> x) {
  Converter on(arena);
  return sparse::from_source<T>(on, x.rows, side, sparse::DenseSource<T>{x});
}
template <class T>
SparseVectorArrays<T> sparse_from_bits(Host&, Arena& arena, Index rows, int side,
                                       std::uint64_t const* words) {
  Converter on(arena);
  return sparse::from_source<T>(on, rows, side, sparse::BitSource<T>{words});
}
template <class T>
Index count_entries(Host&, Arena& arena, SparseVectorView<T> const& x) {
  Converter on(arena);
  return sparse::count_entries(on, x);
}
template <class T>
void sparse_to_sorted(Host&, Arena& arena, SparseVectorView<T> const& x, Index* indices,
                      T* values) {
  Converter on(arena);
  sparse::to_sorted(on, x, indices, values);
}
template <class T>
void sparse_to_dense(Host&, Arena& arena, SparseVectorView<T> const& x, Out<T> to) {
  Converter on(arena);
  on.each(x.rows, sparse::ToDense<T>{x, to});
}
template <class T>
void sparse_to_bits(Host&, Arena& arena, SparseVectorView<T> const& x, std::uint64_t* words) {
  Converter on(arena);
  on.each((std::int64_t{x.rows} + 63) / 64, sparse::ToBits<T>{x, words});
}
template <class T>
void sparse_keep_nonzeros(Host&, Arena& arena, SparseVectorArrays<T>& x,
                          SparseVectorView<T> const* mask, bool complement) {
  Converter on(arena);
  sparse::keep_nonzeros(on, x, mask, complement);
}

#define TCSOLVE_INSTANTIATE(T)                                                                  \
  template SparseVectorArrays<T> sparse_from_sorted<T>(Host&, Arena&, Index, int, Index const*, \
                                                       T const*, Index);                        \
  template SparseVectorArrays<T> sparse_from_dense<T>(Host&, Arena&, int, In<T>);               \
  template SparseVectorArrays<T> sparse_from_bits<T>(Host&, Arena&, Index, int,                 \
                                                     std::uint64_t const*);                     \
  template Index count_entries<T>(Host&, Arena&, SparseVectorView<T> const&);                   \
  template void sparse_to_sorted<T>(Host&, Arena&, SparseVectorView<T> const&, Index*, T*);     \
  template void sparse_to_dense<T>(Host&, Arena&, SparseVectorView<T> const&, Out<T>);          \
  template void sparse_to_bits<T>(Host&, Arena&, SparseVectorView<T> const&, std::uint64_t*);   \
  template void sparse_keep_nonzeros<T>(Host&, Arena&, SparseVectorArrays<T>&,                  \
                                        SparseVectorView<T> const*, bool);
TCSOLVE_INSTANTIATE(double)
TCSOLVE_INSTANTIATE(float)
#undef TCSOLVE_INSTANTIATE

}  // namespace tcsolve::host
