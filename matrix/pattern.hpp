// SPDX-License-Identifier: Apache-2.0
/// Where a matrix has entries, without their values, and the undirected graph of a square one.
#pragma once

#include <span>
#include <vector>

#include <tcsolve/matrix/transfer.hpp>

namespace tcsolve {

/// The positions of a canonical CSR matrix in host memory, borrowed.
struct Pattern : PatternView {
  /// Throws ShapeError for a matrix that does not lie on the host.
  template <class T>
  Pattern(CsrView<T> const& a) : PatternView(a) {
    if (a.space != Space::host) throw ShapeError("pattern: the matrix must lie on the host");
  }
  template <class T>
  Pattern(Csr<T> const& a) : Pattern(a.view()) {}
  std::span<Index const> row(Index i) const {
    return {columns + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i])};
  }
};

/// f(Pattern) of a matrix in the Context's space or on the host, where its pattern is copied to.
template <class S, class F>
auto with_pattern(Context& ctx, CsrView<S> const& a, F const& f) {
  if (a.space == Space::host) return f(Pattern(a));
  std::vector<Offset> const offsets = offsets_to_host(ctx, a);
  std::vector<Index> const columns = to_host(ctx, a.columns, a.space, a.entries);
  return f(Pattern(
      CsrView<S>{a.rows, a.cols, a.entries, offsets.data(), columns.data(), nullptr, Space::host}));
}

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
/// Throws ShapeError unless A is square and in the Context's space.
template <class S>
void require_square(Context const& ctx, CsrView<S> const& a) {
  if (a.rows != a.cols || a.space != ctx.space())
    throw ShapeError(cat("reordering: the matrix is ", a.rows, " x ", a.cols, " on the ",
                         name(a.space), "; needed is a square one on the ", name(ctx.space())));
}

/// The graph of A + A^T without its diagonal: what a symmetric renumbering sees. Throws ShapeError
/// unless A is square. Cost: a transpose and a merge of the pattern, 8 bytes an entry meanwhile.
Graph adjacency(Pattern const& a);

}  // namespace tcsolve
