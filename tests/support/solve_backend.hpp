// SPDX-License-Identifier: Apache-2.0
/// Where a solver test runs (host, cuda; eager, graph, persistent), systems given as dense Eigen
/// matrices, and the solvers by name.
#pragma once

#include <gtest/gtest.h>

#include <Eigen/Core>
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

/// ||b - A x|| in long double, apart from all of tcsolve's kernels.
double residual_norm(Csr<double> const& a, Column const& b, Column const& x);

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
Csr<double> csr(Matrix const& a);

/// A rounded to S, applied to vectors of T.
template <class T = double, class S = T>
OperatorPtr<T> stored(Context& ctx, Matrix const& a) {
  return std::make_shared<CsrOperator<T, S>>(ctx, converted<S>(csr(a)));
}
OperatorPtr<double> matrix(Context& ctx, Matrix const& a);

using Map = std::function<Column(Column const&)>;

/// An operator that computes on the host, whatever the Context: what a user's callable may do.
OperatorPtr<double> callable(Index rows, Index cols, Map f, Map transposed = nullptr);
OperatorPtr<double> callable(Matrix const& a);

// ---- solvers by name ----

/// The same iterates in exact arithmetic.
inline constexpr char const* conjugate_gradients = "cg chronopoulos_gear pipelined_cg";

/// The words of `text`, every method in its absence.
std::vector<std::string> methods(
    std::string const& text =
        "cg chronopoulos_gear pipelined_cg bicgstab gmres gmres_left fgmres minres lsmr");

template <class T = double>
std::unique_ptr<KrylovSolver<T>> make_solver(std::string const& name,
                                             StoppingParams const& stopping,
                                             Execution execution = Execution::eager,
                                             int restart = 30);

/// solve() on host vectors; x is the guess and the answer.
SolveReport solve(Solver& solver, Column const& b, Column& x);

// ---- an analyst's arithmetic ----

using Exact = Eigen::Matrix<long double, Eigen::Dynamic, 1>;

Exact exact_residual(Matrix const& a, Column const& b, Column const& x);
long double exact_norm(Exact const& v);
long double exact_norm(Column const& v);
long double exact_norm(Matrix const& a);

/// What forming b - A x in FP64 may be wrong by: (n + 2) u (||A||_F ||x|| + ||b||), Higham 2002,
/// section 3.5, and one subnormal for every operation.
long double residual_error(Matrix const& a, Column const& b, Column const& x);

// ---- matrices ----

Matrix diagonal(std::vector<double> const& d);
/// tridiag(lower, middle, upper).
Matrix tridiagonal(Index n, double lower, double middle, double upper);
Matrix laplace(Index n);
/// The Laplacian of a path: singular, its kernel is the constant vector.
Matrix path_laplacian(Index n);
/// e_i -> e_{i+1}, the last to the first.
Matrix cyclic_shift(Index n);
Matrix hilbert(Index n);
/// Uniform in [-1, 1), the same on every machine.
double uniform(std::uint64_t seed, std::uint64_t i);
Matrix random_matrix(Index rows, Index cols, std::uint64_t seed);
Column random_column(Index n, std::uint64_t seed);
/// Q diag(values) Q^T.
Matrix with_eigenvalues(Column const& values, std::uint64_t seed);
/// 10^0 to 10^exponent, evenly in the exponent.
Column graded(Index n, double exponent);
Matrix random_spd(Index n, double log10_condition, std::uint64_t seed);

}  // namespace tcsolve::test
