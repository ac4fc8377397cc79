// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/configs/schema/number.hpp>
#include <tcsolve/configs/schema/yaml.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

namespace tcsolve {
namespace {

/// Text that YAML readers of every version take for text, without quotes.
bool is_plain_text(std::string const& text) {
  constexpr std::array reserved{"true", "false", "null", "yes", "no", "on", "off", "y", "n"};
  auto const letter = [](unsigned char c) { return std::isalpha(c) || c == '_' || c == '/'; };
  auto const later = [&](unsigned char c) {
    return letter(c) || std::isdigit(c) || c == '.' || c == '-';
  };
  if (text.empty() || !letter(static_cast<unsigned char>(text[0]))) return false;
  if (!std::all_of(text.begin(), text.end(), later)) return false;
  std::string small = text;
  for (char& c : small) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return std::find(reserved.begin(), reserved.end(), small) == reserved.end();
}

std::string in_quotes(std::string const& text) {
  constexpr char digits[] = "0123456789abcdef";
  std::string out = "\"";
  for (char const c : text) {
    auto const byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (byte < 0x20 || byte == 0x7F) {
      out += {'\\', 'x', digits[byte / 16], digits[byte % 16]};
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string scalar_text(ConfigNode const& node) {
  return !node.quoted || is_plain_text(node.scalar) ? node.scalar : in_quotes(node.scalar);
}

std::string key_text(std::string const& key) { return is_plain_text(key) ? key : in_quotes(key); }

void write(ConfigNode const& node, std::string const& indent, std::string& out) {
  for (ConfigNode::Entry const& entry : node.entries) {
    out += indent + key_text(entry.key) + ":";
    if (entry.value.kind == ConfigNode::Kind::map && !entry.value.entries.empty()) {
      out += "\n";
      write(entry.value, indent + "  ", out);
    } else {
      out += " " + to_yaml_inline(entry.value) + "\n";
    }
  }
}

nlohmann::ordered_json json_scalar(ConfigNode const& node) {
  if (node.quoted) return node.scalar;
  if (node.scalar == "true" || node.scalar == "false") return node.scalar == "true";
  if (std::int64_t i = 0; parse_number(node.scalar, i) == Parsed::ok) return i;
  if (std::uint64_t u = 0; parse_number(node.scalar, u) == Parsed::ok) return u;
  if (double d = 0; parse_number(node.scalar, d) == Parsed::ok && std::isfinite(d)) return d;
  return node.scalar;
}

nlohmann::ordered_json json(ConfigNode const& node) {
  switch (node.kind) {
    case ConfigNode::Kind::scalar: return json_scalar(node);
    case ConfigNode::Kind::sequence: {
      auto list = nlohmann::ordered_json::array();
      for (ConfigNode const& item : node.items) list.push_back(json(item));
      return list;
    }
    case ConfigNode::Kind::map: {
      auto map = nlohmann::ordered_json::object();
      for (ConfigNode::Entry const& entry : node.entries) map[entry.key] = json(entry.value);
      return map;
    }
    case ConfigNode::Kind::null: break;
  }
  return nullptr;
}

}  // namespace

std::string to_yaml_inline(ConfigNode const& node) {
  std::string out;
  switch (node.kind) {
    case ConfigNode::Kind::null: return "null";
    case ConfigNode::Kind::scalar: return scalar_text(node);
    case ConfigNode::Kind::sequence:
      for (ConfigNode const& item : node.items)
        out += (out.empty() ? "" : ", ") + to_yaml_inline(item);
      return "[" + out + "]";
    case ConfigNode::Kind::map:
      for (ConfigNode::Entry const& entry : node.entries)
        out += (out.empty() ? "" : ", ") + key_text(entry.key) + ": " + to_yaml_inline(entry.value);
      return "{" + out + "}";
  }
  return out;
}

std::string to_yaml(ConfigNode const& node) {
  if (node.kind != ConfigNode::Kind::map || node.entries.empty())
    return to_yaml_inline(node) + "\n";
  std::string out;
  write(node, "", out);
  return out;
}

std::string to_json(ConfigNode const& node, int indent) {
  return json(node).dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace tcsolve
