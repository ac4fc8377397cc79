// SPDX-License-Identifier: Apache-2.0
/// Where a matrix has entries, without their values, and the undirected graph of a square one.
#pragma once

#include <span>
#include <vector>

#include <tcsolve/formats/csr.hpp>

namespace tcsolve {

/// The positions of a canonical CSR matrix in host memory, borrowed.
struct Pattern {
  Index rows = 0, cols = 0;
  Offset entries = 0;
  OffsetsView offsets;             // (rows + 1)
  Index const* columns = nullptr;  // (entries)

  /// Throws ShapeError for a matrix that does not lie on the host.
  template <class T>
  Pattern(CsrView<T> const& a)
      : rows(a.rows), cols(a.cols), entries(a.entries), offsets(a.offsets), columns(a.columns) {
    if (a.space != Space::host) throw ShapeError("pattern: the matrix must lie on the host");
  }
  template <class T>
  Pattern(Csr<T> const& a) : Pattern(a.view()) {}
  std::span<Index const> row(Index i) const {
    return {columns + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i])};
  }
};

/// An undirected graph: every edge {i, j} is listed with i and with j, neighbours ascend, no vertex
/// is its own neighbour.
struct Graph {
  std::vector<Offset> offsets{0};  // (vertices + 1)
  std::vector<Index> neighbours;   // (2 edges)

  Index vertices() const { return static_cast<Index>(offsets.size() - 1); }
  Index degree(Index i) const { return static_cast<Index>(offsets[i + 1] - offsets[i]); }
  std::span<Index const> of(Index i) const {
    return {neighbours.data() + offsets[i], static_cast<std::size_t>(degree(i))};
  }
};

/// Throws ShapeError unless A is square: rows and columns are renumbered alike.
void require_square(Pattern const& a);

/// The graph of A + A^T without its diagonal: what a symmetric renumbering sees. Throws ShapeError
/// unless A is square. Cost: a transpose and a merge of the pattern, 8 bytes an entry meanwhile.
Graph adjacency(Pattern const& a);

}  // namespace tcsolve
