// SPDX-License-Identifier: Apache-2.0
#include "tests/support/preconditioners.hpp"

#include "neumann/neumann.hpp"

namespace tcsolve::test {

void add_example(PreconditionerRegistry& r) {
  r.add<NeumannFactory>("neumann", "M = (I + G + ..) D^-1, G = I - D^-1 A");
}

SolverRegistries const& tested_registries() {
  static SolverRegistries const* const registries = [] {
    auto* const all = new SolverRegistries;
    add_example(all->preconditioners);
    return all;
  }();
  return *registries;
}

}  // namespace tcsolve::test
