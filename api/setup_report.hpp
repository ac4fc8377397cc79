// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include <tcsolve/graph/reorder/reordering.hpp>
#include <tcsolve/matrix/narrow.hpp>

namespace tcsolve {

/// How far the last set-up came, and what it took: wall-clock seconds.
struct SetupReport {
  double upload = 0;           ///< the matrix to where it is computed with
  double plan = 0;             ///< features, and which order and format
  double reorder = 0;          ///< orders of the matrix, taken or not, and the matrix in them
  double convert = 0;          ///< CSR to the format
  double setup = 0;            ///< preconditioner and method
  std::string preconditioner;  ///< what was done to make it (LinearOperator::details())
  std::string format;          ///< that A is stored in; empty until then
  std::optional<NarrowFigures> rounding;  ///< of A's values, where they are stored in fewer bits
  std::string precision;  ///< what `precision: auto` has taken, and why; empty: it was not asked
  int updates = 0;        ///< of the matrix' values since
  int renewals = 0;       ///< of them that made the preconditioner anew
  double renewal = 0;     ///< seconds that these took
  /// How A^T x = b is solved, once it has been asked for: "A itself, which is symmetric bit by
  /// bit", or "a second set-up: csr with ilu"; and the seconds that its set-up took.
  std::string transposed;
  double transpose = 0;
  std::optional<Reordering> reordering;  ///< what `operator.reorder` led to, without P
};

}  // namespace tcsolve
