// SPDX-License-Identifier: Apache-2.0
/// Owners of preconditioners: new values, what is inside, the matrix on the host; and inner
/// preconditioners by C++ parameters.
#include <tcsolve/configs/schema/yaml.hpp>
#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/precond/block_jacobi/block_jacobi.hpp>
#include <tcsolve/precond/chebyshev/chebyshev.hpp>
#include <tcsolve/precond/direct/direct.hpp>
#include <tcsolve/precond/ilu/ilu.hpp>
#include <tcsolve/precond/jacobi/jacobi.hpp>
#include <tcsolve/precond/smoother.hpp>

#include <gmock/gmock.h>

#include <cmath>
#include <stdexcept>

#include "tests/support/each_backend.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/matrices.hpp"
#include "tests/support/preconditioners.hpp"

namespace tcsolve::test {
namespace {

using testing::HasSubstr;

/// Symmetric positive definite; `values` other ones on one pattern.
Csr<double> definite(int values = 0) {
  Csr<double> a = generate(Poisson7Params{.n = 6, .coefficient = Coefficient::random});
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      a.values[k] *= 1 + (i == a.columns[k] ? 0.3 * values
                                            : 0.1 * values * std::cos(double(i) * a.columns[k]));
  return a;
}

class Owners : public OnEachBackend {
 protected:
  std::shared_ptr<CsrOperator<double>> stored(Csr<double> const& a) {
    return std::make_shared<CsrOperator<double>>(ctx(), Csr<double>(a));
  }
  System system(std::shared_ptr<CsrOperator<double>> const& A) { return {A->view(), A}; }
  std::vector<double> applied(LinearOperator<double> const& M) {
    std::vector<double> r(static_cast<std::size_t>(M.cols()));
    for (std::size_t i = 0; i < r.size(); ++i) r[i] = std::sin(double(i) + 1);
    Guarded<double> x(ctx(), r), y(ctx(), r);
    M.apply(ctx(), 1, x.in(), 0, y.view());
    return y.get();
  }
  std::unique_ptr<Preconditioner> made(std::string const& block, System const& system,
                                       SolverRegistries const& from = tested_registries()) {
    Diagnostics problems;
    auto const factory =
        from.preconditioners.make(parse_yaml(block, "test"), problems, from.catalog);
    problems.throw_if_any();
    return factory->build(ctx(), system);  // the factory does not outlive this
  }
};
TCSOLVE_ON_EACH_BACKEND(Owners);

TEST_P(Owners, TakeNewValuesAsIfMadeOfThem) {
  auto const a = stored(definite()), b = stored(definite(1));
  for (std::string const block :
       {"{type: none}", "{type: jacobi}", "{type: block_jacobi, block: 4}", "{type: ilu}",
        "{type: ic, level: 1}", "{type: direct, library: eigen}", "{type: spai}", "{type: schwarz}",
        "{type: neumann, terms: 3}", "{type: chebyshev}",
        "{type: chebyshev, preconditioner: {type: ic}}",
        "{type: solver, solver: {type: cg, max_iters: 4}}",
        "{type: solver, solver: {type: cg, max_iters: 4}, preconditioner: {type: chebyshev}}",
        "{type: auto}"}) {
    SCOPED_TRACE(block);
    auto const M = made(block, system(a));
    OperatorPtr<double> const first = M->view();
    std::vector<double> const of_a = applied(*first);
    M->update(ctx(), system(b));
    std::vector<double> const of_b = applied(*M->view());
    EXPECT_EQ(of_b, applied(*made(block, system(b))->view()));
    if (block != "{type: none}") EXPECT_NE(of_b, of_a);
    M->update(ctx(), system(a));
    EXPECT_EQ(applied(*M->view()), of_a);
  }
}

/// In place where a method's recording of M is to stay, another operator where M is made anew.
TEST_P(Owners, KeepTheOperatorWhereNumbersAloneAreNew) {
  auto const a = stored(definite()), b = stored(definite(1));
  for (auto const& [block, stays] :
       {std::pair{"{type: jacobi}", true}, std::pair{"{type: ilu}", true},
        std::pair{"{type: fsai}", true}, std::pair{"{type: schwarz}", true},
        std::pair{"{type: block_jacobi}", false}, std::pair{"{type: chebyshev}", false}}) {
    SCOPED_TRACE(block);
    auto const M = made(block, system(a));
    OperatorPtr<double> const first = M->view();
    M->update(ctx(), system(b));
    EXPECT_EQ(M->view() == first, stays);
  }
}

TEST_P(Owners, MayGoBeforeTheirOperator) {
  auto const a = stored(definite());
  for (std::string const block :
       {"{type: jacobi}", "{type: ilu, triangular: isai}", "{type: direct, library: eigen}",
        "{type: chebyshev, preconditioner: {type: ic}}",
        "{type: solver, solver: {type: cg, max_iters: 3}}"}) {
    SCOPED_TRACE(block);
    OperatorPtr<double> const M = made(block, system(a))->view();
    EXPECT_EQ(applied(*M), applied(*made(block, system(a))->view()));
  }
}

/// Jacobi that counts how often it is made and updated.
struct Counts {
  int built = 0, updated = 0;
};
Counts counts;
class Counted final : public PreconditionerFactory {
 public:
  using Params = NoParams;
  explicit Counted(Params const&) {}
  std::unique_ptr<Preconditioner> build(Context& ctx, System const& system) const override {
    class Owner final : public Preconditioner {
     public:
      explicit Owner(std::unique_ptr<Preconditioner> M) : M_(std::move(M)) {}
      OperatorPtr<double> view() const override { return M_->view(); }
      void update(Context& c, System const& s) override {
        ++counts.updated;
        M_->update(c, s);
      }

     private:
      std::unique_ptr<Preconditioner> M_;
    };
    ++counts.built;
    return std::make_unique<Owner>(JacobiFactory().build(ctx, system));
  }
};

TEST_P(Owners, UpdateWhatIsInside) {
  SolverRegistries registries;
  registries.preconditioners.add<Counted>("counted", "Jacobi that counts");
  auto const a = stored(definite()), b = stored(definite(1));
  for (std::string const block :
       {"{type: chebyshev, preconditioner: {type: counted}}",
        "{type: solver, solver: {type: cg, max_iters: 4}, preconditioner: {type: counted}}"}) {
    SCOPED_TRACE(block);
    counts = {};
    auto const M = made(block, system(a), registries);
    M->update(ctx(), system(b));
    EXPECT_EQ(counts.built, 1);
    EXPECT_EQ(counts.updated, 1);
  }
}

// ---- the matrix on the host ----

TEST_P(Owners, CopyTheMatrixToTheHostOnce) {
  Csr<double> const a = definite();
  auto const A = stored(a);
  HostMatrix host;
  {
    HostMatrix::Loan const loan = host.lend_nothing();
    CsrView<double> const first = host.of(ctx(), A->view()), second = host.of(ctx(), A->view());
    EXPECT_EQ(first.values, second.values);
    EXPECT_EQ(first.space, Space::host);
    EXPECT_TRUE(std::equal(a.values.begin(), a.values.end(), first.values));
    EXPECT_EQ(host.there(), ctx().space() != Space::host) << "there was one already";
  }
  EXPECT_FALSE(host.there());
  {
    HostMatrix::Loan const loan = host.lend(a.view());
    if (ctx().space() != Space::host)
      EXPECT_EQ(host.of(ctx(), A->view()).values, a.values.data()) << "lent, not copied";
    HostMatrix::Loan const other = host.lend(A->view());
    EXPECT_EQ(host.there(), ctx().space() == Space::host);
  }
  EXPECT_FALSE(host.there());
}

/// What is lent is taken for the matrix: M of other values than those on the device shows that
/// nothing was copied from there.
TEST_P(Owners, MakeMOfWhatIsLent) {
  if (ctx().space() == Space::host) GTEST_SKIP() << "the matrix lies on the host";
  Csr<double> const a = definite(), b = definite(1);
  auto const A = stored(a), B = stored(b);
  System lent = system(A);
  lent.host = std::make_shared<HostMatrix>();
  HostMatrix::Loan const loan = lent.host->lend(b.view());
  for (std::string const block :
       {"{type: ilu}", "{type: ic}", "{type: direct, library: eigen}", "{type: spai}",
        "{type: block_jacobi}", "{type: normal_ic}", "{type: column_scaling}"}) {
    SCOPED_TRACE(block);
    EXPECT_EQ(applied(*made(block, lent)->view()), applied(*made(block, system(B))->view()));
  }
}

/// Where a System says that A is symmetric or not, nobody looks.
TEST_P(Owners, TakeSymmetryAsKnown) {
  auto const A = stored(definite());
  System told = system(A);
  told.symmetric = false;
  EXPECT_EQ(applied(*made("{type: schwarz}", told)->view()),
            applied(*made("{type: schwarz, combine: restricted}", system(A))->view()));
  EXPECT_NE(applied(*made("{type: schwarz}", told)->view()),
            applied(*made("{type: schwarz}", system(A))->view()));
  EXPECT_EQ(applied(*made("{type: direct, library: eigen}", told)->view()),
            applied(*made("{type: direct, library: eigen, factorisation: lu}", system(A))->view()));
}

// ---- inner preconditioners by C++ parameters ----

TEST_P(Owners, OfSmoothersAreMadeOfCppParameters) {
  auto const A = stored(definite());
  auto const by_name = [&](auto const& factory) {
    return applied(*factory->build(ctx(), system(A))->view());
  };
  auto const by_block = [&](std::string const& block) {
    return applied(*made(block, system(A))->view());
  };
  EXPECT_EQ(by_name(make_smoother("jacobi")), by_block("{type: jacobi}"));
  EXPECT_EQ(by_name(make_smoother("chebyshev")), by_block("{type: chebyshev}"));
  EXPECT_EQ(by_name(make_smoother("ilu", IluParams{.fill = {.level = 1}})),
            by_block("{type: ilu, level: 1}"));
  EXPECT_EQ(by_name(make_smoother("chebyshev", ChebyshevParams{.degree = 2, .eig_ratio = 4})),
            by_block("{type: chebyshev, degree: 2, eig_ratio: 4}"));
  ChebyshevParams const nested{.preconditioner = {"block_jacobi", BlockJacobiParams{.block = 4}}};
  std::string const nested_block =
      "{type: chebyshev, preconditioner: {type: block_jacobi, block: 4}}";
  EXPECT_EQ(by_name(make_smoother("chebyshev", nested)), by_block(nested_block));
  EXPECT_EQ(applied(*ChebyshevFactory(nested).build(ctx(), system(A))->view()),
            by_block(nested_block))
      << "no config was read";
}

TEST(Smoothers, AreRefusedWhereTheirParametersAreWrong) {
  EXPECT_THROW(make_smoother("chebyshev", IluParams{}), std::logic_error);
  EXPECT_THROW(make_smoother(Block()), std::logic_error);
  auto const said = [](auto const& f) -> std::string {
    try {
      f();
    } catch (ConfigError const& e) { return e.what(); }
    return "";
  };
  EXPECT_THAT(said([] { make_smoother("jacoby"); }), HasSubstr("unknown preconditioner 'jacoby'"));
  EXPECT_THAT(said([] { make_smoother("chebyshev", ChebyshevParams{.degree = 0}); }),
              HasSubstr("'degree' = 0 is outside [1, 100]"));
  EXPECT_THAT(said([] { make_smoother(Block("jacoby")); }), HasSubstr("'jacoby'"));
}

}  // namespace
}  // namespace tcsolve::test
