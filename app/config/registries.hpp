// SPDX-License-Identifier: Apache-2.0
/// Everything that a config may name, in one place.
#pragma once

#include <tcsolve/api/registries.hpp>
#include <tcsolve/app/config/generator.hpp>

namespace tcsolve {

struct Registries : SolverRegistries {
  GeneratorRegistry generators{"generator"};

  Registries() {
    register_generators(generators);
    catalog.add(generators);
  }
};

}  // namespace tcsolve
