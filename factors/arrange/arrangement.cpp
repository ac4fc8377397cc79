// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/factors/arrange/arrangement.hpp>

#include <Eigen/LU>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <tcsolve/factors/power_scale.hpp>
#include <tcsolve/graph/match/matching.hpp>
#include <tcsolve/graph/reorder/colouring.hpp>
#include <tcsolve/graph/reorder/cuthill_mckee.hpp>
#include <tcsolve/graph/reorder/graph_partition.hpp>
#include <tcsolve/graph/reorder/minimum_degree.hpp>

namespace tcsolve {
namespace {

bool has_small_diagonal(CsrView<double> const& a) {
  for (Index i = 0; i < a.rows; ++i) {
    double diagonal = 0, largest = 0;
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
      double const size = std::abs(a.values[k]);
      largest = std::max(largest, size);
      if (a.columns[k] == i) diagonal = size;
    }
    if (!(diagonal >= small_pivot * largest) || diagonal == 0) return true;
  }
  return false;
}

/// Entries between two tests of a CancelFlag: some milliseconds.
constexpr std::int64_t between_looks = std::int64_t{1} << 19;

/// Of an entry of B.
double value(CsrView<double> const& a, Offset source) { return source < 0 ? 0 : a.values[source]; }

Permutation order_of(FactorOrder order, Csr<double> const& b, CancelFlag cancel) {
  if (order == FactorOrder::none) return Permutation::identity(b.rows);
  Pattern const pattern(b);
  if (order == FactorOrder::rcm) return reverse_cuthill_mckee(pattern, cancel);
  Graph const graph = adjacency(pattern);
  cancel.check();
  if (order == FactorOrder::metis) return Permutation(nested_dissection(graph, cancel));
  if (order == FactorOrder::colours) return colouring(graph).order;
  return minimum_degree(graph, cancel);
}

/// The matrix with value[i] in row i and column[i].
Csr<double> one_a_row(std::vector<Index> const& column, std::vector<double> const& value) {
  Csr<double> m;
  m.rows = m.cols = static_cast<Index>(column.size());
  m.columns = column;
  m.values = value;
  for (Index i = 1; i <= m.rows; ++i) m.offsets.push_back(i);
  return m;
}

/// The node of each row.
std::vector<Index> numbers_of(std::vector<Index> const& nodes) {
  std::vector<Index> node;
  node.reserve(static_cast<std::size_t>(nodes.back()));
  for (std::size_t I = 0; I + 1 < nodes.size(); ++I)
    node.insert(node.end(), static_cast<std::size_t>(nodes[I + 1] - nodes[I]),
                static_cast<Index>(I));
  return node;
}

/// The nodes, ascending, in which rows row[first .. end) of A have an entry, and the rows' own.
std::vector<Index> nodes_in(CsrView<double> const& a, std::vector<Index> const& row, Index first,
                            Index end, std::vector<Index> const& node_of_column) {
  std::vector<Index> nodes;
  for (Index i = first; i < end; ++i) {
    nodes.push_back(node_of_column[row[i]]);
    for (Offset k = a.offsets[row[i]]; k < a.offsets[row[i] + 1]; ++k)
      nodes.push_back(node_of_column[a.columns[k]]);
  }
  std::ranges::sort(nodes);
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

}  // namespace

Csr<double> TwoSided::entering() const { return one_a_row(row, row_scale); }
Csr<double> TwoSided::leaving() const { return transpose(one_a_row(column, column_scale).view()); }

Arrangement::Arrangement(CsrView<double> const& a, ArrangementParams const& params, bool symmetric,
                         CancelFlag cancel, std::vector<Index> nodes)
    : scaling_(params.scaling),
      symmetric_(symmetric),
      order_(params.order),
      nodes_(std::move(nodes)) {
  if (a.rows != a.cols)
    throw ShapeError(cat("a factorisation needs a square matrix, this is ", a.rows, " x ", a.cols,
                         "; take solver lsmr"));
  if (params.order == FactorOrder::metis) require_metis();
  rank_ = a.rows;
  matched_ = !symmetric && nodes_.empty() &&
             (params.matching == UseMatching::on ||
              (params.matching == UseMatching::automatic && has_small_diagonal(a)));
  sides_.row.resize(static_cast<std::size_t>(a.rows));
  std::iota(sides_.row.begin(), sides_.row.end(), Index{0});
  sides_.column = sides_.row;
  if (matched_) {
    Matching matching = maximum_product_matching(a, cancel);
    for (Index j = 0; j < a.cols; ++j) moved_ += matching.row_of[j] != j;
    rank_ = matching.rank;
    sides_.row = std::move(matching.row_of);
    sides_.row_scale = std::move(matching.rows);
    sides_.column_scale = std::move(matching.columns);
    for (double& r : sides_.row_scale) r = inverse_power(1 / r);
    for (double& c : sides_.column_scale) c = inverse_power(1 / c);
  }
  cancel.check();
  if (order_ != FactorOrder::none) nodes_.empty() ? order(a, cancel) : order_nodes(a, cancel);
  if (matched_) {  // the factors by B's numbers
    std::vector<double> r(a.rows), c(a.rows);
    for (Index i = 0; i < a.rows; ++i) {
      r[i] = sides_.row_scale[sides_.row[i]];
      c[i] = sides_.column_scale[sides_.column[i]];
    }
    sides_.row_scale = std::move(r);
    sides_.column_scale = std::move(c);
  }
  cancel.check();
  if (nodes_.empty()) {
    fill(a, cancel);
  } else {
    if (!symmetric_) place_pivots(a);
    fill_blocks(a);
  }
  cancel.check();
  update(a, cancel);
}

void Arrangement::order(CsrView<double> const& a, CancelFlag cancel) {
  fill(a, cancel);  // the graph of B in the present order
  Permutation const P = order_of(order_, matrix_, cancel);
  std::vector<Index> row(a.rows), column(a.rows);
  for (Index i = 0; i < a.rows; ++i) {
    row[i] = sides_.row[P.old_numbers()[i]];
    column[i] = sides_.column[P.old_numbers()[i]];
  }
  sides_.row = std::move(row);
  sides_.column = std::move(column);
}

/// By the graph of the nodes.
void Arrangement::order_nodes(CsrView<double> const& a, CancelFlag cancel) {
  std::vector<Index> const node = numbers_of(nodes_);
  Csr<double> quotient;
  quotient.rows = quotient.cols = static_cast<Index>(nodes_.size()) - 1;
  for (Index I = 0; I < quotient.rows; ++I) {
    auto const columns = nodes_in(a, sides_.row, nodes_[I], nodes_[I + 1], node);
    quotient.columns.insert(quotient.columns.end(), columns.begin(), columns.end());
    quotient.offsets.push_back(quotient.entries());
  }
  quotient.values.assign(quotient.columns.size(), 1.0);
  Permutation const P = order_of(order_, quotient, cancel);
  std::vector<Index> row, starts = {0};
  row.reserve(sides_.row.size());
  starts.reserve(nodes_.size());
  for (Index const I : P.old_numbers()) {
    for (Index i = nodes_[I]; i < nodes_[I + 1]; ++i) row.push_back(i);
    starts.push_back(static_cast<Index>(row.size()));
  }
  sides_.row = std::move(row);
  sides_.column = sides_.row;
  nodes_ = std::move(starts);
}

/// Rows of a node go where partial pivoting in its diagonal block takes them.
void Arrangement::place_pivots(CsrView<double> const& a) {
  std::vector<Index> new_column(static_cast<std::size_t>(a.rows));
  for (Index j = 0; j < a.rows; ++j) new_column[sides_.column[j]] = j;
  for (std::size_t I = 0; I + 1 < nodes_.size(); ++I) {
    Index const first = nodes_[I], b = nodes_[I + 1] - first;
    Eigen::MatrixXd block = Eigen::MatrixXd::Zero(b, b);
    for (Index r = 0; r < b; ++r) {
      Index const row = sides_.row[first + r];
      double largest = 0;
      for (Offset k = a.offsets[row]; k < a.offsets[row + 1]; ++k) {
        Index const c = new_column[a.columns[k]] - first;
        largest = std::max(largest, std::abs(a.values[k]));
        if (c >= 0 && c < b) block(r, c) = a.values[k];
      }
      block.row(r) *= inverse_power(largest);
    }
    auto const P = Eigen::PartialPivLU<Eigen::MatrixXd>(block).permutationP();
    std::vector<Index> const old(sides_.row.begin() + first, sides_.row.begin() + first + b);
    for (Index r = 0; r < b; ++r) sides_.row[first + P.indices()(r)] = old[r];
  }
}

/// The pattern of B made of whole blocks.
void Arrangement::fill_blocks(CsrView<double> const& a) {
  Index const n = a.rows;
  std::vector<Index> const node = numbers_of(nodes_);
  std::vector<Index> new_column(n), node_of_column(n);
  for (Index j = 0; j < n; ++j) {
    new_column[sides_.column[j]] = j;
    node_of_column[sides_.column[j]] = node[j];
  }
  matrix_ = {};
  matrix_.rows = matrix_.cols = n;
  source_.clear();
  std::vector<Index> place(n, 0);  // of a column in the rows of the node at hand
  for (std::size_t I = 0; I + 1 < nodes_.size(); ++I) {
    std::vector<Index> columns;
    for (Index const J : nodes_in(a, sides_.row, nodes_[I], nodes_[I + 1], node_of_column))
      for (Index j = nodes_[J]; j < nodes_[J + 1]; ++j) {
        place[j] = static_cast<Index>(columns.size());
        columns.push_back(j);
      }
    for (Index i = nodes_[I]; i < nodes_[I + 1]; ++i) {
      std::size_t const begin = source_.size();
      matrix_.columns.insert(matrix_.columns.end(), columns.begin(), columns.end());
      matrix_.offsets.push_back(matrix_.entries());
      source_.resize(begin + columns.size(), -1);
      Index const row = sides_.row[i];
      for (Offset k = a.offsets[row]; k < a.offsets[row + 1]; ++k)
        source_[begin + place[new_column[a.columns[k]]]] = k;
    }
  }
  matrix_.columns.shrink_to_fit();
  matrix_.offsets.shrink_to_fit();
  source_.shrink_to_fit();
  matrix_.values.resize(matrix_.columns.size());
}

/// The pattern of B in the present permutations, and where its entries come from. Entries go into
/// the columns of B row by row, and from there into the rows column by column: both ascend. Where
/// nothing has moved, B has the pattern of A.
void Arrangement::fill(CsrView<double> const& a, CancelFlag cancel) {
  Index const n = a.rows;
  auto const stays = [](std::vector<Index> const& numbers) {
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (numbers[i] != static_cast<Index>(i)) return false;
    return true;
  };
  if (stays(sides_.row) && stays(sides_.column)) {
    matrix_.rows = matrix_.cols = n;
    matrix_.offsets.resize(static_cast<std::size_t>(n) + 1);
    for (Index i = 0; i <= n; ++i) matrix_.offsets[i] = a.offsets[i];
    matrix_.columns.assign(a.columns, a.columns + a.entries);
    matrix_.values.resize(static_cast<std::size_t>(a.entries));
    source_.resize(static_cast<std::size_t>(a.entries));
    std::iota(source_.begin(), source_.end(), Offset{0});
    return;
  }
  CancelEvery at_times(cancel, between_looks);
  struct Placed {
    Index row;
    Offset source;
  };
  std::vector<Index> new_column(n);
  std::vector<Offset> next(static_cast<std::size_t>(n) + 1, 0);
  for (Index j = 0; j < n; ++j) new_column[sides_.column[j]] = j;
  for (Index i = 0; i < n; ++i) {
    at_times.add(a.offsets[i + 1] - a.offsets[i]);
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) ++next[new_column[a.columns[k]] + 1];
  }
  for (Index j = 0; j < n; ++j) next[j + 1] += next[j];
  std::vector<Placed> by_columns(static_cast<std::size_t>(a.entries));
  matrix_.rows = matrix_.cols = n;
  matrix_.offsets.resize(static_cast<std::size_t>(n) + 1);
  matrix_.offsets[0] = 0;
  for (Index i = 0; i < n; ++i) {
    Offset const begin = a.offsets[sides_.row[i]], end = a.offsets[sides_.row[i] + 1];
    at_times.add(end - begin);
    for (Offset k = begin; k < end; ++k) by_columns[next[new_column[a.columns[k]]]++] = {i, k};
    matrix_.offsets[i + 1] = matrix_.offsets[i] + (end - begin);
  }
  matrix_.columns.resize(static_cast<std::size_t>(a.entries));
  matrix_.values.resize(static_cast<std::size_t>(a.entries));
  source_.resize(static_cast<std::size_t>(a.entries));
  std::vector<Offset> at(matrix_.offsets.begin(), matrix_.offsets.end() - 1);
  Offset k = 0;
  for (Index j = 0; j < n; ++j) {
    at_times.add(next[j] - k);
    for (Offset const end = next[j]; k < end; ++k) {
      Offset const to = at[by_columns[k].row]++;
      matrix_.columns[to] = j;
      source_[to] = by_columns[k].source;
    }
  }
}

