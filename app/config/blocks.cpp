// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/config/blocks.hpp>

#include <tcsolve/configs/schema/catalog.hpp>
#include <tcsolve/configs/schema/yaml.hpp>

#include <algorithm>

namespace tcsolve {

std::string brief_block(Block const& block) {
  RegistryBase const& registry = *block.registry();
  std::vector<KeyDoc> const docs = registry.keys_of(block.type());
  ConfigNode node = registry.effective(block);
  std::erase_if(node.entries, [&](ConfigNode::Entry const& entry) {
    auto const doc = std::ranges::find(docs, entry.key, &KeyDoc::key);
    return doc != docs.end() && doc->default_value == to_yaml_inline(entry.value);
  });
  return to_yaml_inline(node);
}

std::string block_json(Block const& block) { return to_json(block.registry()->effective(block)); }

}  // namespace tcsolve
