// SPDX-License-Identifier: Apache-2.0
/// T and P, written once for both backends (kernels/convert.hpp).
#pragma once

#include <cmath>
#include <limits>

#include <tcsolve/kernels/convert.hpp>
#include <tcsolve/precond/amg/prolongation.hpp>
#include <tcsolve/sparse/rows_build.hpp>

namespace tcsolve {

struct LengthOfTentative {
  Index const* of;
  Index rows, block, vectors;
  Offset* length;  // (rows + 1)
  TCSOLVE_HD void operator()(std::int64_t i) const {
    length[i] = i < rows && of[i / block] >= 0 ? vectors : 0;
  }
};
struct FillTentative {
  Index const* of;
  Index block, vectors;
  OffsetsView offsets;
  Index* columns;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    Index const own = of[i / block];
    if (own < 0) return;
    for (Index c = 0; c < vectors; ++c) columns[offsets[i] + c] = own * vectors + c;
  }
};
/// Nodes by aggregate, those in none last.
struct AggregateKey {
  Index const* of;
  Index count;
  std::uint32_t* key;
  Index* node;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    key[i] = static_cast<std::uint32_t>(of[i] < 0 ? count : of[i]);
    node[i] = static_cast<Index>(i);
  }
};
struct FirstOfAggregate {
  std::uint32_t const* key;
  Index nodes;
  Index* begin;
  TCSOLVE_HD void operator()(std::int64_t a) const {
    begin[a] = sparse::first_not_below(key, nodes, static_cast<std::uint32_t>(a));
  }
};

template <class On>
TentativePattern tentative_pattern(On& on, Aggregates const& aggregates, Index block,
                                   Index vectors) {
  auto const nodes = static_cast<Index>(aggregates.of.size());
  Index const rows = nodes * block;
  Index const* const of = aggregates.of.data();
  std::int64_t const n = std::int64_t{rows} + 1;
  auto* const length = on.template take<Offset>(n);
  auto* const offsets = on.template take<Offset>(n);
  on.each(n, LengthOfTentative{of, rows, block, vectors, length});
  on.scan(length, offsets, n, Plus{});
  TentativePattern made;
  made.block = block, made.vectors = vectors, made.aggregates = aggregates.count;
  made.pattern = sparse::with_offsets(on, rows, aggregates.count * vectors, offsets);
  on.each(rows,
          FillTentative{of, block, vectors, made.pattern.offsets(), made.pattern.columns.data()});
  auto* const key = on.template take<std::uint32_t>(nodes);
  auto* const node = on.template take<Index>(nodes);
  on.each(nodes, AggregateKey{of, aggregates.count, key, node});
  on.sort(key, node, nodes, static_cast<std::uint32_t>(aggregates.count) + 1);
  made.begin = Array<Index>(on.space(), static_cast<std::size_t>(aggregates.count) + 1);
  on.each(std::int64_t{aggregates.count} + 1, FirstOfAggregate{key, nodes, made.begin.data()});
  Index inside = 0;
  on.read(made.begin.data() + aggregates.count, &inside, 1);
  made.nodes = Array<Index>(on.space(), static_cast<std::size_t>(inside));
  on.each(inside, sparse::Copy<Index>{node, made.nodes.data()});
  return made;
}

/// Q and R of the rows of one aggregate.
struct FactorAggregate {
  Index const *nodes, *begin;
  Index block, k;
  OffsetsView offsets;  // of T
  double const* B;
  double* q;
  double* coarse;
  /// f(place of the row in q, the row) for the rows of aggregate a, in order.
  template <class F>
  TCSOLVE_HD void each_row(std::int64_t a, F const& f) const {
    for (Index at = begin[a]; at < begin[a + 1]; ++at)
      for (Index r = 0; r < block; ++r) {
        std::int64_t const row = std::int64_t{nodes[at]} * block + r;
        f(q + offsets[row], row);
      }
  }
  TCSOLVE_HD double length(std::int64_t a, Index c) const {
    double sum = 0;
    each_row(a, [&](double const* v, std::int64_t) { sum += v[c] * v[c]; });
    return std::sqrt(sum);
  }
  TCSOLVE_HD void operator()(std::int64_t a) const {
    double* const R = coarse + a * k * k;
    for (Index e = 0; e < k * k; ++e) R[e] = 0;
    each_row(a, [&](double* v, std::int64_t row) {
      for (Index c = 0; c < k; ++c) v[c] = B[row * k + c];
    });
    for (Index c = 0; c < k; ++c) {
      double const before = length(a, c);
      for (int again = 0; again < 2; ++again)
        for (Index p = 0; p < c; ++p) {
          double along = 0;
          each_row(a, [&](double const* v, std::int64_t) { along += v[p] * v[c]; });
          each_row(a, [&](double* v, std::int64_t) { v[c] -= along * v[p]; });
          R[p * k + c] += along;
        }
      double const rest = length(a, c);
      bool const taken = rest > dependent_column * before;
      R[c * k + c] = taken ? rest : 0.0;
      each_row(a, [&](double* v, std::int64_t) { v[c] = taken ? v[c] / rest : 0.0; });
    }
  }
};
template <class On>
void tentative_values(On& on, TentativePattern const& T, double const* B, double* values,
                      double* coarse) {
  on.each(T.aggregates, FactorAggregate{T.nodes.data(), T.begin.data(), T.block, T.vectors,
                                        T.pattern.offsets(), B, values, coarse});
}

struct PositiveDiagonal {
  CsrView<double> a, filtered;
  double *values, *d;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    Offset const own = sparse::find_diagonal(filtered, i), there = sparse::find_diagonal(a, i);
    d[i] = 0;
    if (own == filtered.offsets[i + 1] || there == a.offsets[i + 1]) return;
    if (!(values[own] > 0)) values[own] = a.values[there];
    d[i] = values[own] > 0 ? 1 / values[own] : 0.0;
  }
};
template <class On>
void positive_diagonal(On& on, CsrView<double> const& a, sparse::OwnedPattern const& filtered,
                       double* values, double* d) {
  on.each(a.rows, PositiveDiagonal{a, filtered.with<double>(values), values, d});
}

struct SmoothRow {
  CsrView<double> product, tentative;
  double const* d;
  double omega;
  double* p;
  TCSOLVE_HD void operator()(std::int64_t i) const {
    Offset at = tentative.offsets[i], end = tentative.offsets[i + 1];
    double const damp = omega * d[i];
    for (Offset k = product.offsets[i], stop = product.offsets[i + 1]; k < stop; ++k) {
      Index const j = product.columns[k];
      while (at < end && tentative.columns[at] < j) ++at;
      double const t = at < end && tentative.columns[at] == j ? tentative.values[at] : 0.0;
      p[k] = t - damp * product.values[k];
    }
  }
};
template <class On>
void smooth(On& on, CsrView<double> const& product, CsrView<double> const& tentative,
            double const* d, double omega, double* p) {
  on.each(product.rows, SmoothRow{product, tentative, d, omega, p});
}

}  // namespace tcsolve
