// SPDX-License-Identifier: Apache-2.0
/// The model of Tiled SpMM ("Optimizing Tiled Sparse Matrix Multiplication with Performance
/// Modeling on GPUs", sections 2 to 4): operations a byte of device memory, from counts of the
/// pattern, and what is decided by it.
///
///     Eq. 2   I  = 2 mu / (mu (B_T + B_I) + mu B_T + B_T + delta)                 untiled
///     Eq. 3   Ie = 2 / ((B_V + B_IS) Z / R + B_T Gamma / rho + B_I / (rho mu) + delta / (R mu))
///     Eq. 6   Ie*, of rows in segments: mu* for mu, (B_I + delta) / (R mu*) and B_T / mu besides
///     Eq. 4   Gamma = C / L
///     Eq. 5   U = thread blocks / multiprocessors
///
/// The paper's B_T is split where values are narrower than vectors: B_V is a value of A, B_T an
/// element of X and Y. C = 1 where X is row-major: whole rows of it are gathered. A row of X
/// that a panel gathers comes from the second-level cache, from device memory when it comes for
/// the first time, and from shared memory for each slot: what is predicted is the lowest of these
/// three rooflines.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <tcsolve/core/types.hpp>
#include <tcsolve/formats/intensity.hpp>

namespace tcsolve {

/// Counts of a pattern as it was tiled, and what was decided on the way.
struct TiledModel {
  double mu = 0, sigma = 0;  ///< entries a row: mean and standard deviation
  double U = 0;              ///< utilisation before balancing (Eq. 5), a block a panel
  double mu_star = 0;        ///< entries a line: rows, and segments of rows
  double rho = 1;            ///< entries that use a gathered row of X, on average
  double rho_in_order = 1;   ///< the same with rows as they came
  double Z = 1;              ///< slots over entries
  double C = 1;  ///< 64-byte lines over the bytes that 32 threads want of a column of X, in FP32
  double L = 1;  ///< footprint of all panels over the rows of X: reuse in the second-level cache
  Index segment = 0;  ///< most entries of a line; 0: rows are not cut
  bool reordered = false, direct = false;

  bool operator==(TiledModel const&) const = default;

  static constexpr double least_utilisation = 0.65, most_variation = 1;  // section 4.1, Fig. 6
  bool underutilised() const { return U < least_utilisation; }
  bool imbalanced() const { return mu > 0 && sigma / mu > most_variation; }

  /// The decision chart, Fig. 6: most entries of a segment; 0: rows stay whole.
  Index decided_segment(Index least) const {
    double const wanted = underutilised() ? U * mu : imbalanced() ? mu : 0;
    if (underutilised() || imbalanced())
      return std::max(least, static_cast<Index>(std::min(std::ceil(wanted), 1e9)));
    return 0;
  }
};

/// Bytes and columns of a product.
struct TiledTerms {
  double B_V = 4, B_T = 4;   ///< of a value of A; of an element of X and Y
  double B_IS = 2, B_I = 4;  ///< of a number in shared memory; of a column
  double delta = 8;          ///< of metadata, a line
  double R = 32;             ///< columns for which an entry is loaded once
  bool row_major = true;
};

namespace tiled {

/// Eq. 2.
inline double untiled_intensity(TiledModel const& m, TiledTerms const& t) {
  if (m.mu == 0) return 0;
  return 2 * m.mu / (m.mu * (t.B_V + t.B_I) + m.mu * t.B_T + t.B_T + t.delta);
}

/// Eq. 3, of cut rows Eq. 6, with a cost Gamma of sparse accesses: 1 for the algorithmic intensity,
/// C where every access misses the second-level cache, C / L where only the first one does. Where
/// rows of X are read where they lie, the first-level cache is taken to hold a panel's.
inline double intensity(TiledModel const& m, TiledTerms const& t, double gamma) {
  if (m.mu == 0 || m.mu_star == 0) return 0;
  double const index = m.direct ? t.B_I : t.B_IS, footprint = m.direct ? 0 : t.B_I;
  double bytes =
      (t.B_V + index) * m.Z / t.R + t.B_T * gamma / m.rho + footprint / (m.rho * m.mu_star);
  if (m.segment > 0)
    bytes += (t.B_I + t.delta) / (t.R * m.mu_star) + t.B_T / m.mu;
  else
    bytes += t.delta / (t.R * m.mu);
  return 2 / bytes;
}

/// Every gathered row of X comes from device memory.
inline double all_miss(TiledModel const& m, TiledTerms const& t) {
  return intensity(m, t, t.row_major ? 1 : m.C);
}
/// Each row of X comes from there once.
inline double cold_miss(TiledModel const& m, TiledTerms const& t) {
  return intensity(m, t, (t.row_major ? 1 : m.C) / m.L);
}

/// With `more` bytes an entry and a column.
inline double with_bytes(double intensity, double more) {
  return intensity == 0 ? 0 : 2 / (2 / intensity + more);
}

/// What is shown as predicted for the product here (product.cuh): Eq. 3 or 6 for rows of X, each
/// from memory once and from the cache for every panel; Y written once, which Eq. 3 leaves out; and
/// X and Y read and written once more where they are column-major and turned.
inline Levels predicted(TiledModel const& m, TiledTerms const& t) {
  if (m.mu == 0) return {};
  double const y = m.segment > 0 ? 0 : t.B_T / m.mu, turns = t.row_major ? 0 : 4 * t.B_T / m.mu;
  return {.memory = with_bytes(intensity(m, t, 1 / m.L), y + turns),
          .cache = with_bytes(intensity(m, t, 1), y + turns),
          .shared = 2 / (t.B_T * m.Z)};
}

}  // namespace tiled
}  // namespace tcsolve
