// SPDX-License-Identifier: Apache-2.0
/// What happens at the door of a solver, and when something outside ends a solve: wrong shapes,
/// aliasing, exceptions of a user's operator, cancellation.
#include <chrono>
#include <thread>

#include <tests/verdicts/corpus.hpp>

namespace tcsolve::test {

namespace {

class Protocol : public InEveryPlace {
 protected:
  std::unique_ptr<KrylovSolver<double>> solver(std::string const& method,
                                               StoppingParams const& s = {}) {
    return make_solver(method, s, execution());
  }
};

TEST_P(Protocol, RefusesShapesThatDoNotGoTogether) {
  for (auto const& method : methods()) {
    SCOPED_TRACE(method);
    auto s = solver(method);
    EXPECT_THROW(s->setup(ctx(), nullptr), ShapeError);
    if (method != "lsmr") {
      EXPECT_THROW(s->setup(ctx(), matrix(ctx(), Matrix::Ones(3, 4))), ShapeError);
    }
    EXPECT_THROW(s->setup(ctx(), matrix(ctx(), laplace(4)), matrix(ctx(), laplace(5))), ShapeError);
    EXPECT_THROW(s->setup(ctx(), matrix(ctx(), laplace(4)), nullptr, matrix(ctx(), laplace(5))),
                 ShapeError);
    Column b = Column::Ones(4), x = Column::Zero(4), five = Column::Zero(5);
    EXPECT_THROW(solve(*solver(method), b, x), ShapeError) << "solve before setup";
    s->setup(ctx(), matrix(ctx(), laplace(4)));
    EXPECT_THROW(solve(*s, five, x), ShapeError);
    EXPECT_THROW(solve(*s, b, five), ShapeError);
    EXPECT_TRUE(solve(*s, b, x).converged()) << "usable after the refusals";
  }
}

TEST_P(Protocol, RefusesAliasingOfBAndX) {
  for (auto const& method : methods()) {
    SCOPED_TRACE(method);
    auto s = solver(method);
    s->setup(ctx(), matrix(ctx(), laplace(4)));
    Column both = Column::Ones(7);
    EXPECT_THROW(s->solve(vector_view<double const>(both.data(), 4), vector_view(both.data(), 4)),
                 ShapeError);
    EXPECT_THROW(
        s->solve(vector_view<double const>(both.data(), 4), vector_view(both.data() + 3, 4)),
        ShapeError);
    EXPECT_TRUE(both == Column::Ones(7));
  }
}

TEST_P(Protocol, LsmrNeedsATranspose) {
  auto one_way = callable(4, 4, [](Column const& x) -> Column { return laplace(4) * x; });
  EXPECT_THROW(solver("lsmr")->setup(ctx(), one_way), Unsupported);
}

TEST_P(Protocol, DuplicatesAreRefusedAtTheDoor) {
  Csr<double> a{2, 2, {0, 2, 3}, {0, 0, 1}, {1, 2, 3}};
  EXPECT_THROW(validate(a.view()), MatrixError);
  EXPECT_THROW(canonical(a.view()), MatrixError);
  Csr<double> summed = canonical(a.view(), Duplicates::sum);
  auto s = solver("cg");
  s->setup(ctx(), std::make_shared<CsrOperator<double>>(ctx(), summed));
  Column b{{6, 6}}, x = Column::Zero(2);
  EXPECT_TRUE(solve(*s, b, x).converged());
  EXPECT_NEAR(x[0], 2, 1e-7);
}

struct Thrown {
  int call;
};

TEST_P(Protocol, AnExceptionPassesAndTheSolverStaysUsable) {
  Matrix a = random_spd(20, 2, 401);
  Column b = random_column(20, 402);
  for (auto const& method : methods())
    for (int from : {1, 2, 5, 12}) {
      SCOPED_TRACE(cat(method, ", from product ", from));
      auto calls = std::make_shared<int>(0);
      auto armed = std::make_shared<bool>(false);
      auto map = [=](Matrix const& m) -> Map {
        return [=](Column const& x) -> Column {
          if (*armed && ++*calls >= from) throw Thrown{*calls};
          return m * x;
        };
      };
      auto s = make_solver(method, {.rtol = 1e-14}, execution(), 5);
      s->setup(ctx(), callable(20, 20, map(a), map(a.transpose())));
      *armed = true;
      Column x = Column::Constant(20, 0.25), x0 = x;
      bool thrown = false;
      try {
        solve(*s, b, x);
      } catch (Thrown const& t) {
        thrown = true;
        EXPECT_EQ(t.call, from);
      }
      EXPECT_TRUE(thrown);
      // As it was, or as it was at the last restart: never half an update.
      EXPECT_LE((b - a * x).norm(), (b - a * x0).norm() * (1 + 1e-12));
      *armed = false;
      EXPECT_EQ(ctx().loop(), nullptr);
      SolveReport report = solve(*s, b, x);
      EXPECT_TRUE(report.converged() || report.reason == Stop::precision_limit) << report.message;
    }
}

struct CancelAt : Observer {
  Context* ctx;
  Index at;
  void on(IterationEvent const& e) override {
    if (e.iteration >= at) ctx->cancel();
  }
};

TEST_P(Protocol, AnObserverMayCancel) {
  Problem p{laplace(200), random_column(200, 403)};
  for (auto const& method : methods()) {
    SCOPED_TRACE(method);
    CancelAt observer;
    observer.ctx = &ctx();
    observer.at = 3;
    ctx().attach(&observer);
    // A callable that computes on the host runs eagerly, so that iterations can be counted.
    p.op = [a = p.A](Context&) { return callable(a); };
    p.rounded = true;
    Column x;
    SolveReport report = run(ctx(), p, x, method, {.rtol = 1e-14}, execution(), 30);
    ctx().detach(&observer);
    EXPECT_EQ(report.reason, Stop::cancelled) << report.message;
    EXPECT_LE(report.iterations, 12);
    expect_invariants(p, report, x, {.rtol = 1e-14});
    EXPECT_EQ(run(ctx(), p, x, method, {}, execution(), 30).reason, Stop::cancelled)
        << "stands until it is cleared";
    ctx().clear_cancel();
    SolveReport again = run(ctx(), p, x, method, {.max_iters = 5}, execution(), 30);
    EXPECT_EQ(again.reason, Stop::max_iterations) << again.message;
  }
}

TEST_P(Protocol, AnotherThreadMayCancel) {
  Problem p{laplace(300), random_column(300, 404)};
  p.op = [a = p.A](Context&) {
    Map slow = [a](Column const& x) -> Column {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      return a * x;
    };
    return callable(300, 300, slow, slow);
  };
  p.rounded = true;
  std::thread other([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    ctx().cancel();
  });
  Column x;
  SolveReport report =
      run(ctx(), p, x, "cg", {.rtol = 1e-14, .max_iters = 100000, .stagnation_window = 0},
          execution(), 30);
  other.join();
  EXPECT_EQ(report.reason, Stop::cancelled) << report.message;
}

TEST_P(Protocol, ColumnsOfSomethingWiderAreUsedFromAnySpace) {
  Matrix block = Matrix::Zero(6, 3);
  Column b = Column::Ones(6);
  auto s = solver("cg");
  s->setup(ctx(), matrix(ctx(), laplace(6)));
  Out<double> second{block.data() + 1, 6, 1, 3, Layout::row_major, Space::host};
  EXPECT_TRUE(s->solve(vector_view<double const>(b.data(), 6), second).converged());
  for (Index i = 0; i < 18; ++i)
    if (i % 3 != 1) {
      EXPECT_EQ(block.data()[i], 0);
    } else {
      EXPECT_GT(block.data()[i], 0);
    }
}

TCSOLVE_IN_EVERY_PLACE(Protocol);

}  // namespace

}  // namespace tcsolve::test
