// SPDX-License-Identifier: Apache-2.0
/// A matrix that changes its format while a solver runs: the recurrence goes on, no step is lost,
/// no values are; and it does so when the rule says.
#include <tcsolve/formats/choose/lazy_operator.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/kernels/reductions.hpp>
#include <tcsolve/operators/composite.hpp>
#include <tcsolve/precond/chebyshev/chebyshev.hpp>
#include <tcsolve/precond/jacobi/jacobi.hpp>

#include <atomic>
#include <chrono>
#include <thread>

#include <tests/support/formats.hpp>
#include <tests/support/solve_backend.hpp>

namespace tcsolve::test {
namespace {

using namespace std::chrono_literals;

struct Notes : Observer {
  explicit Notes(Context& ctx) : ctx_(ctx) { ctx.attach(this); }
  ~Notes() override { ctx_.detach(this); }
  void on(LogEvent const& e) override { texts.push_back(e.text); }
  int count(std::string const& part) const {
    return int(std::ranges::count_if(
        texts, [&](std::string const& t) { return t.find(part) != std::string::npos; }));
  }
  /// K of "format: ... from iteration K on"; 0: there is no such note.
  Index switched() const {
    for (std::string const& t : texts)
      if (auto at = t.find("from iteration "); at != std::string::npos)
        return std::stoi(t.substr(at + 15));
    return 0;
  }
  std::vector<std::string> texts;

 private:
  Context& ctx_;
};

/// What csr becomes: a format whose product is no operation of a persistent loop.
std::string const target =
    formats_that([](Format const& f) { return f.converted && !f.can.persistent; }).back()->name;

/// A conversion that says when it has begun and ended.
struct Conversion {
  std::atomic<int> begun = 0, let = 0, ended = 0;
  /// Until it is let, nothing happens.
  std::function<void()> before = [this] {
    while (let == 0) std::this_thread::sleep_for(1ms);
  };

  std::shared_ptr<LazyOperator<double>> of(Context& ctx, Csr<double> const& a,
                                           ConversionTerms terms) {
    auto csr = std::make_shared<CsrOperator<double>>(ctx, a);
    terms.format = target;
    return std::make_shared<LazyOperator<double>>(csr, terms, [this, csr](Context& own) {
      ++begun;
      before();
      auto made = make_operator<double>(own, csr->view(), target);
      own.synchronize();
      ++ended;
      return made;
    });
  }
};

void wait_for(std::atomic<int> const& flag) {
  for (int i = 0; flag == 0 && i < 10000; ++i) std::this_thread::sleep_for(1ms);
  EXPECT_GT(flag, 0);
  std::this_thread::sleep_for(30ms);  // until the future is ready
}

/// Jacobi; at a pause of the loop after `steps` applications it lets the conversion go on and waits
/// for it.
class Patient final : public LinearOperator<double> {
 public:
  Patient(OperatorPtr<double> M, Conversion& conversion, double steps)
      : LinearOperator(M->rows(), M->cols()), M_(M), conversion_(conversion), left_(steps) {}
  Traits traits() const override { return M_->traits(); }
  Cost cost(Index k) const override { return M_->cost(k); }
  std::string name() const override { return M_->name(); }
  std::optional<Diagonal<double>> diagonal() const override { return M_->diagonal(); }
  double advance(Context& ctx, double n) const override {
    if (left_ > 0 && (left_ -= n) <= 0) ++conversion_.let, wait_for(conversion_.ended);
    return M_->advance(ctx, n);
  }
  std::uint64_t revision() const override { return M_->revision(); }

