// SPDX-License-Identifier: Apache-2.0
/// What a user writes today: Jacobi-CG from cuSPARSE and cuBLAS calls. The loops that tcsolve is
/// timed against; not part of the library.
#pragma once

#include <tcsolve/matrix/csr.hpp>

namespace tcsolve::bench {

struct PlainResult {
  int iterations;
  double seconds;    ///< of the loop alone
  double whole = 0;  ///< with what surrounds it, where that is known
};

/// FP64 Jacobi-CG on the device from x = 0 until ||r|| <= rtol ||b||.
class PlainCg {
 public:
  explicit PlainCg(Csr<double> const& a);
  ~PlainCg();
  PlainCg(PlainCg const&) = delete;

  /// Scalars come back to the host, the residual is looked at in every iteration.
  PlainResult host_scalars(std::vector<double> const& b, double rtol, int max_iters);
  /// Scalars stay on the device; `block` iterations are one CUDA graph, the residual is looked at
  /// after each.
  PlainResult graph(std::vector<double> const& b, double rtol, int max_iters, int block);
  std::vector<double> x() const;

 private:
  struct State;
  State* s_;
};

}  // namespace tcsolve::bench
