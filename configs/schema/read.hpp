// SPDX-License-Identifier: Apache-2.0
/// From a ConfigNode to a Params struct, by its schema. All problems are reported, not the first.
#pragma once

#include <tcsolve/configs/schema/catalog.hpp>
#include <tcsolve/configs/schema/diagnostics.hpp>
#include <tcsolve/configs/schema/field.hpp>
#include <tcsolve/configs/schema/node.hpp>

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace tcsolve {

/// Sets the members of `params` whose keys the map `node` has; the others keep their values. `what`
/// names the map in messages: "unknown key 'restrt' in solver 'gmres'; did you mean 'restart'?".
/// Reports unknown, duplicate and missing keys, wrong types and values outside their range, in this
/// map and all below it, and then, when there is none, the text returned by `params.check()`, if P
/// has one: "" or what is wrong with the values together. Blocks are found through `catalog`, which
/// must outlive `params`. True when nothing was reported; else some members may have been set.
/// Throws std::logic_error when a block_of() names a kind that `catalog` lacks.
template <HasSchema P>
bool read_params(ConfigNode const& node, P& params, Diagnostics& problems, std::string const& what,
                 Catalog const& catalog = {});

/// Throws std::logic_error when the schema of P names a key twice, uses one that is `reserved`, or
/// has a default outside its own range.
template <HasSchema P>
void check_schema(std::string const& reserved = "");

namespace detail {

/// A value being read: where it is, and what to call it.
struct Site {
  ConfigNode const& node;
  std::string const& key;
  Diagnostics& problems;
  Catalog const& catalog;
};

/// Returns the values of a map by key and finds the keys that no field of the schema has.
class MapReader {
 public:
  /// Reports a node that is not a map; has() is then false for all keys. `known` is a key that the
  /// caller has read already.
  MapReader(ConfigNode const& node, std::string what, Diagnostics& problems,
            std::vector<std::string> known);
  bool is_map() const noexcept { return is_map_; }
  /// The value of `key`, null when absent (reported by finish() when `needed`).
  ConfigNode const* take(std::string const& key, bool needed);
  /// Reports missing, unknown and duplicate keys.
  void finish();

 private:
  ConfigNode const& node_;
  std::string what_;
  Diagnostics& problems_;
  std::vector<std::string> known_, missing_;
  bool is_map_;
};

// Each reports a problem and returns false, or writes the value and returns true.
bool read_bool(Site const& site, bool& value);
bool read_text(Site const& site, bool may_be_empty, std::string& value);
bool read_name(Site const& site, std::vector<std::string> const& names, std::size_t& index);
bool read_list(Site const& site);
bool read_block(Site const& site, std::string const& kind, Block& value);
template <class T>
bool read_number(Site const& site, Interval<T> const& range, T& value);
extern template bool read_number(Site const&, Interval<int> const&, int&);
extern template bool read_number(Site const&, Interval<std::int64_t> const&, std::int64_t&);
extern template bool read_number(Site const&, Interval<std::uint64_t> const&, std::uint64_t&);
extern template bool read_number(Site const&, Interval<double> const&, double&);

template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <class T>
constexpr Interval<T> interval(Interval<T> const& range) {
  return range;
}
template <class T>
constexpr Interval<T> interval(Any any) {
  Interval<T> range;
  range.infinite = any.infinite;
  return range;
}

template <class E>
std::vector<std::string> names_of() {
  std::vector<std::string> all;
  for (auto const& [value, name] : names(E{})) all.emplace_back(name);
  return all;
}

template <class M, class C>
bool read_value(Site const& site, C const& constraint, M& value) {
  if constexpr (std::is_same_v<M, bool>) {
    return read_bool(site, value);
  } else if constexpr (std::is_same_v<M, std::string>) {
    return read_text(site, !std::is_same_v<C, NonEmpty>, value);
  } else if constexpr (NamedEnum<M>) {
    std::size_t index = 0;
    if (!read_name(site, names_of<M>(), index)) return false;
    value = names(M{})[index].first;
    return true;
  } else if constexpr (std::is_arithmetic_v<M>) {
    return read_number(site, interval<M>(constraint), value);
  } else if constexpr (std::is_same_v<M, Block>) {
    return read_block(site, constraint.kind, value);
  } else if constexpr (IsOptional<M>::value) {
    typename M::value_type inner{};
    if (!read_value(site, constraint, inner)) return false;
    value = std::move(inner);
    return true;
  } else if constexpr (IsVector<M>::value) {
    if (!read_list(site)) return false;
    M list;
    bool ok = true;
    for (std::size_t i = 0; i < site.node.items.size(); ++i) {
      std::string const key = site.key + "[" + std::to_string(i) + "]";
      typename M::value_type item{};
      ok &=
          read_value(Site{site.node.items[i], key, site.problems, site.catalog}, constraint, item);
      list.push_back(std::move(item));
    }
    if (ok) value = std::move(list);
    return ok;
  } else {
    static_assert(HasSchema<M>, "a member of a Params struct has one of the types in field.hpp");
    return read_params(site.node, value, site.problems, "'" + site.key + "'", site.catalog);
  }
}

template <class M, class C>
bool allowed(C const& constraint, M const& value) {
  if constexpr (IsOptional<M>::value) {
    return !value || allowed(constraint, *value);
  } else if constexpr (IsVector<M>::value) {
    for (auto const& item : value)
      if (!allowed(constraint, typename M::value_type(item))) return false;
    return true;
  } else if constexpr (std::is_same_v<M, std::string>) {
    return !std::is_same_v<C, NonEmpty> || !value.empty();
  } else if constexpr (std::is_arithmetic_v<M> && !std::is_same_v<M, bool>) {
    auto const range = interval<M>(constraint);
    if constexpr (std::is_same_v<M, double>) {
      if (std::isnan(value) || (std::isinf(value) && !range.infinite)) return false;
    }
    return range.contains(value);
  } else {
    return true;
  }
}

/// read_params() of a map in which `known` keys have been read by the caller.
template <HasSchema P>
bool read_map(ConfigNode const& node, P& params, Diagnostics& problems, std::string const& what,
              Catalog const& catalog, std::vector<std::string> known) {
  std::size_t const before = problems.size();
  MapReader map(node, what, problems, std::move(known));
  if (!map.is_map()) return false;
  for_each_field(params, [&]<class F, class M>(F const& field, M& value) {
    std::string const key = field.key;
    if (ConfigNode const* const given = map.take(key, field.needed)) {
      read_value(Site{*given, key, problems, catalog}, field.constraint, value);
    } else if constexpr (std::is_same_v<M, Block>) {
      if (value) value = catalog.at(field.constraint.kind).read(value.node(), problems, catalog);
    }
  });
  map.finish();
  if constexpr (requires { params.check(); }) {
    std::string const wrong = problems.size() == before ? params.check() : "";
    if (!wrong.empty()) problems.add(node.at, wrong);
  }
  return problems.size() == before;
}

/// Throws the std::logic_error of check_schema() when `key` is among `seen`, else adds it.
void check_key(std::vector<std::string>& seen, std::string const& key, bool default_allowed);

}  // namespace detail

template <HasSchema P>
bool read_params(ConfigNode const& node, P& params, Diagnostics& problems, std::string const& what,
                 Catalog const& catalog) {
  return detail::read_map(node, params, problems, what, catalog, {});
}

template <HasSchema P>
void check_schema(std::string const& reserved) {
  std::vector<std::string> seen;
  if (!reserved.empty()) seen.push_back(reserved);
  P const defaults{};
  for_each_field(defaults, [&]<class F, class M>(F const& field, M const& value) {
    detail::check_key(seen, field.key, field.needed || detail::allowed(field.constraint, value));
    if constexpr (HasSchema<M>) check_schema<M>();
  });
}

}  // namespace tcsolve
