// SPDX-License-Identifier: Apache-2.0
/// Cycles of amg as dense matrices, for tests against dense algebra.
#pragma once

#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/precond/amg/amg.hpp>
#include <tcsolve/precond/amg/cycle.hpp>

#include <Eigen/Core>

#include <memory>
#include <vector>

#include "tests/support/backend.hpp"
#include "tests/support/each_backend.hpp"
#include "tests/support/guarded.hpp"

namespace tcsolve::test {

inline Eigen::MatrixXd dense(Csr<double> const& a) {
  Eigen::MatrixXd d = Eigen::MatrixXd::Zero(a.rows, a.cols);
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) d(i, a.columns[k]) = a.values[k];
  return d;
}

class AmgOnEachBackend : public OnEachBackend {
 protected:
  System system(Csr<double> const& a) {
    auto const A = std::make_shared<CsrOperator<double>>(ctx(), Csr<double>(a));
    return {A->view(), A};
  }
  /// In FP64, which dense algebra is compared with, unless `params` say another type.
  std::unique_ptr<Preconditioner> made(Csr<double> const& a, AmgParams params = {}) {
    if (params.values == AmgValues::automatic) params.values = AmgValues::f64;
    return AmgFactory(params).build(ctx(), system(a));
  }
  std::vector<double> applied(LinearOperator<double> const& M, std::vector<double> const& r) {
    Guarded<double> x(ctx(), r), y(ctx(), r);
    M.apply(ctx(), 1, x.in(), 0, y.view());
    return y.get();
  }
  /// M as a dense matrix.
  Eigen::MatrixXd matrix_of(LinearOperator<double> const& M) {
    Index const n = M.cols();
    Eigen::MatrixXd all(n, n);
    for (Index j = 0; j < n; ++j) {
      std::vector<double> e(n, 0.0);
      e[j] = 1;
      std::vector<double> const column = applied(M, e);
      all.col(j) = Eigen::Map<Eigen::VectorXd const>(column.data(), n);
    }
    return all;
  }
  static AmgHierarchy const& hierarchy_of(Preconditioner const& owner) {
    return dynamic_cast<AmgCycle const&>(*owner.view()).hierarchy();
  }
  static std::vector<Index> rows_of(Preconditioner const& owner) {
    std::vector<Index> rows;
    for (AmgLevel const& l : hierarchy_of(owner).levels()) rows.push_back(l.rows);
    return rows;
  }
};

}  // namespace tcsolve::test
