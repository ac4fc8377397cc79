// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/factors/make/block_factors.hpp>

#include <algorithm>

namespace tcsolve {
namespace {

/// Entries of row i of a strict triangle whose columns are in [first, end): where they begin.
double const* within(Csr<double> const& t, Index i, Index first) {
  auto const columns = t.row_columns(i);
  return t.row_values(i).data() + (std::ranges::lower_bound(columns, first) - columns.begin());
}

/// A strict triangle without the entries within the blocks; columns below `nodes[I]` of a lower
/// one, from nodes[I + 1] on of an upper one.
Csr<double> outside(Csr<double> const& t, std::vector<Index> const& nodes, bool lower) {
  Csr<double> out;
  out.rows = out.cols = t.rows;
  out.offsets.reserve(static_cast<std::size_t>(t.rows) + 1);
  for (std::size_t I = 0; I + 1 < nodes.size(); ++I)
    for (Index i = nodes[I]; i < nodes[I + 1]; ++i) {
      auto const columns = t.row_columns(i);
      auto const cut = std::ranges::lower_bound(columns, lower ? nodes[I] : nodes[I + 1]);
      auto const at = static_cast<Offset>(cut - columns.begin());
      out.offsets.push_back(out.offsets.back() +
                            (lower ? at : static_cast<Offset>(columns.size()) - at));
    }
  out.columns.resize(static_cast<std::size_t>(out.offsets.back()));
  out.values.resize(out.columns.size());
  for (Index i = 0; i < t.rows; ++i) {
    Offset const count = out.offsets[i + 1] - out.offsets[i];
    Offset const from = lower ? t.offsets[i] : t.offsets[i + 1] - count;
    std::copy_n(t.columns.begin() + from, count, out.columns.begin() + out.offsets[i]);
    std::copy_n(t.values.begin() + from, count, out.values.begin() + out.offsets[i]);
  }
  return out;
}

}  // namespace

TriangularFactors by_blocks(TriangularFactors const& factors, std::vector<Index> const& nodes) {
  Csr<double> const &L = factors.lower, &U = factors.upper;
  TriangularFactors result;
  result.lower = outside(L, nodes, true);
  result.upper = outside(U, nodes, false);
  result.inverse_pivots.assign(factors.inverse_pivots.size(), 1.0);
  // Rows of L T^-1: v T = l for the part l of a row in each block, the last unknown first.
  std::vector<Index> end_of(static_cast<std::size_t>(L.rows));  // of the block of each row
  for (std::size_t I = 0; I + 1 < nodes.size(); ++I)
    std::fill(end_of.begin() + nodes[I], end_of.begin() + nodes[I + 1], nodes[I + 1]);
  for (Index i = 0; i < L.rows; ++i)
    for (Offset begin = result.lower.offsets[i]; begin < result.lower.offsets[i + 1];) {
      Index const first = result.lower.columns[begin], b = end_of[first] - first;
      double* const v = result.lower.values.data() + begin;
      for (Index c = b - 1; c > 0; --c) {
        double const* const t = within(L, first + c, first);
        for (Index k = 0; k < c; ++k) v[k] -= v[c] * t[k];
      }
      begin += b;
    }
  Csr<double>& blocks = result.pivot_blocks;
  blocks.rows = blocks.cols = L.rows;
  std::size_t entries = 0;
  for (std::size_t I = 0; I + 1 < nodes.size(); ++I)
    entries += static_cast<std::size_t>(nodes[I + 1] - nodes[I]) * (nodes[I + 1] - nodes[I]);
  blocks.offsets.reserve(static_cast<std::size_t>(L.rows) + 1);
  blocks.columns.reserve(entries);
  blocks.values.reserve(entries);
  std::vector<double> inverse;
  for (std::size_t I = 0; I + 1 < nodes.size(); ++I) {
    Index const first = nodes[I], b = nodes[I + 1] - first;
    // V^-1 U, and V^-1 D^-1 T^-1 column by column: the last row is what it is.
    inverse.assign(static_cast<std::size_t>(b) * b, 0.0);
    for (Index r = 0; r < b; ++r) {  // T^-1
      inverse[r * b + r] = 1;
      double const* const t = within(L, first + r, first);
      for (Index k = 0; k < r; ++k)
        for (Index c = 0; c <= k; ++c) inverse[r * b + c] -= t[k] * inverse[k * b + c];
    }
    for (Index r = b; r-- > 0;) {
      double const* const v = within(U, first + r, first + r + 1);
      Offset const row = result.upper.offsets[first + r];
      Offset const length = result.upper.offsets[first + r + 1] - row;
      for (Index c = 0; c < b; ++c) inverse[r * b + c] *= factors.inverse_pivots[first + r];
      for (Index k = r + 1; k < b; ++k) {
        double const factor = v[k - r - 1];
        for (Index c = 0; c < b; ++c) inverse[r * b + c] -= factor * inverse[k * b + c];
        double const* const below = result.upper.values.data() + result.upper.offsets[first + k];
        for (Offset e = 0; e < length; ++e) result.upper.values[row + e] -= factor * below[e];
      }
    }
    for (Index r = 0; r < b; ++r) {
      for (Index c = 0; c < b; ++c) {
        blocks.columns.push_back(first + c);
        blocks.values.push_back(inverse[r * b + c]);
      }
      blocks.offsets.push_back(blocks.entries());
    }
  }
  return result;
}

}  // namespace tcsolve
