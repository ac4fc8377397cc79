// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/sparse/spmspv_choice.hpp>

#include <algorithm>
#include <cmath>

namespace tcsolve {

namespace {

/// P(X > most), X of a Poisson distribution with that mean.
double chance_of_more(double mean, double most) {
  double term = std::exp(-mean), sum = term;
  for (int k = 1; k <= most; ++k) sum += term *= mean / k;
  return std::max(0.0, 1 - sum);
}

/// f: the share of the lists of a product by entries that are gathered; `together` is r.
double gathered(SpmspvCounts const& of) {
  SpmspvWork const w = work(SpmspvWay::entries, of);
  if (w.multiplied <= 0 || w.looked <= 0) return 0;
  double const together = std::max(1.0, double(of.entries) / (16 * double(of.below)));
  return chance_of_more(w.multiplied / (together * w.looked), spmspv::list_room / together);
}

}  // namespace

SpmspvWork work(SpmspvWay way, SpmspvCounts const& of) {
  constexpr double million = 1e6;
  double const n = of.tile_rows / million, e = double(of.entries) / million, s = of.x_share;
  double const marks = double(of.below) * s;
  double const led_to = of.tile_rows > 0 ? n * -std::expm1(-marks / of.tile_rows) : 0;
  switch (way) {
    case SpmspvWay::rows: return {n, e * s};
    case SpmspvWay::columns: return {led_to, e * s};
    case SpmspvWay::entries: return {led_to, e * of.x_density};
    case SpmspvWay::dense: return of.given ? SpmspvWork{n, 0} : SpmspvWork{s < 1 ? n : 0, e};
    case SpmspvWay::automatic: break;
  }
  return {};
}

double microseconds(SpmspvRates const& r, SpmspvWay way, SpmspvCounts const& of) {
  SpmspvWork const w = work(way, of);
  switch (way) {
    case SpmspvWay::rows:
      return r.rows + r.rows_looked * w.looked + r.rows_multiplied * w.multiplied;
    case SpmspvWay::columns:
      return r.columns + r.columns_looked * w.looked + r.columns_multiplied * w.multiplied;
    case SpmspvWay::entries:
      return r.entries + r.entries_looked * w.looked + r.entries_multiplied * w.multiplied +
             gathered(of) * (microseconds(r, SpmspvWay::columns, of) - r.columns);
    case SpmspvWay::dense:
      if (of.given) return r.given + r.given_looked * w.looked + *of.given;
      return r.dense + r.dense_looked * w.looked + r.dense_multiplied * w.multiplied;
    case SpmspvWay::automatic: break;
  }
  return 0;
}

SpmspvWay choose_way(SpmspvRates const& rates, SpmspvCounts const& of) {
  SpmspvWay best = SpmspvWay::rows;
  double least = microseconds(rates, best, of);
  auto const offer = [&](bool there, SpmspvWay way) {
    double const time = microseconds(rates, way, of);
    if (there && time < least) best = way, least = time;
  };
  bool const any = of.x_share > 0;  // without an entry of x there is nothing to choose
  offer(of.columns && any, SpmspvWay::columns);
  offer(of.by_entries && any, SpmspvWay::entries);
  offer(of.dense && any, SpmspvWay::dense);
  return best;
}

}  // namespace tcsolve
