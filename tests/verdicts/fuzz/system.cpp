// SPDX-License-Identifier: Apache-2.0
#include "tests/verdicts/fuzz/system.hpp"
#include "tests/support/dense.hpp"

#include <algorithm>
#include <Eigen/Core>
#include <limits>
#include <numeric>

namespace tcsolve::fuzz {

namespace {

using Matrix = Eigen::MatrixXd;
using Column = Eigen::VectorXd;

Column column(Draw& draw, Index n) {
  Column v(n);
  for (double& e : v) e = draw.number();
  return v;
}

Matrix full(Draw& draw, Index rows, Index cols, double filling) {
  Matrix a(rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) a(i, j) = draw.chance(filling) ? draw.number() : 0;
  return a;
}

/// tridiag(-1, 2, -1), whose ends may be a Neumann boundary (singular) or a penalty.
Matrix laplacian(Draw& draw, Index n) {
  Matrix a = Matrix::Zero(n, n);
  for (Index i = 0; i < n; ++i) {
    a(i, i) = 2;
    if (i > 0) a(i, i - 1) = a(i - 1, i) = -1;
  }
  if (draw.chance(0.3)) {
    a(0, 0) = a(n - 1, n - 1) = n > 1 ? 1 : 0;
  } else if (draw.chance(0.3)) {
    a(0, 0) = std::pow(10.0, draw.between(1, 12));
  }
  return a;
}

/// The eigenvalues 1 to 10^-digits, with the sign of chance for an indefinite one.
Matrix graded_spectrum(Draw& draw, Index n, bool definite) {
  Matrix const q = test::orthogonal(full(draw, n, n, 1));
  int const digits = draw.below(16);
  Column lambda(n);
  for (Index i = 0; i < n; ++i) {
    lambda[i] = std::pow(10.0, -digits * double(i) / std::max<Index>(1, n - 1));
    if (!definite && draw.chance(0.5)) lambda[i] = -lambda[i];
  }
  Matrix const a = q * lambda.asDiagonal() * q.transpose();
  return (a + a.transpose()) / 2;
}

Matrix square(Draw& draw, Index n) {
  Matrix const a = full(draw, n, n, draw.chance(0.5) ? 0.2 : 0.7);
  switch (draw.below(9)) {
    case 0: return a;
    case 1: return (a + a.transpose()) / 2;
    case 2: return a + 4 * Matrix::Identity(n, n);
    case 3: return (a + a.transpose()) / 2 + 2 * n * Matrix::Identity(n, n);
    case 4: return a - a.transpose();
    case 5: {
      Column const u = column(draw, n), v = column(draw, n);
      return u * v.transpose();
    }
    case 6: return graded_spectrum(draw, n, true);
    case 7: return graded_spectrum(draw, n, false);
    default: return laplacian(draw, n);
  }
}

Column powers_of_two(Draw& draw, Index n, int furthest) {
  Column v(n);
  for (double& e : v) e = std::ldexp(1.0, draw.between(-furthest, furthest));
  return v;
}

/// Empty rows and columns, a grading, an order of chance, a scale.
void spoil(Draw& draw, Matrix& a) {
  Index const m = Index(a.rows()), n = Index(a.cols());
  if (draw.chance(0.1)) a.row(draw.below(m)).setZero();
  if (draw.chance(0.1)) a.col(draw.below(n)).setZero();
  int const steep = draw.between(1, 30);
  if (draw.chance(0.15)) {
    Column const d = powers_of_two(draw, std::max(m, n), steep);
    a = d.head(m).asDiagonal() * a * d.head(n).asDiagonal();  // keeps the symmetry
  } else if (draw.chance(0.1)) {
    a = powers_of_two(draw, m, steep).asDiagonal() * a;
  }
  if (draw.chance(0.08)) {  // rows from 1e-30 to 1e30
    a = powers_of_two(draw, m, 100).asDiagonal() * a;
  } else if (m == n && draw.chance(0.05)) {  // a penalty
    Index const i = draw.below(n);
    a(i, i) += std::pow(10.0, draw.between(3, 30));
  }
  if (m == n && draw.chance(0.3)) {
    Eigen::PermutationMatrix<Eigen::Dynamic> p(n);
    p.setIdentity();
    for (Index i = n; i-- > 1;) std::swap(p.indices()[i], p.indices()[draw.below(i + 1)]);
    a = p * a * p.transpose();
  }
  if (draw.chance(0.2)) a *= std::ldexp(1.0, draw.between(-400, 400));
}

}  // namespace

namespace {

/// A vector whose part in A is taken out, to rounding, or left in it: then it is no null vector.
void add_nullspace(Draw& draw, Matrix& a, System& s, bool& constant) {
  Index const n = Index(a.rows());
  constant = draw.chance(0.5);
  Column z = constant ? Column(Column::Ones(n)) : column(draw, n);
  if (!(z.norm() > 0)) z = Column::Ones(n);
  Column const unit = z.normalized();
  if (draw.chance(0.9)) {
    bool const left = draw.chance(0.8);
    a -= (a * unit) * unit.transpose();
    if (left) a -= unit * (unit.transpose() * a);
    if (left && draw.chance(0.5)) a = Matrix((a + a.transpose()) / 2);
    // What a user's vectors are null to.
    if (draw.chance(0.2))
      a += std::pow(10.0, -draw.between(5, 16)) * a.norm() * unit * unit.transpose();
  }
  if (!constant) {
    if (draw.chance(0.2)) z *= std::ldexp(1.0, draw.between(-500, 500));
    s.nullspace.push_back({z.begin(), z.end()});
  }
}

}  // namespace

System system(Draw& draw, bool rectangular, bool& constant) {
  constexpr Index large = 40;
  Index const n = draw.chance(0.1) ? draw.between(1, 2) : draw.between(2, large);
  Index const m = rectangular ? draw.between(1, large) : n;
  Matrix a = rectangular ? full(draw, m, n, 0.5) : square(draw, n);
  spoil(draw, a);

  System s;
  constant = false;
  if (m == n && n > 1 && draw.chance(0.12)) add_nullspace(draw, a, s, constant);
  s.rows = m, s.cols = n;
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < n; ++j)
      if (a(i, j) != 0 || draw.chance(0.005)) s.entries.push_back({i, j, a(i, j)});

