// SPDX-License-Identifier: Apache-2.0
/// A recorded application is the application. For every format with exact values, every registered
/// preconditioner, what nests of them, composites and callables: what apply() submitted to a
/// recording gives, whenever it is run, the bits that apply() gives at once. Between the two
/// the workspace is filled with NaN and given back, and some of it is held while the recording
/// runs: a recording that shares it would change what is held, or be changed by who uses it. In a
/// stopped loop an application does nothing.
#include <tcsolve/app/config/registries.hpp>
#include <tcsolve/configs/schema/yaml.hpp>
#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/operators/composite.hpp>
#include <tcsolve/operators/function_operator.hpp>
#include <tcsolve/precond/chebyshev/chebyshev.hpp>
#include <tcsolve/solvers/cg/cg.hpp>
#include <tcsolve/solvers/driver/monitor.hpp>
#include <tcsolve/solvers/loop/execution.hpp>
#include <tcsolve/solvers/solver_operator.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>

#include "tests/support/backend.hpp"
#include "tests/support/formats.hpp"
#include "tests/support/matrices.hpp"
#include "tests/support/preconditioners.hpp"

namespace tcsolve::test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Preconditioners that nest, and other ways to apply one; those that stand alone come from the
/// registry.
std::vector<std::string> const nested = {
    "{type: chebyshev, degree: 1}",
    "{type: chebyshev, preconditioner: {type: none}}",
    "{type: chebyshev, preconditioner: {type: block_jacobi}}",
    "{type: chebyshev, degree: 3, preconditioner: {type: chebyshev, degree: 2}}",
    "{type: chebyshev, preconditioner: {type: solver, solver: {type: cg, max_iters: 3}}}",
    "{type: chebyshev, preconditioner: {type: chebyshev, degree: 2, preconditioner: {type: solver, "
    "solver: {type: cg, max_iters: 2}}}}",
    "{type: solver, solver: {type: cg, max_iters: 4}}",
    "{type: solver, solver: {type: cg, max_iters: 4, execution: graph}}",
    "{type: solver, solver: {type: bicgstab, max_iters: 3}, preconditioner: {type: none}}",
    "{type: solver, solver: {type: gmres, restart: 3, max_iters: 7}, preconditioner: {type: "
    "chebyshev}}",
    "{type: solver, solver: {type: minres, max_iters: 3}, preconditioner: {type: block_jacobi}}",
    "{type: solver, solver: {type: fgmres, max_iters: 3}, preconditioner: {type: solver, solver: "
    "{type: cg, max_iters: 2}}}",
    "{type: ilu, triangular: isai}",
    "{type: ilu, triangular: isai, corrections: 0, values: fp16}",
    "{type: ilu, triangular: sweeps, values: fp32}",
    "{type: ilu, triangular: parts}",
    "{type: ilu, triangular: exact, block: 0}",
    "{type: ic, triangular: isai, values: fp16}",
};

