// SPDX-License-Identifier: Apache-2.0
/// Blocks of a config as text.
#pragma once

#include <tcsolve/configs/schema/block.hpp>

#include <string>

namespace tcsolve {

/// On one line, with the keys that are not their defaults: "{type: ic, drop_tolerance: 0.01}". The
/// block has been read.
std::string brief_block(Block const&);

/// As JSON, with every key and the value in force.
std::string block_json(Block const&);

}  // namespace tcsolve
