// SPDX-License-Identifier: Apache-2.0
/// Every config of the repository runs, and the tutorial does what it says.
#include "tests/cli/program.hpp"

#include <algorithm>

namespace tcsolve::cli {
namespace {

std::vector<std::string> configs() {
  std::vector<std::string> found;
  for (auto const& file : fs::directory_iterator(source_dir() / "configs"))
    if (file.path().extension() == ".yaml") found.push_back(file.path().stem());
  std::sort(found.begin(), found.end());
  return found;
}

class Example : public Program, public testing::WithParamInterface<std::string> {};

TEST_P(Example, Converges) {
  Outcome const o = tcsolve({source_dir() / "configs" / (GetParam() + ".yaml"), "--output", "out"});
  EXPECT_EQ(o.code, 0) << o.err << o.out;
  bool const minimises = GetParam().find("least-squares") != std::string::npos;
  EXPECT_EQ(result("out")["verdict"]["outcome"], minimises ? "least_squares" : "converged");
}

INSTANTIATE_TEST_SUITE_P(Configs, Example, testing::ValuesIn(configs()), [](auto const& param) {
  std::string name = param.param;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
});

/// The ```sh blocks of a page, one after another.
std::string shell_blocks(std::string const& page) {
  std::string script;
  for (std::size_t at = 0; (at = page.find("```sh\n", at)) != std::string::npos;) {
    at += 6;
    std::size_t const end = page.find("```", at);
    script += page.substr(at, end - at);
    at = end;
  }
  return script;
}

class Page : public Program, public testing::WithParamInterface<char const*> {};

TEST_P(Page, CommandsRunAsWritten) {
  std::string const page = read_text(source_dir() / "docs" / GetParam());
  std::string const script = shell_blocks(page);
  ASSERT_FALSE(script.empty());
  std::string const program = command({}).front();
  // The page's commands as written, with `tcsolve` on the path.
  fs::create_directory(folder_ / ".bin");
  fs::create_symlink(program, folder_ / ".bin/tcsolve");
  write_text(folder_ / ".script",
             "set -e\nexport PATH=" + (folder_ / ".bin").string() + ":$PATH\n" + script);
  Outcome const o = run({"bash", ".script"});
  EXPECT_EQ(o.code, 0) << o.out << o.err;
  EXPECT_NE(o.out.find("converged"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Docs, Page, testing::Values("01-first-solve.md", "05-which-solver.md"),
                         [](auto const& param) {
                           std::string const name = param.param;
                           return "page_" + name.substr(0, 2);
                         });

}  // namespace
}  // namespace tcsolve::cli
