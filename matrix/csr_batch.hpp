// SPDX-License-Identifier: Apache-2.0
/// Many square systems as one block-diagonal CSR matrix, which is what a batch solves.
///
///     [ 5 2 ]                   [ 5 2 . . . ]     starts  0     2       5
///     [ . 7 ]  and a 3 x 3      [ . 7 . . . ]     rows and columns of system k:
///                               [ . . 1 . . ]     [starts[k], starts[k + 1])
///                               [ . . 4 9 . ]
///                               [ . . . . 3 ]
#pragma once

#include <span>
#include <vector>

#include <tcsolve/matrix/csr.hpp>

namespace tcsolve {

struct CsrBatch {
  Csr<double> matrix;
  std::vector<Index> starts{0};  ///< (systems + 1)
  Index count() const { return static_cast<Index>(starts.size()) - 1; }
};

/// Systems of any sizes and patterns. Throws ShapeError for one that is not square, or when there
/// are more than 2^31 - 1 rows in all. Cost: one pass.
CsrBatch batch_of(std::span<Csr<double> const> systems);
/// `count` systems of one pattern: values (count, entries), system after system. Throws ShapeError.
CsrBatch batch_of(CsrView<double> const& pattern, std::span<double const> values);

}  // namespace tcsolve
