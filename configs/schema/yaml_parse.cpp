// SPDX-License-Identifier: Apache-2.0
// The parser runs as a stream of events, so that its recursion ends where max_depth says and
// nothing of the library's own tree is built.
#include <tcsolve/configs/schema/yaml.hpp>
#include <tcsolve/core/error.hpp>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>

namespace tcsolve {
namespace {

constexpr std::size_t max_depth = 64;
constexpr std::size_t max_bytes = std::size_t{1} << 20;

using Locate = std::function<Position(int line, int column)>;

[[noreturn]] void fail(Position const& at, std::string const& text) {
  throw ConfigError(cat(at.text(), ": ", text));
}

/// Length of the UTF-8 character at text[i], 0 when there is none.
std::size_t utf8_length(std::string const& text, std::size_t i) {
  auto const byte = [&](std::size_t j) {
    return j < text.size() ? static_cast<unsigned char>(text[j]) : 0u;
  };
  unsigned const first = byte(i);
  std::size_t const n = first < 0x80                    ? 1
                        : first >= 0xC2 && first < 0xE0 ? 2
                        : first >= 0xE0 && first < 0xF0 ? 3
                        : first >= 0xF0 && first < 0xF5 ? 4
                                                        : 0;
  for (std::size_t j = 1; j < n; ++j)
    if ((byte(i + j) & 0xC0) != 0x80) return 0;
  // Overlong forms, surrogates and what lies beyond U+10FFFF are not characters.
  if ((first == 0xE0 && byte(i + 1) < 0xA0) || (first == 0xED && byte(i + 1) > 0x9F) ||
      (first == 0xF0 && byte(i + 1) < 0x90) || (first == 0xF4 && byte(i + 1) > 0x8F))
    return 0;
  return n;
}

/// A scalar as YAML 1.2 (section 5.7) means it. yaml-cpp turns the escapes \N and \_ (U+0085 and
/// U+00A0) into that one byte; since the document was UTF-8, no other stray byte can stand here.
std::string mended(std::string const& text) {
  std::string out;
  for (std::size_t i = 0, n = 0; i < text.size(); i += n) {
    n = utf8_length(text, i);
    if (n == 0) {
      out += '\xC2';
      n = 1;
    }
    out.append(text, i, n);
  }
  return out;
}

/// Builds the tree from the events of one document.
class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(Locate locate) : locate_(std::move(locate)) {}

  std::optional<ConfigNode> root;

  void OnDocumentStart(YAML::Mark const& mark) override {
    if (root) fail(at(mark), "a config is one document; remove this '---' and what follows");
  }
  void OnDocumentEnd() override {}

  void OnNull(YAML::Mark const& mark, YAML::anchor_t) override {
    if (wants_key()) fail(at(mark), "a key is missing before ':'");
    ConfigNode node = made(ConfigNode::Kind::null, mark);
    // yaml-cpp marks a value that is not there by what follows it; its key is the better place.
    if (!open_.empty() && open_.back().key) node.at = open_.back().key_at;
    complete(std::move(node));
  }
  void OnAlias(YAML::Mark const& mark, YAML::anchor_t) override {
    fail(at(mark), "aliases (*name) are not accepted; write the value out");
  }
  void OnAnchor(YAML::Mark const& mark, std::string const& name) override {
    fail(at(mark), cat("anchors (&", shown(name), ") are not accepted; write the value out"));
  }
  void OnScalar(YAML::Mark const& mark, std::string const& tag, YAML::anchor_t,
                std::string const& value) override {
    refuse_tag(mark, tag);
    if (wants_key()) {
      open_.back().key = mended(value);
      open_.back().key_at = at(mark);
      return;
    }
    ConfigNode node = made(ConfigNode::Kind::scalar, mark);
    node.scalar = mended(value);
    node.quoted = tag == "!";
    complete(std::move(node));
  }
  void OnSequenceStart(YAML::Mark const& mark, std::string const& tag, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    begin(ConfigNode::Kind::sequence, mark, tag);
  }
  void OnMapStart(YAML::Mark const& mark, std::string const& tag, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    begin(ConfigNode::Kind::map, mark, tag);
  }
  void OnSequenceEnd() override { end(); }
  void OnMapEnd() override { end(); }

  Position at(YAML::Mark const& mark) const {
    return locate_(mark.is_null() ? 1 : mark.line + 1, mark.is_null() ? 1 : mark.column + 1);
  }

 private:
  struct Open {
    ConfigNode node;
    std::optional<std::string> key;  // read, its value to come
    Position key_at;
  };

