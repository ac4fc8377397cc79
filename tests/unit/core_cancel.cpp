// SPDX-License-Identifier: Apache-2.0
/// What has no Context ends by a CancelFlag; what has one, by Context::cancel().
#include <tcsolve/api/linear_solver.hpp>
#include <tcsolve/app/progress.hpp>
#include <tcsolve/core/phase.hpp>
#include <tcsolve/graph/reorder/cuthill_mckee.hpp>
#include <tcsolve/io/generators.hpp>
#include <tcsolve/io/matrix_file.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <limits>
#include <sstream>

#include "tests/support/files.hpp"

namespace tcsolve::test {
namespace {

struct Raised {
  std::atomic<bool> yes{true};
  CancelFlag flag{yes};
};

TEST(Cancel, EveryGenerator) {
  Raised const raised;
  for (GeneratorEntry const& kind : generators()) {
    EXPECT_THROW(generate(kind.defaults, {2, raised.flag}), Cancelled) << kind.name;
    EXPECT_NO_THROW(CancelFlag().check());
  }
}

TEST(Cancel, EveryReader) {
  Raised const raised;
  TemporaryFolder const folder;
  write_text(folder / "a.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n");
  write_text(folder / "b.txt", "1\n");
  ReadOptions const options{.cancel = raised.flag};
  EXPECT_THROW(read_matrix(folder / "a.mtx", options), Cancelled);
  EXPECT_THROW(read_vector_file(folder / "b.txt", "b", options), Cancelled);
  char const* const given = std::getenv("TCSOLVE_SOURCE_DIR");
  std::filesystem::path const source = given ? given : TCSOLVE_SOURCE_DIR;
  for (char const* name : {"tests/data/scipy/csr.npz", "tests/fuzz/corpus/matrix_file/m.petsc"}) {
    auto const file = source / name;
    EXPECT_NO_THROW(read_matrix(file)) << name;
    EXPECT_THROW(read_matrix(file, options), Cancelled) << name;
  }
}

TEST(Cancel, AnOrder) {
  Raised const raised;
  Csr<double> const a = generate(Poisson7Params{.n = 5});
  EXPECT_THROW(reverse_cuthill_mckee(Pattern(a), raised.flag), Cancelled);
}

TEST(Cancel, ADeadlineOfASetUp) {
  Context ctx(Backend::host);
  Csr<double> const a = generate(Poisson7Params{.n = 20});
  auto const set_up = [&] {
    LinearSolver::from_yaml(ctx, a.view(), "solver: {type: cg}\npreconditioner: {type: ic}\n");
  };
  Deadline const past = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  EXPECT_THROW(ctx.setting_up(past, set_up), OutOfTime);
  EXPECT_NO_THROW(set_up()) << "it is over with the scope";
  EXPECT_NO_THROW(ctx.setting_up(Deadline::max(), set_up));
  EXPECT_THROW(ctx.setting_up(past, [&] { ctx.setting_up(Deadline::max(), set_up); }), OutOfTime)
      << "the earlier of two";
  EXPECT_EQ(deadline_after(past, std::numeric_limits<double>::infinity()), Deadline::max());
}

struct Phases : Observer {
  void on(PhaseEvent const& event) override {
    names.push_back(std::string(event.name) + (event.ended ? ": done" : ""));
    if (event.ended) EXPECT_GE(event.seconds, 0);
    if (cancels != nullptr && event.ended) cancels->cancel();
  }
  std::vector<std::string> names;
  Context* cancels = nullptr;  // after the phase that ends next
};

TEST(Cancel, ASetUpEndsBetweenItsPhases) {
  Phases phases;
  Context ctx(Backend::host, {}, &phases);
  Csr<double> const a = generate(Poisson7Params{.n = 5});
  LinearSolver solver(ctx, {.solver = "cg"});
  solver.set_matrix(a.view());
  std::vector<std::string> const all = phases.names;
  ASSERT_EQ(all.size(), 8);  // four phases
  for (std::size_t i = 0; i < all.size(); i += 2) EXPECT_EQ(all[i + 1], all[i] + ": done");

  phases.names.clear();
  phases.cancels = &ctx;
  EXPECT_THROW(solver.set_matrix(a.view()), Cancelled);
  EXPECT_EQ(phases.names, std::vector<std::string>(all.begin(), all.begin() + 2));
  EXPECT_FALSE(solver.ready());

  phases.cancels = nullptr;
  ctx.clear_cancel();
  solver.set_matrix(a.view());
  EXPECT_TRUE(solver.ready());
}

TEST(Progress, APhaseIsShownWhileItLasts) {
  for (bool const terminal : {true, false}) {
    std::ostringstream out;
    ProgressDisplay display(out, {.terminal = terminal});
    display.on(PhaseEvent{"reading a.mtx", false, 0});
    EXPECT_EQ(out.str(), terminal ? "\rreading a.mtx ..." : "");
    display.on(PhaseEvent{"reading a.mtx", true, 0.3});
    EXPECT_EQ(out.str().find("0.3"), std::string::npos) << "a short one leaves no line";
    display.on(PhaseEvent{"setting up", false, 0});
    display.on(PhaseEvent{"setting up", true, 12.34});
    EXPECT_TRUE(out.str().ends_with("setting up: 12.3 s\n")) << out.str();
  }
  std::ostringstream out;
  ProgressDisplay display(out, {.talk = Talk::quiet});
  display.on(PhaseEvent{"reading a.mtx", true, 100});
  EXPECT_EQ(out.str(), "");
}

}  // namespace
}  // namespace tcsolve::test
