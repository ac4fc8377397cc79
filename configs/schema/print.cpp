// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/configs/schema/print.hpp>

namespace tcsolve::detail {

ConfigNode block_node(Block const& block) {
  return block.registry() ? block.registry()->effective(block) : block.node();
}

}  // namespace tcsolve::detail