  bool wants_key() const {
    return !open_.empty() && open_.back().node.kind == ConfigNode::Kind::map && !open_.back().key;
  }
  ConfigNode made(ConfigNode::Kind kind, YAML::Mark const& mark) const {
    ConfigNode node;
    node.kind = kind;
    node.at = at(mark);
    return node;
  }
  // yaml-cpp marks an untagged scalar "?", or "!" when it is quoted.
  void refuse_tag(YAML::Mark const& mark, std::string const& tag) const {
    if (!tag.empty() && tag != "?" && tag != "!")
      fail(at(mark), cat("tags (", shown(tag), ") are not accepted"));
  }
  void begin(ConfigNode::Kind kind, YAML::Mark const& mark, std::string const& tag) {
    refuse_tag(mark, tag);
    if (wants_key()) fail(at(mark), "a key is not plain text, or a bracket is not closed");
    if (open_.size() >= max_depth) fail(at(mark), cat("nested deeper than ", max_depth, " levels"));
    open_.push_back({made(kind, mark), std::nullopt, {}});
  }
  void end() {
    ConfigNode node = std::move(open_.back().node);
    open_.pop_back();
    complete(std::move(node));
  }
  void complete(ConfigNode node) {
    if (open_.empty()) {
      root = std::move(node);
    } else if (Open& parent = open_.back(); parent.node.kind == ConfigNode::Kind::map) {
      parent.node.entries.push_back({*parent.key, parent.key_at, std::move(node)});
      parent.key.reset();
    } else {
      parent.node.items.push_back(std::move(node));
    }
  }

  Locate locate_;
  std::vector<Open> open_;
};

/// Refuses what no config holds before the parser sees it.
void prescan(std::string const& text, Locate const& locate) {
  if (text.size() > max_bytes)
    fail(locate(1, 1), cat("a config is at most ", max_bytes, " bytes long, this is ", text.size(),
                           "; a matrix is named by problem.matrix"));
  int line = 1, column = 1;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t const n = text[i] == '\0' ? 0 : utf8_length(text, i);
    if (n == 0) fail(locate(line, column), "this is not UTF-8 text");
    column = text[i] == '\n' ? 1 : column + static_cast<int>(n);
    if (text[i] == '\n') ++line;
    i += n;
  }
}

/// Throws a plainer message than the parser's, with its place, when a text that does not parse has
/// one of the usual mistakes in its first `lines` lines: a tab in the indentation, a bracket that
/// is not closed, an indentation that no earlier line has.
void diagnose(std::string const& text, int lines, Locate const& locate) {
  struct Bracket {
    char kind;
    int line, column;
  };
  std::vector<Bracket> open;
  std::vector<int> indents{0};
  int line = 1, column = 1, indent = 0;
  char quote = 0;
  bool indenting = true;
  for (std::size_t i = 0; i < text.size(); ++i, ++column) {
    char const c = text[i];
    if (c == '\n') {
      ++line;
      column = indent = 0;
      indenting = true;
      continue;
    }
    if (c == '\r') continue;
    if (quote) {
      if (c == '\\' && quote == '"') {
        ++i;
        ++column;
      } else if (c == quote) {
        quote = 0;
      }
      continue;
    }
    bool const first = column == 1 || text[i - 1] == ' ' || text[i - 1] == '\t';
    if (c == '#' && first) {
      while (i + 1 < text.size() && text[i + 1] != '\n') ++i;
      continue;
    }
    if (indenting && c == '\t' && open.empty() && line <= lines)
      fail(locate(line, column),
           cat("tabs are not allowed for indentation (line ", line, "); use spaces"));
    if (indenting && c == ' ') {
      ++indent;
      continue;
    }
    if (indenting && open.empty() && line <= lines) {
      int const expected = indents.back();
      while (indents.size() > 1 && indents.back() > indent) indents.pop_back();
      if (indents.back() < indent && indent < expected)
        fail(locate(line, column),
             cat("line ", line, " is indented by ", indent, ", expected ", expected));
      if (indents.back() < indent) indents.push_back(indent);
    }
    indenting = false;
    bool const starts = first || !open.empty();
    if ((c == '"' || c == '\'') && (first || text[i - 1] == '[' || text[i - 1] == '{' ||
                                    text[i - 1] == ',' || text[i - 1] == ':')) {
      quote = c;
    } else if ((c == '{' || c == '[') && starts) {
      open.push_back({c, line, column});
    } else if ((c == '}' || c == ']') && !open.empty()) {
      open.pop_back();
    }
  }
  if (!open.empty())
    fail(locate(open.back().line, open.back().column),
         cat("'", open.back().kind, "'",
             locate(1, 1).line > 0 ? cat(" of line ", open.back().line) : "", " is not closed"));
}

