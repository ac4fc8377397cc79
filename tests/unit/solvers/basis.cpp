// SPDX-License-Identifier: Apache-2.0
/// Krylov bases in narrower types: what a column loses when it is stored, and what the Arnoldi
/// process keeps of its relation.
#include <tcsolve/solvers/gmres/strips.hpp>

#include <cmath>
#include <limits>

#include "tests/support/arnoldi_process.hpp"
#include "tests/support/backend.hpp"
#include "tests/support/dense.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

using arnoldi::Column, arnoldi::Matrix, arnoldi::Process, arnoldi::random_column,
    arnoldi::random_matrix;

template <class S>
struct Stored {
  std::vector<std::byte> room;
  Basis<S> basis;
  Stored(Index n, Index m)
      : room(Basis<S>::bytes(n, m), std::byte{0}), basis(Basis<S>::of(room.data(), n, m)) {}

  /// put() tells what it stores.
  void told(Index column, Index i, double stored) const {
    EXPECT_EQ(stored, double(basis.at(column, i)));
  }
  /// As the update of a step writes a column: rows that share an exponent together.
  void put(Index column, std::vector<double> const& v) {
    auto const n = static_cast<Index>(v.size());
    if constexpr (Basis<S>::together == 1) {
      for (Index i = 0; i < n; ++i) told(column, i, basis.put(column, i, v[i]));
    } else {
      for (Index i0 = 0; i0 < n; i0 += Basis<S>::together) {
        Index const end = std::min(n, i0 + Basis<S>::together);
        double largest = 0;
        for (Index i = i0; i < end; ++i) largest = std::max(largest, std::abs(v[i]));
        int const e = Basis<S>::exponent(largest);
        for (Index i = i0; i < end; ++i) told(column, i, basis.put(column, i, v[i], e));
      }
    }
  }
};

/// |v - stored|_i over what the documentation allows it.
template <class S>
void expect_within_the_bound(std::vector<double> const& v, Index column) {
  auto const n = static_cast<Index>(v.size());
  Stored<S> stored(n, column + 1);
  for (Index k = 0; k <= column; ++k) stored.put(k, v);  // the last one is looked at
  for (Index i = 0; i < n; ++i) {
    double size = std::abs(v[i]);
    if constexpr (Basis<S>::together > 1)
      for (Index l = i / 32 * 32; l < std::min(n, i / 32 * 32 + 32); ++l)
        size = std::max(size, std::abs(v[l]));
    double const least = std::is_same_v<S, half> ? 0x1p-40 : std::is_same_v<S, double> ? 0 : 1e-37;
    EXPECT_LE(std::abs(double(stored.basis.at(column, i)) - v[i]), basis_roundoff<S> * size + least)
        << i << ": " << v[i];
  }
}

template <class S>
void expect_the_bounds() {
  for (Index n : {1, 31, 32, 33, 100})
    for (Index column : {0, 2}) {
      SCOPED_TRACE(cat(n, " rows, column ", column));
      auto v = random_values(n, 3 + n);
      expect_within_the_bound<S>(v, column);
      for (Index i = 0; i < n; ++i) v[i] = std::ldexp(v[i], -(i * 7) % 45);  // decades in a block
      expect_within_the_bound<S>(v, column);
      for (double& x : v) x = 0;
      expect_within_the_bound<S>(v, column);
      v[n / 2] = 1;  // the largest there is, beside zeros
      expect_within_the_bound<S>(v, column);
      v[0] = -std::nextafter(1.0, 0.0);
      expect_within_the_bound<S>(v, column);
    }
}

TEST(NarrowBasis, LosesNoMoreThanItsRoundoff) {
  expect_the_bounds<double>();
  expect_the_bounds<float>();
  expect_the_bounds<half>();
  expect_the_bounds<bfloat16>();
  expect_the_bounds<Fixed16>();
}

TEST(NarrowBasis, IsAsSmallAsItSays) {
  EXPECT_EQ(Basis<float>::bytes(100, 3), 1200u);
  EXPECT_EQ(Basis<half>::bytes(100, 3), 600u);
  EXPECT_EQ(Basis<Fixed16>::bytes(100, 3), 612u) << "an exponent for 32 rows, the last 4 too";
}

