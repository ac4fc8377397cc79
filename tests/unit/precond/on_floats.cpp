// SPDX-License-Identifier: Apache-2.0
/// Preconditioners on FP32 vectors: the map is that on FP64 vectors, within the rounding of the
/// vectors, of the values that are stored.
#include <tcsolve/api/registries.hpp>
#include <tcsolve/configs/schema/yaml.hpp>
#include <tcsolve/core/faults.hpp>
#include <tcsolve/factors/apply/approximate_inverse.hpp>
#include <tcsolve/factors/factorisation.hpp>
#include <tcsolve/factors/power_scale.hpp>
#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/operators/cast.hpp>
#include <tcsolve/precond/chebyshev/chebyshev.hpp>
#include <tcsolve/precond/fsai/fsai.hpp>

#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "tests/support/dense.hpp"
#include "tests/support/each_backend.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
using Dense = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// op(M) x, or, of magnitudes, what no intermediate number of it exceeds.
using Model = std::function<Column(Column const& x, Op, bool magnitudes)>;

Dense sized(Dense const& A, Op op, bool magnitudes) {
  Dense const B = op == Op::none ? A : Dense(A.transpose());
  return magnitudes ? Dense(B.cwiseAbs()) : B;
}

/// F_1 F_2 ...
Model product_of(std::vector<Dense> factors) {
  return [=](Column x, Op op, bool magnitudes) {
    auto const n = factors.size();
    for (std::size_t k = 0; k < n; ++k)
      x = sized(factors[op == Op::none ? n - 1 - k : k], op, magnitudes) * x;
    return x;
  };
}

/// Of the factors of IC(0), of A scaled by the roots of its diagonal, with W by its entries and one
/// sweep (factors/apply/swept_inverse.hpp).
Model swept(Context& ctx, Csr<double> const& a) {
  FactorRecipe const recipe{.name = "ic",
                            .symmetric = true,
                            .arrangement = {.scaling = FactorScaling::diagonal},
                            .solves = TriangularSolves::isai};
  Factorisation const M(ctx, a.view(), recipe);
  auto const f = M.factors(ctx);
  ApproximateTriangles const W = triangular_inverses(ctx, *f, true);
  Dense const I = Dense::Identity(a.rows, a.rows), L = I + dense_rows(f->lower),
              U = I + dense_rows(f->upper), WL = dense_rows(W.lower), WU = dense_rows(W.upper);
  Column const pivots =
      Eigen::Map<Column const>(f->inverse_pivots.data(), static_cast<Index>(a.rows));
  Column scale = dense_rows(a).diagonal().cwiseSqrt();
  for (double& s : scale) s = inverse_power(s);
  auto const solve = [](Dense const& T, Dense const& V, Column const& b, bool magnitudes) {
    Column const y = V * b, r = magnitudes ? Column(b + T * y) : Column(b - T * y);
    return Column(y + V * r);
  };
  return [=](Column const& x, Op op, bool magnitudes) {
    auto const of = [&](Dense const& T) { return sized(T, op, magnitudes); };
    Column const p = magnitudes ? Column(pivots.cwiseAbs()) : pivots;
    bool const plain = op == Op::none;
    Column const t = solve(of(plain ? L : U), of(plain ? WL : WU), scale.cwiseProduct(x),
                           magnitudes),
                 u = p.cwiseProduct(t);
    return Column(scale.cwiseProduct(solve(of(plain ? U : L), of(plain ? WU : WL), u, magnitudes)));
  };
}

/// Saad 2003, Algorithm 12.1, with the inverse diagonal.
Model polynomial(Dense const& A, double high, ChebyshevParams const& params) {
  return [=](Column const& x, Op, bool magnitudes) {
    double const low = high / params.eig_ratio, theta = (high + low) / 2, delta = (high - low) / 2,
                 sigma = theta / delta;
    Column const D = A.diagonal().cwiseInverse();
    Dense const step = magnitudes ? Dense(A.cwiseAbs()) : Dense(-A);
    double rho = 1 / sigma;
    Column r = x, d = D.cwiseProduct(r) / theta, sum = d;
    for (int k = 1; k < params.degree; ++k) {
      r += step * d;
      double const next = 1 / (2 * sigma - rho);
      d = next * rho * d + 2 * next / delta * D.cwiseProduct(r);
      sum += d;
      rho = next;
    }
    return sum;
  };
}

