// SPDX-License-Identifier: Apache-2.0
/// Params that C++ writes are checked as those that YAML has: what the reader refuses, a method
/// refuses too.
#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/precond/block_jacobi/block_jacobi.hpp>
#include <tcsolve/solvers/bicgstab/bicgstab.hpp>
#include <tcsolve/solvers/cg/cg.hpp>
#include <tcsolve/solvers/gmres/gmres.hpp>
#include <tcsolve/solvers/lsmr/lsmr.hpp>
#include <tcsolve/solvers/minres/minres.hpp>
#include <tcsolve/solvers/pipelined_cg/pipelined_cg.hpp>

#include <cmath>

#include <gmock/gmock.h>

#include "tests/support/backend.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

template <class Make>
std::string message(Make const& make) {
  try {
    make();
  } catch (ConfigError const& e) { return e.what(); }
  return "";
}

template <class Method>
void refuses_what_yaml_refuses(std::string const& name) {
  auto const with = [](StoppingParams const& stopping) {
    return message([&] {
      typename Method::Params params;
      params.stopping = stopping;
      Method const method(params);
    });
  };
  EXPECT_EQ(with({}), "");
  EXPECT_EQ(with({.rtol = -1}), name + ": 'rtol' = -1 is outside [0, 1]");
  EXPECT_THAT(with({.rtol = std::nan("")}), testing::StartsWith(name + ": 'rtol' = "));
  EXPECT_THAT(with({.max_iters = -5}), testing::HasSubstr("'max_iters' = -5 is outside"));
  EXPECT_THAT(with({.time_limit = 0}), testing::HasSubstr("'time_limit'"));
  EXPECT_THAT(with({.baseline = Baseline::absolute}), testing::HasSubstr("needs an 'atol'"));
  std::string const both = with({.rtol = 2, .atol = -1});
  EXPECT_THAT(both, testing::HasSubstr("'rtol'"));
  EXPECT_THAT(both, testing::HasSubstr("'atol'"));
}

TEST(ParamsInCpp, AreCheckedByEveryMethod) {
  refuses_what_yaml_refuses<Cg<>>("cg");
  refuses_what_yaml_refuses<ChronopoulosGear<>>("chronopoulos_gear");
  refuses_what_yaml_refuses<PipelinedCg<>>("pipelined_cg");
  refuses_what_yaml_refuses<Minres<>>("minres");
  refuses_what_yaml_refuses<Bicgstab<float>>("bicgstab");
  refuses_what_yaml_refuses<Gmres<>>("gmres");
  refuses_what_yaml_refuses<Fgmres<>>("fgmres");
  refuses_what_yaml_refuses<Lsmr<>>("lsmr");
  EXPECT_THAT(message([] { Gmres<> const method({.restart = -3}); }),
              testing::HasSubstr("gmres: 'restart' = -3 is outside"));
}

TEST(ParamsInCpp, AreCheckedByPreconditioners) {
  Context ctx(Backend::host);
  Csr<double> const a = dominant(20, 3, 1);
  EXPECT_THAT(message([&] { BlockJacobi<double> const M(ctx, a.view(), {.block = 999}); }),
              testing::HasSubstr("block_jacobi: 'block' = 999 is outside"));
  EXPECT_THAT(message([&] { BlockJacobi<double> const M(ctx, a.view(), {.block = -1}); }),
              testing::HasSubstr("block_jacobi: 'block' = -1 is outside"));
}

TEST(NullVectors, AreAnError) {
  Context ctx(Backend::host);
  Csr<double> const a = dominant(20, 3, 1);
  Cg<> solver;
  solver.setup(ctx, std::make_shared<CsrOperator<double>>(ctx, a.view()));
  std::vector<double> b(20, 1.0), x(20, 0.0);
  auto const error = [&](double const* rhs, double* guess) -> std::string {
    try {
      solver.solve(vector_view(rhs, 20), vector_view(guess, 20));
    } catch (ShapeError const& e) { return e.what(); }
    return "";
  };
  EXPECT_THAT(error(nullptr, x.data()), testing::HasSubstr("b is null"));
  EXPECT_THAT(error(b.data(), nullptr), testing::HasSubstr("x is null"));
  EXPECT_EQ(error(b.data(), x.data()), "");
}

TEST(ParamsInCpp, ABasisGoesWithItsVectors) {
  auto const said = [](GmresParams const& params) {
    return message([&] { Gmres<> const method(params); });
  };
  EXPECT_EQ(said({.basis = BasisType::frsz16}), "");
  EXPECT_EQ(said({.vectors = VectorType::fp32, .basis = BasisType::fp32}), "");
  EXPECT_THAT(said({.vectors = VectorType::fp32, .basis = BasisType::fp64}),
              testing::HasSubstr("'basis: fp64' is wider than 'vectors: fp32'"));
  EXPECT_THAT(said({.execution = Execution::persistent, .basis = BasisType::fp16}),
              testing::HasSubstr("'execution: persistent' reads a basis of the vectors' own type"));
  EXPECT_EQ(said({.execution = Execution::persistent, .basis = BasisType::fp64}), "");
  EXPECT_THAT(message([] {
                Fgmres<> const method({.vectors = VectorType::fp32, .basis = BasisType::fp64});
              }),
              testing::HasSubstr("is wider than"));
}

}  // namespace
}  // namespace tcsolve::test
