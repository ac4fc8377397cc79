// SPDX-License-Identifier: Apache-2.0
/// Sparse approximate inverses, Schwarz parts and the preconditioners of least squares, against the
/// equations that define them, and as operators on each backend.
#include <tcsolve/api/registries.hpp>
#include <tcsolve/configs/schema/yaml.hpp>
#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/graph/reorder/graph_partition.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/precond/fsai/fsai.hpp>
#include <tcsolve/precond/normal_ic/normal_ic.hpp>
#include <tcsolve/precond/schwarz/schwarz.hpp>
#include <tcsolve/precond/spai/spai.hpp>

#include <Eigen/Core>

#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "tests/support/dense.hpp"
#include "tests/support/each_backend.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
using Dense = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Symmetric positive definite with random values.
Csr<double> definite(Index n) {
  return generate(Poisson7Params{.n = n, .coefficient = Coefficient::random});
}

class Inverses : public OnEachBackend {
 protected:
  OperatorPtr<double> make(std::string const& block, Csr<double> const& a) {
    A_ = std::make_shared<CsrOperator<double>>(ctx(), Csr<double>(a));
    Diagnostics problems;
    auto const factory = solver_registries().preconditioners.make(
        parse_yaml(block, "test"), problems, solver_registries().catalog);
    problems.throw_if_any();
    owner_ = factory->build(ctx(), {A_->view(), A_});
    return owner_->view();
  }
  /// The entries of M, column by column.
  Dense entries(LinearOperator<double> const& M, Op op = Op::none) {
    Dense d(M.rows(), M.cols());
    for (Index j = 0; j < M.cols(); ++j) {
      std::vector<double> e(M.cols(), 0.0);
      e[j] = 1;
      Guarded<double> x(ctx(), e), y(ctx(), std::vector<double>(M.rows(), nan));
      M.apply(ctx(), 1, x.in(), 0, y.view(), op);
      auto const got = y.get();
      for (Index i = 0; i < M.rows(); ++i) d(i, j) = got[i];
    }
    return d;
  }
  std::shared_ptr<CsrOperator<double>> A_;
  std::unique_ptr<Preconditioner> owner_;
};
TCSOLVE_ON_EACH_BACKEND(Inverses);

// Kolotilina and Yeremin 1993: (G A)_ij = 0 on the pattern below the diagonal, diag(G A G^T) = I.
TEST_P(Inverses, FsaiMeetsItsEquations) {
  Csr<double> const a = definite(5);
  Dense const A = dense_rows(a);
  for (int power : {1, 2, 3}) {
    auto const pattern = lower_pattern(a.view(), power, 0);
    Csr<double> const g = fsai(ctx(), a.view(), pattern);
    validate(g.view());
    Dense const G = dense_rows(g), GA = G * A;
    Dense Ak = Dense::Identity(a.rows, a.rows), abs = A.cwiseAbs();
    for (int p = 0; p < power; ++p) Ak = Ak * abs;
    for (Index i = 0; i < a.rows; ++i) {
      EXPECT_NEAR((GA.row(i) * G.row(i).transpose())(0), 1, 1e-12);
      for (Index j = 0; j < i; ++j) {
        bool const in = std::ranges::binary_search(pattern[i], j);
        EXPECT_EQ(in, Ak(i, j) != 0) << i << " " << j;
        if (in) EXPECT_NEAR(GA(i, j), 0, 1e-11 * A.norm());
      }
    }
  }
  auto const M = make("{type: fsai}", a);
  Dense const G = dense_rows(fsai(ctx(), a.view(), lower_pattern(a.view(), 1, 0)));
  EXPECT_LE((entries(*M) - G.transpose() * G).norm(), 1e-13 * (G.transpose() * G).norm());
  EXPECT_LE((entries(*M, Op::transpose) - entries(*M)).norm(), 1e-13 * entries(*M).norm());
}

