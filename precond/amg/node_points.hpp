// SPDX-License-Identifier: Apache-2.0
/// Coordinates of nodes, and what is summed of them for rigid body modes
/// (precond/amg/near_nullspace.hpp): these are seen from the mean, in a unit near the size of the
/// body, so that translations and rotations are of one size, whatever the unit of length.
#pragma once

#include <cstdint>

#include <tcsolve/kernels/op_list.hpp>
#include <tcsolve/kernels/vector_ops.hpp>

namespace tcsolve {

/// Number c of node i lies at [i node + c coordinate].
struct NodePoints {
  double const* data;
  Index nodes, dim;
  std::int64_t node, coordinate;
  TCSOLVE_HD double operator()(std::int64_t i, Index c) const {
    return data[i * node + c * coordinate];
  }
};

/// From their mean and 2^e times as large: the largest number is between 1 and 2.
struct PointsFrame {
  double mean[3];
  double scale[2];  ///< two powers of two, because 2^e may be beyond the range
  TCSOLVE_HD double operator()(NodePoints const& points, std::int64_t i, Index c) const {
    return (points(i, c) - mean[c]) * scale[0] * scale[1];
  }
};

/// The sums of the coordinates, and how many points there are.
struct SumOfPoints {
  static constexpr char const* name = "sum_of_points";
  static constexpr int sums = 4;
  std::int64_t n;
  NodePoints points;
  double* out;  // (4)
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double* sum) const {
    for (Index c = 0; c < points.dim; ++c) sum[c] += points(i, c);
    sum[3] += 1;
  }
  TCSOLVE_HD void finish(Frame, double const* sum) const {
    for (int c = 0; c < sums; ++c) out[c] = sum[c];
  }
};

/// The largest |p - mean| of a coordinate; not finite where one of them is not.
struct FarthestPoint {
  static constexpr char const* name = "farthest_point";
  static constexpr int sums = 1;
  static constexpr bool maximum = true;
  std::int64_t n;
  NodePoints points;
  double const* all;  // (4) the sums
  double* out;
  TCSOLVE_HD void element(std::int64_t i, NoCoefficients, double* sum) const {
    for (Index c = 0; c < points.dim; ++c) {
      double const far = magnitude(points(i, c) - all[c] / all[3]);
      sum[0] = (far != far || far > sum[0]) ? far : sum[0];
    }
  }
  TCSOLVE_HD void finish(Frame, double const* sum) const { *out = sum[0]; }
};

using PointOps = OpList<SumOfPoints, FarthestPoint>;

}  // namespace tcsolve
