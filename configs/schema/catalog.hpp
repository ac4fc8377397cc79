// SPDX-License-Identifier: Apache-2.0
/// The part of a registry that reading and explaining configs needs, whatever the registry makes.
#pragma once

#include <tcsolve/configs/schema/block.hpp>
#include <tcsolve/configs/schema/diagnostics.hpp>
#include <tcsolve/configs/schema/node.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tcsolve {

class Catalog;

/// One row of a table of keys.
struct KeyDoc {
  std::string key;            ///< dotted where blocks nest: "history.every"
  std::string type;           ///< "integer", "number", "text", "name", ...
  std::string default_value;  ///< "required" when there is none, "" when the key may stay unset
  std::string range;          ///< "[1, 1000]", or the names of an enum
  std::string doc;
};

/// A list of named entries of one kind ("solver", "preconditioner", ...).
class RegistryBase {
 public:
  struct Entry {
    std::string name, doc;
  };

  /// `type_key` is the key of a block that names the entry, e.g. `format` in `{format: csr}`.
  explicit RegistryBase(std::string kind, std::string type_key = "type")
      : kind_(std::move(kind)), type_key_(std::move(type_key)) {}
  RegistryBase(RegistryBase const&) = delete;  // blocks point here
  RegistryBase& operator=(RegistryBase const&) = delete;
  virtual ~RegistryBase() = default;

  std::string const& kind() const noexcept { return kind_; }
  std::string const& type_key() const noexcept { return type_key_; }
  std::vector<Entry> const& entries() const noexcept { return entries_; }
  std::vector<std::string> names() const;

  /// The entry of a block that names none, e.g. `{values: fp32}` of the registry of formats.
  void fall_back_to(std::string name) { fallback_ = std::move(name); }

  /// Reads a block `{type: ..., ...}` and the blocks in it, found through `catalog`. Reports every
  /// problem; the result is empty when there was one.
  Block read(ConfigNode const& node, Diagnostics& problems, Catalog const& catalog) const;

  /// The block with every key of its entry and the value in force. `block` was read here.
  ConfigNode effective(Block const& block) const;

  /// The keys of one entry. Throws ConfigError for an unknown name, listing the known ones.
  std::vector<KeyDoc> keys_of(std::string_view name) const;

 protected:
  /// How the Params of one entry are handled, whatever their type.
  struct ParamsOf {
    std::function<std::shared_ptr<void const>(ConfigNode const&, Diagnostics&, std::string const&,
                                              Catalog const&)>
        read;
    std::function<ConfigNode(void const*)> effective;
    std::function<std::vector<KeyDoc>()> keys;
  };

  /// Throws std::logic_error when the name is taken.
  void add_entry(std::string name, std::string doc, ParamsOf params);
  /// Throws std::logic_error when `block` was not read here.
  std::size_t entry_of(Block const& block) const;
  static void const* params_of(Block const& block) { return block.params_.get(); }

 private:
  /// Number of the entry called `name`, entries().size() when there is none.
  std::size_t find(std::string_view name) const;
  std::string unknown(std::string_view name) const;

  std::string kind_, type_key_, fallback_;
  std::vector<Entry> entries_;
  std::vector<ParamsOf> params_;
};

/// The registries that the blocks of a config may name, by kind. They must outlive it.
class Catalog {
 public:
  /// Throws std::logic_error when there is one of this kind already.
  Catalog& add(RegistryBase const& registry);
  /// Throws std::logic_error when there is none of this kind.
  RegistryBase const& at(std::string const& kind) const;
  std::map<std::string, RegistryBase const*> const& registries() const { return registries_; }

 private:
  std::map<std::string, RegistryBase const*> registries_;
};

}  // namespace tcsolve
