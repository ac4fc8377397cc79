// SPDX-License-Identifier: Apache-2.0
/// The commands of the documents run as they stand.
#include "tests/cli/program.hpp"

namespace tcsolve::cli {
namespace {

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

class Document : public Program, public testing::WithParamInterface<char const*> {};

TEST_P(Document, ItsCommandsRun) {
  std::string const page = read_text(source_dir() / "docs" / (std::string(GetParam()) + ".md"));
  std::string const script = shell_blocks(page);
  ASSERT_FALSE(script.empty());
  std::string const program = command({}).front();
  // The page's commands as written, with `tcsolve` on the path. Open MPI wants to be told that
  // root, and more ranks than processors, are meant; without it a launcher starts one process.
#ifdef TCSOLVE_MPIEXEC
  std::string const launcher =
      "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
      "OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_base_warn_component_unused=0\n";
#else
  std::string const launcher = "mpirun() { shift 2; \"$@\"; }\n";
#endif
  fs::create_directory(folder_ / ".bin");
  fs::create_symlink(program, folder_ / ".bin/tcsolve");
  write_text(folder_ / ".script",
             "set -e\nexport PATH=" + (folder_ / ".bin").string() + ":$PATH\n" + launcher + script);
  Outcome const o = run({"bash", ".script"});
  EXPECT_EQ(o.code, 0) << o.out << o.err;
  EXPECT_NE(o.out.find("converged"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Docs, Document,
                         testing::Values("01-first-solve", "05-command-line", "06-pictures",
                                         "07-which-solver", "10-mixed-precision", "14-sweeps",
                                         "15-multigrid", "16-several-gpus",
                                         "17-sparse-right-hand-sides"),
                         [](auto const& param) {
                           std::string name = param.param;
                           for (char& c : name)
                             if (c == '-') c = '_';
                           return name;
                         });

}  // namespace
}  // namespace tcsolve::cli
