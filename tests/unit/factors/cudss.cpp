// SPDX-License-Identifier: Apache-2.0
/// Complete factors by cuDSS against Eigen's answers, where there are a device and the library; and
/// what is said where there are not.
#include <tcsolve/api/linear_solver.hpp>
#include <tcsolve/configs/schema/yaml.hpp>
#include <tcsolve/core/left_behind.hpp>
#include <tcsolve/factors/cudss/complete_on_device.hpp>
#include <tcsolve/factors/cudss/cudss_library.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/precond/direct/direct.hpp>

#include <gmock/gmock.h>

#include <Eigen/Core>

#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

#include "tests/support/dense.hpp"
#include "tests/support/each_backend.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

using testing::HasSubstr;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Matrix dense(Csr<double> const& a) {
  Matrix d = Matrix::Zero(a.rows, a.cols);
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) d(i, a.columns[k]) = a.values[k];
  return d;
}

/// Nonsymmetric, regular, zeros on its diagonal, rows of very different sizes.
Csr<double> hollow(Index n, std::uint64_t seed) {
  Matrix const d = dense(dominant(n, 5, seed));
  Matrix moved(n, n);
  for (Index i = 0; i < n; ++i)
    moved.row((7 * i + 3) % n) = std::ldexp(1.0, i % 40 - 20) * d.row(i);
  return csr(moved);
}

/// Symmetric positive definite.
Csr<double> definite(Index n, std::uint64_t seed) {
  Matrix d = dense(dominant(n, 4, seed));
  d = Matrix(d + d.transpose());
  for (Index i = 0; i < n; ++i) d(i, i) = d.row(i).cwiseAbs().sum() + 0.1 * (i % 7) + 0.1;
  return csr(d);
}

constexpr Definiteness kinds[] = {Definiteness::general, Definiteness::symmetric,
                                  Definiteness::positive_definite};

/// A matrix that has no stronger property; the symmetric one has diagonal entries of both signs.
Csr<double> of_kind(Definiteness kind, Index n) {
  if (kind == Definiteness::general) return hollow(n, 6);
  Matrix d = dense(definite(n, 6));
  if (kind == Definiteness::symmetric)
    for (Index i = 0; i < n; i += 3) d(i, i) = -d(i, i);
  return csr(d);
}

/// Other values on the same pattern; symmetric as before.
Csr<double> changed(Csr<double> a) {
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      a.values[k] *= 1 + 0.05 * std::sin(double(i) * a.columns[k] + i + a.columns[k]);
  return a;
}

OperatorPtr<double> direct(Context& ctx, Csr<double> const& a, DirectParams const& params) {
  return DirectFactory(params).build(ctx, {a.view(), nullptr})->view();
}

/// What `f` throws, in words.
template <class Thrown, class F>
std::string words_of(F const& f) {
  try {
    f();
  } catch (Thrown const& e) { return e.what(); }
  return "nothing was thrown";
}

TEST(Cudss, NamesTheFileThatIsNotThere) {
  CudssLibrary const library = load_cudss("/nowhere/libcudss.so.0");
  EXPECT_FALSE(library.there);
  EXPECT_THAT(library.problem, HasSubstr("/nowhere/libcudss.so.0"));
}

TEST(Cudss, TellsAnotherLibraryByWhatItLacks) {
  CudssLibrary const library = load_cudss("libm.so.6");
  EXPECT_FALSE(library.there);
  EXPECT_THAT(library.problem, HasSubstr("cudssGetProperty"));
}

TEST(Cudss, LeavesTheHostToEigen) {
  Context host(Backend::host);
  Csr<double> const a = hollow(50, 1);
  for (FactorLibrary library : {FactorLibrary::automatic, FactorLibrary::eigen})
    EXPECT_THAT(direct(host, a, {.library = library})->details(), HasSubstr("Eigen on the host"));
  std::string const words =
      words_of<SetupError>([&] { direct(host, a, {.library = FactorLibrary::cudss}); });
  EXPECT_THAT(words, HasSubstr("backend: cuda"));
  EXPECT_THAT(words, HasSubstr("library: eigen"));
}

TEST(Cudss, IsReadFromAConfig) {
  Context host(Backend::host);
  Csr<double> const a = definite(20, 1);
  auto const built = [&](std::string const& library) {
    LinearSolver::from_yaml(
        host, a.view(),
        "solver: {type: cg}\npreconditioner: {type: direct, library: " + library + "}");
  };
  EXPECT_NO_THROW(built("auto"));
  EXPECT_NO_THROW(built("eigen"));
  EXPECT_THROW(built("cudss"), SetupError);
  EXPECT_THAT(words_of<ConfigError>([&] { built("pardiso"); }), HasSubstr("cudss"));
}

