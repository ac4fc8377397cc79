// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <tcsolve/formats/dia/operator.hpp>
#include <tcsolve/formats/format_factory.hpp>

namespace tcsolve {
namespace {

bool few_diagonals(Features const& f) {
  return dia_fits(double(f.own.get<DiaCounts>().diagonals), f.rows, f.entries);
}

void set_diagonals(Features& f, Offset diagonals) {
  DiaCounts counts = f.own.get<DiaCounts>();
  counts.diagonals = diagonals;
  f.own.set(counts);
}
void set_symmetric(Features& f, bool symmetric) {
  DiaCounts counts = f.own.get<DiaCounts>();
  counts.symmetric = symmetric;
  f.own.set(counts);
}

/// Columns once. As many as the longest row has entries, at least.
constinit Fact const diagonals_fact{
    .name = "diagonals",
    .expect =
        [](Features& f) {
          set_diagonals(f, f.longest);
          return few_diagonals(f);
        },
    .look =
        [](Context& ctx, AnyCsr const& any, Features& f) {
          std::visit([&](auto const& a) { set_diagonals(f, count_diagonals(ctx, a)); }, any);
        },
    .doubt =
        [](Features& f) {
          Offset const least = f.own.get<DiaCounts>().diagonals;
          set_diagonals(f, std::max(least, Offset{f.rows} + f.cols - 1));
        }};

constinit Fact const symmetry_fact{
    .name = "symmetry",
    .after = &diagonals_fact,
    .expect =
        [](Features& f) {
          bool const may_be = f.rows == f.cols && few_diagonals(f);
          set_symmetric(f, may_be);
          return may_be;
        },
    .look =
        [](Context& ctx, AnyCsr const& any, Features& f) {
          std::visit([&](auto const& a) { set_symmetric(f, mirrored(ctx, a)); }, any);
        },
    .doubt = [](Features& f) { set_symmetric(f, false); }};

std::string refuses(Features const& f, PlanRequest const&) {
  bool const fits = dia_fits(double(f.own.get<DiaCounts>().diagonals), f.rows, f.entries, 4096);
  return fits ? "" : "more than two positions an entry";
}

/// Exact, but that rounded values may be symmetric where the matrix is not: half of it. The lower
/// half where A is symmetric; 16 a diagonal, filled up to a multiple of four.
FormatLayout layout(Features const& f, Real values) {
  DiaCounts const& counts = f.own.get<DiaCounts>();
  auto const s = double(size_of(values)), all = double(counts.diagonals);
  double const kept = counts.symmetric ? std::ceil(all / 2) : all;
  auto const length = double(dia_length(f.rows));
  return {.stored = all == 0 ? 0 : (kept * length + 32) * s + 16 * 4 * std::ceil(all / 4),
          .slots = all * length,
          .scratch = 8 * (double(f.rows) + f.cols),
          .walked = all};
}

/// Where a tenth of the positions are padding.
double estimate(Real values, double, double entries) { return 1.1 * entries * size_of(values); }

/// All diagonals of a symmetric matrix.
std::vector<Variant> variants() {
  return {
      {.name = "dia, whole",
       .makers = makers_of<DiaOperator>(DiaTuning{.symmetric = false}),
       .swept = false,
       .differs = [](Features const& f, Real, Real) { return f.own.get<DiaCounts>().symmetric; }}};
}

}  // namespace

Format dia_format() {
  return {.name = "dia",
          .doc =
              "diagonals, of a symmetric matrix the lower ones: for grids and stencils; one pass "
              "with <x, A x>; no transpose",
          .can = {.dot = true, .persistent = true, .cache_share = dia_cache_share},
          .refuses = refuses,
          .layout = layout,
          .estimate = estimate,
          .facts = {&diagonals_fact, &symmetry_fact},
          .factory = factory_of<RoundingFactory<DiaOperator>>(),
          .makers = makers_of<DiaOperator>(),
          .variants = variants};
}

}  // namespace tcsolve
