// SPDX-License-Identifier: Apache-2.0
/// The fused updates of conjugate gradients whose scalars stay in the Context's space, step by
/// step: rho_k = <r, M r>, sigma_k = <p, A p> (Saad 2003, Algorithm 9.1). Where M is a diagonal D
/// no pass is made for M r: rho_{k+1} is a sum of the pass that makes r, and D r is a factor of the
/// one that makes p.
#pragma once

#include <tcsolve/kernels/diagonal.hpp>
#include <tcsolve/kernels/op_list.hpp>
#include <tcsolve/kernels/vector_ops.hpp>

namespace tcsolve {

/// r random, rho_0 = <r, D r>.
struct SpectrumStart {
  static constexpr char const* name = "spectrum_start";
  static constexpr int sums = 1;
  std::int64_t n;
  Random<double> random;
  Diagonal<double> D;
  double* rho;
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients none, double* sum) const {
    random.element(i, none, nullptr);
    double const r = random.y[i];
    sum[0] += r * D(i, r);
  }
  TCSOLVE_HD void finish(Frame, double const* sum) const { *rho = sum[0]; }
};

/// p = D z + (rho_k / rho_{k-1}) p; p = D z in the first step.
struct SpectrumDirection {
  static constexpr char const* name = "spectrum_direction";
  std::int64_t n;
  double const* rho;  ///< rho_k; rho_{k-1} lies before it
  bool first;
  Diagonal<double> D;
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
    double const z_i = D(i, z[i]);
    p[i] = first ? z_i : z_i + c.beta * p[i];
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

/// The same, and rho_{k+1} = <r, D r>.
struct SpectrumResidualDot {
  static constexpr char const* name = "spectrum_residual_dot";
  static constexpr int sums = 1;
  std::int64_t n;
  SpectrumResidual update;
  Diagonal<double> D;
  double* next;  ///< rho_{k+1}
  using Coefficients = SpectrumResidual::Coefficients;
  TCSOLVE_HD bool prepare(Frame f, Coefficients& c) const { return update.prepare(f, c); }
  TCSOLVE_HD void element(std::int64_t i, Coefficients const& c, double* sum) const {
    update.element(i, c, nullptr);
    double const r = update.r[i];
    sum[0] += r * D(i, r);
  }
  TCSOLVE_HD void finish(Frame, double const* sum) const { *next = sum[0]; }
};

using SpectrumOps = OpList<SpectrumStart, SpectrumDirection, SpectrumResidual, SpectrumResidualDot>;

}  // namespace tcsolve
