// SPDX-License-Identifier: Apache-2.0
/// Smoothers, matrices that are not symmetric, and K cycles, against dense algebra.
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/precond/amg/aggregation.hpp>
#include <tcsolve/precond/amg/coarse_inverse.hpp>
#include <tcsolve/precond/amg/strength.hpp>
#include <tcsolve/precond/amg/weights.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "tests/support/amg_fixture.hpp"
#include "tests/support/dense.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

using testing::HasSubstr;
using Dense = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

class AmgGeneral : public AmgOnEachBackend {
 protected:
  Vector weights_of(Csr<double> const& a, RowWeight kind) {
    Array<double> w(ctx().space(), static_cast<std::size_t>(a.rows));
    double const norm = smoother_weights(ctx(), system(a).matrix, kind, 0, w.data());
    std::vector<double> const there = to_host(ctx(), w);
    Vector const W = Eigen::Map<Vector const>(there.data(), a.rows);
    EXPECT_NEAR(norm, (W.asDiagonal() * dense(a)).cwiseAbs().rowwise().sum().maxCoeff(),
                1e-14 * norm);
    return W;
  }
};
TCSOLVE_ON_EACH_BACKEND(AmgGeneral);

Csr<double> convection(Index n) { return generate(ConvdiffParams{.n = n, .velocity = 2}); }

Csr<double> times(Csr<double> a, double factor) {
  for (double& v : a.values) v *= factor;
  return a;
}

TEST_P(AmgGeneral, WeightsAreTheirFormulas) {
  for (auto const& [name, a] : {Named{"convection", convection(6)},
                                Named{"elasticity", generate(ElasticityParams{.n = 4})}}) {
    SCOPED_TRACE(name);
    Dense const A = dense(a);
    Vector const d = A.diagonal(), sizes = A.cwiseAbs().rowwise().sum(),
                 squares = A.rowwise().squaredNorm();
    EXPECT_EQ(weights_of(a, RowWeight::diagonal), Vector(d.cwiseInverse()));
    EXPECT_LE((weights_of(a, RowWeight::l1).cwiseProduct(sizes).array() - 1).abs().maxCoeff(),
              1e-14);
    Vector const w = weights_of(a, RowWeight::spai0);
    EXPECT_LE((w.cwiseProduct(squares) - d).cwiseAbs().maxCoeff(), 1e-14 * d.maxCoeff());
    for (int const e : {300, -300})
      EXPECT_EQ(Vector(weights_of(times(a, std::ldexp(1, e)), RowWeight::spai0) * std::ldexp(1, e)),
                w)
          << e;
    There<double> there(ctx(), std::vector<double>(w.data(), w.data() + w.size()));
    double const norm = norm_of_weighted(ctx(), system(a).matrix, there.data());
    EXPECT_NEAR(norm, (w.cwiseProduct(sizes)).maxCoeff(), 1e-14 * norm);
  }
}

/// The largest eigenvalue of W A, both symmetric, W a positive diagonal.
double largest_eigenvalue(Vector const& w, Dense const& A) {
  Vector const s = w.cwiseSqrt();
  Dense const scaled = s.asDiagonal() * A * s.asDiagonal();
  return symmetric_eigenvalues(scaled).maxCoeff();
}

TEST_P(AmgGeneral, Spai0IsBoundedSoThatTheCycleIsDefinite) {
  Csr<double> const a = generate(ElasticityParams{.n = 5});
  Dense const A = dense(a);
  EXPECT_GT(largest_eigenvalue(weights_of(a, RowWeight::spai0), A), 2) << "nothing to bound";
  for (int const degree : {1, 2, 3}) {
    SCOPED_TRACE(degree);
    auto const owner = made(a, {.smoother = AmgSmoother::spai0,
                                .degree = degree,
                                .coarse_size = 20,
                                .reuse = AmgReuse::pattern});
    std::vector<double> const w = to_host(ctx(), hierarchy_of(*owner).levels()[0].weights);
    EXPECT_LT(largest_eigenvalue(Eigen::Map<Vector const>(w.data(), a.rows), A), 2);
    Dense const M = matrix_of(*owner->view());
    EXPECT_LE((M - M.transpose()).norm(), 1e-13 * M.norm());
    EXPECT_GT(symmetric_eigenvalues(0.5 * (M + M.transpose())).minCoeff(), 0);
  }
}

