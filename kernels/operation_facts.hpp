// SPDX-License-Identifier: Apache-2.0
/// The facts that a fused operation declares for a program (solvers/loop/program.hpp) that runs it
/// among others. Every member is optional:
///
///     void const* gathered() const;  // the vector of which an element reads others' elements
///     Index columns() const;         // of its block of vectors; default 1
///     bool writes(void const* v) const;  // whether it may write v, the first element of a vector
///                                        // that others gather and that is in use; default yes
///     int sum_count() const;         // sums of this one; default V::sums
///     static constexpr bool only_sums = true;     // it writes nothing but its sums
///     int lanes(int teams, int threads) const;    // threads that share an element; default 1
///     T const** input();             // where a product keeps its x, which may be replaced
///     std::optional<DiagonalScaling> scaling() const;  // it makes y = D x and nothing else
///     std::span<std::byte const> table() const;   // small, and read for every element
///     static constexpr double cache_share = 4;  // a step with this operation may be one kernel while
///                                               // it touches at most so often what the cache holds;
///                                               // default 2, and no limit where it loads apart
///     static constexpr bool spread = true;  // its elements are not the rows of the loop: they are
///                                           // shared out evenly, and what an element writes may
///                                           // lie in the rows of another team
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include <tcsolve/core/types.hpp>
#include <tcsolve/kernels/diagonal.hpp>
#include <tcsolve/kernels/operation.hpp>

namespace tcsolve {

/// y = D x of adjacent entries.
struct DiagonalScaling {
  Diagonal<double> D;
  double const *x, *y;
};

/// The members of a fused operation, or their defaults.
template <class V>
struct OpFacts {
  static constexpr bool gathers = requires(V const& op) { op.gathered(); };
  static constexpr bool only_sums = requires { V::only_sums; };
  static constexpr bool spread = requires { V::spread; };
  static constexpr double cache_share = [] {
    if constexpr (requires { V::cache_share; })
      return double(V::cache_share);
    else
      return OpTraits<V>::loads_apart ? std::numeric_limits<double>::infinity() : 2.0;
  }();

  static void const* gathered(V const& op) {
    if constexpr (gathers)
      return op.gathered();
    else
      return nullptr;
  }
  static bool writes(V const& op, void const* v) {
    if constexpr (requires { op.writes(v); })
      return op.writes(v);
    else
      return true;
  }
  static Index columns(V const& op) {
    if constexpr (requires { op.columns(); })
      return op.columns();
    else
      return 1;
  }
  static int sum_count(V const& op) {
    if constexpr (requires { op.sum_count(); })
      return op.sum_count();
    else
      return OpTraits<V>::sums;
  }
  static int lanes(V const& op, int teams, int threads) {
    if constexpr (requires { op.lanes(teams, threads); })
      return op.lanes(teams, threads);
    else
      return 1;
  }
  /// Null where x may not be replaced, or is no vector of FP64.
  static double const** input(V& op) {
    if constexpr (requires(double const** slot) { slot = op.input(); })
      return op.input();
    else
      return nullptr;
  }
  static std::optional<DiagonalScaling> scaling(V const& op) {
    if constexpr (requires { op.scaling(); })
      return op.scaling();
    else
      return std::nullopt;
  }
  static std::span<std::byte const> table(V const& op) {
    if constexpr (requires { op.table(); })
      return op.table();
    else
      return {};
  }
};

/// Threads that share a row, each with up to four of its entries under way: enough to use all
/// threads of the team, no more than a row has entries. A power of two.
inline int lanes_for(std::int64_t rows, std::int64_t entries, int teams, int threads) {
  std::int64_t each = (rows + teams - 1) / teams;
  if (each < 1) each = 1;
  std::int64_t const length = rows > 0 ? entries / rows : 0;
  int lanes = 1;
  while (lanes < 32 && 4 * lanes < length) lanes *= 2;
  while (lanes < 32 && lanes < length && lanes * each < threads) lanes *= 2;
  return lanes;
}

}  // namespace tcsolve