/// The indentation of the line that the parser stopped at, where it is the mistake.
std::string indentation(std::string const& text, int line) {
  std::istringstream in(text);
  std::string last, now;
  for (int i = 1; i <= line && std::getline(in, now); ++i) {
    if (i < line && now.find_first_not_of(" \r") != std::string::npos) last = now;
  }
  auto const spaces = [](std::string const& s) { return s.find_first_not_of(' '); };
  if (last.empty() || spaces(now) == std::string::npos || spaces(now) == spaces(last)) return "";
  return cat(" (line ", line, " is indented by ", spaces(now), ", the line before it by ",
             spaces(last), ")");
}

ConfigNode parse(std::string const& text, Locate const& locate) {
  prescan(text, locate);
  TreeBuilder builder(locate);
  try {
    std::istringstream in(text);
    YAML::Parser parser(in);
    while (parser.HandleNextDocument(builder)) {}
  } catch (Error const&) {
    diagnose(text, 0, locate);
    throw;
  } catch (YAML::Exception const& e) {
    int const line = e.mark.is_null() ? 1 : e.mark.line + 1;
    diagnose(text, line, locate);
    fail(builder.at(e.mark), cat("YAML: ", shown(e.msg), indentation(text, line)));
  } catch (std::exception const& e) { fail(locate(1, 1), cat("YAML: ", shown(e.what()))); }
  if (builder.root) return *std::move(builder.root);
  ConfigNode nothing;
  nothing.at = locate(1, 1);
  return nothing;
}

/// A value given on the command line. Throws ConfigError.
ConfigNode parse_argument(std::string const& text, Position const& at) {
  if (!text.empty()) return parse(text, [&](int, int) { return at; });
  ConfigNode empty = ConfigNode::of_text("");
  empty.at = at;
  return empty;
}

void apply_set(ConfigNode& root, std::string const& set, Position const& at,
               Diagnostics& problems) {
  std::size_t const equals = set.find('=');
  if (equals == std::string::npos || equals == 0)
    return problems.add(at, "expected key.path=value, e.g. --set solver.restart=50");

  std::vector<std::string> path;
  std::istringstream keys(set.substr(0, equals));
  for (std::string key; std::getline(keys, key, '.');) path.push_back(key);
  if (set[equals - 1] == '.') path.emplace_back();
  for (std::string const& key : path)
    if (key.empty()) return problems.add(at, "a key is empty; expected key.path=value");
  if (path.size() > max_depth)
    return problems.add(at, cat("nested deeper than ", max_depth, " levels"));

  ConfigNode* node = &root;
  for (std::string const& key : path) {
    if (node->kind == ConfigNode::Kind::null) {
      node->kind = ConfigNode::Kind::map;
      if (!node->at.source) node->at = at;
    }
    if (node->kind != ConfigNode::Kind::map)
      return problems.add(
          at, cat("'", shown(key), "' is not inside a block: ", node->at.text(), " holds a value"));
    if (ConfigNode* const there = node->find(key)) {
      node = there;
    } else {
      node->entries.push_back({key, at, {}});
      node = &node->entries.back().value;
    }
  }
  try {
    *node = parse_argument(set.substr(equals + 1), at);
  } catch (ConfigError const& e) {
    std::string const place = at.text() + ": ";
    std::string const text = e.what();
    problems.add(at, text.starts_with(place) ? text.substr(place.size()) : text);
  }
}

}  // namespace

ConfigNode parse_yaml(std::string const& text, std::string const& name) {
  auto const source = std::make_shared<std::string const>(name);
  return parse(text, [source](int line, int column) { return Position{source, line, column}; });
}

ConfigNode load_yaml(std::string const& path) {
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  std::string text;
  char buffer[4096];
  // One byte more than is accepted is enough to be refused: the file may be a matrix of any size.
  while (in && text.size() <= max_bytes) {
    in.read(buffer, sizeof buffer);
    text.append(buffer, static_cast<std::size_t>(in.gcount()));
  }
  if (!in.is_open() || in.bad())
    throw ConfigError(
        cat(path, ": cannot be read: ", errno ? std::strerror(errno) : "input error"));
  return parse_yaml(text, path);
}

void apply_sets(ConfigNode& root, std::span<std::string const> sets, Diagnostics& problems) {
  int rank = 0;
  for (std::string const& set : sets) {
    Position const at{std::make_shared<std::string const>("--set " + shown(set)), 0, ++rank};
    apply_set(root, set, at, problems);
  }
}

}  // namespace tcsolve
