// SPDX-License-Identifier: Apache-2.0
/// A typed block `{type: gmres, restart: 50}` as a member of a Params struct.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

namespace tcsolve {

struct ConfigNode;
class RegistryBase;

/// `type` picks an entry of a registry and the other keys are that entry's Params. Reading a config
/// checks the whole block, however deeply nested, and keeps its Params here; the owner builds it
/// later with `registry.make(block)` (registry.hpp). Empty when the key was not given and there is
/// no default. The registry it was read with must outlive it.
class Block {
 public:
  Block() = default;
  /// The block `{type: name}`, as the default of a member: `Block preconditioner{"jacobi"};`. It is
  /// found in its registry when a config is read. `key` is what that registry calls its type.
  explicit Block(std::string const& type, std::string const& key = "type");
  /// The same where C++ names an entry: `.solver = "cg"`.
  Block(char const* type) : Block(std::string(type)) {}
  /// An entry with its Params: `.solver = {"cg", CgParams{.stopping = {.rtol = 1e-10}}}`. Include
  /// configs/schema/print.hpp, which makes the tree.
  template <class P>
  requires requires { P::schema(); }
  Block(std::string const& type, P const& params);

  explicit operator bool() const noexcept { return node_ != nullptr; }
  /// The name of the entry, "" when empty.
  std::string type() const;
  /// The map as written, with its `type`. The block must not be empty.
  ConfigNode const& node() const { return *node_; }
  /// Null until the block has been read.
  RegistryBase const* registry() const noexcept { return registry_; }

 private:
  friend class RegistryBase;
  Block(std::string const& type, ConfigNode params);

  std::shared_ptr<ConfigNode const> node_;
  RegistryBase const* registry_ = nullptr;  // where `type` was found, as entry number entry_,
  std::size_t entry_ = 0;
  std::shared_ptr<void const> params_;  // whose Params these are
};

}  // namespace tcsolve