 private:
  void do_apply(Context& ctx, double alpha, In<double> x, double beta, Out<double> y,
                Op op) const override {
    M_->apply(ctx, alpha, x, beta, y, op);
  }
  OperatorPtr<double> M_;
  Conversion& conversion_;
  mutable double left_;
};

Csr<double> system_matrix(double scale = 1) {
  Csr<double> a = generate(Poisson7Params{.n = 12, .coefficient = Coefficient::random});
  for (double& v : a.values) v *= scale;
  return a;
}

class LazyConversion : public InEveryPlace {};
TCSOLVE_IN_EVERY_PLACE(LazyConversion);

constexpr char const* square = "cg chronopoulos_gear pipelined_cg bicgstab gmres gmres_left minres";

TEST_P(LazyConversion, GoesOnWithTheSameRecurrence) {
  Csr<double> const a = system_matrix();
  Column const b = random_column(a.rows, 3);
  CsrStorage<double> there(ctx(), a.view());
  auto const jacobi = std::make_shared<Jacobi<double>>(ctx(), there.view());
  for (auto const& method : methods(square)) {
    SCOPED_TRACE(method);
    StoppingParams const stopping{.rtol = 1e-9, .max_iters = 1000};
    auto plain = make_solver(method, stopping, execution());
    plain->setup(ctx(), std::make_shared<CsrOperator<double>>(ctx(), a), jacobi);
    Column x = Column::Zero(a.rows), y = x;
    SolveReport const reference = solve(*plain, b, x);

    Conversion conversion;
    auto A = conversion.of(ctx(), a, {"", 8, 1, 4});
    auto solver = make_solver(method, stopping, execution());
    solver->setup(ctx(), A, std::make_shared<Patient>(jacobi, conversion, 12));
    EXPECT_EQ(A->name(), "csr");
    Notes notes(ctx());
    SolveReport const report = solve(*solver, b, y);
    EXPECT_TRUE(report.converged()) << report.message;
    EXPECT_EQ(A->name(), target);
    EXPECT_EQ(notes.count(method == "minres" ? "scaled(" + target + ") from"
                                             : "format: " + target + " from"),
              1);
    Index const k = notes.switched();
    EXPECT_GT(k, method == "bicgstab" ? 6 : 12);
    EXPECT_LT(k, report.iterations);
    double const slack = method == "bicgstab" ? 0.3 : 0.05;
    EXPECT_NEAR(report.iterations, reference.iterations, 1 + slack * reference.iterations);
    EXPECT_EQ(report.restarts, reference.restarts);
    ASSERT_EQ(report.history.size(), std::size_t(report.iterations));
    for (Index i = 0; i < report.iterations; ++i) EXPECT_EQ(report.history[i].iteration, i + 1);
    for (Index i = 0; i + 1 < k; ++i)
      EXPECT_NEAR(report.history[i].norm / reference.history[i].norm, 1, 1e-9) << i;
    EXPECT_LE((x - y).norm(), 1e-6 * x.norm());

    // From now on it is that from the start, in this solver and in another one.
    y.setZero();
    EXPECT_TRUE(solve(*solver, b, y).converged());
    auto other = make_solver(method, stopping, execution());
    other->setup(ctx(), A, jacobi);
    y.setZero();
    EXPECT_TRUE(solve(*other, b, y).converged());
    EXPECT_EQ(notes.count("from iteration"), 1);
    EXPECT_EQ(conversion.begun, 1);
  }
}

/// Nobody waits for anybody: conversion and loop run side by side, and do not hold each other up.
TEST_P(LazyConversion, RunsBesideTheSolve) {
  Csr<double> const a = generate(Poisson7Params{.n = 32, .coefficient = Coefficient::random});
  Column const b = random_column(a.rows, 7);
  for (int round = 0; round < 3; ++round) {
    Conversion conversion;
    conversion.let = 1;
    auto A = conversion.of(ctx(), a, {"", 8, 1, 4});
    auto solver = make_solver("cg", {.rtol = 1e-9}, execution());
    solver->setup(ctx(), A);
    auto const start = std::chrono::steady_clock::now();
    while (A->name() == "csr" && std::chrono::steady_clock::now() - start < 30s) {
      Column x = Column::Zero(a.rows);
      SolveReport const report = solve(*solver, b, x);
      ASSERT_TRUE(report.converged()) << report.message;
      ASSERT_EQ(report.history.size(), std::size_t(report.iterations));
    }
    EXPECT_EQ(A->name(), target);
    EXPECT_EQ(conversion.begun, 1);
  }
}

/// Wrappers pass on what the operator within has to say: as operations (scaled), as a command that
/// a graph holds whole (shifted), and in a preconditioner.
TEST_P(LazyConversion, IsSeenThroughWrappers) {
  for (std::string const wrapper : {"scaled", "shifted", "chebyshev"}) {
    SCOPED_TRACE(wrapper);
    Csr<double> const a = system_matrix(wrapper == "scaled" ? 1e90 : 1);
    Conversion conversion;
    auto lazy = conversion.of(ctx(), a, {"", 40, 1, 4});
    OperatorPtr<double> A = lazy;
    if (wrapper == "shifted") A = std::make_shared<Shifted<double>>(lazy, 0.01);
    CsrStorage<double> there(ctx(), a.view());
    OperatorPtr<double> M = std::make_shared<Jacobi<double>>(ctx(), there.view());
    if (wrapper == "chebyshev") M = std::make_shared<Chebyshev>(ctx(), A, M);
    // The Lanczos steps of chebyshev are products too.
    lazy->advance(ctx(), std::max(0.0, 30 - lazy->products()));
    auto solver = make_solver("cg", {.rtol = 1e-9}, execution());
    solver->setup(ctx(), A, std::make_shared<Patient>(M, conversion, 12));
    Notes notes(ctx());
    Column const b = random_column(a.rows, 4);
    Column x = Column::Zero(a.rows);
    SolveReport const report = solve(*solver, b, x);
    EXPECT_TRUE(report.converged()) << report.message;
    EXPECT_EQ(lazy->name(), target);
    EXPECT_EQ(
        notes.count(wrapper == "chebyshev" ? target + " from" : wrapper + "(" + target + ") from"),
        1);
    EXPECT_EQ(report.history.size(), std::size_t(report.iterations));
  }
}

TEST_P(LazyConversion, StaysWithItsFormatWhereItFails) {
  Csr<double> const a = system_matrix();
  Conversion conversion;
  conversion.before = [&] {
    ++conversion.ended;
    throw MemoryError("no room at all");
  };
  auto A = conversion.of(ctx(), a, {"", 8, 1, 4});
  CsrStorage<double> there(ctx(), a.view());
  auto jacobi = std::make_shared<Jacobi<double>>(ctx(), there.view());
  auto solver = make_solver("cg", {.rtol = 1e-9}, execution());
  solver->setup(ctx(), A, std::make_shared<Patient>(jacobi, conversion, 12));
  Notes notes(ctx());
  Column const b = random_column(a.rows, 5);
  for (int i = 0; i < 2; ++i) {
    Column x = Column::Zero(a.rows);
    EXPECT_TRUE(solve(*solver, b, x).converged());
  }
  EXPECT_EQ(A->name(), "csr");
  EXPECT_EQ(conversion.begun, 1) << "it is not tried again";
  EXPECT_EQ(notes.texts.size(), 1u);
  EXPECT_EQ(notes.count("format: csr stays: not " + target + ": no room at all"), 1);
}

TEST_P(LazyConversion, LosesNoNewValues) {
  Csr<double> const old = system_matrix(), now = system_matrix(3);
  auto const product = [&](LinearOperator<double> const& A) {
    Vector<double> x(ctx().space(), old.rows), y(ctx().space(), old.rows);
    fill<double>(ctx(), x, 1);
    A.apply(ctx(), x, y);
    return norm<double>(ctx(), y);
  };
  double const before = product(CsrOperator<double>(ctx(), old)), after = 3 * before;
  for (std::string when : {"before", "during", "after"}) {
    SCOPED_TRACE(when);
    Conversion conversion;
    conversion.let = when != "during";
    auto A = conversion.of(ctx(), old, {"", 3, 1, 1});
    CsrStorage<double> there(ctx(), now.view());
    if (when == "before") A->update_values(ctx(), there.view());
    for (int i = 0; i < 3; ++i)
      EXPECT_NEAR(product(*A), when == "before" ? after : before, 1e-9 * after);
    wait_for(conversion.begun);
    if (when == "during") {
      EXPECT_EQ(A->name(), "csr");
      std::thread later([&] { std::this_thread::sleep_for(30ms), ++conversion.let; });
      A->update_values(ctx(), there.view());
      EXPECT_EQ(conversion.ended, 1) << "it is waited for";
      later.join();
    } else {
      wait_for(conversion.ended);
      product(*A);  // the first after which it looks
      if (when == "after") A->update_values(ctx(), there.view());
    }
    EXPECT_EQ(A->name(), target);
    EXPECT_NEAR(product(*A), after, 1e-9 * after);
    EXPECT_NEAR(A->norm_estimate(), CsrOperator<double>(ctx(), now).norm_estimate(), 1e-9);
    A->update_values(ctx(), old.view());
    EXPECT_NEAR(product(*A), before, 1e-9 * before);
  }
}

/// Karlin et al.: when what the products lost has reached the price, and not before.
TEST_P(LazyConversion, BeginsWhenTheLossHasReachedThePrice) {
  Csr<double> const a = system_matrix();
  EXPECT_EQ((ConversionTerms{"", 100, 3, 0}.due()), 34);
  EXPECT_EQ((ConversionTerms{"", 0, 3, 0}.due()), 1);
  Conversion conversion;
  auto A = conversion.of(ctx(), a, {"", 100, 3, 10});
  Vector<double> x(ctx().space(), a.rows), y(ctx().space(), a.rows);
  fill<double>(ctx(), x, 1);
  for (int i = 0; i < 20; ++i) A->apply(ctx(), x, y);
  EXPECT_EQ(A->advance(ctx(), 13), 1) << "one product is left";
  EXPECT_EQ(A->products(), 33);
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(conversion.begun, 0);
  A->apply(ctx(), x, y);
  wait_for(conversion.begun);
  EXPECT_EQ(A->revision(), 0u);
  ++conversion.let;
  wait_for(conversion.ended);
  EXPECT_EQ(A->advance(ctx(), 0), std::numeric_limits<double>::infinity());
  EXPECT_EQ(A->revision(), 1u);
}

/// Has X^T A X of its own, and nothing else.
class Gram final : public LinearOperator<double> {
 public:
  explicit Gram(Index n) : LinearOperator(n, n) {}
  Traits traits() const override { return {}; }
  Cost cost(Index) const override { return {}; }
  std::string name() const override { return "gram"; }

