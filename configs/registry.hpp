// SPDX-License-Identifier: Apache-2.0
/// Named makers of one kind of thing. A list of them is a function that can be read:
///
///     using SolverRegistry = Registry<Solver>;
///     void register_solvers(SolverRegistry& r) {
///       r.add<Cg>("cg", "conjugate gradients; A and M symmetric positive definite");
///       r.add<Gmres>("gmres", "restarted GMRES, right preconditioned; any square A");
///     }
///
/// What is made holds parameters only (a factory); whatever needs a matrix or a Context is a later
/// call on it.
#pragma once

#include <tcsolve/configs/schema/catalog.hpp>
#include <tcsolve/configs/schema/checked.hpp>
#include <tcsolve/configs/schema/print.hpp>
#include <tcsolve/configs/schema/read.hpp>

#include <concepts>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <typeindex>
#include <utility>
#include <vector>

namespace tcsolve {

/// Makes Products from blocks `{type: name, ...}`. `Args` are handed to each constructor after the
/// Params.
template <class Product, class... Args>
class Registry : public RegistryBase {
 public:
  using RegistryBase::RegistryBase;

  /// Registers S, made as S(S::Params, Args...). Throws std::logic_error when the name is taken or
  /// the schema of S::Params is not sound (check_schema; the type key is taken too).
  template <class S>
  requires std::derived_from<S, Product> && HasSchema<typename S::Params> &&
      std::constructible_from<S, typename S::Params, Args...>
          Registry& add(std::string name, std::string doc) {
    using P = typename S::Params;
    return add<P>(std::move(name), std::move(doc), [](P const& p, Args... args) {
      return std::make_unique<S>(p, std::forward<Args>(args)...);
    });
  }

  /// The same for a product that is made by make(P, Args...), whatever else that holds.
  template <HasSchema P, std::invocable<P const&, Args...> Make>
  Registry& add(std::string name, std::string doc, Make make) {
    check_schema<P>(type_key());
    ParamsOf params;
    params.read = [key = type_key()](ConfigNode const& node, Diagnostics& problems,
                                     std::string const& what,
                                     Catalog const& catalog) -> std::shared_ptr<void const> {
      auto p = std::make_shared<P>();
      if (!detail::read_map(node, *p, problems, what, catalog, {key})) return nullptr;
      return p;
    };
    params.effective = [](void const* p) { return to_node(*static_cast<P const*>(p)); };
    params.keys = [] { return describe<P>(); };
    add_entry(std::move(name), std::move(doc), std::move(params));
    types_.emplace_back(typeid(P));
    makers_.push_back(
        [make = std::move(make)](void const* p, Args... args) -> std::unique_ptr<Product> {
          return make(*static_cast<P const*>(p), std::forward<Args>(args)...);
        });
    return *this;
  }

  /// The product of a block that was read by this registry. Throws std::logic_error for any other
  /// block, and what the constructor throws.
  std::unique_ptr<Product> make(Block const& block, Args... args) const {
    return makers_[entry_of(block)](params_of(block), std::forward<Args>(args)...);
  }

  /// The product of an entry with Params of C++, checked and taken as they are: nothing is read.
  /// Throws ConfigError for an unknown name and for values out of range, std::logic_error where the
  /// entry's Params are of another type.
  template <HasSchema P>
  std::unique_ptr<Product> make(std::string_view name, P const& params, Args... args) const {
    std::size_t i = 0;
    while (i < entries().size() && entries()[i].name != name) ++i;
    if (i == entries().size())
      throw ConfigError(cat("unknown ", kind(), " '", name, "'; known: ", joined(names())));
    if (types_[i] != typeid(P))
      throw std::logic_error(cat("the ", kind(), " '", name, "' has other parameters"));
    return makers_[i](&checked(params, cat(kind(), " '", name, "'")), std::forward<Args>(args)...);
  }

  /// Reads the block and makes its product; null when problems were reported.
  std::unique_ptr<Product> make(ConfigNode const& node, Diagnostics& problems,
                                Catalog const& catalog, Args... args) const {
    Block const block = read(node, problems, catalog);
    return block ? make(block, std::forward<Args>(args)...) : nullptr;
  }

 private:
  std::vector<std::type_index> types_;  // of the Params of each entry
  std::vector<std::function<std::unique_ptr<Product>(void const*, Args...)>> makers_;
};

/// The product of a block by the registry that read it, of type R: for owners that know the type of
/// the registry and not the object. Throws std::logic_error when the block is empty, unread or of
/// another registry type.
template <class R, class... Args>
auto make(Block const& block, Args&&... args) {
  auto const* const registry = dynamic_cast<R const*>(block.registry());
  if (!registry)
    throw std::logic_error("the block {type: " + block.type() +
                           "} was not read by such a registry");
  return registry->make(block, std::forward<Args>(args)...);
}

}  // namespace tcsolve
