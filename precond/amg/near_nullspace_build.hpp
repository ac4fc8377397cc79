// SPDX-License-Identifier: Apache-2.0
/// The vectors of a near-nullspace, written once for both backends (kernels/convert.hpp).
#pragma once

#include <tcsolve/kernels/convert.hpp>
#include <tcsolve/precond/amg/node_points.hpp>

namespace tcsolve {

struct Translations {
  Index block;
  double* B;  // (rows x block)
  TCSOLVE_HD void operator()(std::int64_t i) const {
    for (Index c = 0; c < block; ++c) B[i * block + c] = i % block == c;
  }
};

/// Of a node whose coordinates are p.
struct RigidBodyModes {
  NodePoints points;
  PointsFrame frame;
  double* B;  // (nodes dim x modes)
  TCSOLVE_HD void operator()(std::int64_t node) const {
    Index const dim = points.dim, modes = dim == 2 ? 3 : 6;
    double p[3];
    for (Index c = 0; c < dim; ++c) p[c] = frame(points, node, c);
    double* const b = B + node * dim * modes;
    for (Index e = 0; e < dim * modes; ++e) b[e] = 0;
    for (Index c = 0; c < dim; ++c) b[c * modes + c] = 1;
    if (dim == 2) {
      b[2] = -p[1];
      b[modes + 2] = p[0];
      return;
    }
    b[modes + 3] = -p[2], b[2 * modes + 3] = p[1];  // about x
    b[4] = p[2], b[2 * modes + 4] = -p[0];          // about y
    b[5] = -p[1], b[modes + 5] = p[0];              // about z
  }
};

struct PlaceColumns {
  double const* X;  // (rows x k)
  Index k, first, count;
  double* B;  // (rows x count)
  TCSOLVE_HD void operator()(std::int64_t i) const {
    for (Index c = 0; c < k; ++c) B[i * count + first + c] = X[i * k + c];
  }
};

template <class On>
void place_columns(On& on, Index rows, double const* X, Index k, double* B, Index first,
                   Index count) {
  on.each(rows, PlaceColumns{X, k, first, count, B});
}
template <class On>
void translations(On& on, Index rows, Index block, double* B) {
  on.each(rows, Translations{block, B});
}
template <class On>
void rigid_body_modes(On& on, NodePoints const& points, PointsFrame const& frame, double* B) {
  on.each(points.nodes, RigidBodyModes{points, frame, B});
}

}  // namespace tcsolve
