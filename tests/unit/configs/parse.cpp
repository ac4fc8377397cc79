// SPDX-License-Identifier: Apache-2.0
// YAML text to a tree: positions, what is refused and where, bombs.
#include <tcsolve/configs/schema/yaml.hpp>
#include <tcsolve/core/error.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "tests/support/files.hpp"

namespace tcsolve {
namespace {

std::string parse_error(std::string const& text) {
  try {
    parse_yaml(text, "my.yaml");
  } catch (ConfigError const& e) { return e.what(); }
  return "accepted";
}

TEST(ConfigParse, KeepsKindsAndPositions) {
  ConfigNode const root = parse_yaml("a: 1\nb: {c: \"2\",  d: [x, ~]}\n", "f");
  ASSERT_EQ(root.kind, ConfigNode::Kind::map);
  EXPECT_EQ(root.entries[1].at.text(), "f:2:1");
  EXPECT_EQ(root.find("a")->at.text(), "f:1:4");
  EXPECT_FALSE(root.find("a")->quoted);
  ConfigNode const& b = *root.find("b");
  EXPECT_EQ(b.entries[1].at.text(), "f:2:14");
  EXPECT_TRUE(b.find("c")->quoted);
  EXPECT_EQ(b.find("d")->items[0].at.text(), "f:2:18");
  EXPECT_EQ(b.find("d")->items[1].kind, ConfigNode::Kind::null);
  EXPECT_EQ(b.find("e"), nullptr);
}

TEST(ConfigParse, AnEmptyDocumentIsNull) {
  for (char const* text : {"", "\n\n", "# only a comment\n"}) {
    ConfigNode const root = parse_yaml(text, "f");
    EXPECT_EQ(root.kind, ConfigNode::Kind::null);
    EXPECT_EQ(root.at.text(), "f:1:1");
  }
}

TEST(ConfigParse, SyntaxErrorsHaveAPosition) {
  EXPECT_EQ(parse_error("a: [1, 2\nb: 3\n"), "my.yaml:1:4: '[' of line 1 is not closed");
  EXPECT_TRUE(parse_error("a: 1\n b: 2\n").starts_with("my.yaml:2:3: YAML: "))
      << parse_error("a: 1\n b: 2\n");
  EXPECT_TRUE(parse_error("a: \"x").starts_with("my.yaml:1:"));
  EXPECT_TRUE(parse_error("a: }").starts_with("my.yaml:1:4: YAML: ")) << parse_error("a: }");
}

TEST(ConfigParse, RefusesWhatAConfigDoesNotNeed) {
  EXPECT_EQ(parse_error("a: 1\nb: &x 2\n"),
            "my.yaml:2:4: anchors (&x) are not accepted; write the value out");
  EXPECT_TRUE(parse_error("a: *x\n").starts_with("my.yaml:1:4: ")) << parse_error("a: *x\n");
  EXPECT_EQ(parse_error("a: !!str 1\n"),
            "my.yaml:1:4: tags (tag:yaml.org,2002:str) are not accepted");
  EXPECT_EQ(parse_error("a: 1\n---\nb: 2\n"),
            "my.yaml:2:1: a config is one document; remove this '---' and what follows");
  EXPECT_EQ(parse_error("{a: 1, [b]: 2}"),
            "my.yaml:1:8: a key is not plain text, or a bracket is not closed");
  EXPECT_EQ(parse_error("? {b: 1}\n: 2\n"),
            "my.yaml:1:3: a key is not plain text, or a bracket is not closed");
  EXPECT_EQ(parse_error("~: 2\n"), "my.yaml:1:1: a key is missing before ':'");
}

TEST(ConfigParse, RefusesBytesThatAreNotUtf8) {
  EXPECT_EQ(parse_error("a: 1\nb: \xff\n"), "my.yaml:2:4: this is not UTF-8 text");
  EXPECT_EQ(parse_error(std::string("a: \0 1", 6)), "my.yaml:1:4: this is not UTF-8 text");
  EXPECT_EQ(parse_error("a: \xc0\x80"), "my.yaml:1:4: this is not UTF-8 text");      // overlong
  EXPECT_EQ(parse_error("a: \xed\xa0\x80"), "my.yaml:1:4: this is not UTF-8 text");  // surrogate
  EXPECT_EQ(parse_error("a: \xc3"), "my.yaml:1:4: this is not UTF-8 text");          // cut short
  EXPECT_EQ(parse_error("a: \xc3\xa9 \xf0\x9f\x98\x80"), "accepted");
}

// yaml-cpp decodes two of the escapes to a byte that is no UTF-8.
TEST(ConfigParse, EveryEscapeIsDecodedToUtf8) {
  ConfigNode const root = parse_yaml(R"("\_k": "\N|\_|)"
                                     "\u00e9"
                                     R"(\_|\L|\P|\xe9|\u20ac|\U0001F600|\e")",
                                     "my.yaml");
  ASSERT_EQ(root.entries.size(), 1u);
  EXPECT_EQ(root.entries[0].key, "\u00a0k");
  EXPECT_EQ(root.entries[0].value.scalar,
            "\u0085|\u00a0|\u00e9\u00a0|\u2028|\u2029|\u00e9|\u20ac|\U0001F600|\x1b");
}

