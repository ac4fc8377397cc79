// SPDX-License-Identifier: Apache-2.0
/// Cycles that conjugate gradients find to be indefinite: made again, in wider types, or with norms
/// that bound a spectrum which was taken to be shorter than it is, and the solve goes on.
#include <tcsolve/api/linear_solver.hpp>
#include <tcsolve/core/events.hpp>

#include <gmock/gmock.h>

#include <map>

#include "tests/support/each_backend.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

using testing::HasSubstr;

using Entries = std::map<std::pair<Index, Index>, double>;

Csr<double> with(Index n, Entries const& entries) {
  Csr<double> a{n, n, {0}, {}, {}};
  auto at = entries.begin();
  for (Index i = 0; i < n; ++i) {
    for (; at != entries.end() && at->first.first == i; ++at)
      a.columns.push_back(at->first.second), a.values.push_back(at->second);
    a.offsets.push_back(a.entries());
  }
  return a;
}

/// Twenty points of a torus, coupled in a sum of signs, 4 w w^T: an eigenvalue of ten, of D^-1 A,
/// which two steps of Lanczos from a random vector do not see, and no coarser level represents.
Csr<double> with_a_long_spectrum() {
  constexpr Index side = 40, points = 20, apart = side * side / points;
  Entries entries;
  for (Index i = 0; i < side; ++i)
    for (Index j = 0; j < side; ++j) {
      auto const at = [&](Index k, Index l) {
        return (k + side) % side * side + (l + side) % side;
      };
      entries[{at(i, j), at(i, j)}] = 4.05;
      for (Index const d : {-1, 1})
        entries[{at(i, j), at(i, j + d)}] = entries[{at(i, j), at(i + d, j)}] = -1;
    }
  for (Index i = 0; i < points; ++i)
    for (Index j = 0; j < points; ++j) entries[{apart * i, apart * j}] += (i + j) % 2 == 0 ? 4 : -4;
  return with(side * side, entries);
}

class AmgRefuted : public OnEachBackend {
 protected:
  struct Log final : Observer {
    std::string text;
    void on(LogEvent const& e) override { text += e.text + "\n"; }
  };
  struct Solved {
    SolveReport report;
    std::string log;
  };
  /// Twice: what has been made again stays for the next solve.
  Solved solved(Csr<double> const& a, std::string const& amg) {
    Log log;
    ctx().attach(&log);
    LinearSolver solver = LinearSolver::from_yaml(
        ctx(), a.view(), cat("solver: {type: cg}\npreconditioner: {type: amg, ", amg, "}\n"));
    std::vector<double> const b = random_values(a.rows, 4), c = random_values(a.rows, 3);
    std::vector<double> x(b.size(), 0.0), y(b.size(), 0.0);
    Solved first{solver.solve(b, x), {}};
    first.log = std::exchange(log.text, {});
    EXPECT_TRUE(solver.solve(c, y).converged());
    EXPECT_EQ(log.text.find("made again"), std::string::npos) << log.text;
    ctx().detach(&log);
    return first;
  }
};
TCSOLVE_ON_EACH_BACKEND(AmgRefuted);

TEST_P(AmgRefuted, ASpectrumThatIsLongerIsBoundedByNorms) {
  Csr<double> const a = with_a_long_spectrum();
  std::string const keys = "values: fp64, lanczos_steps: ";
  Solved const few = solved(a, keys + "2"), enough = solved(a, keys + "20");
  EXPECT_THAT(few.log, HasSubstr("the cycle is made again, with norms"));
  EXPECT_TRUE(few.report.converged()) << few.report.message;
  EXPECT_GT(few.report.setup_seconds, 0) << "of what was made again";
  EXPECT_EQ(enough.log.find("made again"), std::string::npos) << enough.log;
  EXPECT_TRUE(enough.report.converged()) << enough.report.message;
}

/// What was rounding as far as anybody knew is first made again in FP32, then in FP64 where vectors
/// may be that.
TEST_P(AmgRefuted, ANarrowCycleIsMadeAgainInWiderTypesFirst) {
  Csr<double> const a = with_a_long_spectrum();
  std::string const keys = "values: fp16, lanczos_steps: 2, vectors: ";
  for (std::string const vectors : {"auto", "fp32"}) {
    SCOPED_TRACE(vectors);
    Solved const narrow = solved(a, keys + vectors);
    std::size_t const first = narrow.log.find("made again, in fp32"),
                      second = narrow.log.find("made again, in fp64"),
                      last = narrow.log.find("made again, with norms");
    EXPECT_LT(first, last);
    EXPECT_LT(last, std::string::npos);
    if (vectors == "auto")
      EXPECT_TRUE(first < second && second < last);
    else
      EXPECT_EQ(second, std::string::npos);
    EXPECT_TRUE(narrow.report.converged()) << narrow.report.message;
  }
}

}  // namespace
}  // namespace tcsolve::test
