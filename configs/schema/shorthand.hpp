// SPDX-License-Identifier: Apache-2.0
/// A typed block by its name alone: `solver: cg` is `solver: {type: cg}`.
#pragma once

#include <tcsolve/configs/schema/catalog.hpp>

namespace tcsolve {

/// The block that a scalar names; a node that is no scalar as it is. Registries read both.
ConfigNode as_block(RegistryBase const& registry, ConfigNode const& node);

}  // namespace tcsolve
