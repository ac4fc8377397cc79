// SPDX-License-Identifier: Apache-2.0
// Registries, blocks that are built later, and the mistakes of those who write schemas.
#include <tcsolve/core/error.hpp>
#include <tests/support/config_sample.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace tcsolve {
namespace {

using namespace sample;

TEST(ConfigRegistry, MakesAndLists) {
  Registries const r;
  Diagnostics problems;
  auto const solver = r.solvers.make(parse_yaml("{type: cg, rtol: 0.5}", "f"), problems, r.catalog);
  ASSERT_TRUE(solver);
  EXPECT_EQ(dynamic_cast<Cg const&>(*solver).params.stopping.rtol, 0.5);
  EXPECT_EQ(r.solvers.names(), (std::vector<std::string>{"cg", "gmres"}));
  EXPECT_EQ(r.solvers.entries()[1].doc, "restarted GMRES");

  EXPECT_FALSE(r.solvers.make(parse_yaml("{type: cg, rtol: 5}", "f"), problems, r.catalog));
  EXPECT_EQ(problems.text(), "f:1:18: 'rtol' = 5 is outside [0, 1]");
  EXPECT_THROW(problems.throw_if_any(), ConfigError);
}

TEST(ConfigRegistry, BlocksAreBuiltLaterByTheirOwner) {
  Registries const r;
  RunConfig const run = read_run(
      "problem: {generator: x}\npreconditioner: {type: solve}\nsolver: {type: gmres, "
      "preconditioner: "
      "{type: jacobi, omega: 0.5}}\n",
      r);
  auto const solver = make<SolverRegistry>(run.solver);
  auto const& gmres = dynamic_cast<Gmres const&>(*solver);
  auto const inner = make<PrecondRegistry>(gmres.params.preconditioner);
  EXPECT_EQ(dynamic_cast<Jacobi const&>(*inner).params.omega, 0.5);

  auto const precond = r.preconds.make(run.preconditioner);  // its solver is the default block
  auto const& solve = dynamic_cast<SolvePrecond const&>(*precond);
  EXPECT_EQ(make<SolverRegistry>(solve.params.solver)->name(), "cg");
}

TEST(ConfigRegistry, BlocksOfAnotherRegistryAreRefused) {
  Registries const r;
  RunConfig const run = read_run("problem: {generator: x}\nsolver: {type: cg}\n", r);
  EXPECT_THROW(r.preconds.make(run.solver), std::logic_error);
  EXPECT_THROW(make<PrecondRegistry>(run.solver), std::logic_error);
  EXPECT_THROW(r.solvers.make(Block{"cg"}), std::logic_error);
  EXPECT_THROW(make<SolverRegistry>(Block{}), std::logic_error);
}

TEST(ConfigRegistry, ArgumentsGoToTheConstructor) {
  struct Counter {
    virtual ~Counter() = default;
    int total = 0;
  };
  struct Plus : Counter {
    using Params = Stopping;
    Plus(Params const& p, int const& seed) { total = p.max_iters + seed; }
  };
  Registry<Counter, int const&> r("counter");
  r.add<Plus>("plus", "adds");
  Diagnostics problems;
  EXPECT_EQ(r.make(parse_yaml("{type: plus, max_iters: 2}", "f"), problems, {}, 40)->total, 42);
}

TEST(ConfigRegistry, NamesAreTakenOnce) {
  SolverRegistry r("solver");
  r.add<Cg>("cg", "one");
  EXPECT_THROW(r.add<Gmres>("cg", "two"), std::logic_error);
  EXPECT_EQ(r.entries().size(), 1u);
  Catalog catalog;
  SolverRegistry other("solver");
  catalog.add(r);
  EXPECT_THROW(catalog.add(other), std::logic_error);
  EXPECT_THROW(catalog.at("preconditioner"), std::logic_error);
}

struct KeyTwice {
  Stopping stopping;
  double rtol = 0;
  static constexpr auto schema() {
    return std::tuple{include(&KeyTwice::stopping), field(&KeyTwice::rtol, "rtol", "again")};
  }
};
struct BadDefault {
  int n = 0;
  static constexpr auto schema() { return std::tuple{field(&BadDefault::n, "n", positive(), "n")}; }
};
struct OnlyInfinite {
  double t = std::numeric_limits<double>::infinity();
  static constexpr auto schema() {
    return std::tuple{field(&OnlyInfinite::t, "t", positive(), "t")};
  }
};
struct HasType {
  std::string type;
  static constexpr auto schema() { return std::tuple{field(&HasType::type, "type", "mine")}; }
};
struct RequiredDefault {
  int n = 0;
  static constexpr auto schema() {
    return std::tuple{field(&RequiredDefault::n, "n", positive(), "n").required()};
  }
};

TEST(ConfigSchema, MistakesAreFoundWhenRegistered) {
  EXPECT_THROW(check_schema<KeyTwice>(), std::logic_error);
  EXPECT_THROW(check_schema<BadDefault>(), std::logic_error);
  EXPECT_THROW(check_schema<OnlyInfinite>(), std::logic_error);
  EXPECT_NO_THROW(check_schema<HasType>());
  EXPECT_THROW(check_schema<HasType>("type"), std::logic_error);
  EXPECT_NO_THROW(check_schema<RequiredDefault>());
  EXPECT_NO_THROW(check_schema<RunConfig>());
}

TEST(ConfigSchema, FieldsAreVisitedInOrderAndFlat) {
  std::string keys;
  Gmres::Params p;
  for_each_field(p, [&](auto const& field, auto&) { keys += std::string(field.key) + " "; });
  EXPECT_EQ(keys, "rtol max_iters time_limit restart ortho preconditioner ");
}

}  // namespace
}  // namespace tcsolve
