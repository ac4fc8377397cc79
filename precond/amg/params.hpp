// SPDX-License-Identifier: Apache-2.0
/// The parameters of amg.
#pragma once

#include <array>
#include <string>
#include <utility>

#include <tcsolve/configs/schema/field.hpp>
#include <tcsolve/precond/amg/near_nullspace.hpp>

namespace tcsolve {

/// automatic: by the symmetry of the matrix.
enum class AmgSmoother { automatic, chebyshev, l1_jacobi, spai0, fsai, ilu };
constexpr auto names(AmgSmoother) {
  return std::array{std::pair{AmgSmoother::automatic, "auto"},
                    std::pair{AmgSmoother::chebyshev, "chebyshev"},
                    std::pair{AmgSmoother::l1_jacobi, "l1_jacobi"},
                    std::pair{AmgSmoother::spai0, "spai0"},
                    std::pair{AmgSmoother::fsai, "fsai"},
                    std::pair{AmgSmoother::ilu, "ilu"}};
}
enum class AmgCycleKind { v, w, k };
constexpr auto names(AmgCycleKind) {
  return std::array{std::pair{AmgCycleKind::v, "v"}, std::pair{AmgCycleKind::w, "w"},
                    std::pair{AmgCycleKind::k, "k"}};
}
/// Of a coarsest level that is too large to be inverted.
enum class AmgCoarse { smooth, direct };
constexpr auto names(AmgCoarse) {
  return std::array{std::pair{AmgCoarse::smooth, "smooth"}, std::pair{AmgCoarse::direct, "direct"}};
}
enum class AmgReuse { exact, pattern, interpolation, none };
constexpr auto names(AmgReuse) {
  return std::array{std::pair{AmgReuse::exact, "exact"}, std::pair{AmgReuse::pattern, "pattern"},
                    std::pair{AmgReuse::interpolation, "interpolation"},
                    std::pair{AmgReuse::none, "none"}};
}

enum class AmgCoarsening { aggregation, classical, automatic };
constexpr auto names(AmgCoarsening) {
  return std::array{std::pair{AmgCoarsening::aggregation, "aggregation"},
                    std::pair{AmgCoarsening::classical, "classical"},
                    std::pair{AmgCoarsening::automatic, "auto"}};
}
enum class AmgInterpolation { mm_ext, mm_ext_i };
constexpr auto names(AmgInterpolation) {
  return std::array{std::pair{AmgInterpolation::mm_ext, "mm_ext"},
                    std::pair{AmgInterpolation::mm_ext_i, "mm_ext_i"}};
}
/// Of classical coarsening (precond/amg/classical.hpp).
struct ClassicalParams {
  double strength = 0.25;
  bool absolute = false;
  double max_row_sum = 0.9;
  int entries = 4;
  AmgInterpolation interpolation = AmgInterpolation::mm_ext_i;
  int aggressive = 0;
  static constexpr auto schema() {
    using P = ClassicalParams;
    return std::tuple{
        field(&P::strength, "strength", between(0.0, 1.0),
              "a row is strongly coupled where -a_ij is at least this times its largest one"),
        field(&P::absolute, "absolute",
              "|a_ij| in the place of -a_ij: positive couplings may be strong, too"),
        field(&P::max_row_sum, "max_row_sum", at_least(0.0),
              "a row whose sum exceeds this times its diagonal entry is coupled to none"),
        field(&P::entries, "entries", between(1, 64),
              "of a row of the prolongation: the largest, times what keeps their sum"),
        field(&P::interpolation, "interpolation",
              "mm_ext: extended, over fine neighbours; mm_ext_i: what they are coupled back to "
              "counts, too"),
        field(&P::aggressive, "aggressive", between(0, 100),
              "so many of the first levels keep as coarse points only those without another within "
              "two strong couplings")};
  }
};

/// What the matrices of a cycle are stored in; automatic: by the Context.
enum class AmgValues { automatic, f64, f32, f16, bf16 };
constexpr auto names(AmgValues) {
  return std::array{std::pair{AmgValues::automatic, "auto"}, std::pair{AmgValues::f64, "fp64"},
                    std::pair{AmgValues::f32, "fp32"}, std::pair{AmgValues::f16, "fp16"},
                    std::pair{AmgValues::bf16, "bf16"}};
}
enum class AmgVectors { automatic, f64, f32 };
constexpr auto names(AmgVectors) {
  return std::array{std::pair{AmgVectors::automatic, "auto"}, std::pair{AmgVectors::f64, "fp64"},
                    std::pair{AmgVectors::f32, "fp32"}};
}

struct AmgParams {
  AmgCoarsening coarsening = AmgCoarsening::aggregation;
  ClassicalParams classical;
  NearNullspaceParams near_nullspace;
  double strength = 0.02;
  AmgSmoother smoother = AmgSmoother::automatic;
  int degree = 2;
  double eig_ratio = 10;
  int lanczos_steps = 10;
  AmgCycleKind cycle = AmgCycleKind::v;
  bool smoothing = true;
  int unsmoothed = 0;
  double overcorrection = 1.6;
  int max_levels = 20;
  int coarse_size = 256;
  AmgCoarse coarse = AmgCoarse::smooth;
  double max_complexity = 3;
  bool elliptic = false;
  AmgReuse reuse = AmgReuse::exact;
  std::string format = "auto";
  AmgValues values = AmgValues::automatic;
  int fp64_levels = 0;
  AmgVectors vectors = AmgVectors::automatic;
  /// Each part of the set-up waits for the device, so that its seconds are its own. From C++ alone.
  bool timed = false;

