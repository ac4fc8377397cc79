// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/configs/schema/node.hpp>

#include <tcsolve/configs/schema/block.hpp>
#include <tcsolve/configs/schema/catalog.hpp>
#include <tcsolve/core/error.hpp>

#include <utility>

namespace tcsolve {

std::string Position::text() const {
  std::string const& name = source ? *source : "default";
  return line > 0 ? cat(name, ":", line, ":", column) : name;
}

ConfigNode const* ConfigNode::find(std::string_view key) const {
  for (Entry const& entry : entries)
    if (entry.key == key) return &entry.value;
  return nullptr;
}

ConfigNode* ConfigNode::find(std::string_view key) {
  return const_cast<ConfigNode*>(std::as_const(*this).find(key));
}

ConfigNode ConfigNode::map_of(std::string const& key, std::string const& text) {
  ConfigNode node;
  node.kind = Kind::map;
  node.entries.push_back({key, {}, of_plain(text)});
  return node;
}

ConfigNode ConfigNode::of_text(std::string text) {
  ConfigNode node = of_plain(std::move(text));
  node.quoted = true;
  return node;
}

ConfigNode ConfigNode::of_plain(std::string plain) {
  ConfigNode node;
  node.kind = Kind::scalar;
  node.scalar = std::move(plain);
  return node;
}

Block::Block(std::string const& type, std::string const& key)
    : node_(std::make_shared<ConfigNode const>(ConfigNode::map_of(key, type))) {}

Block::Block(std::string const& type, ConfigNode params) : Block(type) {
  ConfigNode node = *node_;
  for (ConfigNode::Entry& entry : params.entries) node.entries.push_back(std::move(entry));
  node_ = std::make_shared<ConfigNode const>(std::move(node));
}

std::string Block::type() const {
  if (registry_) return registry_->entries()[entry_].name;
  return node_ ? node_->entries.front().value.scalar : "";  // as the constructor made it
}

}  // namespace tcsolve