Csr<double> full(Dense const& A) {
  Csr<double> a;
  a.rows = a.cols = static_cast<Index>(A.rows());
  for (Index i = 0; i < a.rows; ++i) {
    for (Index j = 0; j < a.cols; ++j) {
      a.columns.push_back(j);
      a.values.push_back(A(i, j));
    }
    a.offsets.push_back(a.entries());
  }
  return a;
}

// Rows for every launch of the device, and beyond its shared memory.
TEST_P(Inverses, FsaiOfAFullPatternIsTheInverse) {
  for (Index n : {24, 60, 120, 180, 230}) {
    SCOPED_TRACE(n);
    Dense const root = Dense::Random(n, n), square = root * root.transpose();
    Dense const A = 0.5 * (square + square.transpose()) + n * Dense::Identity(n, n);
    Csr<double> const a = full(A);
    Dense const inverse = inverse_of(A);
    auto const error = [&](std::string const& config) {
      return (entries(*make(config, a)) - inverse).norm() / inverse.norm();
    };
    EXPECT_LE(error("{type: fsai}"), 1e-11);
    EXPECT_LE(error("{type: fsai, values: fp32}"), 1e-5);
    if (n > 24) continue;
    EXPECT_LE(error("{type: fsai, steps: 24, enough: 0}"), 1e-11);
  }
}

// Each step lessens the Kaporin number.
TEST_P(Inverses, FsaiGrowsWhereItPays) {
  Csr<double> const a = definite(8);
  Dense const A = dense_rows(a);
  double before = std::numeric_limits<double>::infinity();
  std::vector<std::vector<Index>> smaller(a.rows);
  for (int steps : {1, 2, 4, 8}) {
    auto const pattern =
        grown_pattern(ctx(), a.view(), {.steps = steps, .step_size = 1, .enough = 0});
    for (Index i = 0; i < a.rows; ++i) {
      EXPECT_TRUE(std::ranges::includes(pattern[i], smaller[i])) << "patterns only grow";
      EXPECT_LE(pattern[i].size(), std::size_t(steps) + 1);
      EXPECT_EQ(pattern[i].back(), i);
    }
    Dense const G = dense_rows(fsai(ctx(), a.view(), pattern));
    // diag(G A G^T) = I, so that the Kaporin number is 1 / det(G)^2 / det(A).
    double const kaporin = -2 * G.diagonal().array().log().sum();
    EXPECT_LT(kaporin, before);
    before = kaporin;
    smaller = pattern;
  }
  // The strong coupling is found first: one entry a row along it.
  auto const first = grown_pattern(ctx(), a.view(), {.steps = 1, .step_size = 1, .enough = 0});
  for (Index i = 0; i < a.rows; ++i) {
    double most = 0;
    auto const gain = [&](Index j) { return A(i, j) * A(i, j) / A(j, j); };
    for (Index j = 0; j < i; ++j) most = std::max(most, gain(j));
    if (most > 0) EXPECT_EQ(gain(first[i].front()), most);
  }
}

TEST_P(Inverses, FsaiRefusesWhatIsNotDefinite) {
  Dense d(3, 3);
  d << 1, 2, 0, 2, 1, 0, 0, 0, 1;
  Csr<double> a = with_entries(3, {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 2}});
  a.values = {1, 2, 2, 1, 1};
  for (std::string const block : {"{type: fsai}", "{type: fsai, steps: 2}"}) try {
      make(block, a);
      ADD_FAILURE();
    } catch (SetupError const& e) {
      EXPECT_NE(std::string(e.what()).find("row 2"), std::string::npos) << e.what();
    }
}

