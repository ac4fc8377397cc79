// SPDX-License-Identifier: Apache-2.0
/// What the solver benchmarks share: medians of whole solves whose answers have been checked, as
/// JSON lines and as one table.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include <tcsolve/core/context.hpp>
#include <tcsolve/matrix/csr.hpp>
#include <tcsolve/version.hpp>

#include "plain_cg.hpp"
#include "plain_device.hpp"

namespace tcsolve::bench {

struct Row {
  std::string matrix, variant;
  int iterations;
  double microseconds, spread, residual, floor_fraction, whole;
};

/// Bytes a second of a copy, as measured by print_device(): what floors are computed from.
inline double bandwidth = 0;

/// The first line of every run: where it runs and what was built.
inline void print_device(Context& ctx, int repetitions) {
  bandwidth = copy_bandwidth(ctx);
  auto facts = cuda::facts(*ctx.device());
  std::cout << "{\"device\": \"" << facts.name << "\", \"driver\": \"" << facts.driver
            << "\", \"runtime\": \"" << facts.runtime << "\", \"revision\": \"" << version::revision
            << "\", \"repetitions\": " << repetitions
            << ", \"copy_gigabytes_per_second\": " << bandwidth * 1e-9 << "}" << std::endl;
}

inline double relative_residual(Csr<double> const& a, std::vector<double> const& x,
                                std::vector<double> const& b) {
  double rr = 0, bb = 0;
  for (Index i = 0; i < a.rows; ++i) {
    long double r = b[i];
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      r -= static_cast<long double>(a.values[k]) * x[a.columns[k]];
    rr += static_cast<double>(r * r);
    bb += b[i] * b[i];
  }
  return std::sqrt(rr / bb);
}

/// Runs once to check, then `repetitions` times; the medians. floor_bytes: what an iteration must
/// move at least, against the bandwidth of a copy.
inline Row measure(std::string const& matrix, std::string const& variant, Csr<double> const& a,
                   double floor_bytes, std::vector<double> const& b, int repetitions,
                   std::function<PlainResult()> const& solve,
                   std::function<std::vector<double>()> const& x) {
  PlainResult first = solve();
  double residual = relative_residual(a, x(), b);
  std::vector<double> times, wholes;
  for (int i = 0; i < repetitions; ++i) {
    PlainResult r = solve();
    times.push_back(1e6 * r.seconds / r.iterations);
    wholes.push_back(1e3 * (r.whole > 0 ? r.whole : r.seconds));
  }
  std::sort(wholes.begin(), wholes.end());
  std::sort(times.begin(), times.end());
  double median = times[times.size() / 2];
  Row row{matrix,
          variant,
          first.iterations,
          median,
          (times.back() - times.front()) / median,
          residual,
          floor_bytes / bandwidth * 1e6 / median,
          wholes[wholes.size() / 2]};
  std::cout << "{\"matrix\": \"" << matrix << "\", \"rows\": " << a.rows
            << ", \"entries\": " << a.entries() << ", \"variant\": \"" << variant
            << "\", \"iterations\": " << row.iterations << ", \"us_per_iteration\": " << median
            << ", \"spread\": " << row.spread << ", \"true_residual\": " << residual
            << ", \"fraction_of_byte_floor\": " << row.floor_fraction
            << ", \"ms_whole_solve\": " << row.whole << "}" << std::endl;
  return row;
}

/// Ratios are against the matrix's row "plain, host scalars" and, where there is one, "plain, graph
/// of 10".
inline void print_table(std::vector<Row> const& rows) {
  std::cout << "matrix | variant | iterations | us/iteration | spread | true residual | vs host "
               "scalars | vs graph of 10 | byte floor | whole solve, ms\n"
            << "---|---|---|---|---|---|---|---|---|---\n";
  double host = 1, graph = 1;
  // A cell stays empty where there is nothing to compare with.
  auto const cell = [](double value, char const* unit) {
    if (!std::isfinite(value) || value == 0) return std::string();
    char text[24];
    std::snprintf(text, sizeof text, "%.3g%s", value, unit);
    return std::string(text);
  };
  for (Row const& r : rows) {
    if (r.variant == "plain, host scalars") host = r.microseconds, graph = NAN;
    if (r.variant == "plain, graph of 10") graph = r.microseconds;
    std::cout.precision(3);
    std::cout << r.matrix << " | " << r.variant << " | " << r.iterations << " | " << r.microseconds
              << " | " << 100 * r.spread << " % | " << r.residual << " | "
              << cell(host / r.microseconds, "x") << " | " << cell(graph / r.microseconds, "x")
              << " | " << cell(100 * r.floor_fraction, " %") << " | " << r.whole << "\n";
  }
}

}  // namespace tcsolve::bench
