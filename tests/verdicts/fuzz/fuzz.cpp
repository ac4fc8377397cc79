// SPDX-License-Identifier: Apache-2.0
/// Random systems and configs through the program's own entry. No outcome is expected; that what is
/// said of it is true, is.
///
///     TCSOLVE_VERDICT_FUZZ_SECONDS   time for one backend; default 4
///     TCSOLVE_VERDICT_FUZZ_SEED      of the first case, the next has the next; default 1
///     TCSOLVE_VERDICT_FUZZ_KEEP      folder for the cases that fail; default tcsolve-fuzz where
///                                    temporary files go
///
/// A case that fails is kept as a config that runs: `tcsolve FOLDER/case.yaml`.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <sstream>

#include <tcsolve/app/program.hpp>
#include <tcsolve/core/error.hpp>

#include "tests/support/files.hpp"
#include "tests/support/solve_backend.hpp"
#include "tests/verdicts/fuzz/check.hpp"

namespace tcsolve::fuzz {

namespace {

namespace fs = std::filesystem;
using test::read_text;

std::string setting(char const* name, std::string const& otherwise) {
  char const* const given = std::getenv(name);
  return given && *given ? given : otherwise;
}

/// What a stream gets while this lives.
class Caught {
 public:
  explicit Caught(std::ostream& stream) : stream_(stream), usual_(stream.rdbuf(text_.rdbuf())) {}
  ~Caught() { stream_.rdbuf(usual_); }
  Caught(Caught const&) = delete;
  Caught& operator=(Caught const&) = delete;
  std::string text() const { return text_.str(); }

 private:
  std::ostream& stream_;
  std::ostringstream text_;
  std::streambuf* usual_;
};

struct Ended {
  int exit_code;
  std::string out, err;
};

/// run_program() as main() calls it.
Ended run(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "tcsolve");
  std::vector<char const*> argv;
  for (std::string const& a : arguments) argv.push_back(a.c_str());
  Caught const out(std::cout), err(std::cerr);
  int const code = run_program(int(argv.size()), argv.data());
  return {code, out.text(), err.text()};
}

class VerdictFuzz : public testing::TestWithParam<Backend> {
 protected:
  void SetUp() override { TCSOLVE_SKIP_IF_ABSENT(GetParam()); }
  std::string backend() const { return GetParam() == Backend::host ? "host" : "cuda"; }

  Ended solve(std::string const& output, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments{folder_ / "case.yaml", "--quiet", "--output",
                                       folder_ / output};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }

  /// What is wrong with the case of this seed.
  std::vector<std::string> check(std::uint64_t seed) {
    Case const c = drawn(seed, backend());
    fs::remove(folder_ / "z.txt");
    write(c, folder_.path());  // stays where the process ends here
    fs::remove_all(folder_ / "out");
    Ended const first = solve("out");
    bool const refused = first.exit_code == 1 && c.keys.lower && !first.err.empty() &&
                         !fs::exists(folder_ / "out/result.json");
    if (refused) return {};
    std::vector<std::string> found = faults(c, first.exit_code, folder_ / "out");
    constexpr int sample = 8;
    if (seed % sample == 0) again(found);
    if (seed % sample == 1) rehearsed(first, found);
    if (!found.empty()) found.push_back(cat("it said: ", first.out, first.err));
    return found;
  }

  /// The same bits twice.
  void again(std::vector<std::string>& found) {
    solve("again");
    // Of the history the fourth column is what the clock says.
    auto const written = [&](std::string const& output, std::string const& name) {
      std::string text = read_text(folder_ / output / name);
      if (name != "history.csv") return text;
      std::istringstream lines(text);
      text.clear();
      for (std::string line; std::getline(lines, line);) {
        std::istringstream fields(line);
        std::string field;
        for (int k = 0; std::getline(fields, field, ','); ++k) text += k == 3 ? "," : field + ",";
        text += "\n";
      }
      return text;
    };
    for (char const* name : {"x.mtx", "history.csv"})
      if (written("out", name) != written("again", name))
        found.push_back(cat(name, " differs between two runs"));
    auto const result = [&](char const* name) {
      std::string text = timeless(folder_ / name / "result.json");
      // The directory is part of the config.
      std::string const directory = folder_ / name;
      for (std::size_t at; (at = text.find(directory)) != std::string::npos;)
        text.erase(at, directory.size());
      return text;
    };
    if (result("out") != result("again")) found.push_back("result.json differs between two runs");
  }

