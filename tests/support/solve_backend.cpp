// SPDX-License-Identifier: Apache-2.0
#include "tests/support/solve_backend.hpp"
#include "tests/support/dense.hpp"

#include <cmath>
#include <sstream>

#include <tcsolve/operators/function_operator.hpp>

namespace tcsolve::test {

Csr<double> csr(Matrix const& a) {
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

OperatorPtr<double> matrix(Context& ctx, Matrix const& a) {
  return std::make_shared<CsrOperator<double>>(ctx, csr(a));
}

OperatorPtr<double> callable(Index rows, Index cols, Map f, Map transposed) {
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

OperatorPtr<double> callable(Matrix const& a) {
  return callable(
      static_cast<Index>(a.rows()), static_cast<Index>(a.cols()),
      [a](Column const& x) -> Column { return a * x; },
      [a](Column const& x) -> Column { return a.transpose() * x; });
}

std::vector<std::string> methods(std::string const& text) {
  std::vector<std::string> out;
  std::istringstream words(text);
  for (std::string word; words >> word;) out.push_back(word);
  return out;
}

template <class T>
std::unique_ptr<KrylovSolver<T>> make_solver(std::string const& name,
                                             StoppingParams const& stopping, Execution execution,
                                             int restart) {
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

SolveReport solve(Solver& solver, Column const& b, Column& x) {
  return solver.solve(vector_view(b.data(), static_cast<Index>(b.size())),
                      vector_view(x.data(), static_cast<Index>(x.size())));
}

Exact exact_residual(Matrix const& a, Column const& b, Column const& x) {
  Exact r = b.cast<long double>();
  for (Index i = 0; i < a.rows(); ++i)
    for (Index j = 0; j < a.cols(); ++j)
      if (a(i, j) != 0) r[i] -= static_cast<long double>(a(i, j)) * x[j];
  return r;
}

long double exact_norm(Exact const& v) {
  long double sum = 0;
  for (Index i = 0; i < v.size(); ++i) sum += v[i] * v[i];
  return std::sqrt(sum);
}

long double exact_norm(Column const& v) { return exact_norm(Exact(v.cast<long double>())); }
long double exact_norm(Matrix const& a) {
  return exact_norm(Exact(a.cast<long double>().reshaped()));
}

long double residual_error(Matrix const& a, Column const& b, Column const& x) {
  long double terms = static_cast<long double>(a.cols()) + 4;
  return terms * (0x1p-53L * (exact_norm(a) * exact_norm(x) + exact_norm(b)) +
                  0x1p-1074L * std::sqrt(static_cast<long double>(a.rows())));
}

Matrix diagonal(std::vector<double> const& d) {
  return Eigen::Map<Column const>(d.data(), static_cast<Index>(d.size())).asDiagonal();
}

Matrix tridiagonal(Index n, double lower, double middle, double upper) {
  Matrix a = Matrix::Zero(n, n);
  for (Index i = 0; i < n; ++i) {
    a(i, i) = middle;
    if (i > 0) a(i, i - 1) = lower;
    if (i + 1 < n) a(i, i + 1) = upper;
  }
  return a;
}

Matrix laplace(Index n) { return tridiagonal(n, -1, 2, -1); }
Matrix path_laplacian(Index n) {
  Matrix a = laplace(n);
  a(0, 0) = a(n - 1, n - 1) = 1;
  return a;
}

Matrix cyclic_shift(Index n) {
  Matrix a = Matrix::Zero(n, n);
  for (Index i = 0; i < n; ++i) a((i + 1) % n, i) = 1;
  return a;
}

Matrix hilbert(Index n) {
  Matrix a(n, n);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) a(i, j) = 1.0 / (i + j + 1);
  return a;
}

double uniform(std::uint64_t seed, std::uint64_t i) {
  double value = 0;
  Random<double>{1, seed * 1000003 + i, &value}.element(0, {}, nullptr);
  return value;
}

Matrix random_matrix(Index rows, Index cols, std::uint64_t seed) {
  Matrix a(rows, cols);
  for (Index i = 0; i < a.size(); ++i) a.data()[i] = uniform(seed, static_cast<std::uint64_t>(i));
  return a;
}

Column random_column(Index n, std::uint64_t seed) { return random_matrix(n, 1, seed); }
Matrix with_eigenvalues(Column const& values, std::uint64_t seed) {
  Index n = static_cast<Index>(values.size());
  Matrix q = orthogonal(random_matrix(n, n, seed + 0x10000));
  Matrix a = q * values.asDiagonal() * q.transpose();
  return (a + a.transpose()) / 2;
}

Column graded(Index n, double exponent) {
  Column d(n);
  for (Index i = 0; i < n; ++i) d[i] = std::pow(10.0, exponent * i / std::max<Index>(n - 1, 1));
  return d;
}

Matrix random_spd(Index n, double log10_condition, std::uint64_t seed) {
  return with_eigenvalues(graded(n, -log10_condition), seed);
}

template std::unique_ptr<KrylovSolver<double>> make_solver(std::string const&,
                                                           StoppingParams const&, Execution, int);
template std::unique_ptr<KrylovSolver<float>> make_solver(std::string const&, StoppingParams const&,
                                                          Execution, int);

double residual_norm(Csr<double> const& a, Column const& b, Column const& x) {
  long double rr = 0;
  for (Index i = 0; i < a.rows; ++i) {
    long double r = b[i];
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      r -= static_cast<long double>(a.values[k]) * x[a.columns[k]];
    rr += r * r;
  }
  return static_cast<double>(std::sqrt(rr));
}

}  // namespace tcsolve::test