TEST(AmgCoarseGeneral, InverseIsThatOfAnyMatrix) {
  Csr<double> const a = dominant(60, 5, 3), zero_first = [] {
    Csr<double> b;  // a permutation times 2: every pivot without row exchanges is 0
    b.rows = b.cols = 5;
    b.offsets = {0, 1, 2, 3, 4, 5};
    b.columns = {1, 2, 3, 4, 0};
    b.values = {2, 2, 2, 2, 2};
    return b;
  }();
  for (Csr<double> const& m : {a, zero_first}) {
    Dense const A = dense(m), G = dense(general_inverse(m, {}));
    EXPECT_LE((G * A - Dense::Identity(m.rows, m.rows)).norm(), 1e-12);
    Dense const scaled = dense(general_inverse(times(m, std::ldexp(1, 300)), {}));
    EXPECT_EQ(Dense(scaled * std::ldexp(1, 300)), G);
  }
  Csr<double> singular = a;  // its last row is that before it
  for (Offset k = singular.offsets[58]; k < singular.offsets[60]; ++k) singular.values[k] = 1;
  for (Offset k = singular.offsets[59]; k < singular.offsets[60]; ++k) singular.values[k] = 0;
  Dense const A = dense(singular), G = dense(general_inverse(singular, {}));
  EXPECT_LE((A * G * A - A).norm(), 1e-11 * A.norm());
  EXPECT_LE((G * A * G - G).norm(), 1e-11 * G.norm());
  singular.values[3] = std::nan("");
  EXPECT_THROW(general_inverse(singular, {}), SetupError);
}

TEST_P(AmgGeneral, CycleOfAFewRowsIsTheInverse) {
  Csr<double> const a = convection(5);
  Dense const M = matrix_of(*made(a)->view());
  EXPECT_LE((M * dense(a) - Dense::Identity(a.rows, a.rows)).norm(), 1e-11);
  AmgParams const narrow{.values = AmgValues::f32};
  EXPECT_LE((matrix_of(*made(a, narrow)->view()) - M).norm(), 1e-5 * M.norm());
}

TEST_P(AmgGeneral, ProlongationIsThatOfTheSymmetricPart) {
  Csr<double> const a = convection(8);
  System const s = system(a);
  sparse::SymmetricPart const part(ctx(), s.matrix);
  Array<double> h(ctx().space(), static_cast<std::size_t>(part.pattern().entries));
  part.values(ctx(), s.matrix, h.data());
  System const symmetric =
      system(to_host(ctx(), part.pattern().with(static_cast<double const*>(h.data()))));
  NearNullspace const B = near_nullspace(ctx(), s, {.block = 1});
  for (double const theta : {0.0, 0.2}) {
    SCOPED_TRACE(theta);
    Aggregation of(ctx(), s.matrix, B.vectors.data(), {.strength = theta, .symmetric = false}),
        wanted(ctx(), symmetric.matrix, B.vectors.data(), {.strength = theta});
    of.numbers(ctx(), s.matrix, -1);  // it has to find the spectrum of its own
    wanted.numbers(ctx(), symmetric.matrix, [&] {
      Dense const H = dense(to_host(ctx(), symmetric.matrix));
      return largest_eigenvalue(H.diagonal().cwiseInverse(), H);
    }());
    Dense const P = dense(to_host(ctx(), of.P())), Q = dense(to_host(ctx(), wanted.P()));
    ASSERT_EQ(P.cols(), Q.cols());
    EXPECT_LE((P - Q).norm(), (theta == 0 ? 0.05 : 1e-14) * P.norm());  // Lanczos below lambda
    Dense const coarse = dense(to_host(ctx(), of.coarse()));
    EXPECT_LE((coarse - P.transpose() * dense(a) * P).norm(), 1e-13 * coarse.norm());
    EXPECT_GT((coarse - coarse.transpose()).norm(), 0.05 * coarse.norm());
    EXPECT_TRUE(of.suits(ctx(), s.matrix));
  }
}

