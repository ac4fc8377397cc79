// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/config/problem.hpp>

#include <tcsolve/app/config/batch_problem.hpp>
#include <tcsolve/app/config/generator.hpp>
#include <tcsolve/core/error.hpp>
#include <tcsolve/io/files/matrix_file.hpp>
#include <tcsolve/io/files/matrix_market.hpp>

#include <cmath>
#include <random>
#include <string_view>
#include <utility>

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

void require_units(std::vector<int> const& units, Index rows) {
  for (int const row : units)
    if (row > rows)
      throw MatrixError(cat("rhs: the matrix has ", rows, rows == 1 ? " row" : " rows",
                            "; there is no row ", row, " of 'units'"));
}

/// Column k is 1 in row units[k], from 1.
std::vector<double> unit_columns(std::vector<int> const& units, Index rows) {
  require_units(units, rows);
  std::vector<double> b(length(rows) * units.size(), 0.0);
  for (std::size_t k = 0; k < units.size(); ++k)
    b[k * length(rows) + static_cast<std::size_t>(units[k]) - 1] = 1;
  return b;
}

/// b by a word of `rhs` other than A_times_ones.
std::vector<double> named_rhs(Index rows, ProblemConfig const& from, Index columns,
                              std::uint64_t seed) {
  if (from.rhs == "units") return unit_columns(from.units, rows);
  if (from.rhs == "ones") return std::vector<double>(length(rows), 1.0);
  return random_block(rows, columns, seed);
}

/// A file of columns: what it is to the run, and what the run asks of it.
struct ColumnsFile {
  std::filesystem::path path;
  char const *role, *what;
  Index rows;
};

std::vector<ColumnsFile> columns_files(ParsedConfig const& config, Index rows, Index cols) {
  InputFiles const& files = config.files;
  std::vector<ColumnsFile> all;
  if (!files.rhs.empty()) all.push_back({files.rhs, "b", "the right-hand side", rows});
  if (!files.x0.empty()) all.push_back({files.x0, "x0", "the initial guess", cols});
  if (!files.solution.empty()) all.push_back({files.solution, "x", "the solution", cols});
  for (std::string const& file : config.run.nullspace.files)
    all.push_back({file, "z", "the nullspace", cols});
  return all;
}

void check_rows(ColumnsFile const& file, Index rows, Index cols) {
  if (rows == file.rows) return;
  throw MatrixError(cat(file_name(file.path), ": ", file.what, " has ", rows,
                        rows == 1 ? " row" : " rows",
                        cols > 1 ? cat(" and ", cols, " columns") : "", "; the matrix asks for ",
                        file.rows, file.rows == 1 ? " row" : " rows"));
}

void check_columns(ColumnsFile const& file, Index cols, Index columns) {
  if (cols != columns)
    throw MatrixError(cat(file_name(file.path), ": ", file.what, " has ", cols,
                          cols == 1 ? " column" : " columns", "; there are ", columns,
                          " right-hand sides"));
}

/// The length of a file's columns: from its header, or, of plain text, by reading it.
void check_length(ColumnsFile const& file, ReadOptions const& options) {
  ColumnsSize const size = columns_file_size(file.path, file.role, options);
  Index const rows = size.rows ? *size.rows : read_columns_file(file.path, file.role, options).rows;
  check_rows(file, rows, size.cols);
}

std::vector<double> read_block(ColumnsFile const& file, Index columns, ReadOptions const& options) {
  Columns x = read_columns_file(file.path, file.role, options);
  check_rows(file, x.rows, x.cols);
  check_columns(file, x.cols, columns);
  return std::move(x.values);
}

/// What `output.rows` names of the `length` rows of x; empty where it does not.
std::vector<Index> rows_asked_for(ParsedConfig const& config, Index length) {
  std::filesystem::path const& file = config.files.rows;
  if (file.empty()) return {};
  return row_numbers(read_columns_file(file, "rows", {.nonfinite = NonFinite::keep}), length,
                     cat(file_name(file), ": output.rows"));
}

/// "the right-hand side has nan in row 3", of the first such entry; "" where all are finite.
std::string nonfinite_entry(std::vector<double> const& v, Index rows, char const* what) {
  for (std::size_t k = 0; k < v.size(); ++k)
    if (!std::isfinite(v[k])) {
      std::size_t const n = length(rows), column = k / n + 1;
      return cat(what, " has ", std::isnan(v[k]) ? "NaN" : "Inf", " in row ", k % n + 1,
                 v.size() > n ? cat(", column ", column) : "");
    }
  return "";
}

}  // namespace