bool same_bits(std::vector<double> const& a, std::vector<double> const& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

class RecordedApplication : public FormatTest {
 protected:
  void SetUp() override {
    FormatTest::SetUp();
    if (IsSkipped()) return;
    add_example(registries_.preconditioners);
    a_ = generate(Poisson27Params{.n = 7, .coefficient = Coefficient::random});
    csr_ = std::make_shared<CsrOperator<double>>(ctx(), a_.view());
    x_ = values(3);
  }

  /// a_ in the format under test.
  OperatorPtr<double> format() {
    return std::get<FormatUnderTest<double> const*>(GetParam().format)->make(ctx(), a_);
  }
  OperatorPtr<double> preconditioner(std::string const& text, OperatorPtr<double> A) {
    Diagnostics problems;
    auto const factory =
        registries_.preconditioners.make(parse_yaml(text, "test"), problems, registries_.catalog);
    problems.throw_if_any();
    return factory->build(ctx(), {csr_->view(), std::move(A)})->view();
  }
  /// Those that can be made without a key, and `nested`.
  std::vector<std::string> preconditioners() {
    std::vector<std::string> all = nested;
    for (std::string const& name : registries_.preconditioners.names())
      if (name != "solver") all.push_back("{type: " + name + "}");
    // compute-sanitizer does not follow a graph's WHILE node.
    if (!graphs_by_default())
      std::erase_if(all, [](std::string const& t) { return t.find("graph") != t.npos; });
    return all;
  }
  OperatorPtr<double> callable(OperatorPtr<double> A, bool capturable) {
    FunctionOperator<double>::Options options;
    options.capturable = capturable;
    options.fixed = A->traits().fixed;
    Index const n = A->rows();
    return std::make_shared<FunctionOperator<double>>(
        n, n, [A](Context& c, In<double> x, Out<double> y) { A->apply(c, x, y); }, options);
  }

  void check(OperatorPtr<double> const& op) {
    SCOPED_TRACE(op->name());
    replays(*op);
    stops(*op);
    loops(*op, Execution::eager);
    if (ctx().device() != nullptr && graphs_by_default()) loops(*op, Execution::graph);
  }

  /// Y = A X and X^T Y of 8 columns, where formats have them in one pass, replayed and in a loop.
  void check_gram(LinearOperator<double> const& op) {
    constexpr Index k = 8;
    Context& ctx = FormatTest::ctx();
    Index const n = op.rows();
    There<double> X(ctx, random_values(std::size_t(n) * k, 6));
    struct To {
      To(Context& ctx, Index n)
          : Y(ctx, std::vector<double>(std::size_t(n) * k, nan)),
            G(ctx, std::vector<double>(std::size_t(k) * k, nan)) {}
      There<double> Y, G;
      std::vector<double> all() {
        std::vector<double> out = Y.all();
        for (double v : G.all()) out.push_back(v);
        return out;
      }
    };
    auto const apply = [&](Context& c, To& to) {
      auto const block = [&](double* data) {
        return Out<double>{data, n, k, k, Layout::row_major, c.space()};
      };
      op.apply_gram(c, block(X.data()), block(to.Y.data()), to.G.data());
    };
    To direct(ctx, n), replayed(ctx, n);
    apply(ctx, direct);
    std::vector<double> const expected = direct.all();
    EXPECT_EQ(std::ranges::count_if(expected, [](double v) { return !std::isfinite(v); }), 0);
    Recording const list = ctx.record([&](Context& c) { apply(c, replayed); });
    dirty();
    holding([&] {
      for (Command const& command : list.commands) command.call(ctx);
    });
    EXPECT_TRUE(same_bits(replayed.all(), expected)) << "a recorded application differs";

    for (Execution execution : {Execution::eager, Execution::graph}) {
      if (execution == Execution::graph && (ctx.device() == nullptr || !graphs_by_default()))
        continue;
      SCOPED_TRACE(execution == Execution::graph ? "graph" : "eager");
      To to(ctx, n);
      There<double> norm2(ctx, 1.0);
      Loop loop(ctx);
      loop.record(ctx, execution, {}, [&](Context& c) {
        apply(c, to);
        observe(c, norm2.data());
      });
      for (bool const held : {false, true}) {
        fill(ctx, to.Y.view(), nan);
        fill(ctx, to.G.view(), nan);
        auto const run = [&] { three_steps(loop, norm2); };
        if (held) dirty(), holding(run);
        if (!held) run();
        EXPECT_TRUE(same_bits(to.all(), expected));
      }
    }
  }

 private:
  std::vector<double> values(std::uint64_t seed) const { return random_values(a_.rows, seed); }

  /// What is applied, and where to.
  struct Results {
    Results(Context& ctx, std::vector<double> const& z0)
        : y(ctx, std::vector<double>(z0.size(), nan)),
          z(ctx, z0),
          w(ctx, std::vector<double>(z0.size(), nan)),
          sigma(ctx, nan) {}
    There<double> y, z, w, sigma;
    std::vector<double> all() {
      std::vector<double> out = y.all();
      for (auto const& more : {z.all(), w.all(), sigma.all()})
        out.insert(out.end(), more.begin(), more.end());
      return out;
    }
  };
  static void apply(Context& c, LinearOperator<double> const& op, In<double> x, Results& to) {
    op.apply(c, x, to.y.view());
    op.apply(c, 0.75, x, -1.25, to.z.view());
    op.apply_dot(c, x, to.w.view(), to.sigma.data());
  }

  void three_steps(Loop& loop, There<double>& norm2) {
    std::vector<double> history;
    RunLimits const limits{.target = 0, .divergence = 10, .residual = 1, .roundoff = 0};
    Watch const watch{"test", std::chrono::steady_clock::now(), 1e9};
    LoopState const state = loop.run(ctx(), {3, 0, norm2.data(), limits}, watch, history);
    EXPECT_EQ(static_cast<Stop>(state.stop), Stop::cycle_end);
    EXPECT_EQ(state.iteration, 3);
  }

  /// Fills workspace with NaN, more of it than any application takes, and gives it back.
  void dirty() {
    auto scope = ctx().arena().scope();
    for (int i = 0; i < 64; ++i) fill(ctx(), scope.vector<double>(a_.rows), nan);
  }
  /// Runs f while workspace is held, which nobody else may touch.
  template <class F>
  void holding(F const& f) {
    Context& ctx = FormatTest::ctx();
    auto scope = ctx.arena().scope();
    Out<double> const held = scope.vectors<double>(a_.rows, 16);
    fill(ctx, held, 7);
    f();
    auto const after = to_host(ctx, held.data, held.space, std::size_t(held.size()));
    EXPECT_EQ(std::ranges::count(after, 7.0), std::ptrdiff_t(after.size()))
        << "the recording wrote into somebody's workspace";
  }

  void replays(LinearOperator<double> const& op) {
    Context& ctx = FormatTest::ctx();
    There<double> x(ctx, x_);
    Results direct(ctx, values(4)), replayed(ctx, values(4)), again(ctx, values(4));
    apply(ctx, op, x.in(), direct);
    std::vector<double> const expected = direct.all();
    EXPECT_EQ(std::ranges::count_if(expected, [](double v) { return !std::isfinite(v); }), 0);
    Recording const list = ctx.record([&](Context& c) { apply(c, op, x.in(), replayed); });
    Recording const other = ctx.record([&](Context& c) { apply(c, op, x.in(), again); });
    dirty();
    holding([&] {
      for (Command const& command : list.commands) command.call(ctx);
    });
    EXPECT_TRUE(same_bits(replayed.all(), expected)) << "a recorded application differs";
    dirty();
    holding([&] {
      for (Command const& command : other.commands) command.call(ctx);
    });
    EXPECT_TRUE(same_bits(again.all(), expected)) << "another recording of it differs";
  }

  /// Steps that were submitted before a loop has stopped come after it: what they find in the
  /// workspace is not theirs.
  void stops(LinearOperator<double> const& op) {
    Context& ctx = FormatTest::ctx();
    There<double> x(ctx, x_), other(ctx, values(9));
    Results to(ctx, values(4)), now(ctx, values(4));
    Recording const before = ctx.record([&](Context& c) { apply(c, op, other.in(), to); });
    Recording const behind = ctx.record([&](Context& c) { apply(c, op, x.in(), to); });
    apply(ctx, op, x.in(), now);
    for (Command const& command : before.commands) command.call(ctx);
    std::vector<double> const kept = to.all(), y_kept = to.y.all(), y = now.y.all();
    LoopState stopped;
    stopped.stop = static_cast<std::int32_t>(Stop::claimed);
    Array<LoopState> const state = to_space(ctx, &stopped, 1);
    ctx.within(const_cast<LoopState*>(state.data()), [&] {
      for (Command const& command : behind.commands) command.call(ctx);
    });
    if (op.traits().stops)
      EXPECT_TRUE(same_bits(to.all(), kept)) << "a step behind the last one has written";
    else
      EXPECT_TRUE(same_bits(to.y.all(), y) || same_bits(to.y.all(), y_kept)) << "y is not of x";
  }

  /// In the loop of a solver: eager, or captured in a graph while no workspace is held.
  void loops(LinearOperator<double> const& op, Execution execution) {
    SCOPED_TRACE(execution == Execution::graph ? "graph" : "eager");
    Context& ctx = FormatTest::ctx();
    There<double> x(ctx, x_), direct(ctx, values(5)), y(ctx, values(5)), z(ctx, values(5)),
        norm2(ctx, 1.0);
    op.apply(ctx, x.in(), direct.view());
    std::vector<double> const once = direct.all();
    op.apply(ctx, y.in(), direct.view());
    Loop loop(ctx);
    loop.record(ctx, execution, {}, [&](Context& c) {
      op.apply(c, x.in(), y.view());
      op.apply(c, y.in(), z.view());
      observe(c, norm2.data());
    });
    There<double> first(ctx, once);
    op.apply(ctx, first.in(), direct.view());
    std::vector<double> const twice = direct.all();
    auto run = [&] {
      fill(ctx, y.view(), nan);
      fill(ctx, z.view(), nan);
      three_steps(loop, norm2);
      EXPECT_TRUE(same_bits(y.all(), once));
      EXPECT_TRUE(same_bits(z.all(), twice));
    };
    run();
    dirty();
    holding(run);
  }

  Registries registries_;
  Csr<double> a_;
  std::vector<double> x_;

 protected:
  std::shared_ptr<CsrOperator<double>> csr_;
};
TEST_P(RecordedApplication, OfTheFormat) { check(format()); }
TEST_P(RecordedApplication, OfTheFormatWithItsGram) {
  OperatorPtr<double> const A = format();
  check_gram(*A);
  check_gram(Scaled<double>(-0.5, A));
}

TEST_P(RecordedApplication, OfEveryPreconditioner) {
  OperatorPtr<double> const A = format();
  for (std::string const& text : preconditioners()) {
    SCOPED_TRACE(text);
    check(preconditioner(text, A));
  }
}

TEST_P(RecordedApplication, OfCompositesAndCallables) {
  OperatorPtr<double> const A = csr_, D = format();
  OperatorPtr<double> const C = preconditioner("{type: chebyshev}", A),
                            J = preconditioner("{type: jacobi}", A),
                            S = preconditioner(nested[6], A);
  auto const product = [](auto a, auto b) { return std::make_shared<Product<double>>(a, b); };
  auto const sum = [](auto a, auto b) { return std::make_shared<Sum<double>>(a, b); };
  for (bool capturable : {false, true}) {
    check(callable(A, capturable));
    check(product(callable(C, capturable), product(A, callable(J, capturable))));
    check(sum(C, product(callable(A, capturable), C)));
    check(preconditioner("{type: chebyshev}", callable(A, capturable)));
    // Chebyshev over an opaque M.
    check(std::make_shared<Chebyshev>(ctx(), A, callable(J, capturable)));
    check(std::make_shared<Chebyshev>(ctx(), D,
                                      product(callable(J, capturable), callable(A, capturable))));
  }
  check(product(C, D));
  check(std::make_shared<Scaled<double>>(-0.5, C));
  check(std::make_shared<Shifted<double>>(product(C, A), 2.5));
  check(std::make_shared<Shifted<double>>(callable(A, true), 2.5));
  check(sum(callable(A, true), callable(J, true)));
  check(product(callable(A, true), J));
  check(std::make_shared<Transposed<double>>(A));
  check(std::make_shared<Transposed<double>>(product(A, J)));
  check(product(S, sum(C, S)));
}

/// A solver that has been used alone, its loop captured while no workspace was held, is wrapped as
/// a preconditioner, which holds some.
TEST_P(RecordedApplication, OfASolverThatHasSolvedBefore) {
  Context& ctx = FormatTest::ctx();
  OperatorPtr<double> const A = format();
  Index const n = A->rows();
  for (std::string const text : {"{type: chebyshev}", "{type: jacobi}", "{type: block_jacobi}"})
    for (Execution execution : {Execution::eager, Execution::graph}) {
      // compute-sanitizer does not follow a graph's WHILE node.
      if (execution == Execution::graph && !graphs_by_default()) continue;
      SCOPED_TRACE(text);
      auto inner =
          std::make_shared<Cg<double>>(CgParams{{.rtol = 1e-3, .max_iters = 50}, execution});
      inner->setup(ctx, A, preconditioner(text, A));
      There<double> b(ctx, random_values(n, 8)), alone(ctx, std::vector<double>(n, 0.0)),
          wrapped(ctx, std::vector<double>(n, 0.0));
      SolveReport const solved = inner->solve(b.in(), alone.view());
      EXPECT_TRUE(solved.converged()) << solved.message;
      inner->approximate(b.in(), alone.view());
      SolverOperator const M(inner, n);
      M.apply(ctx, b.in(), wrapped.view());
      EXPECT_TRUE(same_bits(wrapped.all(), alone.all()));
    }
}

INSTANTIATE_TEST_SUITE_P(Formats, RecordedApplication, ::testing::ValuesIn(fp64_format_cases()),
                         case_label);

}  // namespace
}  // namespace tcsolve::test