// The residual of each column is orthogonal to the columns of A that it may use.
TEST_P(Inverses, SpaiIsNearest) {
  for (int level : {0, 1}) {
    Csr<double> const a = dominant(60, 5, 4);
    Csr<double> const m = spai(ctx(), a.view(), level);
    validate(m.view());
    Dense const A = dense_rows(a), M = dense_rows(m);
    Dense const gradient = A.transpose() * (A * M - Dense::Identity(60, 60));
    double least = 0;
    for (Index i = 0; i < m.rows; ++i)
      for (Index const j : m.row_columns(i)) least = std::max(least, std::abs(gradient(i, j)));
    EXPECT_LE(least, 1e-12 * A.norm());
    EXPECT_GT(gradient.cwiseAbs().maxCoeff(), 1e-6) << "or the pattern is not sparse";
    EXPECT_EQ(m.entries(), level == 0 ? 60 : a.entries());
    auto const made = make(cat("{type: spai, level: ", level, "}"), a);
    EXPECT_LE((entries(*made) - M).norm(), 1e-13 * M.norm());
    EXPECT_LE((entries(*made, Op::transpose) - M.transpose()).norm(), 1e-13 * M.norm());
  }
  // An empty column, and a diagonal entry that is absent.
  Csr<double> const a = with_entries(4, {{0, 1}, {1, 0}, {2, 2}, {3, 2}});
  Csr<double> const m = spai(ctx(), a.view(), 1);
  for (double const v : m.values) EXPECT_TRUE(std::isfinite(v));
  EXPECT_EQ(dense_rows(m).col(3).norm(), 0);
}

// Column 7 and row 7 are full: 7 stands in no column of M but its own, which has the entries that
// are nearest to the diagonal; M is the nearest to the inverse on that pattern.
TEST_P(Inverses, SpaiLeavesFullColumnsToThemselves) {
  constexpr Index n = 300, full = 7;
  Dense A = dense_rows(dominant(n, 4, 5));
  for (Index i = 0; i < n; ++i)
    if (i != full) A(i, full) = 1, A(full, i) = 0.5;
  Csr<double> a;
  a.rows = a.cols = n;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j)
      if (A(i, j) != 0) a.columns.push_back(j), a.values.push_back(A(i, j));
    a.offsets.push_back(a.entries());
  }
  Index const most = 20;
  Csr<double> const m = spai(ctx(), a.view(), 1, most);
  Dense const M = dense_rows(m), gradient = A.transpose() * (A * M - Dense::Identity(n, n));
  std::vector<Index> length(n);
  for (Index i = 0; i < n; ++i)
    for (Index const j : m.row_columns(i)) {
      ++length[j];
      EXPECT_LE(std::abs(gradient(i, j)), 1e-11 * A.norm()) << i << ", " << j;
      if (i == full) EXPECT_EQ(j, full);
    }
  EXPECT_EQ(length[full], most);
  for (Index i = 0; i < n; ++i) EXPECT_EQ(M(i, full) != 0, i < most) << i;  // 0 to 13 and 14 to 19
  EXPECT_EQ(M(full, 8), 0);
  EXPECT_NE(dense_rows(spai(ctx(), a.view(), 1, n))(full, 8), 0);
}

/// sum R_p^T A_p^-1 R_p, or with the own rows only, densely.
Dense schwarz_by_definition(Dense const& A, OverlappingParts const& parts, bool restricted) {
  Dense M = Dense::Zero(A.rows(), A.cols());
  for (std::size_t p = 0; p < parts.rows.size(); ++p) {
    auto const& rows = parts.rows[p];
    auto const m = static_cast<Index>(rows.size());
    Dense block(m, m);
    for (Index r = 0; r < m; ++r)
      for (Index c = 0; c < m; ++c) block(r, c) = A(rows[r], rows[c]);
    Dense const inverse = inverse_of(block);
    for (Index r = 0; r < (restricted ? parts.own[p] : m); ++r)
      for (Index c = 0; c < m; ++c) M(rows[r], rows[c]) += inverse(r, c);
  }
  return M;
}

