// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/problem.hpp>

#include <tcsolve/app/generator.hpp>
#include <tcsolve/core/error.hpp>
#include <tcsolve/io/matrix_file.hpp>
#include <tcsolve/io/matrix_market.hpp>

#include <algorithm>
#include <random>

namespace tcsolve {
namespace {

std::size_t length(Index n) { return static_cast<std::size_t>(n); }

std::vector<double> random_block(Index n, Index columns, std::uint64_t seed) {
  std::mt19937_64 bits(seed);
  std::vector<double> v(length(n) * length(columns));
  for (double& x : v) x = static_cast<double>(bits() >> 11) * 0x1p-52 - 1.0;
  return v;
}

std::vector<double> row_sums(Csr<double> const& A) {
  std::vector<double> b(length(A.rows));
  for (Index i = 0; i < A.rows; ++i)
    for (double const a : A.row_values(i)) b[length(i)] += a;
  return b;
}

/// Columns of a dense matrix on file: of Matrix Market as many as it has, of any other file one.
Index columns_in(std::filesystem::path const& path) {
  if (file_type(path) != FileType::matrix_market) return 1;
  return std::max<Index>(1, read_matrix_market_header(readable_file(path)).cols);
}

/// n x `columns` values, column after column.
std::vector<double> block_file(std::filesystem::path const& path, Index n, Index columns,
                               char const* role, char const* what, CancelFlag cancel) {
  ReadOptions const options{.nonfinite = NonFinite::keep, .cancel = cancel};
  Index const there = columns_in(path);
  std::vector<double> v;
  if (there == 1) {
    v = read_vector_file(path, role, options);
  } else {
    Csr<double> const block = read_matrix(path, options);
    v.resize(length(block.rows) * length(there));
    for (Index i = 0; i < block.rows; ++i)
      for (std::size_t k = 0; k < block.row_columns(i).size(); ++k)
        v[length(block.row_columns(i)[k]) * length(block.rows) + length(i)] =
            block.row_values(i)[k];
  }
  if (v.size() != length(n) * length(there))
    throw MatrixError(cat(file_name(path), ": ", what, " has ", v.size() / length(there),
                          there == 1 ? " elements" : " rows", "; the matrix asks for ", n));
  if (there != columns)
    throw MatrixError(cat(file_name(path), ": ", what, " has ", there, " columns; there are ",
                          columns, " right-hand sides"));
  return v;
}

}  // namespace

ProblemSize problem_size(ParsedConfig const& config) {
  ProblemConfig const& problem = config.run.problem;
  Index const columns = config.files.rhs.empty() ? problem.columns : columns_in(config.files.rhs);
  if (problem.generator) {
    MatrixSize const size = make<GeneratorRegistry>(problem.generator)->size();
    return {"generator " + problem.generator.type(),
            size.rows,
            size.cols,
            size.entries,
            size.csr_bytes(),
            size.build_bytes,
            columns};
  }
  MatrixFileSize const size = matrix_file_size(config.files.matrix);
  return {file_name(config.files.matrix),
          size.rows,
          size.cols,
          size.entries,
          size.csr_bytes,
          size.reading_bytes,
          columns};
}

Problem load_problem(ParsedConfig const& config, CancelFlag cancel) {
  ProblemConfig const& from = config.run.problem;
  InputFiles const& files = config.files;
  std::uint64_t const seed = config.run.seed;
  Problem p;
  p.A = from.generator ? make<GeneratorRegistry>(from.generator)->make({0, cancel})
                       : read_matrix(files.matrix, {.cancel = cancel});
  Index const rows = p.A.rows, cols = p.A.cols;
  Index const k = p.columns = files.rhs.empty() ? from.columns : columns_in(files.rhs);

  if (!files.rhs.empty())
    p.b = block_file(files.rhs, rows, k, "b", "the right-hand side", cancel);
  else if (from.rhs == "ones")
    p.b.assign(length(rows), 1.0);
  else if (from.rhs == "random")
    p.b = random_block(rows, k, seed);
  else
    p.b = row_sums(p.A);

  if (!files.x0.empty())
    p.x0 = block_file(files.x0, cols, k, "x0", "the initial guess", cancel);
  else if (from.x0 == "random")
    p.x0 = random_block(cols, k, seed + 1);
  else
    p.x0.assign(length(cols) * length(k), 0.0);

  if (!files.solution.empty())
    p.solution = block_file(files.solution, cols, k, "x", "the solution", cancel);
  else if (files.rhs.empty() && from.rhs == "A_times_ones")
    p.solution.assign(length(cols), 1.0);
  return p;
}

}  // namespace tcsolve
