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
  TentativePattern made;
  made.block = block, made.vectors = vectors, made.aggregates = aggregates.count;
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
  std::int64_t const n = std::int64_t{rows} + 1;
  auto* const length = on.template take<Offset>(n);
  auto* const offsets = on.template take<Offset>(n);
  on.each(n, LengthOfTentative{of, rows, block, vectors, length});
  on.scan(length, offsets, n, Plus{});
  made.pattern = sparse::with_offsets(on, rows, aggregates.count * vectors, offsets,
                                      Offset{inside} * block * vectors);
  on.each(rows,
          FillTentative{of, block, vectors, made.pattern.offsets(), made.pattern.columns.data()});
  return made;
}

/// The sum of what the lanes of a warp hold, those far apart first.
template <class Warp>
TCSOLVE_HD double sum_of_lanes(Warp const&, typename Warp::template Of<double> const& v) {
#if defined(__CUDA_ARCH__)
  double sum = v[0];  // this lane's
  for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, apart);
  return sum;
#else
  double sum[32];
  for (int lane = 0; lane < 32; ++lane) sum[lane] = v[lane];
  for (int apart = 16; apart > 0; apart /= 2)
    for (int lane = 0; lane < apart; ++lane) sum[lane] += sum[lane + apart];
  return sum[0];
#endif
}

/// Q and R of the rows of one aggregate, each row a lane's (Gram and Schmidt, twice).
struct FactorAggregate {
  Index const *nodes, *begin;
  Index block, k;
  OffsetsView offsets;  // of T
  double const* B;
  double* q;
  double* coarse;
  /// f(place of the row in q, the row) for a lane's rows of aggregate a.
  template <class F>
  TCSOLVE_HD void each_row(std::int64_t a, int lane, F const& f) const {
    Index const first = begin[a], rows = (begin[a + 1] - first) * block;
    for (Index at = lane; at < rows; at += 32) {
      std::int64_t const row = std::int64_t{nodes[first + at / block]} * block + at % block;
      f(q + offsets[row], row);
    }
  }
  /// <v_p, v_c>
  template <class Warp>
  TCSOLVE_HD double dot(Warp const& warp, std::int64_t a, Index p, Index c) const {
    typename Warp::template Of<double> sum;
    warp.each([&](int lane) {
      sum[lane] = 0;
      each_row(a, lane, [&](double const* v, std::int64_t) { sum[lane] += v[p] * v[c]; });
    });
    return sum_of_lanes(warp, sum);
  }
  template <class Warp>
  TCSOLVE_HD void operator()(Warp const& warp, std::int64_t a) const {
    double* const R = coarse + a * k * k;
    auto const add = [&](Index e, double value) {
      warp.each([&](int lane) {
        if (lane == 0) R[e] += value;
      });
    };
    warp.each([&](int lane) {
      for (Index e = 0; lane == 0 && e < k * k; ++e) R[e] = 0;
      each_row(a, lane, [&](double* v, std::int64_t row) {
        for (Index c = 0; c < k; ++c) v[c] = B[row * k + c];
      });
    });
    for (Index c = 0; c < k; ++c) {
      double const before = std::sqrt(dot(warp, a, c, c));
      for (int again = 0; again < 2; ++again)
        for (Index p = 0; p < c; ++p) {
          double const along = dot(warp, a, p, c);
          warp.each([&](int lane) {
            each_row(a, lane, [&](double* v, std::int64_t) { v[c] -= along * v[p]; });
          });
          add(p * k + c, along);
        }
      double const rest = std::sqrt(dot(warp, a, c, c));
      bool const taken = rest > dependent_column * before;
      add(c * k + c, taken ? rest : 0.0);
      warp.each([&](int lane) {
        each_row(a, lane, [&](double* v, std::int64_t) { v[c] = taken ? v[c] / rest : 0.0; });
      });
    }
  }
};
template <class On>
void tentative_values(On& on, TentativePattern const& T, double const* B, double* values,
                      double* coarse) {
  on.each_warp(T.aggregates, FactorAggregate{T.nodes.data(), T.begin.data(), T.block, T.vectors,
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
  TCSOLVE_HD void operator()(std::int64_t i, Offset k) const {
    Offset const begin = tentative.offsets[i], n = tentative.offsets[i + 1] - begin;
    Index const j = product.columns[k];
    Offset const at = sparse::first_not_below(tentative.columns + begin, n, j);
    double const t =
        at < n && tentative.columns[begin + at] == j ? tentative.values[begin + at] : 0.0;
    p[k] = t - omega * d[i] * product.values[k];
  }
};
template <class On>
void smooth(On& on, CsrView<double> const& product, CsrView<double> const& tentative,
            double const* d, double omega, double* p) {
  sparse::each_entry(on, product, SmoothRow{product, tentative, d, omega, p});
}

}  // namespace tcsolve
