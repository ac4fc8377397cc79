// SPDX-License-Identifier: Apache-2.0
/// Scaling A and b by powers of two changes nothing but the answer's scale: the same iterations,
/// the same outcome, and a history that is the old one times a power of two, bit by bit.
#include <tests/verdicts/corpus.hpp>

namespace tcsolve::test {

namespace {

struct Exponents {
  int a, b;
};

/// Both independently over -900 .. 900, as far as x stays an FP64 number.
std::vector<Exponents> exponents() {
  std::vector<Exponents> out;
  for (int a : {-900, -520, -201, -200, -60, -1, 0, 3, 130, 199, 202, 511, 900})
    for (int b : {-900, -500, -130, 0, 1, 77, 300, 514, 900})
      if (std::abs(b - a) <= 900) out.push_back({a, b});
  return out;
}

class Scaling : public testing::TestWithParam<std::tuple<std::string, Where>> {
 protected:
  void SetUp() override { TCSOLVE_SKIP_IF_ABSENT(std::get<1>(GetParam()).backend); }

  void check(Matrix const& A, Column const& b, bool jacobi, StoppingParams const& stopping) {
    auto const& [method, where] = GetParam();
    Context ctx(where.backend);
    auto scaled = [&, &method = method, &where = where](Exponents e, Column& x) {
      Matrix a = A * std::ldexp(1.0, e.a);
      Problem p{a, b * std::ldexp(1.0, e.b)};
      if (jacobi)
        p.M = [m = Matrix(a.diagonal().cwiseInverse().asDiagonal())](Context& c) {
          return matrix(c, m);
        };
      SolveReport report = run(ctx, p, x, method, stopping, where.execution, 6);
      expect_invariants(p, report, x, stopping);
      return report;
    };
    Column x0, x;
    SolveReport first = scaled({0, 0}, x0);
    for (Exponents e : exponents()) {
      SCOPED_TRACE(cat(method, ", A 2^", e.a, ", b 2^", e.b));
      SolveReport report = scaled(e, x);
      SCOPED_TRACE(report.message);
      EXPECT_EQ(report.outcome(), first.outcome());
      ASSERT_EQ(report.iterations, first.iterations);
      EXPECT_TRUE(x == x0 * std::ldexp(1.0, e.b - e.a));
      for (std::size_t i = 0; i < report.history.size(); ++i)
        ASSERT_EQ(report.history[i].norm, std::ldexp(first.history[i].norm, e.b))
            << "iteration " << i + 1;
    }
  }
};

TEST_P(Scaling, LeavesDefiniteSystemsAlone) {
  check(random_spd(20, 2, 301), random_column(20, 302), false, {});
}
TEST_P(Scaling, LeavesPreconditionedSystemsAlone) {
  check(random_spd(20, 2, 303), random_column(20, 304), true, {});
}
TEST_P(Scaling, LeavesOutcomesAlone) {  // indefinite, and a tolerance out of reach
  check(laplace(20) - 0.3 * Matrix::Identity(20, 20), random_column(20, 305), false,
        {.rtol = 1e-17, .max_iters = 60});
}
TEST_P(Scaling, LeavesSingularSystemsAlone) {
  check(path_laplacian(9), Column::LinSpaced(9, -1, 3), false, {.max_iters = 60});
}

INSTANTIATE_TEST_SUITE_P(
    of, Scaling, testing::Combine(testing::ValuesIn(methods()), testing::ValuesIn(everywhere())),
    [](auto const& info) { return cat(std::get<0>(info.param), "_", std::get<1>(info.param)); });

}  // namespace

}  // namespace tcsolve::test
