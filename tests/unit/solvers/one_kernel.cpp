// SPDX-License-Identifier: Apache-2.0
/// Which solves a device can run as one kernel is read off their recordings.
#include <tcsolve/configs/schema/yaml.hpp>
#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/precond/register.hpp>
#include <tcsolve/solvers/loop/one_kernel.hpp>
#include <tcsolve/solvers/loop/program.hpp>
#include <tcsolve/solvers/register.hpp>

#include <gtest/gtest.h>

#include "tests/support/formats.hpp"

namespace tcsolve::test {
namespace {

class OneKernel : public ::testing::Test {
 private:
  template <class R>
  auto made(R const& registry, std::string const& keys) {
    Diagnostics problems;
    ConfigNode const node = parse_yaml("{type: " + keys + "}", "test");
    auto thing = registry.make(node, problems, catalog_);
    problems.throw_if_any();
    return thing;
  }

 protected:
  OneKernel() {
    register_solvers(solvers_);
    register_preconditioners(preconditioners_);
    catalog_.add(solvers_);
    catalog_.add(preconditioners_);
  }
  bool of(std::string const& solver, std::string const& preconditioner = "") {
    auto const method = made(solvers_, solver);
    if (preconditioner.empty()) return runs_as_one_kernel(*method, nullptr);
    auto const M = made(preconditioners_, preconditioner);
    return runs_as_one_kernel(*method, M.get());
  }
  bool of(std::string const& solver, PreconditionerFactory const& M) {
    return runs_as_one_kernel(*made(solvers_, solver), &M);
  }

 private:
  SolverRegistry solvers_{"solver", "type"};
  PreconditionerRegistry preconditioners_{"preconditioner", "type"};
  Catalog catalog_;
};

TEST_F(OneKernel, IsForMethodsWhoseOperationsItHas) {
  for (char const* method : {"cg", "bicgstab", "gmres"}) {
    EXPECT_TRUE(of(method)) << method;
    EXPECT_TRUE(of(method, "jacobi")) << method;
    EXPECT_TRUE(of(method, "block_jacobi")) << method;
  }
  for (char const* method : {"minres", "lsmr", "fgmres"}) EXPECT_FALSE(of(method)) << method;
}

/// Levels of a hierarchy as a device stores them by default, not as the host does that is asked.
TEST_F(OneKernel, IsForAHierarchyInTheVectorsOfTheMethod) {
  EXPECT_TRUE(of("cg", "amg"));
  EXPECT_TRUE(of("cg", "amg, values: fp64, smoother: l1_jacobi"));
  EXPECT_TRUE(of("cg", "amg, near_nullspace: {block: 3}"));
  EXPECT_FALSE(of("cg", "amg, values: fp32")) << "levels on FP32 vectors";
  EXPECT_FALSE(of("cg, vectors: fp32", "amg, values: fp64"));
  EXPECT_FALSE(of("cg", "amg, cycle: k")) << "it reads numbers of its own inner method";
}

TEST_F(OneKernel, IsNotForWhatIsAskedToRunOtherwise) {
  EXPECT_TRUE(of("cg, execution: persistent"));
  EXPECT_FALSE(of("cg, execution: graph"));
  EXPECT_FALSE(of("cg, execution: eager", "jacobi"));
}

/// A product that is no operation, as a preconditioner.
TEST_F(OneKernel, IsNotForOpaquePreconditioners) {
  struct : PreconditionerFactory {
    std::unique_ptr<Preconditioner> build(Context& ctx, System const& system) const override {
      return std::make_unique<Remade>(ctx, system, [format = opaque](Context& c, System const& s) {
        return format->make<double>(c, s.matrix);
      });
    }
    Format const* opaque = nullptr;
  } M;
  for (Format const* format : formats_that([](Format const& f) { return !f.can.persistent; })) {
    M.opaque = format;
    EXPECT_FALSE(of("cg", M)) << format->name;
  }
}

/// can.persistent is what a recording of the product comes to.
TEST(LoopPrograms, HaveTheProductsOfFormatsThatSaySo) {
  Context ctx(Backend::host);
  Csr<double> const a = generate(Poisson27Params{.n = 5});
  for (auto const& A : in_every_format<double>(ctx, a.view())) {
    Vector<double> x(ctx.space(), a.rows), y(ctx.space(), a.rows);
    Array<double> sigma(ctx.space(), 1);
    fill<double>(ctx, x, 1);
    Recording const product = ctx.record([&](Context& c) { A->apply_dot(c, x, y, sigma.data()); });
    std::string const why = loop_program(product, 1, 512).why;
    EXPECT_EQ(why.empty(), tested_formats().at(A->name()).can.persistent)
        << A->name() << ": " << why;
  }
}

TEST_F(OneKernel, IsNotForWhatCannotBeSetUp) {
  struct : PreconditionerFactory {
    std::unique_ptr<Preconditioner> build(Context&, System const&) const override {
      throw SetupError("not of this matrix");
    }
  } const refuses;
  EXPECT_FALSE(of("cg", refuses));
}

}  // namespace
}  // namespace tcsolve::test