TEST_P(Inverses, SchwarzSumsTheInversesOfParts) {
  Csr<double> const s = definite(6), a = generate(ConvdiffParams{.n = 6});
  for (Csr<double> const* matrix : {&s, &a})
    for (int overlap : {0, 1, 2})
      for (int size : {1, 20, 1000})
        for (bool restricted : {false, true}) {
          SCOPED_TRACE(cat(size, ", ", overlap, ", ", restricted));
          PartsBy const by = restricted ? PartsBy::grow : PartsBy::rows;
          OverlappingParts const parts = overlapping_parts(matrix->view(), size, overlap, 0, by);
          // Each row belongs to one part, and with its neighbours to its overlap.
          std::vector<int> owners(matrix->rows, 0);
          for (std::size_t p = 0; p < parts.rows.size(); ++p) {
            std::set<Index> const in(parts.rows[p].begin(), parts.rows[p].end());
            EXPECT_EQ(in.size(), parts.rows[p].size());
            for (Index r = 0; r < parts.own[p]; ++r) {
              ++owners[parts.rows[p][r]];
              if (overlap > 0)
                for (Index const j : matrix->row_columns(parts.rows[p][r]))
                  EXPECT_TRUE(in.contains(j));
            }
          }
          EXPECT_EQ(owners, std::vector<int>(matrix->rows, 1));
          Dense const exact = schwarz_by_definition(dense_rows(*matrix), parts, restricted);
          Csr<double> const m = schwarz(ctx(), matrix->view(), parts, restricted);
          validate(m.view());
          EXPECT_LE((dense_rows(m) - exact).norm(), 1e-12 * exact.norm());
        }
}

TEST_P(Inverses, SchwarzIsSymmetricForSymmetricMatrices) {
  Csr<double> const s = definite(6);
  Dense const M = entries(*make("{type: schwarz, size: 30}", s));
  EXPECT_LE((M - M.transpose()).norm(), 1e-13 * M.norm());
  EXPECT_GT(symmetric_eigenvalues(M).minCoeff(), 0);
  Dense const R = entries(*make("{type: schwarz, size: 30, combine: restricted}", s));
  EXPECT_GT((R - R.transpose()).norm(), 1e-3 * R.norm());
  // One part is the inverse.
  Dense const inverse = inverse_of(dense_rows(s));
  EXPECT_LE((entries(*make("{type: schwarz, size: 4096}", s)) - inverse).norm(),
            1e-11 * inverse.norm());
  Csr<double> const singular = with_entries(4, {{0, 0}, {1, 1}, {2, 2}});
  EXPECT_THROW(make("{type: schwarz, size: 2, overlap: 0}", singular), SetupError);
}

TEST_P(Inverses, SchwarzTakesPartsByName) {
  Csr<double> const s = definite(6);
  Dense const grown = entries(*make("{type: schwarz, size: 30}", s));
  EXPECT_EQ(entries(*make("{type: schwarz, size: 30, parts: grow}", s)), grown);
  EXPECT_NE(entries(*make("{type: schwarz, size: 30, parts: rows}", s)), grown);
  if (metis_built())
    EXPECT_NE(entries(*make("{type: schwarz, size: 30, parts: metis}", s)), grown);
  else
    EXPECT_THROW(make("{type: schwarz, size: 30, parts: metis}", s), NotBuilt);
  EXPECT_THROW(make("{type: schwarz, parts: metal}", s), ConfigError);
}

TEST_P(Inverses, SchwarzPivots) {
  for (Index n : {2, 90, 170}) {
    Dense A = Dense::Random(n, n);
    A.diagonal().setZero();
    Dense const inverse = inverse_of(A),
                got = entries(*make("{type: schwarz, size: 4096}", full(A)));
    EXPECT_LE((got - inverse).norm(), 1e-9 * inverse.norm()) << n;
  }
}