  static constexpr auto schema() {
    using P = AmgParams;
    return std::tuple{
        field(&P::coarsening, "coarsening",
              "aggregation: groups of nodes, smoothed; classical: some of the rows, from which the "
              "others interpolate; auto: classical where off-diagonal entries are negative and the "
              "diagonal varies by a hundred and more, or couplings within a row differ, with one "
              "unknown a node"),
        field(&P::classical, "classical", "classical coarsening"),
        field(
            &P::near_nullspace, "near_nullspace",
            "what A nearly maps to zero: constants of each unknown of a node, or rigid body modes"),
        field(&P::strength, "strength", between(0.0, 1.0),
              "aggregation: nodes are strongly coupled where the norm of their block exceeds this "
              "times the "
              "geometric mean of their diagonal blocks'; halved from level to level, 0 where that "
              "leaves too many rows"),
        field(
            &P::smoother, "smoother",
            "chebyshev: steps of the Chebyshev iteration with D^-1 A, for symmetric A; l1_jacobi: "
            "steps x += W r with w_i = 1 / sum_j |a_ij|; spai0: with w_i = a_ii / sum_j a_ij^2, "
            "smaller where that would overshoot; fsai: steps x += w G^T G r with the factorised "
            "sparse approximate inverse of A, for symmetric A, w = 1 or less where that would "
            "overshoot; ilu: steps with incomplete factors on A's pattern, for A that is not "
            "symmetric; auto: chebyshev, and l1_jacobi where A is not symmetric"),
        field(&P::degree, "degree", between(1, 100),
              "steps of the smoother before and after the coarse correction"),
        field(&P::eig_ratio, "eig_ratio", above(1.0),
              "chebyshev covers [lambda_max / eig_ratio, lambda_max]"),
        field(&P::lanczos_steps, "lanczos_steps", between(2, 200),
              "Lanczos steps that estimate lambda_max"),
        field(&P::cycle, "cycle",
              "v; w: each coarse level twice; k: twice, as two steps of flexible conjugate "
              "gradients, or of GCR where A is not symmetric: it varies, and cg then takes a "
              "flexible beta"),
        field(
            &P::smoothing, "smoothing",
            "the prolongation is smoothed; false: plain aggregation, with smaller levels and more "
            "iterations"),
        field(&P::unsmoothed, "unsmoothed", between(0, 100),
              "aggregation: so many of the first levels have a prolongation that is not smoothed: "
              "a shorter set-up and half of its memory, for 1.1 to 2 times the iterations"),
        field(&P::overcorrection, "overcorrection", between(1.0, 1.9),
              "what the correction is multiplied by that a prolongation without smoothing brings: "
              "of constants on aggregates the coarser matrix makes too much energy"),
        field(&P::max_levels, "max_levels", between(1, 100), "levels, that of A among them"),
        field(&P::coarse_size, "coarse_size", between(1, 2000),
              "a level of at most so many rows is inverted"),
        field(&P::coarse, "coarse",
              "a coarsest level of more rows, where coarsening ends: smooth, as those above it; "
              "direct, by complete factors as of the preconditioner direct, which takes their "
              "memory; "
              "smoothed all the same where it is singular"),
        field(&P::max_complexity, "max_complexity", at_least(1.0),
              "entries of all levels over A's; a level that would exceed it is made without "
              "smoothing, or of fewer coarse points, and refused if that does not help"),
        field(&P::elliptic, "elliptic",
              "refuse, before levels are made, a matrix that does not look like one of an elliptic "
              "problem: constants of each unknown of a node are far from its near-nullspace, or "
              "there is one unknown a node and off-diagonal entries are positive, or differ from "
              "those of the transpose by half their size"),
        field(
            &P::reuse, "reuse",
            "what stays for new values: pattern, the aggregates and the levels' patterns whatever "
            "the values; exact, the same down to the first level whose strong couplings are "
            "others, so that M is the one that a new set-up makes; interpolation, as pattern, and "
            "the numbers of P and R; none. What they are made by takes one to five times the "
            "memory of what a cycle reads: with exact the first new values bring it, by a set-up "
            "more, with pattern and interpolation it is there from the start"),
        field(
            &P::format, "format", any(),
            "of the matrices that a cycle multiplies by: auto, by the planner, level by level, or "
            "the name of a format, csr where it cannot hold a level"),
        field(
            &P::values, "values",
            "type of these matrices, scaled by powers of two; a level that loses strong couplings "
            "in it is stored in FP32. auto: fp32 on the host, fp64 on a device"),
        field(&P::fp64_levels, "fp64_levels", between(0, 100),
              "so many of the first levels are in FP64 whatever `values`, and so are the vectors"),
        field(
            &P::vectors, "vectors",
            "type of the vectors of a cycle, and the widest of its matrices; auto: fp32, but fp64 "
            "where values are")};
  }
};

}  // namespace tcsolve