/// What is not finite is found by its norm; storing it is no fault.
TEST(NarrowBasis, TakesWhatIsNotFinite) {
  double const inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  for (double const bad : {inf, -inf, nan}) {
    Stored<Fixed16> stored(40, 1);
    std::vector<double> v(40, 0.5);
    v[3] = bad;
    stored.put(0, v);
    EXPECT_EQ(stored.basis.at(0, 39), 0.5f) << "another block";
  }
}

template <class P>
class KernelsNarrowBasis : public BackendTest<P> {};
TYPED_TEST_SUITE(KernelsNarrowBasis, RealsOnBoth, Label);

/// V is orthonormal, and A V = V H true, to the roundoff of what V is stored in; not to much less,
/// or the test would not see another type in its place.
template <class T, class S>
void expect_the_relation(Context& ctx, bool flexible) {
  Index const n = 100, m = 20;  // no multiple of 32
  double const u = basis_roundoff<S>;
  Matrix const A = random_matrix(n, 11) + 5 * Matrix::Identity(n, n);
  Process<T, S> process(ctx, A, m, random_column(n, 12), roundoff(real_of<T>), flexible);
  LoopState state;
  while (state.stop == 0 && state.iteration < m) state = process.step();
  ASSERT_EQ(state.iteration, m);
  Matrix const V = process.V(m), H = process.H(m);
  double const apart = (V.transpose() * V - Matrix::Identity(m, m)).norm();
  EXPECT_LE(apart, 20 * m * u);
  EXPECT_GE(apart, 0.01 * u);
  Matrix const X = process.multiplied();
  Matrix const left = A * X.leftCols(m - 1), right = V * H.topLeftCorner(m, m - 1);
  double const size = singular_values(A)[0] * X.leftCols(m - 1).colwise().norm().maxCoeff();
  EXPECT_LE((left - right).norm(), 20 * m * u * size);
}

TYPED_TEST(KernelsNarrowBasis, KeepsTheRelationToItsRoundoff) {
  using T = typename TestFixture::T;
  for (bool const flexible : {false, true}) {
    SCOPED_TRACE(flexible ? "flexible" : "");
    if constexpr (sizeof(T) == 8) expect_the_relation<T, float>(this->ctx(), flexible);
    expect_the_relation<T, half>(this->ctx(), flexible);
    expect_the_relation<T, bfloat16>(this->ctx(), flexible);
    expect_the_relation<T, Fixed16>(this->ctx(), flexible);
  }
}

/// A cycle ends where its own account has fallen by the roundoff of the basis: not before, and its
/// last step counts.
template <class T, class S>
void expect_an_end(Context& ctx) {
  Index const n = 64, m = 40;
  Matrix A = Matrix::Identity(n, n);
  for (Index i = 0; i < n; ++i) A(i, i) += 0.5 * std::sin(1.0 + i);
  Process<T, S> process(ctx, A, m, random_column(n, 13), roundoff(real_of<T>));
  process.open();
  LoopState state;
  double before = 0;
  while (state.stop == 0 && state.iteration < m) {
    before = process.norm2();
    state = process.step();
  }
  EXPECT_EQ(static_cast<Stop>(state.stop), Stop::stagnated);
  EXPECT_EQ(static_cast<Cause>(state.cause), Cause::values);
  double const least = basis_roundoff<S> * basis_roundoff<S> * process.start2();
  EXPECT_GT(before, least);
  EXPECT_LE(process.norm2(), least);
  EXPECT_EQ(process.columns(), state.iteration);
}

TYPED_TEST(KernelsNarrowBasis, EndsACycleThatItCannotTellFurther) {
  using T = typename TestFixture::T;
  if constexpr (sizeof(T) == 8) expect_an_end<T, float>(this->ctx());
  expect_an_end<T, half>(this->ctx());
  expect_an_end<T, bfloat16>(this->ctx());
  expect_an_end<T, Fixed16>(this->ctx());
}

}  // namespace
}  // namespace tcsolve::test
