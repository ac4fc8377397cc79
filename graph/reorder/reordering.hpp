// SPDX-License-Identifier: Apache-2.0
/// Reordering for locality: a matrix numbered so that a product finds its x in the caches.
///
///     Reordering const order = reordering(a, Reorder::rcm);
///     Csr<double> const there = permuted(a.view(), order.P);          // P A P^T
///     ... A and M made of `there` ...
///     solver.frame({.order = P});                                     // solvers/driver/solve_frame.hpp
///     solver.setup(ctx, A, M);
///     solver.solve(b, x);                                             // in the caller's numbers
#pragma once

#include <array>
#include <memory>
#include <string>
#include <utility>

#include <tcsolve/graph/reorder/locality.hpp>
#include <tcsolve/graph/reorder/permutation.hpp>

namespace tcsolve {

enum class Reorder { none, rcm, metis, automatic, affinity };
constexpr auto names(Reorder) {
  return std::array{std::pair{Reorder::none, "none"}, std::pair{Reorder::rcm, "rcm"},
                    std::pair{Reorder::metis, "metis"}, std::pair{Reorder::affinity, "affinity"},
                    std::pair{Reorder::automatic, "auto"}};
}
constexpr char const* name(Reorder reorder) {
  for (auto const& [value, text] : names(Reorder{}))
    if (value == reorder) return text;
  return "?";
}

/// A numbering and what it does to the pattern.
struct Reordering {
  Reorder taken = Reorder::none;  ///< none, rcm, metis or affinity
  Permutation P;                  ///< the identity when none was taken; empty when none was tried
  Locality before, after;
  bool measured = true;  ///< before and after are known
};

/// A candidate is taken for the present order when a product would move a fifth fewer bytes:
/// candidate.cost() <= 0.8 present.cost().
bool pays(Locality const& candidate, Locality const& present);
/// False when no order can pay: even perfect locality would not satisfy pays().
bool could_pay(Locality const& present);

/// The order asked for, but `automatic`, of a matrix in the Context's space; rcm is computed there,
/// metis and affinity on the host. `moved` becomes P A P^T, in the Context's space too. Throws as
/// the one below, and ShapeError where the matrix is not there.
Reordering reordering(Context&, CsrView<double> const& a, Reorder reorder,
                      std::shared_ptr<CsrStorage<double>>& moved);

/// The order asked for, of a square host matrix; `automatic` by the measure alone. What weighs an
/// order's own cost, the format and the number of products is formats/choose/ordering.hpp.
///
///   rcm        reverse_cuthill_mckee (cuthill_mckee.hpp)
///   metis      partition_order (partition_order.hpp)
///   affinity   affinity_order (affinity.hpp), which serves products with many columns
///   automatic  starts from the order given; rcm, then metis where it is built, are tried as long
///   as
///              could_pay(), and each replaces the present order if it pays(). A function of the
///              pattern alone, and of whether this build has METIS.
///
/// Throws ShapeError unless A is square and on the host, for `none` and `automatic` as well;
/// NotBuilt when METIS is asked for and not there. Cost: that of the orders tried, and a measure of
/// locality for each, for which the pattern is renumbered (4 bytes an entry).
Reordering reordering(Pattern const& a, Reorder reorder);

/// "rcm: 30.6 -> 2.9 bytes of x an entry, bandwidth 110526 -> 6769".
std::string text(Reordering const&);

}  // namespace tcsolve
