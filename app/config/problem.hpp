// SPDX-License-Identifier: Apache-2.0
/// The system of a run: what it will take, then what it is.
#pragma once

#include <tcsolve/app/config/run_config.hpp>
#include <tcsolve/matrix/csr.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tcsolve {

/// What is known of a matrix before it is read or generated.
struct ProblemSize {
  std::string source;  ///< the file, or "generator poisson27"
  Index rows = 0, cols = 0;
  Offset entries = 0;                ///< an upper bound
  std::int64_t csr_bytes = 0;        ///< of the CSR matrix in host memory
  std::int64_t peak_bytes = 0;       ///< of host memory while it is made
  Index columns = 1;                 ///< right-hand sides
  std::vector<std::string> notes{};  ///< what the first lines of a run say of its files
  bool by_ranks = false;             ///< each rank reads its own rows
};

struct Problem {
  Csr<double> A;
  std::vector<Index> starts;            ///< of the systems, where A is a batch; else empty
  Index columns = 1;                    ///< right-hand sides
  std::vector<double> b, x0, solution;  ///< column after column; solution: empty when not known
  std::vector<Index> rows;              ///< of x that are written, from 0; empty: all
  std::string nonfinite;  ///< the first entry of b, or of x0, that is Inf or NaN, by its row; or ""
};

/// From the header of the file or the parameters of the generator; allocates nothing large. Vectors
/// are looked at, too: throws MatrixError where one has not the length that the matrix asks for.
ProblemSize problem_size(ParsedConfig const&);

/// Throws MatrixError for files that do not hold what they should, e.g. a vector of another length.
Problem load_problem(ParsedConfig const&, CancelFlag cancel = {});

/// Whether b is A times ones.
bool is_rhs_of_ones(ParsedConfig const&);
/// The same around a matrix of which others have the rows: A stays empty. row_sums: A times ones,
/// where that is b.
Problem load_vectors(ParsedConfig const&, Index rows, Index cols, std::vector<double> row_sums,
                     CancelFlag cancel = {});

}  // namespace tcsolve
