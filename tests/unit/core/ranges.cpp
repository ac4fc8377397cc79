// SPDX-License-Identifier: Apache-2.0
/// Ranges of a profiler: which phases and operations open one, and in what order they close.
#include <tcsolve/core/ranges.hpp>
#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/operators/function_operator.hpp>
#include <tcsolve/precond/jacobi/jacobi.hpp>
#include <tcsolve/solvers/cg/cg.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/backend.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

/// Writes "cg.solve", "cg.solve/cg.cycle", ... as ranges open.
struct Listener final : RangeListener {
  void open(char const* name) override {
    path.push_back((path.empty() ? "" : path.back() + "/") + name);
    opened.push_back(path.back());
  }
  void close() noexcept override {
    ++closed;
    path.pop_back();
  }
  std::ptrdiff_t count(std::string const& name) const { return std::ranges::count(opened, name); }
  /// Ranges of this name, whatever is around them.
  std::ptrdiff_t anywhere(std::string const& name) const {
    return std::ranges::count_if(
        opened, [&](std::string const& o) { return o == name || o.ends_with("/" + name); });
  }
  std::vector<std::string> path, opened;
  std::size_t closed = 0;
};

class CoreRanges : public BackendTest<On<HostBackend, double>> {
 protected:
  Csr<double> symmetric(Index n) {  // 1-D Laplacian
    Csr<double> a{n, n, {0}, {}, {}};
    for (Index i = 0; i < n; ++i) {
      for (Index j = std::max<Index>(i - 1, 0); j <= std::min(i + 1, n - 1); ++j)
        a.columns.push_back(j), a.values.push_back(i == j ? 2.5 : -1.0);
      a.offsets.push_back(a.entries());
    }
    return a;
  }
};

TEST_F(CoreRanges, NobodyListensUnlessAsked) {
  EXPECT_EQ(ctx().range_listener(), nullptr);
  bool made = false;
  {
    Range const range(ctx(), [&] {
      made = true;
      return std::string("never");
    });
  }
  EXPECT_FALSE(made) << "the name is made although nobody wants it";
}

TEST_F(CoreRanges, NestAndCloseOnEveryPath) {
  Listener listener;
  ctx().listen(&listener);
  try {
    Range const outer(ctx(), "outer");
    {
      Range const inner(ctx(), [] { return std::string("inner"); });
    }
    Range const other(ctx(), "other");
    throw 1;
  } catch (int) {}
  EXPECT_EQ(listener.opened, (std::vector<std::string>{"outer", "outer/inner", "outer/other"}));
  EXPECT_EQ(listener.closed, 3u);
  EXPECT_TRUE(listener.path.empty());
}

TEST_F(CoreRanges, AnApplicationHasTheNameOfItsOperator) {
  Csr<double> const a = symmetric(9);
  auto const A = std::make_shared<CsrOperator<double>>(ctx(), Csr<double>(a));
  FunctionOperator<double> const f(
      9, 9, [A](Context& c, In<double> x, Out<double> y) { A->apply(c, x, y); });
  There<double> x(ctx(), std::vector<double>(9, 1.0)), y(ctx(), std::vector<double>(9, 0.0)),
      sigma(ctx(), 0.0);
  Listener listener;
  ctx().listen(&listener);
  A->apply(ctx(), x.in(), y.view());
  EXPECT_EQ(listener.count("csr.apply"), 1);
  A->apply_dot(ctx(), x.in(), y.view(), sigma.data());
  EXPECT_EQ(listener.count("csr.apply_dot"), 1);
  f.apply(ctx(), x.in(), y.view());
  EXPECT_EQ(listener.count(f.name() + ".apply/csr.apply"), 1) << "one operator inside another";
  // A recording opens its ranges when it runs.
  Recording const list = ctx().record([&](Context& c) { f.apply(c, x.in(), y.view()); });
  std::ptrdiff_t const before = listener.anywhere("csr.apply");
  list.run(ctx());
  EXPECT_EQ(listener.anywhere("csr.apply"), before + 1);
  EXPECT_EQ(listener.anywhere(f.name() + ".apply/csr.apply"), 2);
  EXPECT_TRUE(listener.path.empty());
}

TEST_F(CoreRanges, ASolveShowsItsPhasesAndOperations) {
  Csr<double> const a = symmetric(200);
  auto const A = std::make_shared<CsrOperator<double>>(ctx(), Csr<double>(a));
  Listener listener;
  ctx().listen(&listener);
  Cg<double> cg(CgParams{{.rtol = 1e-10, .max_iters = 100}, Execution::eager});
  cg.setup(ctx(), A, nullptr);
  EXPECT_EQ(listener.count("cg.setup"), 1);
  There<double> b(ctx(), random_values(200, 3)), x(ctx(), std::vector<double>(200, 0.0));
  SolveReport const report = cg.solve(b.in(), x.view());
  ASSERT_TRUE(report.converged()) << report.message;
  EXPECT_EQ(listener.count("cg.solve"), 1);
  EXPECT_EQ(listener.count("cg.solve/cg.cycle"), report.restarts + 1);
  EXPECT_GE(listener.count("cg.solve/judge"), 2) << "of the first x, and of the last";
  // A product in every iteration.
  EXPECT_GE(listener.count("cg.solve/cg.cycle/csr_multiply"), report.iterations);
  EXPECT_EQ(listener.closed, listener.opened.size());
  EXPECT_TRUE(listener.path.empty());
}

}  // namespace
}  // namespace tcsolve::test