TEST(ConfigParse, DepthIsLimited) {
  auto const nested = [](std::size_t n) { return std::string(n, '[') + std::string(n, ']'); };
  EXPECT_EQ(parse_error(nested(64)), "accepted");
  EXPECT_EQ(parse_error(nested(65)), "my.yaml:1:65: nested deeper than 64 levels");
  for (char const* bomb : {"[", "{a: ", "? ", "- ", "{", "a: [", "[{", "- - ? "}) {
    std::string text;
    while (text.size() < 200000) text += bomb;
    EXPECT_NE(parse_error(text), "accepted") << bomb;
    EXPECT_TRUE(parse_error(text).starts_with("my.yaml:1:")) << bomb;
  }
}

TEST(ConfigParse, LengthIsLimited) {
  std::string const word(900'000, 'x');
  EXPECT_EQ(parse_yaml("a: " + word, "f").find("a")->scalar, word);
  EXPECT_EQ(
      parse_error("a: " + word + word),
      "my.yaml:1:1: a config is at most 1048576 bytes long, this is 1800003; a matrix is named "
      "by problem.matrix");
  EXPECT_LT(parse_error(word + ": [").size(), 200u);
}

TEST(ConfigParse, FilesThatCannotBeRead) {
  auto const error = [](std::string const& path) {
    try {
      load_yaml(path);
    } catch (ConfigError const& e) { return std::string(e.what()); }
    return std::string("accepted");
  };
  EXPECT_EQ(error("no/such/file.yaml"),
            "no/such/file.yaml: cannot be read: No such file or directory");
  test::TemporaryFolder const folder;
  std::string const directory = folder.path();
  EXPECT_EQ(error(directory), directory + ": cannot be read: Is a directory");
  EXPECT_TRUE(error("/dev/zero").starts_with("/dev/zero:1:1: a config is at most"))
      << error("/dev/zero");

  std::string const path = test::write_text(folder / "my.yaml", "a: 1\n");
  EXPECT_EQ(load_yaml(path).find("a")->at.text(), path + ":1:4");
}

TEST(ConfigSet, ReplacesAddsAndCreates) {
  ConfigNode root = parse_yaml("a: {b: 1}\nc:\n", "f");
  Diagnostics problems;
  apply_sets(root, std::vector<std::string>{"a.b=2", "a.b=3", "c.d.e=[1, x]", "f={g: h}", "i="},
             problems);
  EXPECT_EQ(problems.text(), "");
  EXPECT_EQ(to_yaml(root), "a:\n  b: 3\nc:\n  d:\n    e: [1, x]\nf:\n  g: h\ni: \"\"\n");
  EXPECT_EQ(root.find("a")->find("b")->at.text(), "--set a.b=3");
  EXPECT_EQ(root.find("f")->find("g")->at.text(), "--set f={g: h}");
}

TEST(ConfigSet, ReportsEveryMalformedArgument) {
  ConfigNode root = parse_yaml("a: 1\nl: [1]\n", "f");
  Diagnostics problems;
  apply_sets(root,
             std::vector<std::string>{"a", "=3", "a..b=1", "a.=1", ".a=1", "a.b=1", "l.0=1", "c=[",
                                      "d=*x"},
             problems);
  EXPECT_EQ(problems.size(), 9u);
  std::string const text = problems.text();
  EXPECT_NE(text.find("--set a: expected key.path=value, e.g. --set solver.restart=50\n"),
            std::string::npos);
  EXPECT_NE(text.find("--set a.b=1: 'b' is not inside a block: f:1:4 holds a value\n"),
            std::string::npos);
  EXPECT_NE(text.find("--set l.0=1: '0' is not inside a block: f:2:4 holds a value\n"),
            std::string::npos);
  EXPECT_NE(text.find("--set a.=1: a key is empty"), std::string::npos);
  EXPECT_NE(text.find("--set c=[: '[' is not closed"), std::string::npos) << text;
  EXPECT_EQ(to_yaml(root).substr(0, 12), "a: 1\nl: [1]\n");
}

TEST(ConfigSet, DepthIsLimited) {
  ConfigNode root;
  Diagnostics problems;
  std::string path = "a";
  for (int i = 0; i < 100000; ++i) path += ".a";
  apply_sets(root, std::vector{path + "=1"}, problems);
  EXPECT_EQ(problems.size(), 1u);
  EXPECT_LT(problems.text().size(), 200u);
}

}  // namespace
}  // namespace tcsolve
