// SPDX-License-Identifier: Apache-2.0
/// A typed block `{type: gmres, restart: 50}` as a member of a Params struct.
#pragma once

#include <memory>
#include <string>
#include <utility>

namespace tcsolve {

struct ConfigNode;
class RegistryBase;

/// `type` picks an entry of a registry and the other keys are that entry's Params. Reading a config
/// checks the whole block, however deeply nested, and stores it here; the owner builds it later
/// with `make<Product>(block)` or `registry.make(block)` (registry.hpp). Empty when the key was not
/// given and there is no default. The registry it was read with must outlive it.
class Block {
 public:
  Block() = default;
  /// The block `{type: name}`, e.g. as the default of a member: `Block preconditioner{"jacobi"};`
  explicit Block(std::string const& type);
  /// A block that was read: `registry` is where its type was found.
  Block(std::shared_ptr<ConfigNode const> node, RegistryBase const* registry)
      : node_(std::move(node)), registry_(registry) {}

  explicit operator bool() const noexcept { return node_ != nullptr; }
  /// The map with its `type`. The block must not be empty.
  ConfigNode const& node() const { return *node_; }
  /// Null until the block has been read from a config.
  RegistryBase const* registry() const noexcept { return registry_; }
  /// The value of `type`, "" when empty.
  std::string type() const;

 private:
  std::shared_ptr<ConfigNode const> node_;
  RegistryBase const* registry_ = nullptr;
};

}  // namespace tcsolve