TEST(CudssGpu, IsDoneWithoutWhereItIsMissing) {
  TCSOLVE_SKIP_IF_ABSENT(Backend::cuda);
  if (cudss().there) GTEST_SKIP() << "cuDSS " << cudss().version << " is there";
  Context ctx(Backend::cuda);
  Csr<double> const a = hollow(50, 1);
  EXPECT_THAT(direct(ctx, a, {})->details(), HasSubstr("Eigen on the host"));
  std::string const words =
      words_of<SetupError>([&] { direct(ctx, a, {.library = FactorLibrary::cudss}); });
  EXPECT_THAT(words, HasSubstr("TCSOLVE_CUDSS"));
  EXPECT_THAT(words, HasSubstr(cudss().problem));
}

class CudssFactorsGpu : public testing::Test {
 protected:
  void SetUp() override {
    TCSOLVE_SKIP_IF_ABSENT(Backend::cuda);
    if (!cudss().there) GTEST_SKIP() << "no cuDSS: " << cudss().problem;
    context_ = std::make_unique<Context>(Backend::cuda);
  }
  Context& ctx() { return *context_; }

  std::vector<double> applied(LinearOperator<double> const& M, std::vector<double> const& x,
                              Op op = Op::none) {
    Guarded<double> in(ctx(), x), y(ctx(), std::vector<double>(x.size(), nan));
    M.apply(ctx(), 1, in.in(), 0, y.view(), op);
    return y.get();
  }
  /// M x is A^-1 x by Eigen, for blocks, layouts, alpha, beta and both ops.
  void inverts(LinearOperator<double> const& M, Csr<double> const& a, double tolerance) {
    Index const n = a.rows;
    for (Op op : {Op::none, Op::transpose}) {
      Matrix inverse = inverse_of(dense(a));
      if (op == Op::transpose) inverse.transposeInPlace();
      for (Index k : {1, 3})
        for (Layout layout : {Layout::row_major, Layout::col_major})
          for (auto [alpha, beta] : {std::pair{1.0, 0.0}, {-0.75, 1.25}}) {
            SCOPED_TRACE(cat("op ", int(op), ", k ", k, ", layout ", int(layout)));
            std::vector<double> const x = random_values(n * k, 1);
            std::vector<double> y0 = random_values(n * k, 2);
            if (beta == 0) y0.assign(y0.size(), nan);
            Guarded<double> gx(ctx(), n, k, layout, 3, x), y(ctx(), n, k, layout, 3, y0);
            M.apply(ctx(), alpha, gx.in(), beta, y.view(), op);
            std::vector<double> const got = y.get();
            EXPECT_TRUE(y.untouched());
            EXPECT_TRUE(gx.unchanged());
            for (Index j = 0; j < k; ++j) {
              Column xj(n);
              for (Index i = 0; i < n; ++i) xj[i] = x[i * k + j];
              Column expected = alpha * (inverse * xj);
              if (beta != 0)
                for (Index i = 0; i < n; ++i) expected[i] += beta * y0[i * k + j];
              double const size = expected.cwiseAbs().maxCoeff();
              for (Index i = 0; i < n; ++i)
                ASSERT_NEAR(got[i * k + j], expected[i], tolerance * size) << "row " << i;
            }
          }
    }
  }
  static constexpr std::pair<Real, double> precisions[] = {{Real::f64, 1e-10}, {Real::f32, 1e-3}};

 private:
  std::unique_ptr<Context> context_;
};

TEST_F(CudssFactorsGpu, AreTheInverseOfAGeneralMatrix) {
  for (auto const& [values, tolerance] : precisions)
    for (Index n : {1, 2, 33, 400}) {
      SCOPED_TRACE(cat(n, " rows in ", name(values)));
      Csr<double> const a = hollow(n, 5);
      CompleteOnDevice const M(ctx(), a.view(), Definiteness::general, values);
      inverts(M, a, tolerance);
      EXPECT_THAT(M.details(), HasSubstr("L U on the device by cuDSS " + cudss().version));
      EXPECT_FALSE(M.traits().capturable);
    }
}

TEST_F(CudssFactorsGpu, AreTheInverseOfADefiniteMatrix) {
  for (auto const& [values, tolerance] : precisions)
    for (Index n : {1, 2, 33, 400}) {
      SCOPED_TRACE(cat(n, " rows in ", name(values)));
      Csr<double> const a = definite(n, 5);
      CompleteOnDevice const M(ctx(), a.view(), Definiteness::positive_definite, values);
      inverts(M, a, tolerance);
      EXPECT_THAT(M.details(), HasSubstr("L D L^T on the device by cuDSS"));
    }
}

