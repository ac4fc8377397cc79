// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/problem.hpp>

#include <tcsolve/app/generator.hpp>
#include <tcsolve/core/error.hpp>
#include <tcsolve/io/matrix_file.hpp>

#include <algorithm>
#include <random>

namespace tcsolve {
namespace {

std::size_t length(Index n) { return static_cast<std::size_t>(n); }

std::vector<double> random_vector(Index n, std::uint64_t seed) {
  std::mt19937_64 bits(seed);
  std::vector<double> v(length(n));
  for (double& x : v) x = static_cast<double>(bits() >> 11) * 0x1p-52 - 1.0;
  return v;
}

std::vector<double> row_sums(Csr<double> const& A) {
  std::vector<double> b(length(A.rows));
  for (Index i = 0; i < A.rows; ++i)
    for (double const a : A.row_values(i)) b[length(i)] += a;
  return b;
}

std::vector<double> vector_file(std::filesystem::path const& path, Index n, char const* role,
                                char const* what, CancelFlag cancel) {
  std::vector<double> v =
      read_vector_file(path, role, {.nonfinite = NonFinite::keep, .cancel = cancel});
  if (v.size() != length(n))
    throw MatrixError(
        cat(file_name(path), ": ", what, " has ", v.size(), " elements; the matrix asks for ", n));
  return v;
}

}  // namespace

ProblemSize problem_size(ParsedConfig const& config) {
  ProblemConfig const& problem = config.run.problem;
  if (problem.generator) {
    MatrixSize const size = make<GeneratorRegistry>(problem.generator)->size();
    return {"generator " + problem.generator.type(),
            size.rows,
            size.cols,
            size.entries,
            size.csr_bytes(),
            size.build_bytes};
  }
  MatrixFileSize const size = matrix_file_size(config.files.matrix);
  return {file_name(config.files.matrix),
          size.rows,
          size.cols,
          size.entries,
          size.csr_bytes,
          size.reading_bytes};
}

Problem load_problem(ParsedConfig const& config, CancelFlag cancel) {
  ProblemConfig const& from = config.run.problem;
  InputFiles const& files = config.files;
  std::uint64_t const seed = config.run.seed;
  Problem p;
  p.A = from.generator ? make<GeneratorRegistry>(from.generator)->make({0, cancel})
                       : read_matrix(files.matrix, {.cancel = cancel});
  Index const rows = p.A.rows, cols = p.A.cols;

  if (!files.rhs.empty())
    p.b = vector_file(files.rhs, rows, "b", "the right-hand side", cancel);
  else if (from.rhs == "ones")
    p.b.assign(length(rows), 1.0);
  else if (from.rhs == "random")
    p.b = random_vector(rows, seed);
  else
    p.b = row_sums(p.A);

  if (!files.x0.empty())
    p.x0 = vector_file(files.x0, cols, "x0", "the initial guess", cancel);
  else if (from.x0 == "random")
    p.x0 = random_vector(cols, seed + 1);
  else
    p.x0.assign(length(cols), 0.0);

  if (!files.solution.empty())
    p.solution = vector_file(files.solution, cols, "x", "the solution", cancel);
  else if (files.rhs.empty() && from.rhs == "A_times_ones")
    p.solution.assign(length(cols), 1.0);
  return p;
}

}  // namespace tcsolve
