// SPDX-License-Identifier: Apache-2.0
/// The CSR product as an operand list, for a loop that cannot call a library from within.
#pragma once

#include <tcsolve/kernels/verb_facts.hpp>
#include <tcsolve/kernels/verbs/basic.hpp>
#include <tcsolve/kernels/views/csr.hpp>

namespace tcsolve {

/// y = alpha A x + beta y, one column of adjacent entries; with sigma also sigma = <x, y>. Outside
/// of persistent loops the product is spmm_csr (kernels/spmm_csr.hpp).
template <class S, class T>
struct CsrMultiply {
  static constexpr char const* name = "csr_multiply";
  std::int64_t n;
  T alpha;
  CsrView<S> a;
  T const* x;
  T beta;
  T* y;
  double* sigma;  ///< null: not wanted

  void const* gathered() const { return x; }
  int sum_count() const { return sigma != nullptr ? 1 : 0; }
  int lanes(int teams, int threads) const { return lanes_for(n, a.entries, teams, threads); }
  T const** input() { return sigma == nullptr ? &x : nullptr; }
};

}  // namespace tcsolve
