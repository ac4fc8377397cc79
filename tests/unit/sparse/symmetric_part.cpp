// SPDX-License-Identifier: Apache-2.0
/// Symmetric parts against dense algebra.
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/sparse/symmetric_part.hpp>

#include <Eigen/Core>

#include <cmath>

#include "tests/support/backend.hpp"
#include "tests/support/each_backend.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

class SparseSymmetricPart : public OnEachBackend {};
TCSOLVE_ON_EACH_BACKEND(SparseSymmetricPart);

Eigen::MatrixXd dense(Csr<double> const& a) {
  Eigen::MatrixXd d = Eigen::MatrixXd::Zero(a.rows, a.cols);
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) d(i, a.columns[k]) = a.values[k];
  return d;
}

TEST_P(SparseSymmetricPart, IsTheMeanOfAMatrixAndItsTranspose) {
  for (auto const& [name, a] : adversarial()) {
    SCOPED_TRACE(name);
    CsrStorage<double> const there(ctx(), a.view());
    if (a.rows != a.cols) {
      EXPECT_THROW(sparse::SymmetricPart(ctx(), there.view()), ShapeError);
      continue;
    }
    if (a.rows > 1500) continue;
    sparse::SymmetricPart const plan(ctx(), there.view());
    Array<double> h(ctx().space(), static_cast<std::size_t>(plan.pattern().entries));
    for (double const factor : {1.0, -3.0}) {  // new values
      Csr<double> now = a;
      for (double& v : now.values) v *= factor;
      CsrStorage<double> const values(ctx(), now.view());
      plan.values(ctx(), values.view(), h.data());
      Csr<double> const H =
          to_host(ctx(), plan.pattern().with(static_cast<double const*>(h.data())));
      Eigen::MatrixXd const A = dense(now);
      EXPECT_EQ(dense(H), Eigen::MatrixXd(0.5 * A + 0.5 * A.transpose()));
    }
    Csr<double> const back = transpose(a.view());
    EXPECT_EQ(plan.keeps_pattern(), back.offsets == a.offsets && back.columns == a.columns);
  }
}

}  // namespace
}  // namespace tcsolve::test
