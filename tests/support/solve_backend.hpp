// SPDX-License-Identifier: Apache-2.0
/// Where a solver test runs (host, cuda; eager, graph, persistent), systems given as dense Eigen
/// matrices, and the solvers by name.
#pragma once

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <functional>
#include <memory>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/operators/function_operator.hpp>
#include <tcsolve/solvers/bicgstab/bicgstab.hpp>
#include <tcsolve/solvers/cg/cg.hpp>
#include <tcsolve/solvers/gmres/gmres.hpp>
#include <tcsolve/solvers/lsmr/lsmr.hpp>
#include <tcsolve/solvers/minres/minres.hpp>
#include <tcsolve/solvers/pipelined_cg/pipelined_cg.hpp>

namespace tcsolve::test {

using Matrix = Eigen::MatrixXd;
using Column = Eigen::VectorXd;

// ---- where ----

struct Where {
  Backend backend;
  Execution execution;
  friend std::ostream& operator<<(std::ostream& out, Where const& w) {
    return out << (w.backend == Backend::host             ? "host"
                   : w.execution == Execution::graph      ? "cuda_graph"
                   : w.execution == Execution::persistent ? "cuda_persistent"
                                                          : "cuda_eager");
  }
};

inline std::vector<Where> everywhere() {
  return {{Backend::host, Execution::eager},
          {Backend::cuda, Execution::eager},
          {Backend::cuda, Execution::graph},
          {Backend::cuda, Execution::persistent}};
}
inline std::vector<Execution> executions(Backend b) {
  if (b == Backend::host) return {Execution::eager};
  if (!graphs_by_default()) return {Execution::eager, Execution::persistent};
  return {Execution::eager, Execution::graph, Execution::persistent};
}

/// True when this machine lacks the backend; `why` is for GTEST_SKIP.
inline bool absent(Backend b, std::string& why) {
  if (b != Backend::cuda || cuda::available(why)) return false;
  why = "no CUDA device: " + why;
  return true;
}
#define TCSOLVE_SKIP_IF_ABSENT(backend) \
  if (std::string why; ::tcsolve::test::absent(backend, why)) GTEST_SKIP() << why

/// A fixture that runs in every place of everywhere().
class InEveryPlace : public testing::TestWithParam<Where> {
 protected:
  void SetUp() override {
    TCSOLVE_SKIP_IF_ABSENT(GetParam().backend);
    context_ = std::make_unique<Context>(GetParam().backend);
  }
  Context& ctx() { return *context_; }
  Execution execution() const { return GetParam().execution; }