class OnFloats : public OnEachBackend {
 protected:
  static constexpr double u = 0x1p-24;
  static double gamma(double m) { return m * u / (1 - m * u); }

  /// A on FP32 vectors, M of A as it was given.
  OperatorPtr<double> make(std::string const& block, Csr<double> const& a) {
    A_ = std::make_shared<CsrOperator<double>>(ctx(), Csr<double>(a));
    std::shared_ptr<LinearOperator<float>> const narrow =
        std::make_shared<CsrOperator<float>>(ctx(), converted<float>(a));
    rounded_ = std::make_shared<Cast<double, float>>(narrow);
    Diagnostics problems;
    auto const factory = solver_registries().preconditioners.make(
        parse_yaml(block, "test"), problems, solver_registries().catalog);
    problems.throw_if_any();
    owner_ = factory->build(ctx(), {A_->view(), rounded_});
    return owner_->view();
  }
  void renew(Csr<double> const& a) {
    A_->update_values(ctx(), a.view());
    rounded_->update_values(ctx(), a.view());
    owner_->update(ctx(), {A_->view(), rounded_});
  }

  template <class T>
  Column apply(LinearOperator<T> const& M, Column const& x, Op op = Op::none, double alpha = 1) {
    std::vector<double> const values(x.begin(), x.end());
    Guarded<T> in(ctx(), values), out(ctx(), std::vector<double>(values.size(), nan));
    M.apply(ctx(), T(alpha), in.in(), T(0), out.view(), op);
    EXPECT_TRUE(in.unchanged());
    EXPECT_TRUE(out.untouched());
    auto const got = out.get();
    return Eigen::Map<Column const>(got.data(), static_cast<Index>(got.size()));
  }
  Dense entries(LinearOperator<double> const& M) {
    Dense d(M.rows(), M.cols());
    for (Index j = 0; j < M.cols(); ++j) d.col(j) = apply(M, Column::Unit(M.cols(), j));
    return d;
  }
  Column random_floats(Index n, std::uint64_t seed) {
    auto const v = random_values(static_cast<std::size_t>(n), seed);
    return Eigen::Map<Column const>(v.data(), n).cast<float>().cast<double>();
  }

  /// F, of M on FP32 vectors, against M and `model`: `roundings` on the way of a number from x to
  /// y.
  void matches(OperatorPtr<double> const& M, OperatorPtr<float> const& F, Model const& model,
               double roundings, double stored) {
    ASSERT_NE(F, nullptr);
    EXPECT_EQ(F->name(), M->name());
    EXPECT_EQ(F->rows(), M->rows());
    double differs = 0;
    for (Op const op : {Op::none, Op::transpose}) {
      if (op == Op::transpose && !M->traits().transpose) continue;
      for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        SCOPED_TRACE(cat("op ", int(op), ", seed ", seed));
        Column const x = random_floats(M->rows(), seed), exact = apply(*M, x, op);
        Column const size = model(x.cwiseAbs(), op, true);
        Column const expected = model(x, op, false);
        for (Index i = 0; i < x.size(); ++i)
          ASSERT_NEAR(exact[i], expected[i], stored * size[i])
              << "the model is of this M, row " << i;
        for (double const alpha : {1.0, -0.75}) {
          Column const y = apply(*F, x, op, alpha);
          for (Index i = 0; i < x.size(); ++i)
            ASSERT_NEAR(y[i], alpha * exact[i], gamma(roundings) * size[i]) << "row " << i;
          differs += (y - alpha * exact).norm();
        }
      }
    }
    EXPECT_GT(differs, 0) << "its vectors are FP32";
  }

  std::shared_ptr<CsrOperator<double>> A_;
  std::shared_ptr<LinearOperator<double>> rounded_;
  std::unique_ptr<Preconditioner> owner_;
};
TCSOLVE_ON_EACH_BACKEND(OnFloats);

