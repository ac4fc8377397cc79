// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/formats/format_factory.hpp>
#include <tcsolve/formats/tiled/operator.hpp>

namespace tcsolve {
namespace {

std::string refuses(Features const& f, PlanRequest const& request) {
  if (request.columns == 1) return "for blocks of columns";
  return beyond_31_bits(f);
}

/// An estimate: what a panel gathers is not counted by features. With a fifth of padding and four
/// entries to a gathered row.
double estimate(Real values, double rows, double entries) {
  return entries * (1.2 * (size_of(values) + 2) + 1) + 5 * rows;
}
FormatLayout layout(Features const& f, Real values) {
  double const rows = double(f.rows), entries = double(f.entries);
  return {.stored = estimate(values, rows, entries),
          .slots = 1.2 * entries,
          .scratch = 40 * entries + 60 * rows,
          .walked = double(f.longest)};
}

TiledTerms terms(Real values, Layout layout) {
  bool const wide = values == Real::f64;
  return {.B_V = double(size_of(values)),
          .B_T = wide ? 8.0 : 4.0,
          .R = wide ? 16.0 : 32.0,
          .row_major = layout == Layout::row_major};
}

std::string decision(TiledModel const& m) {
  std::string text = m.underutilised() ? "underutilised, " : m.imbalanced() ? "imbalanced, " : "";
  text += m.segment > 0 ? cat("rows in segments of ", m.segment, " entries") : "rows stay whole";
  text += m.reordered ? ", sorted by their pattern" : ", in order";
  return text + (m.direct ? "; X is read where it lies" : "; X is gathered by panels");
}

FormatModel model(Context& ctx, CsrView<double> const& a) {
  TiledModel const m = Tiled<double>(ctx, a).model();
  return {.terms = {{"mu", m.mu},
                    {"sigma", m.sigma},
                    {"U", m.U},
                    {"mu*", m.mu_star},
                    {"rho", m.rho},
                    {"rho in order", m.rho_in_order},
                    {"Z", m.Z},
                    {"C", m.C},
                    {"L", m.L},
                    {"R", terms(Real::f32, Layout::row_major).R},
                    {"I untiled (Eq. 2)", tiled::untiled_intensity(m, {})},
                    {"I all miss (Eq. 3, 6)", tiled::all_miss(m, {})},
                    {"I cold miss", tiled::cold_miss(m, {})}},
          .decision = decision(m),
          .intensity = [m](Real values, Layout layout) {
            return tiled::predicted(m, terms(values, layout));
          }};
}

std::vector<Variant> variants() {
  std::vector<Variant> all;
  auto const add = [&](std::string const& name, TiledTuning const& tuning) {
    all.push_back({.name = "tiled, " + name, .makers = makers_of<TiledOperator>(tuning)});
  };
  for (Index const rows : {32, 64, 128})
    for (double const below : {0.0, 1e9})
      add(cat(below == 0 ? "gathered" : "direct", ", panels of ", rows),
          {.panel_rows = rows, .direct_below = below});
  for (Index const capacity : {640, 1400})
    add(cat("gathered, stages of ", capacity), {.capacity = capacity, .direct_below = 0});
  for (Index const least : {16, 64}) add(cat("segments of ", least), {.least_segment = least});
  add("whole rows", {.balance = false});
  add("in order", {.reorder = false});
  return all;
}

}  // namespace

Format tiled_format() {
  return {.name = "tiled",
          .doc =
              "panels that gather their rows of X to shared memory (Tiled SpMM): for many "
              "right-hand sides in FP32; no transpose",
          .can = {},
          .refuses = refuses,
          .layout = layout,
          .estimate = estimate,
          .factory = factory_of<RoundingFactory<TiledOperator>>(),
          .makers = makers_of<TiledOperator>(),
          .miniature = makers_of<TiledOperator>(TiledTuning{.panel_rows = 16,
                                                            .capacity = 7,
                                                            .least_segment = 3,
                                                            .most_segments = 5,
                                                            .direct_below = 0,
                                                            .least_gain = 1}),
          .variants = variants,
          .model = model};
}

}  // namespace tcsolve
