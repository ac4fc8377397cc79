// SPDX-License-Identifier: Apache-2.0
/// BiCGStab and GMRES as a user writes them from cuSPARSE and cuBLAS calls, scalars on the host:
/// the loops that tcsolve's are timed against; not part of the library.
#pragma once

#include "plain_cg.hpp"

namespace tcsolve::bench {

/// FP64 with Jacobi from the right, from x = 0 until ||r|| <= rtol ||b|| by the recurrence.
class PlainKrylov {
 public:
  explicit PlainKrylov(Csr<double> const& a);
  ~PlainKrylov();
  PlainKrylov(PlainKrylov const&) = delete;

  /// van der Vorst 1992.
  PlainResult bicgstab(std::vector<double> const& b, double rtol, int max_iters);
  /// Restarted every m; classical Gram-Schmidt twice by cublasDgemv, Givens rotations on the host.
  PlainResult gmres(std::vector<double> const& b, double rtol, int max_iters, int m);
  std::vector<double> x() const;

 private:
  struct State;
  State* s_;
};

}  // namespace tcsolve::bench