Csr<double> definite(Index n) {
  return generate(Poisson7Params{.n = n, .coefficient = Coefficient::random});
}
/// The same pattern, symmetric and definite still.
Csr<double> changed(Csr<double> b) {
  for (Index i = 0; i < b.rows; ++i)
    for (Offset k = b.offsets[i]; k < b.offsets[i + 1]; ++k)
      b.values[k] *= 1 + (i == b.columns[k] ? 0.3 : 0.1 * std::cos(double(i) * b.columns[k]));
  return b;
}

constexpr double fp64 = 1e-14, fp32 = 0x1p-22, fp16 = 0x1p-9;
constexpr int row = 7 + 4;  // entries of a row of A, and what else is rounded in a product

struct Stored {
  std::string name;
  double roundoff;
};
std::vector<Stored> const stored_types{{"fp64", fp64}, {"fp32", fp32}, {"fp16", fp16}};

TEST_P(OnFloats, BlockJacobiIsTheSameMap) {
  Csr<double> const a = dominant(97, 9, 5);
  for (std::string const values : {"fp64", "fp32", "fp16", "adaptive"}) {
    SCOPED_TRACE(values);
    auto const M = make(cat("{type: block_jacobi, block: 6, values: ", values, "}"), a);
    matches(M, M->on_floats(ctx()), product_of({entries(*M)}), 2, fp64);
  }
}

TEST_P(OnFloats, SpaiIsTheSameMap) {
  Csr<double> const a = dominant(97, 7, 5);
  for (int const level : {0, 1})
    for (auto const& [values, roundoff] : stored_types) {
      SCOPED_TRACE(cat(level, ", ", values));
      auto const M = make(cat("{type: spai, level: ", level, ", values: ", values, "}"), a);
      matches(M, M->on_floats(ctx()), product_of({entries(*M)}), 40, fp64);
    }
}

TEST_P(OnFloats, FsaiIsTheSameMap) {
  Csr<double> const a = definite(5);
  Dense const G = dense_rows(fsai(ctx(), a.view(), lower_pattern(a.view(), 1, 0)));
  for (auto const& [values, roundoff] : stored_types) {
    SCOPED_TRACE(values);
    auto const M = make(cat("{type: fsai, values: ", values, "}"), a);
    matches(M, M->on_floats(ctx()), product_of({G.transpose(), G}), 2 * row, 3 * roundoff);
  }
}

TEST_P(OnFloats, IsaiIsTheSameMap) {
  Csr<double> const a = definite(5);
  Model const model = swept(ctx(), a);
  for (auto const& [values, roundoff] : stored_types) {
    SCOPED_TRACE(values);
    auto const M = make(cat("{type: ic, triangular: isai, values: ", values, "}"), a);
    matches(M, M->on_floats(ctx()), model, 9 * row, 8 * roundoff);
    auto const plain =
        make(cat("{type: ic, triangular: isai, corrections: 0, values: ", values, "}"), a);
    matches(plain, plain->on_floats(ctx()), product_of({entries(*plain)}), 2 * row + 8, fp64);
  }
}

TEST_P(OnFloats, ChebyshevIsTheSameMap) {
  Csr<double> const a = definite(5);
  for (std::string const inner : {"jacobi", "{type: block_jacobi, block: 1}"})
    for (int const degree : {1, 2, 5}) {
      SCOPED_TRACE(cat(inner, ", ", degree));
      auto const M =
          make(cat("{type: chebyshev, degree: ", degree, ", preconditioner: ", inner, "}"), a);
      auto const* const made = dynamic_cast<Chebyshev const*>(M.get());
      ASSERT_NE(made, nullptr);
      // In FP64 its products with A, which are on FP32 vectors, round them all the same.
      matches(M, M->on_floats(ctx()),
              polynomial(dense_rows(a), made->lambda_max(), {.degree = degree}),
              degree * (row + 6.0), degree == 1 ? fp64 : gamma(degree * (row + 6.0)));
    }
}

