// SPDX-License-Identifier: Apache-2.0
/// The catalogue of messages: every outcome with every cause, of every method, says something in
/// words, with the figures that are known and none that are not; and the documents name them all.
#include <cctype>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include <tcsolve/api/options.hpp>
#include <tcsolve/solvers/report.hpp>

#include <tests/support/files.hpp>

namespace tcsolve::test {
namespace {

std::vector<Stop> stops() {
  std::vector<Stop> all;
  for (int k = static_cast<int>(Stop::converged); std::string(name(Stop(k))) != "?"; ++k)
    all.push_back(Stop(k));
  return all;
}

std::vector<Cause> causes() {
  std::vector<Cause> all;
  for (int k = 0; std::string(name(Cause(k))) != "?"; ++k) all.push_back(Cause(k));
  return all;
}

/// A report in which every figure is `figure`.
SolveReport report_of(Stop reason, Cause cause, double figure) {
  SolveReport r;
  r.reason = reason;
  r.cause = cause;
  r.iterations = 7;
  for (double* const v : {&r.rhs_norm, &r.initial_residual, &r.tolerance, &r.true_residual,
                          &r.recurrence_residual, &r.best_residual, &r.backward_error,
                          &r.attainable, &r.rowwise_error, &r.condition, &r.value})
    *v = figure;
  r.rows = 50;
  return r;
}

/// The words of a text: runs of letters, digits, points, signs and underscores.
std::set<std::string> words_of(std::string const& text) {
  std::set<std::string> words;
  std::string word;
  for (char const c : text + " ") {
    if (std::isalnum(static_cast<unsigned char>(c)) || std::string("._+-").find(c) < 4) {
      word += c;
    } else if (!word.empty()) {
      words.insert(std::exchange(word, ""));
    }
  }
  return words;
}

void expect_sound(std::string const& message) {
  SCOPED_TRACE(message);
  ASSERT_FALSE(message.empty());
  for (std::string const& word : words_of(message))
    EXPECT_FALSE(
        std::set<std::string>({"nan", "-nan", "inf", "-inf", "nan.", "inf."}).contains(word))
        << word;
  EXPECT_EQ(message.find('?'), std::string::npos) << "a Stop or a Cause without a name";
  for (char const* const bad : {"; ;", ";;", "  ", " ;", "()", ": ;", ", ;"})
    EXPECT_EQ(message.find(bad), std::string::npos) << "a gap: '" << bad << "'";
  EXPECT_NE(message.back(), ' ');
  EXPECT_NE(message.back(), ';');
}

/// Every method of the package with its advice.
std::map<std::string, Advice> methods() {
  SolverRegistries const& all = solver_registries();
  std::map<std::string, Advice> found;
  for (RegistryBase::Entry const& entry : all.solvers.entries()) {
    SolverOptions const options = read_options(SolverOptions{.solver = Block(entry.name)});
    found[entry.name] = make<SolverRegistry>(options.solver)->advice();
  }
  return found;
}

constexpr double nan = std::numeric_limits<double>::quiet_NaN(),
                 infinite = std::numeric_limits<double>::infinity();

TEST(Messages, EveryOutcomeOfEveryMethodIsSaidInWords) {
  auto const all = methods();
  ASSERT_GT(all.size(), 10u);
  for (auto const& [method, advice] : all)
    for (Stop const stop : stops())
      for (Cause const cause : causes())
        for (double const figure : {1.5e-3, 0.0, nan, infinite})
          for (bool const preconditioned : {false, true}) {
            SolveReport r = report_of(stop, cause, figure);
            r.preconditioned = preconditioned;
            std::string const message = message_of(r, method, advice);
            expect_sound(message);
            EXPECT_TRUE(message.starts_with(method + ": " + r.outcome() + " after 7 iterations"))
                << message;
            r.rows_unmet = 3;
            expect_sound(message_of(r, method, advice));
          }
  for (Stop const stop : {Stop::cancelled, Stop::time_limit}) {
    SolveReport const r = not_begun(stop, "cg");
    expect_sound(r.message);
    EXPECT_TRUE(r.message.starts_with(std::string("cg: ") + name(stop) + " before it began"));
  }
}

/// What a run ends in is told from every other end by its name, which holds no number.
TEST(Messages, OutcomesAreTellable) {
  std::map<std::string, std::pair<Stop, Cause>> seen;
  std::set<std::string> names;
  for (Stop const stop : stops()) EXPECT_TRUE(names.insert(name(stop)).second) << name(stop);
  for (Cause const cause : causes()) EXPECT_TRUE(names.insert(name(cause)).second) << name(cause);
  for (Stop const stop : stops())
    for (Cause const cause : causes()) {
      SolveReport const r = report_of(stop, cause, 1);
      std::string const outcome = r.outcome();
      EXPECT_TRUE(outcome.starts_with(name(stop)));
      EXPECT_EQ(outcome.find_first_of("0123456789? "), std::string::npos) << outcome;
      // Whether the cause is told depends on the Stop alone.
      auto const [at, fresh] = seen.try_emplace(outcome, stop, cause);
      if (!fresh) EXPECT_EQ(outcome, name(at->second.first)) << "two that look alike";
      EXPECT_EQ(at->second.first, stop) << outcome;
    }
  // The general advice tells outcomes apart that ask for different things.
  std::set<std::string> advice;
  std::vector<Stop> const advised{Stop::least_squares,
                                  Stop::max_iterations,
                                  Stop::time_limit,
                                  Stop::stagnated,
                                  Stop::precision_limit,
                                  Stop::diverged,
                                  Stop::breakdown,
                                  Stop::false_convergence,
                                  Stop::indefinite_operator,
                                  Stop::indefinite_preconditioner,
                                  Stop::nonfinite};
  for (Stop const stop : advised) {
    std::string const text = message_of(report_of(stop, Cause::none, nan), "cg");
    std::size_t const at = text.find("; ");
    ASSERT_NE(at, std::string::npos) << text;
    EXPECT_TRUE(advice.insert(text.substr(at)).second) << text;
  }
}

/// The figures that docs/02-verdicts.md promises.
TEST(Messages, StateTheirFigures) {
  auto const said = [](Stop stop, Cause cause, auto change) {
    SolveReport r = report_of(stop, cause, nan);
    r.true_residual = 3.5e-4;
    r.rhs_norm = 2;
    r.tolerance = 1.75e-8;
    change(r);
    return message_of(r, "gmres");
  };
  auto const has = [](std::string const& text, std::string const& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  auto const nothing = [](SolveReport&) {};
  for (Stop const stop : stops()) {
    std::string const text = said(stop, Cause::none, nothing);
    has(text, "true residual 0.00035 (0.000175 of norm(b))");
    if (stop != Stop::converged) has(text, "tolerance 1.75e-08");
  }
  auto const value = [](SolveReport& r) { r.value = -4.5; };
  has(said(Stop::indefinite_operator, Cause::none, value), "curvature -4.5");
  has(said(Stop::indefinite_preconditioner, Cause::none, value), "<r, M r> = -4.5");
  auto const inside = [](SolveReport& r) { r.inner = "cg: stagnated after 3 iterations"; };
  has(said(Stop::breakdown, Cause::inner_solver, inside), "cg: stagnated after 3 iterations");
  auto const reached = [](SolveReport& r) { r.attainable = 6.5e-7; };
  has(said(Stop::precision_limit, Cause::none, reached), "about 6.5e-07");
  has(said(Stop::converged, Cause::none, reached),
      "the tolerance, 1.75e-08, is below the accuracy that FP64 can be relied on for here, about "
      "6.5e-07");
  auto const rows = [](SolveReport& r) {
    r.rows_unmet = 3;
    r.rows = 50;
    r.rowwise_error = 0.25;
  };
  has(said(Stop::converged, Cause::none, rows), "in 3 of 50 rows the residual is up to 0.25 of");
  auto const condition = [](SolveReport& r) { r.condition = 1.25e3; };
  has(said(Stop::least_squares, Cause::none, condition), "condition number at least 1.25e+03");
  auto const outside = [](SolveReport& r) { r.value = 0.75; };
  has(said(Stop::least_squares, Cause::inconsistent, outside), "a part of norm 0.75");
}

TEST(Messages, TheDocumentNamesEveryOutcome) {
  char const* const given = std::getenv("TCSOLVE_SOURCE_DIR");
  std::filesystem::path const source = given != nullptr ? given : TCSOLVE_SOURCE_DIR;
  std::string const page = read_text(source / "docs/02-verdicts.md");
  ASSERT_FALSE(page.empty());
  for (Stop const stop : stops())
    EXPECT_NE(page.find(std::string("`") + name(stop)), std::string::npos) << name(stop);
  for (Cause const cause : causes()) {
    if (cause == Cause::none) continue;
    std::string const text = name(cause);
    EXPECT_TRUE(page.find("`" + text + "`") != std::string::npos ||
                page.find(":" + text + "`") != std::string::npos)
        << text;
  }
}

}  // namespace
}  // namespace tcsolve::test
