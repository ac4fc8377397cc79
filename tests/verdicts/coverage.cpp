// SPDX-License-Identifier: Apache-2.0
/// The corpus as a whole: an outcome that no case expects is one that nobody has thought through.
#include <set>

#include <tests/verdicts/corpus.hpp>

namespace tcsolve::test {

namespace {

std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (auto table : {trivial_cases, definiteness_cases, singular_cases, breakdown_cases,
                     precision_cases, nonfinite_cases, stopping_cases})
    for (Case& c : table()) all.push_back(std::move(c));
  return all;
}

TEST(VerdictCorpus, ExpectsEveryOutcomeOfASolver) {
  std::set<std::string> expected;
  for (Case const& c : all_cases())
    for (Stop const stop : c.outcome) expected.insert(name(stop));
  // Of the rest, clocks, signals and memory are tested in tests/solve and tests/cli.
  std::set<Stop> const elsewhere{Stop::time_limit, Stop::cancelled, Stop::setup_failed,
                                 Stop::out_of_memory};
  int seen = 0;
  for (int k = static_cast<int>(Stop::converged); std::string(name(Stop(k))) != "?"; ++k, ++seen)
    if (!elsewhere.contains(Stop(k)))
      EXPECT_TRUE(expected.contains(name(Stop(k)))) << name(Stop(k));
  EXPECT_GT(seen, int(elsewhere.size()));
}

/// A case that repeats a name hides the other in every report and filter.
TEST(VerdictCorpus, NamesEachCaseOnce) {
  std::set<std::string> names;
  for (Case const& c : all_cases()) EXPECT_TRUE(names.insert(c.name).second) << c.name;
}

}  // namespace

}  // namespace tcsolve::test