TEST_P(OnFloats, NewValuesReachThem) {
  Csr<double> const a = definite(5), b = changed(a);
  for (std::string const type :
       {"{type: jacobi", "{type: block_jacobi, block: 5", "{type: spai", "{type: fsai",
        "{type: fsai, power: 2", "{type: ic, triangular: isai", "{type: ilu, triangular: sweeps",
        "{type: chebyshev"})
    for (std::string const values : {"", ", values: fp32", ", values: fp16"}) {
      bool const has_values =
          type.find("chebyshev") == std::string::npos && type != "{type: jacobi";
      if (!values.empty() && !has_values) continue;
      SCOPED_TRACE(type + values);
      auto const M = make(type + values + "}", a);
      Column const x = random_floats(a.rows, 9);
      auto const F = M->on_floats(ctx());
      ASSERT_NE(F, nullptr);
      Column const before = apply(*F, x);
      renew(b);
      bool const in_place = owner_->view() == M;
      auto const again = owner_->view()->on_floats(ctx());
      Column const now = apply(*again, x), exact = apply(*owner_->view(), x);
      EXPECT_LE((now - exact).norm(), gamma(100) * exact.norm());
      EXPECT_GT((now - before).norm(), 1e-3 * before.norm());
      if (in_place) EXPECT_EQ(apply(*F, x), now) << "what was handed out follows";
      if (M->traits().transpose && type.find("fsai") == std::string::npos) {
        Column const across = apply(*again, x, Op::transpose);
        renew(a);
        renew(b);
        EXPECT_EQ(apply(*owner_->view()->on_floats(ctx()), x, Op::transpose), across);
      }
      renew(a);
      EXPECT_EQ(apply(*owner_->view()->on_floats(ctx()), x), before)
          << "the same values, the same bits";
    }
}

/// Values that FP32 vectors are multiplied by as they are stored are not copied.
TEST_P(OnFloats, ShareWhatIsStored) {
  Csr<double> const a = definite(8);
  struct Case {
    std::string block;
    int arrays;  // of values in FP32, made once
  };
  for (auto const& [block, arrays] :
       {Case{"{type: block_jacobi, block: 4}", 0}, Case{"{type: block_jacobi, values: fp16}", 0},
        Case{"{type: fsai, values: fp32}", 0}, Case{"{type: fsai, values: fp16}", 0},
        Case{"{type: fsai}", 2}, Case{"{type: spai, values: fp32}", 0}, Case{"{type: spai}", 1},
        Case{"{type: ic, triangular: isai, values: fp16}", 3},  // sides and pivots
        Case{"{type: ic, triangular: isai}", 7}, Case{"{type: jacobi}", 1}}) {
    SCOPED_TRACE(block);
    auto const M = make(block, a);
    { auto const warm = make(block, a)->on_floats(ctx()); }
    std::int64_t const before = memory_counters().allocations;
    auto const F = M->on_floats(ctx());
    ASSERT_NE(F, nullptr);
    EXPECT_EQ(memory_counters().allocations - before, arrays);
    auto const again = M->on_floats(ctx());
    EXPECT_EQ(memory_counters().allocations - before, arrays) << "once";
    EXPECT_NE(again, nullptr);
  }
}

/// FP64 values beyond the range of FP32: those of the blocks stay FP64, the others are applied
/// through FP64 vectors.
TEST_P(OnFloats, AreNoneBeyondTheRangeOfTheirValues) {
  Csr<double> a = definite(5);
  Csr<double> const usual = a;
  for (double& v : a.values) v *= 1e-90;
  for (std::string const block :
       {"{type: spai}", "{type: fsai}", "{type: jacobi}", "{type: ic, triangular: isai}"}) {
    SCOPED_TRACE(block);
    EXPECT_EQ(make(block, a)->on_floats(ctx()), nullptr);
    // And of values that leave it, and come back.
    auto const M = make(block, usual);
    auto const F = M->on_floats(ctx());
    Column const x = random_floats(a.rows, 3), before = apply(*F, x);
    renew(a);
    EXPECT_EQ(owner_->view()->on_floats(ctx()), nullptr);
    renew(usual);
    ASSERT_NE(owner_->view()->on_floats(ctx()), nullptr);
    EXPECT_EQ(apply(*owner_->view()->on_floats(ctx()), x), before);
  }
  EXPECT_NE(make("{type: block_jacobi}", a)->on_floats(ctx()), nullptr);
}

}  // namespace
}  // namespace tcsolve::test
