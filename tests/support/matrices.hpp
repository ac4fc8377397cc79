// SPDX-License-Identifier: Apache-2.0
/// Small matrices that break kernels, seeded random ones, and CSR arrays that are not matrices.
#pragma once

#include <tcsolve/matrix/csr.hpp>

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tcsolve::test {

struct Named {
  std::string name;
  Csr<double> matrix;
};

/// The list of STYLE section 11. Every matrix is canonical.
std::vector<Named> const& adversarial();

/// Rows of 0 to max_row entries in ever-changing lengths, values in [-1, 1).
Csr<double> random_matrix(Index rows, Index cols, Index max_row, std::uint64_t seed);

/// Square, with these entries alone; values are their places.
Csr<double> with_entries(Index n, std::set<std::pair<Index, Index>> const& entries);

/// Square, random, at most `max_row` entries a row, none further than `reach` from the diagonal.
Csr<double> banded(Index n, Index reach, Index max_row, std::uint64_t seed);

/// Row lengths 0, 1, 2, 3, 5, 9, 17, 33, ..., cols in one matrix, shuffled.
Csr<double> mixed_rows(Index rows, Index cols, std::uint64_t seed);

/// Square, random, with a dominant diagonal: regular, not symmetric.
Csr<double> dominant(Index n, Index max_row, std::uint64_t seed);

/// The nodes of a grid of n^3, x fastest, as the generators number them: three coordinates each.
std::vector<double> grid_points(Index n);

/// n values in [lo, hi), a function of the seed alone.
std::vector<double> random_values(std::size_t n, std::uint64_t seed, double lo = -1, double hi = 1);

/// CSR arrays that validate() must refuse with words that its message holds. canonical(a, sum)
/// returns `mended` when they are `mendable`, and refuses them as validate() does when they are
/// not.
struct Malformed {
  std::string name;
  Index rows, cols;
  Offset entries;
  std::vector<Offset> offsets;
  std::vector<Index> columns;
  std::vector<double> values;
  std::vector<std::string> says;
  bool mendable = false;
  Csr<double> mended = {};

  CsrView<double> view() const {
    return {rows, cols, entries, offsets.data(), columns.data(), values.data(), Space::host};
  }
};
std::vector<Malformed> const& malformed();

}  // namespace tcsolve::test
