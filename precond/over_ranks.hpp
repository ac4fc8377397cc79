// SPDX-License-Identifier: Apache-2.0
/// Preconditioners of several ranks.
#pragma once

#include <tcsolve/precond/preconditioner.hpp>

namespace tcsolve {

/// What a factory is beside, whose M may be made of a System of one rank among several: of its rows
/// in its own columns, which System::matrix has, or by all ranks together (System::A is a
/// DistributedOperator). Others are what a rank has inside: schwarz with `parts: ranks`.
class OverRanks {
 public:
  virtual ~OverRanks() = default;
  /// False where what is inside M is not.
  virtual bool over_ranks() const { return true; }
};

inline bool over_ranks(PreconditionerFactory const& factory) {
  auto const* const able = dynamic_cast<OverRanks const*>(&factory);
  return factory.is_identity() || (able != nullptr && able->over_ranks());
}

/// Throws Unsupported, with the line that a config takes instead, where the factory `name` is not.
inline void require_over_ranks(PreconditionerFactory const& factory, std::string const& name,
                               int ranks) {
  if (ranks == 1 || over_ranks(factory)) return;
  std::string const remedy =
      name == "schwarz" ? "'parts: ranks' with it"
                        : cat("preconditioner: {type: schwarz, parts: ranks, inside: {type: ", name,
                              "}} (its other keys go inside as well)");
  throw Unsupported(
      cat("the preconditioner '", name, "' over ", ranks, " ranks; take ", remedy, ", or jacobi"));
}

}  // namespace tcsolve
