// SPDX-License-Identifier: Apache-2.0
/// y = alpha A x + beta y, A in CSR, x and y blocks of k vectors in either layout.
///
///   host    one row a task, FP64 accumulation, entries in storage order            (Kokkos)
///   cuda    accumulation in T, a fixed tree: values may be narrower than x. One column: two to 32
///           lanes a row, a quarter of a mean row, and a warp for a part of a long one; the sums of
///           parts are added in their order. Several columns: up to a warp a row, each lane with 16
///           bytes of columns where rows of x and y are whole packs (kernels/cuda/pack.cuh)
///   bytes   entries (sizeof(S) + 4) + offsets + k (cols + rows) sizeof(T)
///   error   |y - exact|_i <= g_i (|alpha| |A||x| + |beta||y|)_i:
///           Higham 2002, section 3.1, with m = entries in row i + 2
///   note    beta == 0 writes y and never reads it
///   loop    the one around it, or null: in a stopped one nothing happens
#pragma once

#include <tcsolve/core/context.hpp>
#include <tcsolve/core/csr_view.hpp>
#include <tcsolve/core/half.hpp>
#include <tcsolve/formats/csr/lines.hpp>
#include <tcsolve/kernels/smoothing_step.hpp>

namespace tcsolve {

namespace host {
template <class S, class T>
void spmm_csr(Host&, LoopState*, T alpha, CsrView<S> const& a, In<T> x, T beta, Out<T> y);
}  // namespace host

namespace cuda {
/// sums: room for one of each part.
template <class S, class T>
void spmm_csr(Device&, LoopState*, T alpha, CsrParts<S> const& a, T* sums, In<T> x, T beta,
              Out<T> y);
/// One column of adjacent entries, and the step that takes each of its rows.
template <class S, class T>
void spmv_then_csr(Device&, LoopState*, T alpha, CsrParts<S> const& a, T* sums, In<T> x, T beta,
                   Out<T> y, SmoothingStep<T> const&);

}  // namespace cuda
}  // namespace tcsolve
