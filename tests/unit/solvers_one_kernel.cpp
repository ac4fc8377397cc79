// SPDX-License-Identifier: Apache-2.0
/// Which solves a device can run as one kernel is read off their recordings.
#include <tcsolve/configs/schema/yaml.hpp>
#include <tcsolve/formats/dasp/operator.hpp>
#include <tcsolve/precond/register.hpp>
#include <tcsolve/solvers/loop/one_kernel.hpp>
#include <tcsolve/solvers/register.hpp>

#include <gtest/gtest.h>

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

TEST_F(OneKernel, IsNotForWhatIsAskedToRunOtherwise) {
  EXPECT_TRUE(of("cg, execution: persistent"));
  EXPECT_FALSE(of("cg, execution: graph"));
  EXPECT_FALSE(of("cg, execution: eager", "jacobi"));
}

/// A product by DASP has no form in a kernel of operations.
TEST_F(OneKernel, IsNotForOpaquePreconditioners) {
  struct : PreconditionerFactory {
    OperatorPtr<double> build(Context& ctx, System const& system) const override {
      return std::make_shared<DaspOperator<double>>(ctx, system.matrix);
    }
  } const opaque;
  EXPECT_FALSE(of("cg", opaque));
}

TEST_F(OneKernel, IsNotForWhatCannotBeSetUp) {
  struct : PreconditionerFactory {
    OperatorPtr<double> build(Context&, System const&) const override {
      throw SetupError("not of this matrix");
    }
  } const refuses;
  EXPECT_FALSE(of("cg", refuses));
}

}  // namespace
}  // namespace tcsolve::test