TEST_F(CudssFactorsGpu, AreTheInverseOfAnIndefiniteMatrix) {
  for (auto const& [values, tolerance] : precisions) {
    Csr<double> const a = of_kind(Definiteness::symmetric, 300);
    CompleteOnDevice const M(ctx(), a.view(), Definiteness::symmetric, values);
    inverts(M, a, tolerance);
    EXPECT_THAT(M.details(), HasSubstr("L D L^T on the device by cuDSS"));
  }
}

TEST_F(CudssFactorsGpu, FollowNewValues) {
  for (Definiteness const kind : kinds)
    for (auto const& [values, tolerance] : precisions) {
      SCOPED_TRACE(cat("kind ", int(kind), ", ", name(values)));
      Csr<double> const a = of_kind(kind, 90), b = changed(a);
      CompleteOnDevice M(ctx(), a.view(), kind, values);
      M.prepare(ctx(), Op::transpose);
      M.update(ctx(), b.view());
      inverts(M, b, tolerance);
      M.update(ctx(), a.view());
      inverts(M, a, tolerance);
    }
}

TEST_F(CudssFactorsGpu, AreMadeAnewWhereNewValuesAskForIt) {
  Csr<double> const a = definite(60, 2);
  Csr<double> b = a;  // not definite any more
  for (Index i = 0; i < b.rows; i += 3)
    for (Offset k = b.offsets[i]; k < b.offsets[i + 1]; ++k)
      if (b.columns[k] == i) b.values[k] = -b.values[k];
  DirectFactory const factory({.library = FactorLibrary::cudss});
  auto const M = factory.build(ctx(), {a.view(), nullptr});
  OperatorPtr<double> const first = M->view();
  EXPECT_THAT(first->details(), HasSubstr("L D L^T"));
  M->update(ctx(), {b.view(), nullptr});
  OperatorPtr<double> const second = M->view();
  EXPECT_NE(second, first) << "made anew";
  inverts(*second, b, 1e-10);
  M->update(ctx(), {changed(b).view(), nullptr});
  EXPECT_EQ(M->view(), second);
}

TEST_F(CudssFactorsGpu, RefuseASingularMatrix) {
  Csr<double> const rank_deficient = [] {  // rows 3 and 8 are alike
    Matrix d = dense(dominant(40, 5, 1));
    d.row(8) = d.row(3);
    return csr(d);
  }();
  Csr<double> const no_entries = with_entries(4, {{0, 0}, {1, 1}, {2, 2}});
  Csr<double> const constants = [] {  // a graph's Laplacian: A 1 = 0
    Matrix d = Matrix::Zero(30, 30);
    for (Index i = 0; i + 1 < 30; ++i) {
      d(i, i) += 1, d(i + 1, i + 1) += 1;
      d(i, i + 1) = d(i + 1, i) = -1;
    }
    return csr(d);
  }();
  for (Csr<double> const* a : {&rank_deficient, &no_entries, &constants})
    for (StoredReal values : {StoredReal::f64, StoredReal::f32}) {
      EXPECT_THROW(CompleteOnDevice(ctx(), a->view(), Definiteness::general, real(values)),
                   MatrixError);
      EXPECT_THROW(direct(ctx(), *a, {.library = FactorLibrary::cudss, .values = values}),
                   SetupError);
    }
  EXPECT_THROW(
      CompleteOnDevice(ctx(), constants.view(), Definiteness::positive_definite, Real::f64),
      MatrixError);
}

TEST_F(CudssFactorsGpu, RefuseAnIndefiniteMatrixAsCholesky) {
  Matrix negative = dense(definite(50, 3)), positive = negative;
  negative(20, 20) = -negative(20, 20);
  // A diagonal that is positive, and a 2 x 2 block that is not.
  positive(20, 21) = positive(21, 20) = 3 * std::sqrt(positive(20, 20) * positive(21, 21));
  for (Matrix const& d : {negative, positive}) {
    Csr<double> const a = csr(d);
    EXPECT_THROW(CompleteOnDevice(ctx(), a.view(), Definiteness::positive_definite, Real::f64),
                 MatrixError);
    EXPECT_THROW(direct(ctx(), a,
                        {.factorisation = CompleteKind::cholesky, .library = FactorLibrary::cudss}),
                 SetupError);
    OperatorPtr<double> const M = direct(ctx(), a, {});
    EXPECT_THAT(M->details(), HasSubstr("L D L^T on the device"));
    inverts(*M, a, 1e-10);
  }
}