 private:
  void do_apply(Context&, double, In<double>, double, Out<double>, Op) const override {
    ADD_FAILURE() << "not fused";
  }
  void do_apply_gram(Context&, double alpha, In<double>, Out<double>, double* G) const override {
    *G = alpha;
  }
};

/// X^T A X is left to the format at hand, and a block counts its columns.
TEST(LazyConversionHost, CountsTheColumnsOfABlock) {
  Context ctx(Backend::host);
  LazyOperator<double> const A(std::make_shared<Gram>(3), ConversionTerms{"", 1e9, 1, 1}, nullptr);
  MultiVector<double> X(Space::host, 3, 8), Y(Space::host, 3, 8);
  double G = 0;
  A.apply_gram(ctx, -2, X, Y, &G);
  EXPECT_EQ(G, -2);
  EXPECT_EQ(A.products(), 8);
}

/// Every product counts once: those that loops make of recordings, through a preconditioner too,
/// and those around them, over all solves.
TEST(LazyConversionHost, CountsEveryProduct) {
  Context ctx(Backend::host);
  auto const csr = std::make_shared<CsrOperator<double>>(ctx, system_matrix());
  for (std::string method : {"cg", "bicgstab", "gmres", "minres"})
    for (bool polynomial : {false, true}) {
      SCOPED_TRACE(cat(method, polynomial ? ", chebyshev" : ""));
      int products = 0;
      auto counting = std::make_shared<FunctionOperator<double>>(
          csr->rows(), csr->cols(), [&](Context& c, In<double> x, Out<double> y) {
            ++products;
            csr->apply(c, x, y);
          });
      auto A =
          std::make_shared<LazyOperator<double>>(counting, ConversionTerms{"", 1e9, 1, 1}, nullptr);
      OperatorPtr<double> M;
      if (polynomial)
        M = std::make_shared<Chebyshev>(ctx, A, std::make_shared<Jacobi<double>>(ctx, csr->view()));
      auto solver = make_solver(method, {.rtol = 1e-9, .max_iters = 1000}, Execution::eager, 10);
      solver->setup(ctx, A, M);
      Column const b = random_column(csr->rows(), 6);
      for (int i = 0; i < 3; ++i) {
        Column x = Column::Zero(csr->rows());
        SolveReport const report = solve(*solver, b, x);
        EXPECT_TRUE(report.converged()) << report.message;
        EXPECT_EQ(A->products(), products);
      }
    }
}

TEST(LazyConversionHost, GoesOnlyWhenItsThreadHasEnded) {
  Context ctx(Backend::host);
  Csr<double> const a = system_matrix();
  Conversion conversion;
  conversion.before = [] { std::this_thread::sleep_for(50ms); };
  auto A = conversion.of(ctx, a, {"", 1, 1, 1});
  A->advance(ctx, 1);
  A.reset();
  EXPECT_EQ(conversion.ended, 1);
}

}  // namespace
}  // namespace tcsolve::test
