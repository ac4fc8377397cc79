// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/graph/reorder/affinity.hpp>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

namespace tcsolve {
namespace {

constexpr Index window = 8, crowd = 256;

/// Numbers by vertex that are mostly zero.
template <class T>
struct Sparse {
  std::vector<T> value;
  std::vector<Index> touched;
  explicit Sparse(Index n) : value(static_cast<std::size_t>(n)) {}
  void add(Index v, T more) {
    if (value[v] == T(0)) touched.push_back(v);
    value[v] += more;
  }
  void clear() {
    for (Index const v : touched) value[v] = T(0);
    touched.clear();
  }
};

/// Who joined whom.
class Dendrogram {
 public:
  explicit Dendrogram(Graph const& graph)
      : graph_(graph),
        community_(static_cast<std::size_t>(graph.vertices())),
        edges_(community_.size()),
        members_(community_.size()),
        degree_(community_.size()),
        weight_(graph.vertices()) {
    Index const n = graph.vertices();
    std::iota(community_.begin(), community_.end(), Index{0});
    std::vector<Index> order(community_);
    for (Index v = 0; v < n; ++v) degree_[v] = double(graph.degree(v));
    std::ranges::stable_sort(order, {}, [&](Index v) { return graph.degree(v); });
    for (Index const v : order) join(v);
  }
  /// The vertices, those of a community after the one that they joined.
  std::vector<Index> walk() const {
    std::vector<Index> order, open;
    for (Index root = 0; root < graph_.vertices(); ++root) {
      if (community_[root] != root) continue;
      open.push_back(root);
      while (!open.empty()) {
        Index const v = open.back();
        open.pop_back();
        order.push_back(v);
        open.insert(open.end(), members_[v].begin(), members_[v].end());
      }
    }
    return order;
  }

 private:
  using Edge = std::pair<Index, Index>;  ///< to a vertex of a community; how many

  Index community(Index v) {
    while (community_[v] != v) v = community_[v] = community_[community_[v]];
    return v;
  }
  /// Vertex v, with all that joined it, joins the neighbour u with the largest
  /// dQ / 2 = w_uv / 2m - d_u d_v / (2m)^2, if that is positive.
  void join(Index v) {
    auto const gather = [&](Index to, Index count) {
      Index const u = community(to);
      if (u != v) weight_.add(u, count);
    };
    for (Index const to : graph_.of(v)) gather(to, 1);
    for (Index const member : members_[v]) {
      for (auto const& [to, count] : edges_[member]) gather(to, count);
      edges_[member] = {};
    }
    double const twice_edges = double(graph_.neighbours.size());
    Index best = -1;
    double most = 0;
    edges_[v].reserve(weight_.touched.size());
    for (Index const u : weight_.touched) {
      edges_[v].emplace_back(u, weight_.value[u]);
      double const gain = double(weight_.value[u]) - degree_[u] * degree_[v] / twice_edges;
      if (gain > most) most = gain, best = u;
    }
    weight_.clear();
    if (best < 0) return;
    community_[v] = best;
    members_[best].push_back(v);
    degree_[best] += degree_[v];
  }

  Graph const& graph_;
  std::vector<Index> community_;             // of a vertex, or one on the way to it
  std::vector<std::vector<Edge>> edges_;     // of a community to others when it was looked at
  std::vector<std::vector<Index>> members_;  // that joined a vertex itself
  std::vector<double> degree_;               // of a community
  Sparse<Index> weight_;
};

/// Windows of rows that have the most columns in common.
class Windows {
 public:
  Windows(Graph const& graph, std::vector<Index> const& walk)
      : graph_(graph),
        walk_(walk),
        place_(walk.size()),
        taken_(walk.size()),
        held_(graph.vertices()),
        common_(graph.vertices()) {
    for (std::size_t at = 0; at < walk.size(); ++at) place_[walk[at]] = static_cast<Index>(at);
  }
  std::vector<Index> order() {
    std::vector<Index> order;
    order.reserve(walk_.size());
    for (std::size_t at = 0; order.size() < walk_.size();) {
      Index v = next();  // goes with the window before
      held_.clear();
      common_.clear();
      while (v < 0 && taken_[walk_[at]] != 0) ++at;
      if (v < 0) v = walk_[at];
      for (Index rows = 0; v >= 0; v = ++rows < window ? next() : -1) {
        order.push_back(v);
        take(v);
      }
    }
    return order;
  }

 private:
  /// Row v is in the window, its columns are.
  void take(Index v) {
    taken_[v] = 1;
    hold(v);
    for (Index const column : graph_.of(v)) hold(column);
  }
  /// Every row with this column has one in common.
  void hold(Index column) {
    if (held_.value[column] != 0) return;
    held_.add(column, 1);
    if (graph_.degree(column) > crowd) return;
    if (taken_[column] == 0) common_.add(column, 1);
    for (Index const row : graph_.of(column))
      if (taken_[row] == 0) common_.add(row, 1);
  }
  /// The row with the most columns in common, of several the shortest, of these the first of the
  /// walk; -1: none has any.
  Index next() const {
    Index best = -1;
    for (Index const v : common_.touched)
      if (taken_[v] == 0 && (best < 0 || rank(v) < rank(best))) best = v;
    return best;
  }
  std::tuple<Index, Index, Index> rank(Index v) const {
    return {-common_.value[v], graph_.degree(v), place_[v]};
  }

  Graph const& graph_;
  std::vector<Index> const& walk_;
  std::vector<Index> place_;  // of a vertex in the walk
  std::vector<char> taken_;
  Sparse<Index> held_, common_;
};

}  // namespace

Permutation affinity_order(Graph const& graph) {
  std::vector<Index> const walk = Dendrogram(graph).walk();
  return Permutation(Windows(graph, walk).order());
}

Permutation affinity_order(Pattern const& a) { return affinity_order(adjacency(a)); }

Offset condensed_blocks(Pattern const& a) {
  std::vector<Index> last(static_cast<std::size_t>(a.cols), -1);
  Offset blocks = 0;
  for (Index first = 0; first < a.rows; first += window) {
    Offset columns = 0;
    for (Index i = first; i < std::min(a.rows, first + window); ++i)
      for (Index const j : a.row(i))
        if (last[j] != first) last[j] = first, ++columns;
    blocks += (columns + 7) / 8;
  }
  return blocks;
}

}  // namespace tcsolve
