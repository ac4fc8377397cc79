// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/fsai/fsai.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <tuple>
#include <utility>

#include <tcsolve/configs/schema/checked.hpp>
#include <tcsolve/factors/each_row.hpp>
#include <tcsolve/factors/make/reach.hpp>
#include <tcsolve/matrix/pattern.hpp>
#include <tcsolve/precond/fsai/dense.hpp>
#include <tcsolve/precond/fsai/rows.hpp>
#include <tcsolve/precond/ranked_inverse.hpp>

namespace tcsolve {

void gather(CsrView<double> const& a, std::span<Index const> P, std::vector<double>& block) {
  std::size_t const m = P.size();
  block.assign(m * m, 0.0);
  for (std::size_t r = 0; r < m; ++r) {
    Offset k = a.offsets[P[r]];
    Offset const end = a.offsets[P[r] + 1];
    for (std::size_t c = 0; c <= r && k < end;) {  // both ascend
      if (a.columns[k] < P[c])
        ++k;
      else if (a.columns[k] > P[c])
        ++c;
      else
        block[r * m + c++] = a.values[k++];
    }
  }
}

bool solve_for_last(std::vector<double>& block, std::vector<double>& y, CancelFlag cancel) {
  std::size_t const m = y.size();
  CancelEvery at_times(cancel, std::int64_t{1} << 22);
  for (std::size_t i = 0; i < m; ++i) {
    at_times.add(static_cast<std::int64_t>(i * i / 2));
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = block[i * m + j];
      for (std::size_t k = 0; k < j; ++k) sum -= block[i * m + k] * block[j * m + k];
      if (i == j) {
        if (!(sum > 0) || !std::isfinite(sum)) return false;
        block[i * m + i] = std::sqrt(sum);
      } else {
        block[i * m + j] = sum / block[j * m + j];
      }
    }
  }
  // The forward solve of e_last leaves e_last / l_mm.
  std::fill(y.begin(), y.end(), 0.0);
  y[m - 1] = 1 / block[m * m - 1];
  for (std::size_t i = m; i-- > 0;) {
    double sum = y[i];
    for (std::size_t k = i + 1; k < m; ++k) sum -= block[k * m + i] * y[k];
    y[i] = sum / block[i * m + i];
  }
  return true;
}

namespace {

constexpr std::int64_t stretch = 64;  // rows that a thread takes at a time

std::vector<double> diagonal_of(CsrView<double> const& a) {
  std::vector<double> diagonal(a.rows, 0.0);
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      if (a.columns[k] == i) diagonal[i] = a.values[k];
  return diagonal;
}

/// Whether the pattern takes entry k of row i over.
bool keeps(CsrView<double> const& a, std::vector<double> const& diagonal, Index i, Offset k,
           double tolerance) {
  Index const j = a.columns[k];
  double const size = std::sqrt(std::abs(diagonal[i] * diagonal[j]));
  return i == j || tolerance == 0 || std::abs(a.values[k]) > tolerance * size;
}

[[noreturn]] void not_definite(Index i) {
  throw MatrixError(cat("the rows that row ", i + 1,
                        " is made of are not positive definite, nor then is the matrix"));
}

/// Whether paths of a power of A lead on from a row with these entries.
bool leads_on(std::vector<Index> const& row, Index most) {
  return row.size() <= static_cast<std::size_t>(most);
}

/// The row that grows: where the gradient of its Kaporin number lies, and the entries found there;
/// and its dense system.
struct Growth {
  std::vector<double> gradient;
  std::vector<Index> touched;
  std::vector<double> block, y;
};

/// Of the entries `row` of row i, the diagonal's not among them, those that stay where `most`
/// entries may: the strongest by |a_ij|^2 / a_jj, then, of what A does not have, those nearest to
/// the diagonal. `strength` (rows) is zero, and is so again.
void keep_strongest(CsrView<double> const& a, std::vector<double> const& diagonal, Index i,
                    Index most, std::vector<Index>& row, std::vector<double>& strength) {
  if (row.size() < static_cast<std::size_t>(most)) return;
  for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
    Index const j = a.columns[k];
    // In roots, since squares overflow.
    double const s = std::abs(a.values[k]) / std::sqrt(std::max(std::abs(diagonal[j]), 1e-300));
    strength[j] = std::isnan(s) ? 0 : s;
  }
  std::ranges::nth_element(row, row.begin() + (most - 1), [&](Index j, Index k) {
    return std::tuple(-strength[j], i - j) < std::tuple(-strength[k], i - k);
  });
  row.resize(static_cast<std::size_t>(most - 1));
  for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) strength[a.columns[k]] = 0;
}

}  // namespace

