// SPDX-License-Identifier: Apache-2.0
/// y = alpha A x + beta y, A in CSR, x and y blocks of k vectors in either layout.
///
///   host    one row a task, FP64 accumulation, entries in storage order            (Kokkos)
///   cuda    cuSPARSE with a plan made once, where values and vectors have one type; else our own,
///           accumulation in T, a fixed tree: values may be narrower than x. One column: two to 32
///           lanes a row, a quarter of a mean row, and a block for a long one. Several: a warp a
///           row. cuSPARSE has no product with a block of vectors that is both reproducible (ALG1
///           and ALG2 are not) and free of alignment rules (ALG3 is not), so a deterministic block
///           takes the warps too
///   bytes   entries (sizeof(S) + 4) + offsets + k (cols + rows) sizeof(T)
///   error   |y - exact|_i <= g_i (|alpha| |A||x| + |beta||y|)_i:
///           Higham 2002, section 3.1, with m = entries in row i + 2
///   note    beta == 0 writes y and never reads it
#pragma once

#include <memory>

#include <tcsolve/core/context.hpp>
#include <tcsolve/core/csr_view.hpp>
#include <tcsolve/core/half.hpp>

namespace tcsolve {

namespace host {
template <class S, class T>
void spmm_csr(Host&, T alpha, CsrView<S> const& a, In<T> x, T beta, Out<T> y);
}  // namespace host

namespace cuda {

/// cuSPARSE descriptor, preprocessed, with its workspace. Used by one stream at a time.
class CsrPlan;
/// Null when cuSPARSE does not offer the product (64-bit offsets): then use spmm_csr without a
/// plan.
template <class T>
std::shared_ptr<CsrPlan> plan_csr(Device&, CsrView<T> const& a, bool deterministic);
template <class T>
void spmm_csr(Device&, CsrPlan&, T alpha, In<T> x, T beta, Out<T> y);
template <class S, class T>
void spmm_csr(Device&, T alpha, CsrView<S> const& a, In<T> x, T beta, Out<T> y);

}  // namespace cuda
}  // namespace tcsolve