ProblemSize problem_size(ParsedConfig const& config) {
  ProblemConfig const& problem = config.run.problem;
  InputFiles const& files = config.files;
  ReadOptions const options{.nonfinite = NonFinite::keep, .petsc = problem.petsc.scalar};
  ProblemSize size;
  if (!problem.batch.empty()) {
    size = batch_size(config);
  } else if (problem.generator) {
    MatrixSize const made = make<GeneratorRegistry>(problem.generator)->size();
    size = {"generator " + problem.generator.type(),
            made.rows,
            made.cols,
            made.entries,
            made.csr_bytes(),
            made.build_bytes};
  } else {
    MatrixFileSize const file = matrix_file_size(files.matrix, options);
    size = {file_name(files.matrix), file.rows,         file.cols, file.entries,
            file.csr_bytes,          file.reading_bytes};
    if (!file.assumed.empty()) size.notes.push_back(file.assumed);
  }
  size.columns =
      problem.units.empty() ? problem.columns : narrow(std::int64_t(problem.units.size()), "units");
  require_units(problem.units, size.rows);
  if (!files.rhs.empty()) size.columns = columns_file_size(files.rhs, "b", options).cols;
  for (ColumnsFile const& file : columns_files(config, size.rows, size.cols))
    check_length(file, options);
  rows_asked_for(config, size.cols);
  if (!files.rhs.empty() && files.rhs == files.matrix)
    size.notes.push_back(cat("b", files.x0 == files.matrix ? " and x0 are those" : " is the one",
                             " in ", size.source));
  if (size.columns > 1)
    size.notes.push_back(cat(size.columns, " right-hand sides",
                             files.rhs.empty() ? "" : cat(" from ", file_name(files.rhs))));
  return size;
}

bool is_rhs_of_ones(ParsedConfig const& config) {
  return config.files.rhs.empty() && config.run.problem.rhs == "A_times_ones";
}

Problem load_problem(ParsedConfig const& config, CancelFlag cancel) {
  ProblemConfig const& from = config.run.problem;
  Csr<double> A;
  std::vector<Index> starts;
  if (!from.batch.empty()) {
    CsrBatch batch = load_batch(config, cancel);
    A = std::move(batch.matrix);
    starts = std::move(batch.starts);
  } else {
    A = from.generator
            ? make<GeneratorRegistry>(from.generator)->make({0, cancel})
            : read_matrix(config.files.matrix, {.petsc = from.petsc.scalar, .cancel = cancel});
  }
  Problem p = load_vectors(config, A.rows, A.cols,
                           is_rhs_of_ones(config) ? row_sums(A) : std::vector<double>{}, cancel);
  p.A = std::move(A);
  p.starts = std::move(starts);
  return p;
}

Problem load_vectors(ParsedConfig const& config, Index rows, Index cols,
                     std::vector<double> row_sums, CancelFlag cancel) {
  ProblemConfig const& from = config.run.problem;
  InputFiles const& files = config.files;
  std::uint64_t const seed = config.run.seed;
  ReadOptions const options{
      .nonfinite = NonFinite::keep, .petsc = from.petsc.scalar, .cancel = cancel};
  Problem p;
  Index const k = p.columns = !files.rhs.empty() ? columns_file_size(files.rhs, "b", options).cols
                              : from.units.empty()
                                  ? from.columns
                                  : narrow(std::int64_t(from.units.size()), "units");
  for (ColumnsFile const& file : columns_files(config, rows, cols)) {
    std::string_view const role = file.role;
    if (role == "z") continue;  // the solver reads it
    auto& block = role == "b" ? p.b : role == "x0" ? p.x0 : p.solution;
    block = read_block(file, k, options);
  }
  if (is_rhs_of_ones(config))
    p.b = std::move(row_sums);
  else if (files.rhs.empty())
    p.b = named_rhs(rows, from, k, seed);
  if (files.x0.empty() && from.x0 == "random")
    p.x0 = random_block(cols, k, seed + 1);
  else if (files.x0.empty())
    p.x0.assign(length(cols) * length(k), 0.0);
  if (files.solution.empty() && is_rhs_of_ones(config)) p.solution.assign(length(cols), 1.0);
  p.rows = rows_asked_for(config, cols);
  p.nonfinite = nonfinite_entry(p.b, rows, "the right-hand side");
  if (p.nonfinite.empty()) p.nonfinite = nonfinite_entry(p.x0, cols, "the initial guess");
  return p;
}

}  // namespace tcsolve