std::string FsaiParams::check() const {
  return steps > 0 && power > 1
             ? "'power' and 'steps' exclude each other: a pattern is given or grows"
             : "";
}

std::vector<std::vector<Index>> lower_pattern(CsrView<double> const& a, int power, double tolerance,
                                              Index most, CancelFlag cancel, SomeRows rows) {
  std::vector<double> const diagonal = diagonal_of(a);
  CancelEvery at_times(cancel, std::int64_t{1} << 20);
  std::vector<std::vector<Index>> kept(a.rows);  // of A
  for (Index i = 0; i < a.rows; ++i) {
    at_times.add(a.offsets[i + 1] - a.offsets[i]);
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      if (keeps(a, diagonal, i, k, tolerance)) kept[i].push_back(a.columns[k]);
  }
  std::vector<std::vector<Index>> pattern(kept.begin() + rows.first,
                                          kept.begin() + rows.end_of(a.rows));
  std::vector<std::int64_t> seen(a.rows, -1);
  for (std::int64_t p = 1; p < power; ++p)
    for (std::vector<Index>& row : pattern) {
      std::vector<Index> grown;
      std::int64_t const here = p * a.rows + (&row - pattern.data());
      auto const reach = [&](Index j) {
        if (std::exchange(seen[j], here) != here) grown.push_back(j);
      };
      for (Index const k : row) {
        reach(k);
        if (!leads_on(kept[k], most)) continue;
        at_times.add(static_cast<std::int64_t>(kept[k].size()));
        for (Index const j : kept[k]) reach(j);
      }
      row = std::move(grown);
    }
  std::vector<double> strength(a.rows, 0.0);
  for (std::vector<Index>& row : pattern) {
    auto const i = static_cast<Index>(rows.first + (&row - pattern.data()));
    at_times.add(static_cast<std::int64_t>(row.size()));
    std::erase_if(row, [&](Index j) { return j >= i; });
    keep_strongest(a, diagonal, i, most, row, strength);
    std::ranges::sort(row);
    row.push_back(i);
    row.shrink_to_fit();
  }
  return pattern;
}

namespace {

// psi(g) = g^T A g with g_i = 1; its gradient is 2 A g, and a step along column j alone takes
// (A g)_j^2 / a_jj off it.
std::vector<Index> grown_row(CsrView<double> const& a, std::vector<double> const& diagonal, Index i,
                             FsaiParams const& params, Growth& growth, CancelFlag cancel) {
  auto& [gradient, touched, block, y] = growth;
  std::vector<Index> P = {i};
  if (!(diagonal[i] > 0)) not_definite(i);
  std::vector<double> g = {1.0};
  double psi = diagonal[i];
  auto const most = static_cast<std::size_t>(params.most);
  for (int step = 0; step < params.steps && P.size() < most; ++step) {
    cancel.check();
    for (std::size_t r = 0; r < P.size(); ++r)
      for (Offset k = a.offsets[P[r]]; k < a.offsets[P[r] + 1] && a.columns[k] < i; ++k) {
        Index const j = a.columns[k];
        if (gradient[j] == 0) touched.push_back(j);
        gradient[j] += a.values[k] * g[r];
      }
    std::vector<std::pair<double, Index>> gains;
    for (Index const j : touched) {
      double const v = std::exchange(gradient[j], 0.0);
      double const gain = v * v / std::max(diagonal[j], 1e-300);
      if (gain > 0 && !std::ranges::binary_search(P, j)) gains.emplace_back(gain, j);  // no NaN
    }
    touched.clear();
    std::ranges::sort(gains, [](auto const& x, auto const& z) {
      return x.first != z.first ? x.first > z.first : x.second < z.second;
    });
    gains.erase(std::unique(gains.begin(), gains.end()), gains.end());
    if (gains.empty()) break;
    std::size_t const added = std::min<std::size_t>(params.step_size, most - P.size());
    for (std::size_t k = 0; k < gains.size() && k < added; ++k)
      P.insert(std::ranges::lower_bound(P, gains[k].second), gains[k].second);
    gather(a, P, block);
    y.resize(P.size());
    if (!solve_for_last(block, y, cancel)) not_definite(i);
    g.assign(y.begin(), y.end());
    for (double& v : g) v /= y.back();
    double const now = 1 / y.back();  // g^T A g
    bool const enough = psi - now < params.enough * psi;
    psi = now;
    if (enough) break;
  }
  P.shrink_to_fit();
  return P;
}

/// Of a thread that lets rows grow.
Growth growth_of(CsrView<double> const& a) {
  return {std::vector<double>(static_cast<std::size_t>(a.rows), 0.0), {}, {}, {}};
}

/// Bytes of a pattern of rows, each in a piece of memory of its own.
double pattern_bytes(double rows, double entries) { return 40 * rows + 4 * entries; }

}  // namespace

