// SPDX-License-Identifier: Apache-2.0
/// y = alpha A x + beta y and the smoothing step that takes y, in one pass or in two: the same
/// bits, and the same operations for who interprets them.
#include <cmath>
#include <limits>

#include <tcsolve/formats/format.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/solvers/loop/program.hpp>

#include "tests/support/bounds.hpp"
#include "tests/support/formats.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

using ApplyThen = FormatTest;
INSTANTIATE_TEST_SUITE_P(Formats, ApplyThen, ::testing::ValuesIn(format_cases()), case_label);

/// The operands of a product and of the step behind it, k columns.
template <class T>
struct Operands {
  Operands(Context& ctx, Csr<double> const& a, Index k, double y0)
      : x(ctx, a.cols, k, Layout::row_major, 0, random_values(std::size_t(a.cols) * k, 1)),
        y(ctx, a.rows, k, Layout::row_major, 0,
          y0 == 0 ? random_values(std::size_t(a.rows) * k, 2)
                  : std::vector<double>(std::size_t(a.rows) * k, y0)),
        w(ctx, random_values(a.rows, 3)),
        d(ctx, a.rows, k, Layout::row_major, 0, random_values(std::size_t(a.rows) * k, 4)),
        to(ctx, a.rows, k, Layout::row_major, 0, unset(a, k)),
        sum(ctx, a.rows, k, Layout::row_major, 0, random_values(std::size_t(a.rows) * k, 5)) {}
  static std::vector<double> unset(Csr<double> const& a, Index k) {
    return std::vector<double>(std::size_t(a.rows) * k, std::numeric_limits<double>::quiet_NaN());
  }
  SmoothingStep<T> step(double keep, StepFrom from) {
    return {0, keep, 0.75, w.data(), y.in(), d.in(), to.view(), sum.view(), from};
  }
  Guarded<T> x, y, w, d, to, sum;
};

struct Kind {
  double alpha, beta, keep;
  StepFrom from;
};
constexpr Kind kinds[] = {{-1, 1, 0.3, StepFrom::x},
                          {-1, 1, 0, StepFrom::correction},
                          {1, 0, 0, StepFrom::zero},
                          {0.7, -1.2, 0.4, StepFrom::correction}};

/// Within `rounding` of the largest of what was added, of which none is above the largest of the
/// result by more than the 1.2 of y.
void expect_near(std::vector<double> const& got, std::vector<double> const& wanted,
                 double rounding) {
  ASSERT_EQ(got.size(), wanted.size());
  double largest = 1.2;
  for (double const v : wanted) largest = std::max(largest, std::abs(v) + 1.2);
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_LE(std::abs(got[i] - wanted[i]), rounding * largest) << i;
}

std::vector<Csr<double>> matrices() {
  std::vector<Csr<double>> list;
  for (Named const& m : adversarial())
    if (m.name.find("values") == std::string::npos) list.push_back(m.matrix);
  list.push_back(banded(5000, 20, 6, 77));
  list.push_back(generate(ElasticityParams{.n = 6}));
  list.push_back(random_matrix(40, 9000, 4000, 8));  // rows in several parts
  return list;
}

TEST_P(ApplyThen, IsApplyAndTheStep) {
  with_format([&]<class T>(FormatUnderTest<T> const& format) {
    for (Csr<double> const& a : matrices()) {
      auto const A = format.make(ctx(), a);
      for (auto const& [alpha, beta, keep, from] : kinds)
        for (Index const k : {1, 3}) {
          SCOPED_TRACE(cat(a.rows, " x ", a.cols, ", beta ", beta, ", ", k, " columns"));
          double const y0 = beta == 0 ? std::numeric_limits<double>::quiet_NaN() : 0;
          Operands<T> one(ctx(), a, k, y0), two(ctx(), a, k, y0);
          A->apply_then(ctx(), T(alpha), one.x.in(), T(beta), one.y.view(), one.step(keep, from));
          A->apply(ctx(), T(alpha), two.x.in(), T(beta), two.y.view());
          auto step = two.step(keep, from);
          step.n = std::int64_t{a.rows} * k, step.r = two.y.in();
          submit(ctx(), step);
          // Where products are contracted to fma, which of two is a compiler's choice.
          double const rounding =
              std::abs(alpha) == 1 ? 0.0 : 8 * double(std::numeric_limits<T>::epsilon());
          expect_near(one.y.get(), two.y.get(), rounding);
          expect_near(one.to.get(), two.to.get(), rounding);
          expect_near(one.sum.get(), two.sum.get(), rounding);
          for (Guarded<T>* const written : {&one.y, &one.to, &one.sum})
            ASSERT_TRUE(written->untouched());
          for (Guarded<T>* const read : {&one.x, &one.w, &one.d}) ASSERT_TRUE(read->unchanged());
        }
    }
  });
}

/// A recorded pass runs as one command, and names the operations that do the same.
TEST_P(ApplyThen, IsRecordedWithItsParts) {
  with_format([&]<class T>(FormatUnderTest<T> const& format) {
    Csr<double> const a = generate(Poisson7Params{.n = 6});
    auto const A = format.make(ctx(), a);
    Operands<T> direct(ctx(), a, 1, 0), replayed(ctx(), a, 1, 0), apart(ctx(), a, 1, 0);
    auto const apply = [&](Context& c, Operands<T>& to) {
      A->apply_then(c, T(-1), to.x.in(), T(1), to.y.view(), to.step(0.3, StepFrom::x));
    };
    apply(ctx(), direct);
    Recording const list = ctx().record([&](Context&c) { apply(c, replayed); }),
                    other = ctx().record([&](Context&c) { apply(c, apart); });
    EXPECT_TRUE(std::isnan(replayed.to.get().front())) << "it ran";
    bool const in_one = ctx().device() != nullptr && A->traits().ends_in_steps;
    EXPECT_EQ(list.commands.size(), in_one ? 1U : 2U);
    list.run(ctx());
    int parts = 0;
    each_part(other.commands, [&](Command const& command) {
      ++parts;
      command.call(ctx());
    });
    EXPECT_EQ(parts, 2);
    for (Operands<T>* const to : {&replayed, &apart}) {
      EXPECT_EQ(to->y.get(), direct.y.get());
      EXPECT_EQ(to->to.get(), direct.to.get());
      EXPECT_EQ(to->sum.get(), direct.sum.get());
    }
    LoopProgram const loop = loop_program(list, 10, 512);
    if (loop.why.empty()) EXPECT_EQ(loop.list.size(), 2U);
    Recording const product =
        ctx().record([&](Context& c) { A->apply(c, replayed.x.in(), replayed.y.view()); });
    EXPECT_EQ(loop.why.empty(), loop_program(product, 10, 512).why.empty()) << loop.why;
  });
}

/// The formats of small levels, which loops in one kernel multiply by, have the step at the end of
/// their products with values of their own type, or under FP32 vectors; nobody else's does.
TEST_P(ApplyThen, IsOnePassWhereHierarchiesMultiply) {
  with_format([&]<class T>(FormatUnderTest<T> const& format) {
    auto const A = format.make(ctx(), generate(Poisson7Params{.n = 4}));
    Traits const all = A->traits();
    bool const own = all.precision.storage == real_of<T> || std::is_same_v<T, float>;
    if (tested_formats().at(A->name()).can.persistent)
      EXPECT_EQ(all.ends_in_steps, own) << A->name();
    else
      EXPECT_TRUE(own || !all.ends_in_steps) << A->name();
  });
}

}  // namespace
}  // namespace tcsolve::test
