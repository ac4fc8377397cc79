// SPDX-License-Identifier: Apache-2.0
/// The keys that preconditioners by incomplete factors have in common, for their schemas to
/// include() as those of solvers include StoppingParams.
#pragma once

#include <string>
#include <tuple>

#include <tcsolve/configs/schema/field.hpp>
#include <tcsolve/factors/factorisation.hpp>
#include <tcsolve/precond/stored_real.hpp>

namespace tcsolve {

/// Which entries of the factors are kept.
struct FillParams {
  int level = 0;
  double drop_tolerance = 0;
  double fill_factor = 10;
  double complete_below = 0;
  int block = 1;

  std::string check() const {
    if (block != 1 && drop_tolerance > 0)
      return "'block' and 'drop_tolerance' exclude each other: blocks are kept whole";
    return level > 0 && drop_tolerance > 0
               ? "'level' and 'drop_tolerance' exclude each other: fill goes by level or by size"
               : "";
  }
  void put_into(FactorRecipe& recipe) const {
    recipe.fill = drop_tolerance > 0 ? FillIn::by_size : FillIn::by_level;
    recipe.level = level;
    recipe.drop_tolerance = drop_tolerance;
    recipe.fill_factor = fill_factor;
    recipe.complete_below = complete_below;
    recipe.block = block;
  }

  static constexpr auto schema() {
    using P = FillParams;
    return std::tuple{
        field(&P::level, "level", between(0, 100),
              "of fill: 0 keeps the pattern of A, k adds what comes of k entries already added"),
        field(&P::drop_tolerance, "drop_tolerance", between(0.0, 1.0),
              "above 0: fill by size instead of level (ILUT, ICT): what is smaller than this times "
              "the typical entry of its row is dropped"),
        field(&P::fill_factor, "fill_factor", above(0.0),
              "with drop_tolerance: most entries of a row of a factor over the mean row of A"),
        field(&P::complete_below, "complete_below", at_least(0.0),
              "with drop_tolerance: nothing is dropped where complete factors have at most so many "
              "times the entries of A"),
        field(&P::block, "block", between(0, 64),
              "unknowns of a node: above 1, blocks of so many rows and columns are kept whole and "
              "take the part of entries; 0 finds nodes, rows that follow each other with the same "
              "pattern")};
  }
};

/// How the factors are stored, and how systems with them are solved.
struct FactorParams {
  StoredReal values = StoredReal::f64;
  TriangularSolves triangular = TriangularSolves::automatic;
  int sweeps = 5;
  int corrections = 1;
  int part = 1024;

  void put_into(FactorRecipe& recipe) const {
    recipe.values = real(values);
    recipe.solves = triangular;
    recipe.sweeps = sweeps;
    recipe.corrections = corrections;
    recipe.part = part;
  }

  static constexpr auto schema() {
    using P = FactorParams;
    return std::tuple{
        field(&P::values, "values", "type of the stored factors; sums are fp64"),
        field(&P::triangular, "triangular",
              "exact: level by level; isai: products with sparse approximate inverses of the "
              "factors; sweeps: that many Jacobi sweeps; parts: exactly within parts of rows, "
              "without what couples them; host: exact, on the host, and the vectors travel; auto: "
              "exact on the host, on a device what suits the number of levels"),
        field(&P::sweeps, "sweeps", between(1, 1000), "with triangular: sweeps; how many"),
        field(&P::corrections, "corrections", between(0, 20),
              "with triangular: isai; y += W (b - L y) so many times after y = W b, W the "
              "approximate inverse"),
        field(&P::part, "part", between(32, 4096), "with triangular: parts; rows of a part")};
  }
};

}  // namespace tcsolve