  Column const wanted = column(draw, n);
  Column b = draw.chance(0.5) ? Column(a * wanted) : column(draw, m);
  if (draw.chance(0.05)) b = Column::Unit(m, draw.below(m));
  if (draw.chance(0.03)) b.setZero();
  if (draw.chance(0.15)) b *= std::ldexp(1.0, draw.between(-400, 400));
  if (draw.chance(0.02)) b[draw.below(m)] = std::numeric_limits<double>::quiet_NaN();
  s.b.assign(b.begin(), b.end());

  Column x0 = Column::Zero(n);
  if (draw.chance(0.25)) x0 = draw.chance(0.3) ? wanted : column(draw, n);
  if (draw.chance(0.02)) x0 *= 1e150;
  if (draw.chance(0.01)) x0[draw.below(n)] = std::numeric_limits<double>::infinity();
  s.x0.assign(x0.begin(), x0.end());
  s.finite = b.allFinite() && x0.allFinite();
  if (s.finite && !rectangular && draw.chance(0.1))
    for (int k = draw.between(1, 4); k > 0; --k) {
      Column more = draw.chance(0.5) ? Column(a * column(draw, n)) : column(draw, m);
      if (draw.chance(0.1)) more = b;
      if (draw.chance(0.05)) more.setZero();
      if (draw.chance(0.1)) more *= std::ldexp(1.0, draw.between(-200, 200));
      s.more.push_back({more.begin(), more.end()});
    }
  return s;
}

}  // namespace tcsolve::fuzz