  /// --dry-run refuses what the run refuses by its config, and what it would refuse if its matrix
  /// had not failed before.
  void rehearsed(Ended const& real, std::vector<std::string>& found) {
    Ended const dry = solve("out", {"--dry-run"});
    bool const failed_before =
        real.exit_code == 4 &&
        read_text(folder_ / "out/result.json").find("\"setup_failed\"") != std::string::npos;
    bool const expected = real.exit_code == 1  ? dry.exit_code == 1
                          : dry.exit_code == 1 ? failed_before
                                               : dry.exit_code == 0;
    if (!expected)
      found.push_back(cat("the run ended with ", real.exit_code, ", --dry-run with ", dry.exit_code,
                          ": ", dry.err));
  }

  /// Returns where the case went.
  fs::path keep(std::uint64_t seed) const {
    fs::path const to = fs::path(setting("TCSOLVE_VERDICT_FUZZ_KEEP",
                                         (fs::temp_directory_path() / "tcsolve-fuzz").string())) /
                        cat(backend(), "-", seed);
    fs::remove_all(to);
    fs::create_directories(to);
    for (char const* name : {"case.yaml", "a.mtx", "b.mtx", "x0.mtx", "z.txt"})
      if (fs::exists(folder_ / name)) fs::copy(folder_ / name, to / name);
    return to;
  }

  test::TemporaryFolder folder_;
};

TEST_P(VerdictFuzz, SaysWhatIsTrue) {
  double const seconds = std::stod(setting("TCSOLVE_VERDICT_FUZZ_SECONDS", "4"));
  std::uint64_t const first = std::stoull(setting("TCSOLVE_VERDICT_FUZZ_SEED", "1"));
  std::cout << "fuzz: " << backend() << ", from seed " << first << ", for " << seconds << " s\n";
  auto const start = std::chrono::steady_clock::now();
  auto const spent = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  constexpr int enough_failures = 20;
  std::uint64_t seed = first;
  int failures = 0;
  do {
    auto const found = check(seed);
    if (!found.empty()) {
      ++failures;
      std::string text;
      for (std::string const& each : found) text += "  " + each + "\n";
      ADD_FAILURE() << "seed " << seed << ":\n"
                    << text << "run it: tcsolve " << (keep(seed) / "case.yaml").string();
    }
    ++seed;
  } while (spent() < seconds && failures < enough_failures);
  std::cout << "fuzz: " << seed - first << " cases, " << failures << " of them failed\n";
}

/// A page that names a key in passing is not a description; one that does not is none.
TEST_P(VerdictFuzz, EveryKeyOfTheResultIsDocumented) {
  Case const c = drawn(1, backend());
  write(c, folder_.path());
  solve("out");
  char const* const source = std::getenv("TCSOLVE_SOURCE_DIR");
  fs::path const root = source ? source : TCSOLVE_SOURCE_DIR;
  std::string const page = read_text(root / "docs/02-verdicts.md");
  EXPECT_EQ(undocumented(folder_ / "out/result.json", page), std::vector<std::string>{});
}

INSTANTIATE_TEST_SUITE_P(on, VerdictFuzz, testing::Values(Backend::host, Backend::cuda),
                         [](auto const& info) {
                           return info.param == Backend::host ? "host" : "cuda";
                         });

}  // namespace

}  // namespace tcsolve::fuzz