void Arrangement::update(CsrView<double> const& a, CancelFlag cancel) {
  if (!matched_) scale(a, cancel);
  CancelEvery at_times(cancel, between_looks);
  for (Index i = 0; i < a.rows; ++i) {
    at_times.add(matrix_.offsets[i + 1] - matrix_.offsets[i]);
    for (Offset k = matrix_.offsets[i]; k < matrix_.offsets[i + 1]; ++k)
      matrix_.values[k] =
          sides_.row_scale[i] * value(a, source_[k]) * sides_.column_scale[matrix_.columns[k]];
  }
}

void Arrangement::scale(CsrView<double> const& a, CancelFlag cancel) {
  Index const n = a.rows;
  CancelEvery at_times(cancel, between_looks);
  sides_.row_scale.assign(n, 1.0);
  sides_.column_scale.assign(n, 1.0);
  if (scaling_ == FactorScaling::none) return;
  if (symmetric_ || scaling_ == FactorScaling::diagonal) {
    for (Index i = 0; i < n; ++i) {
      at_times.add(matrix_.offsets[i + 1] - matrix_.offsets[i]);
      for (Offset k = matrix_.offsets[i]; k < matrix_.offsets[i + 1]; ++k)
        if (matrix_.columns[k] == i) {
          double const size = std::abs(value(a, source_[k]));
          sides_.row_scale[i] = sides_.column_scale[i] = inverse_power(std::sqrt(size));
        }
    }
    return;
  }
  std::vector<double> largest(n, 0.0);
  for (Index i = 0; i < n; ++i) {
    double row = 0;
    at_times.add(matrix_.offsets[i + 1] - matrix_.offsets[i]);
    for (Offset k = matrix_.offsets[i]; k < matrix_.offsets[i + 1]; ++k)
      row = std::max(row, std::abs(value(a, source_[k])));
    sides_.row_scale[i] = inverse_power(row);
    for (Offset k = matrix_.offsets[i]; k < matrix_.offsets[i + 1]; ++k) {
      double& column = largest[matrix_.columns[k]];
      column = std::max(column, sides_.row_scale[i] * std::abs(value(a, source_[k])));
    }
  }
  for (Index j = 0; j < n; ++j) sides_.column_scale[j] = inverse_power(largest[j]);
}

std::string Arrangement::text() const {
  std::string text;
  if (matched_) {
    text = cat("matching moves ", moved_, " of ", sides_.row.size(), " rows");
    if (rank_ < static_cast<Index>(sides_.row.size())) text += cat(", structural rank ", rank_);
  }
  for (auto const& [order, name] : names(FactorOrder{}))
    if (order == order_ && order != FactorOrder::none)
      text += cat(text.empty() ? "" : "; ", "order ", name);
  return text;
}

}  // namespace tcsolve
