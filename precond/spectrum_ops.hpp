// SPDX-License-Identifier: Apache-2.0
/// The fused updates of conjugate gradients whose scalars stay in the Context's space, step by
/// step: rho_k = <r, M r>, sigma_k = <p, A p> (Saad 2003, Algorithm 9.1).
#pragma once

#include <tcsolve/kernels/op_list.hpp>
#include <tcsolve/kernels/vector_ops.hpp>

namespace tcsolve {

/// p = z + (rho_k / rho_{k-1}) p; p = z in the first step.
struct SpectrumDirection {
  static constexpr char const* name = "spectrum_direction";
  std::int64_t n;
  double const* rho;  ///< rho_k; rho_{k-1} lies before it
  bool first;
  double const* z;
  double* p;
  struct Coefficients {
    double beta;
  };
  TCSOLVE_HD bool prepare(Frame, Coefficients& c) const {
    c.beta = first ? 0.0 : rho[0] / rho[-1];
    return true;
  }
  TCSOLVE_HD void element(std::int64_t i, Coefficients const& c, double*) const {
    p[i] = first ? z[i] : z[i] + c.beta * p[i];
  }
};

/// r -= (rho_k / sigma_k) q.
struct SpectrumResidual {
  static constexpr char const* name = "spectrum_residual";
  std::int64_t n;
  double const *rho, *sigma;
  double const* q;
  double* r;
  struct Coefficients {
    double alpha;
  };
  TCSOLVE_HD bool prepare(Frame, Coefficients& c) const {
    c.alpha = *rho / *sigma;
    return true;
  }
  TCSOLVE_HD void element(std::int64_t i, Coefficients const& c, double*) const {
    r[i] -= c.alpha * q[i];
  }
};

using SpectrumOps = OpList<SpectrumDirection, SpectrumResidual>;

}  // namespace tcsolve
