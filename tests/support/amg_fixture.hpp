// SPDX-License-Identifier: Apache-2.0
/// Cycles of amg as dense matrices, for tests against dense algebra.
#pragma once

#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/precond/amg/amg.hpp>
#include <tcsolve/precond/amg/cycle.hpp>

#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "tests/support/backend.hpp"
#include "tests/support/each_backend.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/matrices.hpp"

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
  /// max |x - y| / max |y|
  static double off(std::vector<double> const& x, std::vector<double> const& y) {
    double most = 0, size = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      most = std::max(most, std::abs(x[i] - y[i]));
      size = std::max(size, std::abs(y[i]));
    }
    return most / size;
  }
  /// Y = alpha M X + beta X of three columns, in one call and column by column.
  void expect_its_columns(LinearOperator<double> const& M, double alpha = 1, double beta = 0,
                          double tolerance = 1e-13) {
    Index const n = M.cols(), k = 3;
    std::vector<double> const R = random_values(std::size_t(n) * k, 7);
    There<double> x(ctx(), R), y(ctx(), R);
    M.apply(ctx(), alpha, In<double>{x.data(), n, k, k, Layout::row_major, ctx().space()}, beta,
            Out<double>{y.data(), n, k, k, Layout::row_major, ctx().space()});
    std::vector<double> const all = y.all();
    for (Index c = 0; c < k; ++c) {
      std::vector<double> r(n), got(n);
      for (Index i = 0; i < n; ++i)
        r[i] = R[std::size_t(i) * k + c], got[i] = all[std::size_t(i) * k + c];
      std::vector<double> wanted = applied(M, r);
      for (Index i = 0; i < n; ++i) wanted[i] = alpha * wanted[i] + beta * r[i];
      EXPECT_LE(off(got, wanted), tolerance) << "column " << c;
    }
  }
  /// M of a with the values of b is that which is made of b, and back again.
  void expect_new_values_as_anew(Csr<double> const& a, Csr<double> const& b,
                                 AmgParams const& params) {
    std::vector<double> const r = random_values(a.rows, 5);
    auto const owner = made(a, params);
    std::vector<double> const before = applied(*owner->view(), r);
    owner->update(ctx(), system(b));
    EXPECT_EQ(applied(*owner->view(), r), applied(*made(b, params)->view(), r));
    EXPECT_NE(applied(*owner->view(), r), before);
    owner->update(ctx(), system(a));
    EXPECT_EQ(applied(*owner->view(), r), before);
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