TEST_P(AmgGeneral, SmootherFollowsTheSymmetry) {
  Csr<double> const skew = convection(8), even = generate(Poisson7Params{.n = 8});
  EXPECT_EQ(hierarchy_of(*made(skew)).params().smoother, AmgSmoother::l1_jacobi);
  EXPECT_EQ(hierarchy_of(*made(even)).params().smoother, AmgSmoother::chebyshev);
  EXPECT_THAT(message_of<SetupError>([&] { made(skew, {.smoother = AmgSmoother::chebyshev}); }),
              HasSubstr("not symmetric; take `smoother: l1_jacobi` or spai0"));
}

TEST_P(AmgGeneral, NewValuesMayLoseAndGainSymmetry) {
  Csr<double> const skew = convection(9);
  Csr<double> even = skew;  // of one pattern
  for (Index i = 0; i < even.rows; ++i)
    for (Offset k = even.offsets[i]; k < even.offsets[i + 1]; ++k)
      even.values[k] = even.columns[k] == i ? 6.5 : -1;
  std::vector<double> const r = random_values(skew.rows, 3);
  for (AmgReuse const reuse : {AmgReuse::exact, AmgReuse::pattern, AmgReuse::none}) {
    AmgParams const params{.coarse_size = 30, .reuse = reuse};
    auto const owner = made(even, params);
    for (Csr<double> const& now : {skew, times(skew, 3), even}) {
      owner->update(ctx(), system(now));
      EXPECT_EQ(applied(*owner->view(), r), applied(*made(now, params)->view(), r));
    }
  }
}

TEST_P(AmgGeneral, ScaledMatricesHaveTheSameCycle) {
  Csr<double> const a = convection(11);
  std::vector<double> const r = random_values(a.rows, 3);
  for (AmgValues const values : {AmgValues::f64, AmgValues::f32, AmgValues::f16}) {
    AmgParams const params{.cycle = AmgCycleKind::k, .coarse_size = 20, .values = values};
    std::vector<double> const wanted = applied(*made(a, params)->view(), r);
    for (int const e : {1, 300, -301}) {
      auto const owner = made(times(a, std::ldexp(1, e)), params);
      std::vector<double> got = applied(*owner->view(), r);
      for (double& v : got) v = std::ldexp(v, e);
      EXPECT_EQ(got, wanted) << e;
    }
  }
}

/// A K cycle by its definition: the best in the span of c and d, which dense algebra finds.
class KCycle {
 public:
  KCycle(Context& ctx, AmgHierarchy const& made) : symmetric_(made.symmetric()) {
    for (std::size_t l = 0; l < made.levels().size(); ++l) {
      A_.push_back(dense(to_host(ctx, made.matrix(l))));
      std::vector<double> const w = to_host(ctx, made.levels()[l].weights);
      w_.emplace_back(Eigen::Map<Vector const>(w.data(), static_cast<Index>(w.size())));
      if (made.is_coarsest(l)) continue;
      P_.push_back(dense(to_host(ctx, made.transfer(l).P())));
      gain_.push_back(made.transfer(l).plain() ? made.params().overcorrection : 1);
    }
  }
  /// Of the smoother l1_jacobi with degree 1.
  Vector cycle(std::size_t l, Vector const& f) const {
    if (l == P_.size()) return lu_solve(A_[l], f);
    Vector x = w_[l].cwiseProduct(f);
    Vector const coarse = P_[l].transpose() * (f - A_[l] * x);
    x += gain_[l] * P_[l] * (l + 1 == P_.size() ? cycle(l + 1, coarse) : krylov(l + 1, coarse));
    return x + w_[l].cwiseProduct(f - A_[l] * x);
  }

 private:
  Vector krylov(std::size_t l, Vector const& f) const {
    Dense K(f.size(), 2);
    K.col(0) = cycle(l, f);
    K.col(1) = cycle(l, f - A_[l] * best(l, K.leftCols(1), f));
    return best(l, K, f);
  }
  /// In the norm of A, or by the residual's.
  Vector best(std::size_t l, Dense const& K, Vector const& f) const {
    Dense const V = A_[l] * K, L = symmetric_ ? K : V;
    return K * lu_solve(L.transpose() * V, L.transpose() * f);
  }
  bool symmetric_;
  std::vector<Dense> A_, P_;
  std::vector<Vector> w_;
  std::vector<double> gain_;
};