 private:
  std::unique_ptr<Context> context_;
};
#define TCSOLVE_IN_EVERY_PLACE(suite)                                                   \
  INSTANTIATE_TEST_SUITE_P(at, suite, testing::ValuesIn(::tcsolve::test::everywhere()), \
                           [](auto const& info) { return cat(info.param); })

// ---- dense systems as operators ----

/// The entries of a dense matrix that are not zero; NaN and Inf are kept.
inline Csr<double> csr(Matrix const& a) {
  Csr<double> out;
  out.rows = static_cast<Index>(a.rows());
  out.cols = static_cast<Index>(a.cols());
  for (Index i = 0; i < out.rows; ++i) {
    for (Index j = 0; j < out.cols; ++j) {
      if (a(i, j) == 0) continue;
      out.columns.push_back(j);
      out.values.push_back(a(i, j));
    }
    out.offsets.push_back(out.entries());
  }
  return out;
}

/// A rounded to S, applied to vectors of T.
template <class T = double, class S = T>
OperatorPtr<T> stored(Context& ctx, Matrix const& a) {
  return std::make_shared<CsrOperator<T, S>>(ctx, converted<S>(csr(a)));
}
inline OperatorPtr<double> matrix(Context& ctx, Matrix const& a) {
  return std::make_shared<CsrOperator<double>>(ctx, csr(a));
}

using Map = std::function<Column(Column const&)>;

/// An operator that computes on the host, whatever the Context: what a user's callable may do.
inline OperatorPtr<double> callable(Index rows, Index cols, Map f, Map transposed = nullptr) {
  auto wrap = [](Map map) -> FunctionOperator<double>::Function {
    if (!map) return nullptr;
    return [map](Context& ctx, In<double> x, Out<double> y) {
      auto values = to_host(ctx, x.data, x.space, static_cast<std::size_t>(x.rows));
      Column result = map(Eigen::Map<Column const>(values.data(), x.rows));
      copy_bytes(ctx, y.data, y.space, result.data(), Space::host, sizeof(double) * y.rows);
    };
  };
  return std::make_shared<FunctionOperator<double>>(
      rows, cols, wrap(f), FunctionOperator<double>::Options{.transposed = wrap(transposed)});
}
inline OperatorPtr<double> callable(Matrix const& a) {
  return callable(
      static_cast<Index>(a.rows()), static_cast<Index>(a.cols()),
      [a](Column const& x) -> Column { return a * x; },
      [a](Column const& x) -> Column { return a.transpose() * x; });
}

// ---- solvers by name ----

/// The same iterates in exact arithmetic.
inline constexpr char const* conjugate_gradients = "cg chronopoulos_gear pipelined_cg";

/// The words of `text`, every method in its absence.
inline std::vector<std::string> methods(
    std::string const& text =
        "cg chronopoulos_gear pipelined_cg bicgstab gmres gmres_left fgmres minres lsmr") {
  std::vector<std::string> out;
  std::istringstream words(text);
  for (std::string word; words >> word;) out.push_back(word);
  return out;
}

template <class T = double>
std::unique_ptr<KrylovSolver<T>> make_solver(std::string const& name,
                                             StoppingParams const& stopping,
                                             Execution execution = Execution::eager,
                                             int restart = 30) {
  if (name == "cg") return std::make_unique<Cg<T>>(CgParams{stopping, execution});
  if (name == "chronopoulos_gear")
    return std::make_unique<ChronopoulosGear<T>>(OneReductionParams{stopping, execution});
  if (name == "pipelined_cg")
    return std::make_unique<PipelinedCg<T>>(OneReductionParams{stopping, execution});
  if (name == "bicgstab") return std::make_unique<Bicgstab<T>>(BicgstabParams{stopping, execution});
  if (name == "gmres")
    return std::make_unique<Gmres<T>>(GmresParams{stopping, execution, restart, Side::right});
  if (name == "gmres_left")
    return std::make_unique<Gmres<T>>(GmresParams{stopping, execution, restart, Side::left});
  if (name == "fgmres")
    return std::make_unique<Fgmres<T>>(FgmresParams{stopping, execution, restart});
  if (name == "minres") return std::make_unique<Minres<T>>(MinresParams{stopping, execution});
  if (name == "lsmr") return std::make_unique<Lsmr<T>>(LsmrParams{stopping, execution});
  throw Error("no solver named " + name);
}

/// solve() on host vectors; x is the guess and the answer.
inline SolveReport solve(Solver& solver, Column const& b, Column& x) {
  return solver.solve(vector_view(b.data(), static_cast<Index>(b.size())),
                      vector_view(x.data(), static_cast<Index>(x.size())));
}

// ---- an analyst's arithmetic ----

using Exact = Eigen::Matrix<long double, Eigen::Dynamic, 1>;

inline Exact exact_residual(Matrix const& a, Column const& b, Column const& x) {
  Exact r = b.cast<long double>();
  for (Index i = 0; i < a.rows(); ++i)
    for (Index j = 0; j < a.cols(); ++j)
      if (a(i, j) != 0) r[i] -= static_cast<long double>(a(i, j)) * x[j];
  return r;
}
inline long double exact_norm(Exact const& v) {
  long double sum = 0;
  for (Index i = 0; i < v.size(); ++i) sum += v[i] * v[i];
  return std::sqrt(sum);
}
inline long double exact_norm(Column const& v) { return exact_norm(Exact(v.cast<long double>())); }
inline long double exact_norm(Matrix const& a) {
  return exact_norm(Exact(a.cast<long double>().reshaped()));
}

/// What forming b - A x in FP64 may be wrong by: (n + 2) u (||A||_F ||x|| + ||b||), Higham 2002,
/// section 3.5, and one subnormal for every operation.
inline long double residual_error(Matrix const& a, Column const& b, Column const& x) {
  long double terms = static_cast<long double>(a.cols()) + 4;
  return terms * (0x1p-53L * (exact_norm(a) * exact_norm(x) + exact_norm(b)) +
                  0x1p-1074L * std::sqrt(static_cast<long double>(a.rows())));
}

// ---- matrices ----

inline Matrix diagonal(std::vector<double> const& d) {
  return Eigen::Map<Column const>(d.data(), static_cast<Index>(d.size())).asDiagonal();
}
/// tridiag(lower, middle, upper).
inline Matrix tridiagonal(Index n, double lower, double middle, double upper) {
  Matrix a = Matrix::Zero(n, n);
  for (Index i = 0; i < n; ++i) {
    a(i, i) = middle;
    if (i > 0) a(i, i - 1) = lower;
    if (i + 1 < n) a(i, i + 1) = upper;
  }
  return a;
}
inline Matrix laplace(Index n) { return tridiagonal(n, -1, 2, -1); }
/// The Laplacian of a path: singular, its kernel is the constant vector.
inline Matrix path_laplacian(Index n) {
  Matrix a = laplace(n);
  a(0, 0) = a(n - 1, n - 1) = 1;
  return a;
}
/// e_i -> e_{i+1}, the last to the first.
inline Matrix cyclic_shift(Index n) {
  Matrix a = Matrix::Zero(n, n);
  for (Index i = 0; i < n; ++i) a((i + 1) % n, i) = 1;
  return a;
}
inline Matrix hilbert(Index n) {
  Matrix a(n, n);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) a(i, j) = 1.0 / (i + j + 1);
  return a;
}
/// Uniform in [-1, 1), the same on every machine.
inline double uniform(std::uint64_t seed, std::uint64_t i) {
  double value = 0;
  Random<double>{1, seed * 1000003 + i, &value}.element(0, {}, nullptr);
  return value;
}
inline Matrix random_matrix(Index rows, Index cols, std::uint64_t seed) {
  Matrix a(rows, cols);
  for (Index i = 0; i < a.size(); ++i) a.data()[i] = uniform(seed, static_cast<std::uint64_t>(i));
  return a;
}
inline Column random_column(Index n, std::uint64_t seed) { return random_matrix(n, 1, seed); }
/// Q diag(values) Q^T.
inline Matrix with_eigenvalues(Column const& values, std::uint64_t seed) {
  Index n = static_cast<Index>(values.size());
  Matrix q = Eigen::HouseholderQR<Matrix>(random_matrix(n, n, seed + 0x10000)).householderQ();
  Matrix a = q * values.asDiagonal() * q.transpose();
  return (a + a.transpose()) / 2;
}
/// 10^0 to 10^exponent, evenly in the exponent.
inline Column graded(Index n, double exponent) {
  Column d(n);
  for (Index i = 0; i < n; ++i) d[i] = std::pow(10.0, exponent * i / std::max<Index>(n - 1, 1));
  return d;
}
inline Matrix random_spd(Index n, double log10_condition, std::uint64_t seed) {
  return with_eigenvalues(graded(n, -log10_condition), seed);
}

}  // namespace tcsolve::test
