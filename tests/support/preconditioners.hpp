// SPDX-License-Identifier: Apache-2.0
/// The list of preconditioners that tests walk: those of the library, and the worked example of
/// docs/adding-a-preconditioner.md.
#pragma once

#include <tcsolve/api/registries.hpp>

namespace tcsolve::test {

/// Its line.
void add_example(PreconditionerRegistry&);
SolverRegistries const& tested_registries();

}  // namespace tcsolve::test