TEST_F(CudssFactorsGpu, AreTakenByAutoAndLeftOutByEigen) {
  Csr<double> const a = hollow(80, 4);
  EXPECT_THAT(direct(ctx(), a, {})->details(), HasSubstr("cuDSS"));
  EXPECT_THAT(direct(ctx(), a, {.values = StoredReal::f16})->details(),
              HasSubstr("Eigen on the host"));
  OperatorPtr<double> const by_cudss = direct(ctx(), a, {.library = FactorLibrary::cudss}),
                            by_eigen = direct(ctx(), a, {.library = FactorLibrary::eigen});
  EXPECT_THAT(by_eigen->details(), HasSubstr("Eigen on the host"));
  std::vector<double> const x = random_values(80, 7), y = applied(*by_cudss, x),
                            z = applied(*by_eigen, x);
  double size = 0;
  for (double const value : z) size = std::max(size, std::abs(value));
  for (std::size_t i = 0; i < z.size(); ++i) EXPECT_NEAR(y[i], z[i], 1e-10 * size);
}

TEST_F(CudssFactorsGpu, GiveTheSameBitsOnEveryRun) {
  Csr<double> const a = generate(Poisson27Params{.n = 12, .coefficient = Coefficient::random});
  std::vector<double> const x = random_values(static_cast<std::size_t>(a.rows), 3);
  for (Definiteness const kind : kinds) {
    std::vector<double> const first =
        applied(CompleteOnDevice(ctx(), a.view(), kind, Real::f64), x);
    for (int run = 0; run < 3; ++run)
      EXPECT_EQ(applied(CompleteOnDevice(ctx(), a.view(), kind, Real::f64), x), first);
  }
}

/// A call that is left behind works in a stream of its own: the Context does not wait for it.
TEST_F(CudssFactorsGpu, WhatIsLeftBehindHoldsNoStream) {
  struct Looks : CheckListener {
    void on_check() noexcept override {
      if (++count == cancel_at) ctx->cancel();
    }
    Context* ctx = nullptr;
    int count = 0, cancel_at = -1;
  } looks;
  looks.ctx = &ctx();
  Csr<double> const large = generate(Poisson27Params{.n = 30}), small = definite(60, 2);
  ctx().listen_to_checks(&looks);
  auto const factorised = [&] {
    return CompleteOnDevice(ctx(), large.view(), Definiteness::general, Real::f64);
  };
  auto const seconds_of = [](auto const& f) {
    auto const start = std::chrono::steady_clock::now();
    f();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  factorised();
  int const all = std::exchange(looks.count, 0);
  double const whole = seconds_of(factorised);
  for (int const part : {1, 2, 3}) {
    looks.count = 0;
    looks.cancel_at = part * all / 4;
    try {
      factorised();
    } catch (Cancelled const&) {}
    looks.cancel_at = -1;
    ctx().clear_cancel();
    EXPECT_LT(seconds_of([&] { ctx().synchronize(); }), 0.02 + 0.2 * whole) << part;
    inverts(*direct(ctx(), small, {.library = FactorLibrary::cudss}), small, 1e-10);
  }
  ctx().listen_to_checks(nullptr);
  while (left_behind() > 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

/// The verdict is that of every other preconditioner: the FP64 residual, whatever the factors are.
TEST_F(CudssFactorsGpu, SolveToTheVerifiedResidual) {
  Csr<double> const general = generate(ConvdiffParams{.n = 10}),
                    symmetric = generate(Poisson7Params{.n = 10});
  for (auto const& [a, solver] : {std::pair{&general, "gmres"}, {&symmetric, "cg"}})
    for (std::string const values : {"fp64", "fp32"}) {
      SCOPED_TRACE(cat(solver, ", ", values));
      LinearSolver solve = LinearSolver::from_yaml(
          ctx(), a->view(),
          cat("solver: {type: ", solver, ", rtol: 1.0e-12, max_iters: 20}\n",
              "preconditioner: {type: direct, library: cudss, values: ", values, "}"));
      std::vector<double> const b = random_values(static_cast<std::size_t>(a->rows), 5);
      std::vector<double> x(b.size(), 0.0);
      SolveReport const report = solve.solve(std::span(b), std::span(x));
      EXPECT_TRUE(report.converged()) << report.message;
      Eigen::Map<Column const> const B(b.data(), a->rows), X(x.data(), a->rows);
      EXPECT_LE((B - dense(*a) * X).norm(), 1.01e-12 * B.norm());
    }
}

}  // namespace
}  // namespace tcsolve::test
