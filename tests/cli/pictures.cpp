// SPDX-License-Identifier: Apache-2.0
/// convergence.svg and report.html.
#include "tests/cli/program.hpp"

#include <tcsolve/formats/format.hpp>

#include <algorithm>
#include <cstdlib>
#include <set>

namespace tcsolve::cli {
namespace {

class Pictures : public Program {
 protected:
  void SetUp() override {
    if (run({"bash", "-c", "command -v gnuplot"}).code != 0)
      GTEST_SKIP() << "no gnuplot here (Debian: gnuplot-nox)";
  }
  std::string file(std::string const& name) const {
    return read_text(folder_ / "tcsolve-out" / name);
  }
  bool exists(std::string const& name) const { return fs::exists(folder_ / "tcsolve-out" / name); }
  /// small_config with both pictures, where `path` is the PATH.
  Outcome on_path(std::string const& path, std::string const& more = "") {
    write_text(folder_ / "my.yaml",
               std::string(small_config) + "output: {plot: true, report: true}\n");
    return run(
        {"bash", "-c", "PATH=" + path + " exec \"$0\" my.yaml " + more, command({}).front()});
  }
};

TEST_F(Pictures, ThePlotShowsEachResidual) {
  Outcome const o = solve(small_config, {"--set", "output.plot=true"});
  ASSERT_EQ(o.code, 0) << o.err;
  std::string const svg = file("convergence.svg");
  EXPECT_TRUE(has(svg, "</svg>"));
  for (char const* words : {"cg with jacobi: converged", "tolerance", "true residual", "iteration"})
    EXPECT_TRUE(has(svg, words)) << words;
  EXPECT_EQ(result()["files"]["plot"], "convergence.svg");
  EXPECT_TRUE(result()["files"]["report"].is_null());
  EXPECT_FALSE(exists("report.html"));
  // Not to be taken for those of the next run.
  ASSERT_EQ(solve(small_config).code, 0);
  EXPECT_FALSE(exists("convergence.svg"));
  EXPECT_TRUE(result()["files"]["plot"].is_null());
}

TEST_F(Pictures, ALongHistoryIsThinnedAndNoneIsNoFault) {
  solve(
      "problem: {generator: {type: poisson7, n: 24, coefficient: random}, rhs: random}\n"
      "solver: {type: gmres, restart: 1, rtol: 1.0e-13, max_iters: 9000, stagnation_window: 0}\n"
      "output: {plot: true, bandwidth: false}\n");
  EXPECT_GT(result()["iterations"], 2000);
  EXPECT_TRUE(has(file("convergence.svg"), "</svg>"));
  EXPECT_LT(file("convergence.svg").size(), 120'000u) << "44 kB for 913 points";
  std::string zeros;
  for (int i = 0; i < 512; ++i) zeros += "0\n";
  write_text(folder_ / "zero.txt", zeros);
  Outcome const o = solve(small_config, {"--set", "problem.rhs=zero.txt", "--set",
                                         "output={plot: true, report: true}"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(has(file("convergence.svg"), "no residual above zero"));
  EXPECT_TRUE(exists("report.html"));
}

TEST_F(Pictures, TheReportHoldsTheRun) {
  Outcome const o = solve(small_config, {"--repeat", "2", "--set", "output.report=true"});
  ASSERT_EQ(o.code, 0) << o.err;
  std::string const page = file("report.html");
  for (char const* words :
       {"<b>converged</b> (exit code 0)", "cg: converged after ", "Residual", "Formats considered",
        "Entries of the matrix", "Repeated solves", "<td>solve</td>", "<td>true relative</td>",
        "  type: poisson7", "512 x 512", "</svg>", "</html>"})
    EXPECT_TRUE(has(page, words)) << words;
  for (std::string const& format : formats().names())
    EXPECT_TRUE(has(page, format + "</")) << format;
  EXPECT_EQ(result()["files"]["report"], "report.html");
  EXPECT_FALSE(exists("convergence.svg")) << "it is in the page";
  // No part of it comes from elsewhere.
  EXPECT_TRUE(has(page, "default-src 'none'"));
  EXPECT_FALSE(has(page, "<script"));
  EXPECT_FALSE(has(page, "src=\""));
  for (std::size_t at = 0; (at = page.find("href=", at)) != std::string::npos; ++at)
    EXPECT_TRUE(page.substr(at).starts_with("href='#") || page.substr(at).starts_with("href=\"#"))
        << page.substr(at, 40);
}

/// Every key of result.json is on the page, but its schema; what is null may be left out.
TEST_F(Pictures, TheReportHoldsEveryKey) {
  std::string const on_host = "backend: host\n";
  std::set<std::string> seen;
  auto const look = [&] {
    auto const r = result();
    std::string const page = file("report.html");
    for (auto const& [key, value] : r.items()) {
      if (key == "schema" || value.is_null() || value == nlohmann::json::array()) continue;
      seen.insert(key);
      EXPECT_TRUE(has(page, "data-key=\"" + key + "\"")) << key;
      if (!value.is_object() || key == "config" || key == "verdict" || key == "taken" ||
          key == "profile" || key == "files" || key == "reordering")
        continue;
      for (auto const& [name, entry] : value.items()) {
        if (entry.is_structured()) continue;
        if (key == "seconds" && !(entry.get<double>() > 0)) continue;
        std::string words = name;
        std::replace(words.begin(), words.end(), '_', ' ');
        EXPECT_TRUE(has(page, "<td>" + words + "</td>")) << key << "." << name;
      }
    }
    return page;
  };
  write_beam(folder_ / "beam.mtx");
  Outcome o = solve(
      "problem: {matrix: beam.mtx}\n"
      "operator: {format: csr, reorder: rcm}\nsolver: {type: auto}\n"
      "preconditioner: {type: auto}\noutput: {report: true}\n" +
          on_host,
      {"--repeat", "1", "--profile"});
  ASSERT_EQ(o.code, 0) << o.err;
  std::string page = look();
  for (char const* words : {"What auto tried", "cg with jacobi</td>",
                            "cg with ic {drop_tolerance: 0.01, complete_below: 5}: converged",
                            "MiB", " ms</td>", "prefers-color-scheme: dark", "--profile"})
    EXPECT_TRUE(has(page, words)) << words;
  // The plot of a solve in which it took another method shows where.
  ASSERT_EQ(solve("problem: {matrix: beam.mtx}\nsolver: {type: auto}\n"
                  "preconditioner: {type: auto}\noutput: {report: true}\n" +
                  on_host)
                .code,
            0);
  EXPECT_TRUE(has(look(), "another method"));
  o = solve(
      "problem: {generator: {type: poisson7, n: 6}, rhs: {columns: 3}}\n"
      "operator: {values: fp16}\n"
      "solver: {type: cg}\npreconditioner: {type: jacobi}\noutput: {report: true}\n" +
      on_host + "threads: 1\n");
  ASSERT_EQ(o.code, 0) << o.err;
  page = look();
  EXPECT_TRUE(has(page, "Right-hand sides")) << page;
  o = solve(
      "problem: {batch: {generator: {type: convdiff, n: 4}, count: 5}}\n"
      "solver: {type: bicgstab}\npreconditioner: {type: jacobi}\noutput: {report: true}\n" +
      on_host);
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(has(look(), "outcomes: converged"));
  o = solve(
      "problem: {generator: {type: poisson7, n: 6}}\nprecision: auto\n"
      "solver: {type: cg}\npreconditioner: {type: jacobi}\noutput: {report: true}\n" +
      on_host);
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(has(look(), "auto took fp32: while the steps"));
  o = solve(
      "problem: {generator: {type: poisson7, n: 6}}\nranks: {count: 2}\n"
      "solver: {type: cg}\npreconditioner: {type: jacobi}\noutput: {report: true}\n" +
      on_host);
  ASSERT_EQ(o.code, 0) << o.err;
  look();
  o = solve(
      "problem: {generator: {type: poisson7, n: 9}}\n"
      "solver: {type: cg}\npreconditioner: {type: amg}\noutput: {report: true}\n" +
      on_host);
  ASSERT_EQ(o.code, 0) << o.err;
  page = look();
  for (char const* words : {"entries of P", ">729<", "near-nullspace</td>"})
    EXPECT_TRUE(has(page, words)) << words;
  auto const r = result();
  for (auto const& [key, value] : r.items())
    EXPECT_TRUE(seen.contains(key) || key == "schema" || key == "warnings" || key == "driver" ||
                key == "clocks_mhz" || key == "joules")
        << key << " was never there to be looked at";
}

/// The heading is the name of the matrix; the way to it stands among the facts.
TEST_F(Pictures, TheHeadingIsTheName) {
  fs::create_directories(folder_ / "a" / "b");
  write_text(folder_ / "a/b/m.mtx",
             "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n");
  ASSERT_EQ(tcsolve({"a/b/m.mtx", "--set", "output.report=true"}).code, 0);
  EXPECT_TRUE(has(file("report.html"), "<h1>m.mtx</h1>"));
  EXPECT_TRUE(has(file("report.html"), "<title>tcsolve: m.mtx</title>"));
}

/// The pictures of the document are those of its commands.
TEST_F(Pictures, TheDocumentsPicturesAreMadeByAScript) {
  fs::path const scripts = source_dir() / "scripts" / "doc-pictures";
  Outcome const o =
      run({"env", "TCSOLVE_PROGRAM=" + command({}).front(), scripts.string(), "made"});
  ASSERT_EQ(o.code, 0) << o.out << o.err;
  auto const title = [](std::string const& svg) {
    std::size_t const at = svg.find("converged");
    EXPECT_NE(at, std::string::npos);
    return svg.substr(svg.rfind('>', at) + 1, at - svg.rfind('>', at));
  };
  fs::path const kept = source_dir() / "docs" / "pictures";
  EXPECT_EQ(title(read_text(folder_ / "made/convergence.svg")),
            title(read_text(kept / "convergence.svg")))
      << "scripts/doc-pictures makes them anew";
  EXPECT_EQ(read_text(folder_ / "made/entries.svg"), read_text(kept / "entries.svg"));
}

TEST_F(Pictures, WhatAUserWritesIsText) {
  std::string const name = "<img src=x onerror=alert(1)>&'\".mtx";
  write_text(folder_ / name, "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n");
  Outcome const o = tcsolve(
      {name, "--set", "output.report=true", "--set", "output.directory=\"</pre><script>\""});
  ASSERT_EQ(o.code, 0) << o.err;
  std::string const page = read_text(folder_ / "</pre><script>" / "report.html");
  EXPECT_TRUE(has(page, "&lt;img src=x onerror=alert(1)&gt;&amp;&#39;&quot;.mtx"));
  EXPECT_TRUE(has(page, "&lt;/pre&gt;&lt;script&gt;"));
  EXPECT_FALSE(has(page, "<img"));
  EXPECT_FALSE(has(page, "<script"));
}

TEST_F(Pictures, WithoutGnuplotTheRunIsRefused) {
  Outcome o = on_path("/none");
  EXPECT_EQ(o.code, 1);
  EXPECT_TRUE(has(o.err, "'output.plot'")) << o.err;
  EXPECT_TRUE(has(o.err, "gnuplot-nox")) << o.err;
  EXPECT_EQ(result()["verdict"]["outcome"], "config_error");
  EXPECT_EQ(on_path("/none", "--dry-run").code, 1);
  EXPECT_EQ(on_path("/none", "--set 'output={plot: false, report: true}'").code, 1);
  EXPECT_EQ(on_path("/none", "--set 'output={plot: false}'").code, 0);
}

TEST_F(Pictures, AGnuplotThatFailsLeavesTheVerdict) {
  fs::create_directory(folder_ / "bin");
  write_text(folder_ / "bin/gnuplot", "#!/bin/sh\necho 'no terminal svg' >&2\nexit 1\n");
  fs::permissions(folder_ / "bin/gnuplot", fs::perms::owner_all);
  Outcome const o = on_path((folder_ / "bin").string() + ":/usr/bin:/bin");
  EXPECT_EQ(o.code, 2) << o.err;
  EXPECT_TRUE(has(o.verdict(), "cg: converged after")) << o.out;
  EXPECT_TRUE(has(o.verdict(), "gnuplot failed: no terminal svg")) << o.out;
  EXPECT_EQ(result()["verdict"]["outcome"], "converged");
  EXPECT_TRUE(result()["files"]["plot"].is_null());
  EXPECT_FALSE(exists("convergence.svg"));
  EXPECT_EQ(result()["files"]["report"], "report.html") << "it is written without the plot";
}

}  // namespace
}  // namespace tcsolve::cli
