// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/configs/schema/catalog.hpp>

#include <tcsolve/configs/schema/shorthand.hpp>
#include <tcsolve/configs/schema/synonyms.hpp>
#include <tcsolve/core/error.hpp>

#include <stdexcept>
#include <utility>

namespace tcsolve {

std::vector<std::string> RegistryBase::names() const {
  std::vector<std::string> names;
  for (Entry const& entry : entries_) names.push_back(entry.name);
  return names;
}

std::size_t RegistryBase::find(std::string_view name) const {
  std::size_t i = 0;
  while (i < entries_.size() && entries_[i].name != name) ++i;
  return i;
}

std::string RegistryBase::unknown(std::string_view name) const {
  std::string const near = nearest(name, names());
  std::string const other = detail::replacement(name, names());
  return cat("unknown ", kind_, " '", shown(name), "'", other,
             near.empty() || !other.empty() ? "" : cat("; did you mean '", near, "'?"),
             "; known: ", joined(names()));
}

ConfigNode as_block(RegistryBase const& registry, ConfigNode const& node) {
  if (node.kind != ConfigNode::Kind::scalar) return node;
  ConfigNode block;
  block.kind = ConfigNode::Kind::map;
  block.at = node.at;
  block.entries.push_back({registry.type_key(), node.at, node});
  return block;
}

Block RegistryBase::read(ConfigNode const& node, Diagnostics& problems,
                         Catalog const& catalog) const {
  if (node.kind == ConfigNode::Kind::scalar) return read(as_block(*this, node), problems, catalog);
  if (node.kind != ConfigNode::Kind::map) {
    problems.add(node.at, cat("a ", kind_, " is a block: {", type_key_, ": ...}"));
    return {};
  }
  ConfigNode const* const type = node.find(type_key_);
  if (!type) {
    for (ConfigNode::Entry const& entry : node.entries) {
      if (entry.key.starts_with(type_key_ + ":")) {
        problems.add(entry.at, cat("put a space after '", type_key_, ":'"));
        return {};
      }
      if (entry.key == "type" || entry.key == "format" || entry.key == "name") {
        problems.add(entry.at,
                     cat("the ", kind_, " is named by '", type_key_, "', not '", entry.key, "'"));
        return {};
      }
    }
    if (!fallback_.empty()) {
      ConfigNode named = node, type_name = ConfigNode::of_plain(fallback_);
      type_name.at = node.at;  // of the block, not of a set
      named.entries.insert(named.entries.begin(), {type_key_, node.at, std::move(type_name)});
      return read(named, problems, catalog);
    }
    problems.add(node.at,
                 cat("this ", kind_, " has no '", type_key_, "'; known: ", joined(names())));
    return {};
  }
  if (type->kind != ConfigNode::Kind::scalar) {
    problems.add(type->at, cat("'", type_key_, "' is not a name; known: ", joined(names())));
    return {};
  }
  Block block;
  block.entry_ = find(type->scalar);
  if (block.entry_ == entries_.size()) {
    problems.add(type->at, unknown(type->scalar));
    return {};
  }
  std::string const what = cat(kind_, " '", type->scalar, "'");
  block.params_ = params_[block.entry_].read(node, problems, what, catalog);
  if (!block.params_) {
    bool const mixed = type->at.line == 0 && node.at.line > 0;
    if (mixed)
      problems.add(type->at, cat("the other keys of ", kind_,
                                 " are those of the file; to replace "
                                 "them all: --set '",
                                 kind_, "={", type_key_, ": ", type->scalar, "}'"));
    return {};
  }
  block.node_ = std::make_shared<ConfigNode const>(node);
  block.registry_ = this;
  return block;
}

ConfigNode RegistryBase::effective(Block const& block) const {
  ConfigNode node = ConfigNode::map_of(type_key_, block.type());
  ConfigNode params = params_[entry_of(block)].effective(block.params_.get());
  for (ConfigNode::Entry& entry : params.entries) node.entries.push_back(std::move(entry));
  return node;
}

std::vector<KeyDoc> RegistryBase::keys_of(std::string_view name) const {
  std::size_t const i = find(name);
  if (i == entries_.size()) throw ConfigError(unknown(name));
  return params_[i].keys();
}

void RegistryBase::add_entry(std::string name, std::string doc, ParamsOf params) {
  if (find(name) != entries_.size())
    throw std::logic_error(cat("a second ", kind_, " is called '", name, "'"));
  entries_.push_back({std::move(name), std::move(doc)});
  params_.push_back(std::move(params));
}

std::size_t RegistryBase::entry_of(Block const& block) const {
  if (block.registry_ != this)
    throw std::logic_error(cat("the block {type: ", block.type(), "} was not read as a ", kind_));
  return block.entry_;
}

Catalog& Catalog::add(RegistryBase const& registry) {
  if (!registries_.emplace(registry.kind(), &registry).second)
    throw std::logic_error(cat("a second registry is of the kind '", registry.kind(), "'"));
  return *this;
}

RegistryBase const& Catalog::at(std::string const& kind) const {
  auto const found = registries_.find(kind);
  if (found == registries_.end())
    throw std::logic_error(cat("no registry of the kind '", kind, "' is in the catalog"));
  return *found->second;
}

}  // namespace tcsolve
