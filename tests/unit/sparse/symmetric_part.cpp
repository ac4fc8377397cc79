// SPDX-License-Identifier: Apache-2.0
/// Symmetric parts and the test for symmetry against dense algebra and the host's serial test.
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/matrix/symmetry.hpp>
#include <tcsolve/sparse/symmetric_part.hpp>

#include <Eigen/Dense>

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

TEST_P(SparseSymmetricPart, SymmetryIsThatOfTheHost) {
  auto list = adversarial();
  Csr<double> const grid = generate(Poisson7Params{.n = 9, .coefficient = Coefficient::random});
  list.push_back({"grid", grid});
  list.push_back({"convection", generate(ConvdiffParams{.n = 9})});
  Csr<double> off = grid, rounded = grid, missing = grid;
  off.values[17] *= 1 + 1e-9;
  rounded.values[17] *= 1 + 1e-14;
  for (Index i = 0; i < missing.rows; ++i)
    for (Offset k = missing.offsets[i]; k < missing.offsets[i + 1]; ++k)
      if (missing.columns[k] < i) missing.values[k] = 0;
  list.push_back({"off", off}), list.push_back({"rounded", rounded});
  list.push_back({"one triangle", missing});
  int yes = 0, no = 0;
  for (auto const& [name, a] : list) {
    SCOPED_TRACE(name);
    CsrStorage<double> const there(ctx(), a.view());
    bool const found = sparse::is_symmetric(ctx(), there.view());
    EXPECT_EQ(found, is_symmetric(a.view()));
    ++(found ? yes : no);
  }
  EXPECT_GE(yes, 3);
  EXPECT_GE(no, 4);
}

}  // namespace
}  // namespace tcsolve::test