// R^T R = A^T A where nothing is dropped, so that A M has orthonormal columns.
TEST_P(Inverses, NormalIcOrthonormalisesTheColumns) {
  Csr<double> a = random_matrix(70, 30, 6, 5);
  Dense A = dense_rows(a);
  for (Index j = 0; j < 30; ++j) {  // full rank
    a = {};
    A(j, j) += 3;
  }
  a.rows = 70;
  a.cols = 30;
  for (Index i = 0; i < 70; ++i) {
    for (Index j = 0; j < 30; ++j)
      if (A(i, j) != 0) {
        a.columns.push_back(j);
        a.values.push_back(A(i, j) * std::pow(10.0, j % 5 - 2));
      }
    a.offsets.push_back(a.entries());
  }
  A = dense_rows(a);
  Dense const N = A.transpose() * A;
  EXPECT_LE((dense_rows(normal_matrix(a.view())) - N).norm(), 1e-14 * N.norm());
  for (std::string const triangular : {"exact", "auto"}) {
    auto const M = make("{type: normal_ic, drop_tolerance: 0, triangular: " + triangular + "}", a);
    EXPECT_EQ(M->rows(), 30);
    EXPECT_EQ(M->cols(), 30);
    Dense const Q = A * entries(*M);
    EXPECT_LE((Q.transpose() * Q - Dense::Identity(30, 30)).norm(), 1e-11);
    Dense const T = entries(*M, Op::transpose);
    EXPECT_LE((T - entries(*M).transpose()).norm(), 1e-13 * T.norm());
  }
  // As a product with an approximate inverse, orthonormal is what the pattern allows.
  auto const isai = make("{type: normal_ic, drop_tolerance: 0, triangular: isai}", a);
  Dense const Q = A * entries(*isai);
  EXPECT_LE((Q.transpose() * Q).diagonal().maxCoeff(), 10);
  auto const scaled = make("{type: column_scaling}", a);
  Dense const D = entries(*scaled);
  EXPECT_LE((D - Dense(A.colwise().norm().cwiseInverse().asDiagonal())).norm(), 1e-14 * D.norm());
}

TEST_P(Inverses, FollowNewValues) {
  Csr<double> const a = definite(6);
  Csr<double> b = a;  // symmetric still
  for (Index i = 0; i < b.rows; ++i)
    for (Offset k = b.offsets[i]; k < b.offsets[i + 1]; ++k)
      b.values[k] *= 1 + (i == b.columns[k] ? 0.3 : 0.1 * std::cos(double(i) * b.columns[k]));
  for (std::string const block :
       {"{type: fsai}", "{type: fsai, steps: 4}", "{type: spai}", "{type: spai, level: 0}",
        "{type: schwarz, size: 20}", "{type: column_scaling}", "{type: normal_ic}",
        "{type: ic, triangular: isai}"}) {
    SCOPED_TRACE(block);
    auto const M = make(block, a);
    Dense const before = entries(*M);
    A_->update_values(ctx(), b.view());
    owner_->update(ctx(), {A_->view(), A_});
    EXPECT_EQ(owner_->view(), M) << "in place";
    Dense const now = entries(*M);
    EXPECT_GT((now - before).norm(), 1e-3 * before.norm());
    // On a pattern found by dropping, numbers made anew are not those met while dropping.
    if (block.find("normal") != std::string::npos) continue;
    A_->update_values(ctx(), a.view());
    owner_->update(ctx(), {A_->view(), A_});
    EXPECT_EQ(entries(*M), before) << "the same values, the same bits";
    if (block.find("steps") != std::string::npos) continue;  // its pattern is that of a
    EXPECT_LE((entries(*make(block, b)) - now).norm(), 1e-13 * now.norm());
  }
}

/// cg needs M symmetric: <M x, y> = <x, M y>.
TEST_P(Inverses, OfIcAreSymmetricThroughApproximateInversesToo) {
  Csr<double> const a = definite(6);
  for (std::string const more : {"", ", level: 1", ", drop_tolerance: 0.01", ", order: rcm"}) {
    Dense const M = entries(*make("{type: ic, triangular: isai" + more + "}", a));
    EXPECT_LE((M - M.transpose()).norm(), 1e-13 * M.norm()) << more;
  }
}

}  // namespace
}  // namespace tcsolve::test