std::vector<std::vector<Index>> grown_pattern(Context& ctx, CsrView<double> const& a,
                                              FsaiParams const& params, SomeRows rows) {
  std::vector<double> const diagonal = diagonal_of(a);
  Index const count = rows.end_of(a.rows) - rows.first;
  std::vector<std::vector<Index>> pattern(static_cast<std::size_t>(count));
  CancelFlag const cancel = ctx.cancel_flag();
  each_row_with(
      ctx, count, stretch, [&] { return growth_of(a); },
      [&](Index r, Growth& growth) {
        pattern[static_cast<std::size_t>(r)] =
            grown_row(a, diagonal, rows.first + r, params, growth, cancel);
      });
  return pattern;
}

namespace {

Index longest_row(Csr<double> const& G) {
  Offset longest = 0;
  for (Index i = 0; i < G.rows; ++i) longest = std::max(longest, G.offsets[i + 1] - G.offsets[i]);
  return static_cast<Index>(longest);
}

/// On a pattern, with zeros.
Csr<double> zeros_on(std::vector<std::vector<Index>> const& pattern, Index cols) {
  Csr<double> G;
  G.rows = static_cast<Index>(pattern.size());
  G.cols = cols;
  std::size_t entries = 0;
  for (std::vector<Index> const& row : pattern) entries += row.size();
  G.columns.reserve(entries);
  G.offsets.reserve(pattern.size() + 1);
  for (std::vector<Index> const& row : pattern) {
    G.columns.insert(G.columns.end(), row.begin(), row.end());
    G.offsets.push_back(G.entries());
  }
  G.values.assign(entries, 0.0);
  return G;
}

/// The numbers of G; everything lies in the Context's space.
void make_rows(Context& ctx, CsrView<double> const& a, CsrView<double> const& pattern,
               Index longest, double* values) {
  Index const bad = ctx.visit([&](auto& on) {
    return fsai_rows(on, ctx.arena(), ctx.cancel_flag(), a, pattern, longest, values);
  });
  if (bad >= 0) not_definite(bad);
}

}  // namespace

Csr<double> fsai(Context& ctx, CsrView<double> const& a,
                 std::vector<std::vector<Index>> const& pattern) {
  Context::Entry const entry(ctx);
  Csr<double> const G = zeros_on(pattern, a.cols);
  CsrStorage<double> const A(ctx, a);
  CsrStorage<double> made(ctx, G.view(), Arrays::copied);
  make_rows(ctx, A.view(), made.view(), longest_row(G), made.own_values());
  return to_host(ctx, made.view());
}

namespace {

std::vector<std::vector<Index>> pattern_of(Context& ctx, CsrView<double> const& a,
                                           FsaiParams const& p, SomeRows rows = {}) {
  return p.steps > 0 ? grown_pattern(ctx, a, p, rows)
                     : lower_pattern(a, p.power, p.tolerance, p.most, ctx.cancel_flag(), rows);
}

/// G^T and G of all ranks. A row of G leads as far as its pattern does, and needs the entries of A
/// there.
std::vector<GlobalRows> ranked_factors(Context& ctx, Ranks& ranks, DistributedMatrix const& a,
                                       FsaiParams const& p) {
  Overlap const around = overlap(ranks, rows_of(ctx, a), a.rows(), p.steps > 0 ? p.steps : p.power);
  GlobalRows G;
  admitted_on_each(ctx, "fsai", [&] {
    CsrView<double> const here = around.a.view();
    SomeRows const own{around.first, around.first + a.plan().own};
    Csr<double> const made = fsai(ctx, here, pattern_of(ctx, here, p, own));
    G = with_global_columns(made, around.numbers);
  });
  GlobalRows Gt = transposed(ranks, G, a.rows(), a.rows());
  return {std::move(Gt), std::move(G)};
}

}  // namespace

