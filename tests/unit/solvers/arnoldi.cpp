// SPDX-License-Identifier: Apache-2.0
/// The Arnoldi process, step by step: V stays orthonormal and A V = V H holds to roundoff of ||A||,
/// also where the candidates are small beside the products they are left from.
#include <tcsolve/solvers/gmres/ops.hpp>
#include <tcsolve/solvers/gmres/strips.hpp>

#include "tests/support/arnoldi_process.hpp"
#include "tests/support/backend.hpp"
#include "tests/support/dense.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

using arnoldi::Matrix, arnoldi::Column, arnoldi::Process, arnoldi::random_column,
    arnoldi::random_matrix;

template <class P>
class KernelsArnoldi : public BackendTest<P> {};
TYPED_TEST_SUITE(KernelsArnoldi, RealsOnBoth, Label);

/// Matrices by how fast the candidates shrink.
std::vector<std::pair<char const*, Matrix>> matrices(Index n) {
  Matrix R = random_matrix(n, 1), I = Matrix::Identity(n, n);
  Matrix graded = I;
  for (Index i = 0; i < n; ++i) graded(i, i) = std::pow(10.0, -10.0 * i / n);
  Matrix Q = orthogonal(random_matrix(n, 2));
  return {{"random", R},
          {"graded", graded},
          {"graded, dense", Q * graded * Q.transpose()},
          {"near the identity", I + 1e-3 * R},
          {"nearer", I + 1e-5 * R},
          {"large", 1e60 * R},
          {"small", 1e-60 * R}};
}

TYPED_TEST(KernelsArnoldi, TheBasisIsOrthonormalAndTheRelationHolds) {
  using T = typename TestFixture::T;
  Index const n = 60, m = 30;
  double eps = roundoff(real_of<T>);
  for (auto const& [name, A] : matrices(n)) {
    if (sizeof(T) == 4 && A.norm() > 1e30) continue;
    if (sizeof(T) == 4 && A.norm() < 1e-30) continue;
    for (bool flexible : {false, true}) {
      SCOPED_TRACE(cat(name, flexible ? ", flexible" : ""));
      Process<T> process(this->ctx(), A, m, random_column(n, 3), eps, flexible);
      LoopState state;
      while (state.stop == 0 && state.iteration < m) state = process.step();
      Index made = state.iteration;
      ASSERT_GE(made, sizeof(T) == 8 ? 8 : 4);
      Matrix V = process.V(made), H = process.H(made);
      EXPECT_LE((V.transpose() * V - Matrix::Identity(made, made)).norm(), 20 * made * eps);
      // A V = V H for every column whose last vector is made; with what was multiplied in place of
      // V where M changes from step to step.
      Matrix X = process.multiplied();
      Matrix left = A * X.leftCols(made - 1), right = V * H.topLeftCorner(made, made - 1);
      double size = singular_values(A)[0] * X.leftCols(made - 1).colwise().norm().maxCoeff();
      EXPECT_LE((left - right).norm(), 20 * made * eps * size);
    }
  }
}

/// The last candidate of a whole space is roundoff. Where its size does not tell (zero_ = 0: no
/// size is), the second pass does, and the step that made it is taken back.
TYPED_TEST(KernelsArnoldi, TakesBackACandidateThatIsRoundoff) {
  using T = typename TestFixture::T;
  Index const n = 12;
  Matrix A = random_matrix(n, 5) + 3 * Matrix::Identity(n, n);
  Column b = random_column(n, 6);
  for (bool flexible : {false, true}) {
    SCOPED_TRACE(flexible ? "flexible" : "");
    Process<T> process(this->ctx(), A, n + 1, b, 0, flexible);
    LoopState state;
    while (state.stop == 0) {
      state = process.step();
      ASSERT_LE(state.iteration, n);
    }
    EXPECT_EQ(static_cast<Stop>(state.stop), Stop::claimed);
    EXPECT_EQ(process.columns(), n);
    Column x = process.solution();
    EXPECT_LE((A * x - b).norm(), 1000 * roundoff(real_of<T>) * b.norm());
  }
}

/// Column by column over strips of rows, and row by row across columns: the same additions.
template <class T>
void expect_the_bits_of_elements() {
  std::int64_t const n = 1300;
  for (Index j : {0, 1, 3, 4, 5, 9}) {
    auto values = [](std::int64_t count, int seed) {
      auto const v = random_values(count, seed);
      return std::vector<T>(v.begin(), v.end());
    };
    std::vector<T> V = values(n * (j + 1), 1), u = values(n, 2), w = values(n, 3), W = V, t = u;
    std::vector<double> sums = random_values(2 * j + 3, 4);
    ArnoldiUpdate<T> strips{.n = n, .V = {V.data(), n}, .u = u.data(), .w = w.data()};
    strips.H.sums = sums.data();
    ArnoldiUpdate<T> rows = strips;
    rows.V.data = W.data();
    rows.u = t.data();
    typename ArnoldiUpdate<T>::Coefficients const c{j, 0.7, 0.3, 1.9};
    double by_strips = 0, by_rows = 0;
    host::strips::update(strips, c, 7, n - 5, &by_strips);
    for (std::int64_t i = 7; i < n - 5; ++i) rows.element(i, c, &by_rows);
    EXPECT_EQ(by_strips, by_rows) << j;
    EXPECT_EQ(V, W) << j;
    EXPECT_EQ(u, t) << j;

    std::vector<T> x(n, T(-1)), y = x;
    double const columns = j + 1;
    CombineBasis<T> together{n, &columns, {V.data(), n}, sums.data(), x.data()}, apart = together;
    apart.u = y.data();
    host::strips::combine(together, {j + 1}, 7, n - 5);
    for (std::int64_t i = 7; i < n - 5; ++i) apart.element(i, {j + 1}, nullptr);
    EXPECT_EQ(x, y) << j;
  }
}
TEST(HostArnoldi, GivesTheBitsOfTheElementFunction) {
  expect_the_bits_of_elements<double>();
  expect_the_bits_of_elements<float>();
}

/// The space of a start in which A is singular: the verdict is the same whether the size or the
/// second pass tells.
TYPED_TEST(KernelsArnoldi, KnowsThatAnInvariantSubspaceHoldsNoSolution) {
  using T = typename TestFixture::T;
  Index const n = 8;
  Matrix A = Matrix::Zero(n, n);
  for (Index i = 0; i + 1 < n; ++i) A(i + 1, i) = 1;  // a shift: A^n = 0
  Process<T> process(this->ctx(), A, n + 1, Column::Unit(n, 0), roundoff(real_of<T>));
  LoopState state;
  while (state.stop == 0) {
    state = process.step();
    ASSERT_LE(state.iteration, n);
  }
  EXPECT_EQ(static_cast<Stop>(state.stop), Stop::breakdown);
  EXPECT_EQ(static_cast<Cause>(state.cause), Cause::singular_operator);
  EXPECT_EQ(process.columns(), n - 1);
}

}  // namespace
}  // namespace tcsolve::test
