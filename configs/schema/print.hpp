// SPDX-License-Identifier: Apache-2.0
/// From a Params struct to text: the values in force as YAML or JSON, and its table of keys.
#pragma once

#include <tcsolve/configs/schema/catalog.hpp>
#include <tcsolve/configs/schema/field.hpp>
#include <tcsolve/configs/schema/node.hpp>
#include <tcsolve/configs/schema/range.hpp>
#include <tcsolve/configs/schema/read.hpp>
#include <tcsolve/configs/schema/yaml.hpp>

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tcsolve {

/// Every key with the value in force; optional values and blocks that are unset are left out.
/// Reading the tree, or the text of to_yaml() of it, gives equal params.
template <HasSchema P>
ConfigNode to_node(P const& params);

template <HasSchema P>
std::string dump_yaml(P const& params) {
  return to_yaml(to_node(params));
}
template <HasSchema P>
std::string dump_json(P const& params) {
  return to_json(to_node(params));
}

/// The table of keys of P, nested ones dotted, in schema order. The defaults are those of `params`.
template <HasSchema P>
std::vector<KeyDoc> describe(P const& params = {});

namespace detail {

/// A block with the values in force, or as given when it has not been read yet.
ConfigNode block_node(Block const& block);

template <class M>
ConfigNode value_node(M const& value) {
  if constexpr (std::is_same_v<M, bool>) {
    return ConfigNode::of_plain(value ? "true" : "false");
  } else if constexpr (std::is_same_v<M, std::string>) {
    return ConfigNode::of_text(value);
  } else if constexpr (NamedEnum<M>) {
    for (auto const& [known, name] : names(value))
      if (known == value) return ConfigNode::of_text(name);
    return ConfigNode::of_text("?");
  } else if constexpr (std::is_arithmetic_v<M>) {
    return ConfigNode::of_plain(number_text(value));
  } else if constexpr (std::is_same_v<M, Block>) {
    return value ? block_node(value) : ConfigNode{};
  } else if constexpr (IsOptional<M>::value) {
    return value ? value_node(*value) : ConfigNode{};
  } else if constexpr (IsVector<M>::value) {
    ConfigNode list;
    list.kind = ConfigNode::Kind::sequence;
    for (auto const& item : value) list.items.push_back(value_node(typename M::value_type(item)));
    return list;
  } else {
    return to_node(value);
  }
}

template <class M>
std::string type_name() {
  if constexpr (std::is_same_v<M, bool>)
    return "true or false";
  else if constexpr (std::is_same_v<M, std::string>)
    return "text";
  else if constexpr (NamedEnum<M>)
    return "name";
  else if constexpr (std::is_same_v<M, double>)
    return "number";
  else if constexpr (std::is_arithmetic_v<M>)
    return "integer";
  else if constexpr (IsOptional<M>::value)
    return type_name<typename M::value_type>();
  else if constexpr (IsVector<M>::value)
    return "list of " + type_name<typename M::value_type>();
  else
    return "block";
}

template <class M, class C>
std::string range_of(C const& constraint) {
  using E = ElementOf<M>;
  if constexpr (std::is_same_v<C, BlockOf>)
    return constraint.kind;
  else if constexpr (NamedEnum<E>)
    return joined(names_of<E>());
  else if constexpr (std::is_same_v<C, NonEmpty>)
    return "not empty";
  else if constexpr (std::is_arithmetic_v<E> && !std::is_same_v<E, bool>)
    return range_text(interval<E>(constraint));
  else
    return "";
}

template <HasSchema P>
void describe_into(P const& params, std::string const& prefix, std::vector<KeyDoc>& rows) {
  for_each_field(params, [&]<class F, class M>(F const& field, M const& value) {
    std::string const key = prefix + field.key;
    KeyDoc row{key, type_name<M>(), "", range_of<M>(field.constraint), field.doc};
    if constexpr (HasSchema<M>) {
      rows.push_back(std::move(row));
      describe_into(value, key + ".", rows);
    } else {
      bool unset = false;
      if constexpr (std::is_same_v<M, Block>) unset = !value;
      if constexpr (IsOptional<M>::value) unset = !value.has_value();
      row.default_value = field.needed ? "required"
                          : unset      ? ""
                                       : to_yaml_inline(value_node(value));
      rows.push_back(std::move(row));
    }
  });
}

}  // namespace detail

template <HasSchema P>
ConfigNode to_node(P const& params) {
  ConfigNode map;
  map.kind = ConfigNode::Kind::map;
  for_each_field(params, [&](auto const& field, auto const& value) {
    ConfigNode node = detail::value_node(value);
    if (node.kind != ConfigNode::Kind::null)
      map.entries.push_back({field.key, {}, std::move(node)});
  });
  return map;
}

template <class P>
requires requires { P::schema(); }
Block::Block(std::string const& type, P const& params) : Block(type, to_node(params)) {}

template <HasSchema P>
std::vector<KeyDoc> describe(P const& params) {
  std::vector<KeyDoc> rows;
  detail::describe_into(params, "", rows);
  return rows;
}

}  // namespace tcsolve