std::unique_ptr<Preconditioner> FsaiFactory::build(Context& ctx, System const& system) const {
  Params const p = checked(params_, "fsai");
  if (matrix_of_ranks(ctx, system) != nullptr)
    return from_ranked_rows(ctx, system, "fsai", real(p.values),
                            [p](Context& c, Ranks& ranks, DistributedMatrix const& a) {
                              return ranked_factors(c, ranks, a, p);
                            });
  auto longest = std::make_shared<Index>(0);
  auto const make = [longest, p](Context& c, CsrView<double> const& a) {
    require_square(Pattern(a));
    Csr<double> G = zeros_on(pattern_of(c, a, p), a.cols);
    *longest = longest_row(G);
    std::vector<Csr<double>> factors;
    factors.push_back(transpose(G.view()));
    factors.push_back(std::move(G));
    return factors;
  };
  auto const numbers = [longest](Context& c, CsrView<double> const& a,
                                 std::vector<StoredProduct> const& factors) {
    auto memory = c.arena().scope();
    CsrView<double> const Gt = factors[0].pattern;
    CsrView<double> const G = factors[1].pattern;
    auto* const values = memory.take<double>(static_cast<std::size_t>(G.entries));
    auto* const moved = memory.take<double>(static_cast<std::size_t>(G.entries));
    make_rows(c, a, G, *longest, values);
    c.visit([&](auto& on) { transposed_values(on, G, Gt, values, moved); });
    factors[1].update(c, values);
    factors[0].update(c, moved);
  };
  return from_entries(ctx, system, "fsai", real(p.values), {make, numbers});
}

/// By the systems of rows of A itself: |P|^3 / 6 multiplications a row.
double FsaiFactory::least_seconds(Context& ctx, System const& system) const {
  Params const p = checked(params_, "fsai");
  if (p.steps > 0 || p.tolerance > 0) return 0;
  return on_host(ctx, system, "fsai", [&](CsrView<double> const& a) {
    double multiplications = 0;
    for (Index i = 0; i < a.rows; ++i) {
      double lower = 1;
      for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) lower += a.columns[k] < i;
      lower = std::min<double>(lower, p.most);
      multiplications += lower * lower * lower / 6;
    }
    bool const device = ctx.space() != Space::host;
    return multiplications * (device ? 5e-12 : 0.25e-9 / ctx.threads());
  });
}

/// Of a pattern that grows, or of a power, as if it had the entries of A or as many as it may.
double FsaiFactory::bytes(Index rows, Offset entries) const {
  double const triangle = params_.steps > 0 ? rows * (1.0 + params_.steps * params_.step_size)
                                            : 0.5 * (static_cast<double>(entries) + rows);
  return 2 * (triangle * (4.0 + size_of(real(params_.values))) + 8.0 * rows);
}

MemoryNeed FsaiFactory::memory(Context& ctx, System const& system) const {
  Params const p = checked(params_, "fsai");
  return on_host(ctx, system, "fsai", [&](CsrView<double> const& a) {
    require_square(Pattern(a));
    std::vector<double> const diagonal = diagonal_of(a);
    double entries = a.rows;
    bool exact = true;
    if (p.steps > 0) {
      constexpr Index sample = 4096;
      Index const every = (a.rows + sample - 1) / std::max<Index>(1, sample), first = every / 2;
      double grown = 0, rows = 0;
      Growth growth = growth_of(a);
      for (Index i = first; i < a.rows; i += std::max<Index>(1, every), ++rows)
        grown +=
            static_cast<double>(grown_row(a, diagonal, i, p, growth, ctx.cancel_flag()).size());
      entries = rows > 0 ? grown / rows * a.rows : 0;
      exact = every <= 1;
    } else {
      std::vector<Index> kept(a.rows, 0);
      for (Index i = 0; i < a.rows; ++i)
        for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
          kept[i] += keeps(a, diagonal, i, k, p.tolerance);
      auto const neighbours = [&](Index v, auto const& f) {
        for (Offset k = a.offsets[v]; k < a.offsets[v + 1]; ++k)
          if (keeps(a, diagonal, v, k, p.tolerance)) f(a.columns[k]);
      };
      entries += static_cast<double>(count_reached(
          ctx, a.rows, 1, p.power, neighbours, [](Index i, Index w) { return w < i; },
          [&](Index, Index w) { return kept[w] <= p.most; }, p.most - 1));
    }
    MemoryNeed need = stored_need(ctx, a.rows, entries, real(p.values));
    need += need;
    need.passing = pattern_bytes(a.rows, entries) + 24 * entries + 8.0 * a.rows;
    if (p.steps == 0) need.passing += 4.0 * static_cast<double>(a.entries) + 8.0 * a.rows;
    need.passing += (p.steps > 0 ? 8.0 : 4.0) * a.rows * ctx.threads();
    need.exact = exact;
    return need;
  });
}

}  // namespace tcsolve