/// Half of the size of off-diagonal entries: upwind convection of twice the diffusion.
TEST_P(AmgGeneral, StrongConvectionIsRefusedWhereAnEllipticMatrixIsAsked) {
  AmgParams const asked{.elliptic = true};
  Csr<double> const weak = generate(ConvdiffParams{.n = 24}),
                    strong = generate(ConvdiffParams{.n = 24, .velocity = 10});
  EXPECT_NO_THROW(made(weak, asked));
  EXPECT_NO_THROW(made(strong));
  EXPECT_THAT(message_of<SetupError>([&] { made(strong, asked); }),
              testing::HasSubstr("convection is strong; leave out `elliptic`"));
  auto const share = [&](double a, double b) {
    Csr<double> two = generate(Poisson7Params{.n = 16});
    for (Index i = 0; i < two.rows; ++i)
      for (Offset k = two.offsets[i]; k < two.offsets[i + 1]; ++k)
        if (two.columns[k] != i) two.values[k] = two.columns[k] < i ? -a : -b;
    return two;
  };
  EXPECT_NO_THROW(made(share(1.45, 0.55), asked));
  EXPECT_THROW(made(share(1.55, 0.45), asked), SetupError);
}

TEST_P(AmgGeneral, UnsmoothedLevelsAreTheFirst) {
  Csr<double> const a = generate(Poisson7Params{.n = 24});
  auto const plain = [&](AmgParams params) {
    params.coarse_size = 4, params.reuse = AmgReuse::pattern;
    auto const owner = made(a, params);
    AmgHierarchy const& levels = hierarchy_of(*owner);
    std::vector<int> all;
    for (std::size_t l = 0; !levels.is_coarsest(l); ++l) {
      all.push_back(levels.transfer(l).plain());
      if (all.back() != 0)
        EXPECT_LE(levels.transfer(l).interpolation_entries(), levels.matrix(l).rows);
    }
    return all;
  };
  std::vector<int> const one = plain({.unsmoothed = 1}), none = plain({}),
                         all = plain({.smoothing = false});
  ASSERT_GE(one.size(), 2u);
  EXPECT_EQ(one.front(), 1);
  EXPECT_EQ(std::ranges::count(one, 1), 1);
  EXPECT_EQ(std::ranges::count(none, 1), 0);
  EXPECT_EQ(std::ranges::count(all, 0), 0);
  auto const complexity = [&](int unsmoothed) {
    auto const owner = made(a, {.unsmoothed = unsmoothed});
    return hierarchy_of(*owner).operator_complexity();
  };
  EXPECT_LT(complexity(1), 1 + 0.6 * (complexity(0) - 1));
}

TEST_P(AmgGeneral, KCycleIsTwoKrylovStepsALevel) {
  for (auto const& [name, a] :
       {Named{"7-point", generate(Poisson7Params{.n = 13, .coefficient = Coefficient::random})},
        Named{"convection", convection(13)}}) {
    SCOPED_TRACE(name);
    auto const owner = made(a, {.smoother = AmgSmoother::l1_jacobi,
                                .degree = 1,
                                .cycle = AmgCycleKind::k,
                                .smoothing = false,
                                .coarse_size = 4,
                                .reuse = AmgReuse::pattern});
    ASSERT_GE(rows_of(*owner).size(), 4u) << "a K cycle within a K cycle";
    KCycle const reference(ctx(), hierarchy_of(*owner));
    std::vector<double> const r = random_values(a.rows, 5);
    std::vector<double> const got = applied(*owner->view(), r);
    Vector const wanted = reference.cycle(0, Eigen::Map<Vector const>(r.data(), a.rows));
    EXPECT_LE((Eigen::Map<Vector const>(got.data(), a.rows) - wanted).norm(),
              1e-11 * wanted.norm());
    EXPECT_FALSE(owner->view()->traits().fixed);
    EXPECT_EQ(applied(*owner->view(), std::vector<double>(a.rows, 0.0)),
              std::vector<double>(a.rows, 0.0));
  }
}

TEST_P(AmgGeneral, BlocksOfColumnsAreTheirColumns) {
  Csr<double> const a = convection(11);
  auto const owner = made(a, {.cycle = AmgCycleKind::k, .coarse_size = 10});
  ASSERT_GE(rows_of(*owner).size(), 3u);
  expect_its_columns(*owner->view(), 1, 0, 1e-12);
}

}  // namespace
}  // namespace tcsolve::test
