// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/factors/complete.hpp>

#include <Eigen/SparseCholesky>
#include <Eigen/SparseCore>
#include <Eigen/SparseLU>

#include <algorithm>
#include <cmath>
#include <utility>

#include <tcsolve/core/left_behind.hpp>
#include <tcsolve/graph/reorder/minimum_degree.hpp>

namespace tcsolve {
namespace {

using Columns = Eigen::SparseMatrix<double, Eigen::ColMajor, Index>;
using Rows = Eigen::SparseMatrix<double, Eigen::RowMajor, Index>;

Rows eigen_rows(Csr<double> const& B) {
  std::vector<Index> const offsets(B.offsets.begin(), B.offsets.end());
  return Eigen::Map<Rows const>(B.rows, B.cols, narrow(B.entries(), "entries"), offsets.data(),
                                B.columns.data(), B.values.data());
}

/// A matrix that is given column by column, as its transpose by rows.
struct ByColumns {
  Csr<double> transposed;
  explicit ByColumns(Index n) { transposed.rows = transposed.cols = n; }
  void add(Index row, double value) {
    if (value == 0) return;
    transposed.columns.push_back(row);
    transposed.values.push_back(value);
  }
  void end() { transposed.offsets.push_back(transposed.entries()); }
  /// Canonical.
  Csr<double> matrix() const { return transpose(transposed.view()); }
};

/// Throws what Eigen's message means; P: of the columns, by their old numbers.
template <class P>
[[noreturn]] void throw_singular(std::string const& message, P const& columns) {
  std::size_t const digits = message.find_last_not_of("0123456789") + 1;
  if (digits >= message.size()) throw MemoryError("out of memory for complete factors");
  Index const place = static_cast<Index>(std::stol(message.substr(digits))) - 1;
  for (Index j = 0; j < static_cast<Index>(columns.indices().size()); ++j)
    if (columns.indices()(j) == place) throw SingularColumn(j);
  throw MatrixError("the matrix is singular: a pivot is zero");
}

/// U becomes D^-1 U.
void divide_rows(Csr<double>& U, std::vector<double> const& inverse) {
  for (Index i = 0; i < U.rows; ++i)
    for (Offset k = U.offsets[i]; k < U.offsets[i + 1]; ++k) U.values[k] *= inverse[i];
}

void require_pivots(std::vector<double> const& inverse) {
  for (double const d : inverse)
    if (!std::isfinite(d) || d == 0)
      throw MatrixError("the matrix is singular: a pivot is zero or not finite");
}

using EigenOrder = Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, Index>;

/// What Eigen calls for an order, which it makes by itself: it answers with the one that is given
/// to this thread.
struct GivenOrder {
  using PermutationType = EigenOrder;
  static thread_local std::vector<Index> const* given;
  template <class Matrix>
  void operator()(Matrix const&, PermutationType& order) const {
    order.resize(static_cast<Index>(given->size()));
    std::copy(given->begin(), given->end(), order.indices().data());
  }
};
thread_local std::vector<Index> const* GivenOrder::given = nullptr;

CompleteFactors lu_of(Columns const& B, std::vector<Index> const& order) {
  Index const n = static_cast<Index>(B.rows());
  CompleteFactors result;
  Eigen::SparseLU<Columns, GivenOrder> lu;
  GivenOrder::given = &order;
  lu.compute(B);
  if (lu.info() != Eigen::Success) throw_singular(lu.lastErrorMessage(), lu.colsPermutation());
  auto const lower_type = lu.matrixL();
  auto const upper_type = lu.matrixU();
  auto const& L = lower_type.m_mapL;
  ByColumns lower(n), upper(n);
  std::vector<double>& inverse = result.factors.inverse_pivots;
  inverse.assign(n, 0.0);
  for (Index s = 0; s <= L.nsuper(); ++s) {
    Index const first = L.supToCol()[s], end = L.supToCol()[s + 1];
    Index const rows = L.rowIndexPtr()[first];
    Index const count = L.rowIndexPtr()[first + 1] - rows;
    for (Index j = first; j < end; ++j) {
      for (typename std::decay_t<decltype(upper_type.m_mapU)>::InnerIterator it(upper_type.m_mapU,
                                                                                j);
           it; ++it)
        upper.add(static_cast<Index>(it.index()), it.value());
      double const* const column = L.valuePtr() + L.colIndexPtr()[j];
      for (Index r = 0; r < count; ++r) {
        Index const i = L.rowIndex()[rows + r];
        if (i < j)
          upper.add(i, column[r]);
        else if (i == j)
          inverse[j] = 1 / column[r];
        else
          lower.add(i, column[r]);
      }
      lower.end();
      upper.end();
    }
  }
  require_pivots(inverse);
  result.factors.lower = lower.matrix();
  result.factors.upper = upper.matrix();
  divide_rows(result.factors.upper, inverse);
  // (P B)_{P(i)} = B_i: row P(i) of the factors is row i of B.
  result.row.resize(n);
  result.column.resize(n);
  for (Index i = 0; i < n; ++i) {
    result.row[lu.rowsPermutation().indices()(i)] = i;
    result.column[lu.colsPermutation().indices()(i)] = i;
  }
  return result;
}

std::vector<Index> copy_of(std::span<Index const> numbers) {
  return {numbers.begin(), numbers.end()};
}

CompleteFactors cholesky_of(Columns const& B, std::vector<Index> const& order) {
  Index const n = static_cast<Index>(B.rows());
  CompleteFactors result;
  Eigen::SimplicialLDLT<Columns, Eigen::Lower, GivenOrder> ldlt;
  GivenOrder::given = &order;
  ldlt.compute(B);
  if (ldlt.info() != Eigen::Success) throw MatrixError("the matrix is singular: a pivot is zero");
  Columns const& L = ldlt.matrixL().nestedExpression();
  ByColumns lower(n);
  for (Index j = 0; j < n; ++j) {
    for (Columns::InnerIterator it(L, j); it; ++it)
      if (it.index() > j) lower.add(static_cast<Index>(it.index()), it.value());
    lower.end();
  }
  result.factors.upper = canonical(lower.transposed.view(), Duplicates::refuse, NonFinite::keep);
  result.factors.lower = lower.matrix();
  auto const D = ldlt.vectorD();
  for (Index i = 0; i < n; ++i) result.factors.inverse_pivots.push_back(1 / D(i));
  require_pivots(result.factors.inverse_pivots);
  result.row.resize(n);
  for (Index i = 0; i < n; ++i) result.row[ldlt.permutationP().indices()(i)] = i;
  result.column = result.row;
  return result;
}

}  // namespace

Permutation complete_order(Csr<double> const& B, bool symmetric, CancelFlag cancel) {
  if (symmetric) return minimum_degree(adjacency(Pattern(B)), cancel);
  return Permutation(
      leaving_behind(for_entries(cancel, B.entries()), [own = Columns(eigen_rows(B))] {
        EigenOrder order;
        Eigen::COLAMDOrdering<Index>()(own, order);
        std::vector<Index> old(static_cast<std::size_t>(own.rows()));
        for (Index i = 0; i < static_cast<Index>(old.size()); ++i) old[order.indices()(i)] = i;
        return old;
      }));
}

CompleteFactors complete_lu(Csr<double> const& B, Permutation const& order, CancelFlag cancel) {
  return leaving_behind(for_entries(cancel, B.entries()),
                        [own = Columns(eigen_rows(B)), numbers = copy_of(order.new_numbers())] {
                          return lu_of(own, numbers);
                        });
}

CompleteFactors complete_lu(Csr<double> const& B) {
  return complete_lu(B, complete_order(B, false));
}

CompleteFactors complete_cholesky(Csr<double> const& B, Permutation const& order,
                                  CancelFlag cancel) {
  return leaving_behind(for_entries(cancel, B.entries()),
                        [own = Columns(eigen_rows(B)), numbers = copy_of(order.old_numbers())] {
                          return cholesky_of(own, numbers);
                        });
}

CompleteFactors complete_cholesky(Csr<double> const& B) {
  return complete_cholesky(B, complete_order(B, true));
}

}  // namespace tcsolve
