// SPDX-License-Identifier: Apache-2.0
/// The memory of every preconditioner, told from the pattern, against what the heap says once it is
/// made; and the counts of fill against factors that are made.
#include <tcsolve/configs/schema/yaml.hpp>
#include <tcsolve/core/faults.hpp>
#include <tcsolve/factors/make/complete.hpp>
#include <tcsolve/factors/make/fill_count.hpp>
#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/graph/reorder/minimum_degree.hpp>
#include <tcsolve/io/generate/generators.hpp>

#include <gmock/gmock.h>

#include <map>

#include "tests/support/backend.hpp"
#include "tests/support/heap.hpp"
#include "tests/support/matrices.hpp"
#include "tests/support/preconditioners.hpp"

namespace tcsolve::test {
namespace {

using ::testing::HasSubstr;

std::shared_ptr<PreconditionerFactory const> factory_of(std::string const& block) {
  Diagnostics problems;
  auto factory = tested_registries().preconditioners.make(parse_yaml(block, "test"), problems,
                                                          tested_registries().catalog);
  problems.throw_if_any();
  return factory;
}

/// What each is asked for, beside its defaults, by name.
std::multimap<std::string, std::string> const variants = {
    {"ilu", "level: 1"},
    {"ilu", "level: 2, values: fp32"},
    {"ilu", "drop_tolerance: 0.01"},
    {"ilu", "drop_tolerance: 0.1, complete_below: 50"},
    {"ilu", "triangular: isai"},
    {"ilu", "triangular: sweeps, order: rcm"},
    {"ilu", "block: 0"},
    {"ic", "level: 1, order: amd"},
    {"ic", "block: 3, order: rcm"},
    {"ic", "drop_tolerance: 0.01, values: fp16"},
    {"ic", "triangular: isai"},
    {"ic", "triangular: parts, part: 64"},
    {"block_jacobi", "block: 20, values: adaptive"},
    {"block_jacobi", "block: 3, values: fp32"},
    {"fsai", "power: 2, tolerance: 0.01"},
    {"fsai", "power: 3, tolerance: 0.3"},
    {"fsai", "steps: 3"},
    {"fsai", "steps: 3, enough: 0.2, values: fp32"},
    {"spai", "level: 0"},
    {"schwarz", "size: 20, overlap: 0"},
    {"schwarz", "combine: restricted, values: fp32"},
    {"amg", "coarse_size: 30"},
    {"amg", "coarse_size: 30, values: fp64"},
    {"amg", "coarse_size: 30, values: fp16"},
    {"amg", "coarse_size: 30, reuse: pattern"},
    {"amg", "coarse_size: 100, coarsening: classical, near_nullspace: {block: 1}"},
    {"direct", "factorisation: lu"},
    {"direct", "factorisation: auto, values: fp32"},
    {"chebyshev", "preconditioner: {type: ic, level: 1}"}};

std::vector<std::string> blocks_of(std::string const& name) {
  std::vector<std::string> blocks = {"{type: " + name + "}"};
  if (name == "solver") blocks = {"{type: solver, solver: {type: gmres, restart: 20}}"};
  auto const [begin, end] = variants.equal_range(name);
  for (auto at = begin; at != end; ++at)
    blocks.push_back("{type: " + name + ", " + at->second + "}");
  return blocks;
}

struct Problem {
  std::string name;
  Csr<double> matrix;
  bool definite;
};

/// Rows times -1 where that makes their diagonal entry positive.
Csr<double> with_positive_diagonal(Csr<double> a) {
  for (Index i = 0; i < a.rows; ++i) {
    double sign = 1;
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      if (a.columns[k] == i && a.values[k] < 0) sign = -1;
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) a.values[k] *= sign;
  }
  return a;
}

TEST(PreconditionerMemory, IsToldBeforeItIsTaken) {
  Context ctx(Backend::host, {.threads = 1});
  std::vector<Problem> const problems = {
      {"poisson27", generate(Poisson27Params{.n = 9, .coefficient = Coefficient::random}), true},
      {"elasticity", generate(ElasticityParams{.n = 5}), true},
      {"convdiff", generate(ConvdiffParams{.n = 10}), false},
      {"random", with_positive_diagonal(dominant(500, 4, 3)), false}};
  for (Problem const& p : problems) {
    auto const A = std::make_shared<CsrOperator<double>>(ctx, Csr<double>(p.matrix));
    System const system{A->view(), A};
    for (std::string const& name : tested_registries().preconditioners.names())
      for (std::string const& block : blocks_of(name)) {
        SCOPED_TRACE(p.name + ", " + block);
        auto const factory = factory_of(block);
        if (factory->needs_definite() && !p.definite) continue;
        factory->build(ctx, system);  // what stays in the Context, and in its threads
        MemoryNeed const need = factory->memory(ctx, system);
        double const predicted = need.held();
        double const before = settled_heap_bytes();
        auto const M = factory->build(ctx, system);
        double const taken = settled_heap_bytes() - before;
        // Objects, whatever the matrix; a sanitizer rounds each up, and counts its guards.
        double const small = sanitized() ? 8192 : 2048;
        EXPECT_LE(std::abs(predicted - taken), 0.25 * taken + small)
            << "predicted " << predicted << ", taken " << taken;
        EXPECT_LE(predicted + need.passing, factory->most_bytes(p.matrix.rows, p.matrix.entries()));
      }
  }
}

/// They do not outlive a test.
struct Limits {
  ~Limits() { faults::limit_available_memory(-1); }
};

TEST(PreconditionerMemory, IsRefusedByName) {
  Context ctx(Backend::host, {.threads = 1});
  auto const A = std::make_shared<CsrOperator<double>>(ctx, generate(Poisson27Params{.n = 16}));
  System const system{A->view(), A};
  for (std::string const type : {"ilu", "amg"}) {
    SCOPED_TRACE(type);
    auto const factory = factory_of(cat("{type: ", type, type == "ilu" ? ", level: 2}" : "}"));
    MemoryNeed const all = factory->memory(ctx, system);
    double const need = all.held() + all.passing;
    Limits const limits;
    faults::limit_available_memory(static_cast<std::int64_t>(0.9 * need / 0.8));
    MemoryCounters const before = memory_counters();
    std::string const text =
        message_of<MemoryError>([&] { build_within_memory(ctx, *factory, system, type); });
    EXPECT_EQ(memory_counters().live(), before.live());
    if (type == "ilu")
      EXPECT_EQ(memory_counters().allocations, before.allocations) << "before any of it is made";
    faults::limit_available_memory(static_cast<std::int64_t>(1.1 * need / 0.8));
    EXPECT_NE(build_within_memory(ctx, *factory, system, type), nullptr);
    EXPECT_THAT(text, HasSubstr(cat("the preconditioner '", type, "' needs about")));
  }
}

TEST(FillCounts, AreThoseOfTheFactors) {
  Context ctx(Backend::host);
  for (Csr<double> const& a : {generate(Poisson7Params{.n = 9}), generate(ConvdiffParams{.n = 8}),
                               dominant(300, 4, 5), random_matrix(200, 200, 5, 1)})
    for (int level : {0, 1, 2, 5, 300}) {
      SCOPED_TRACE(cat(a.rows, " rows, level ", level));
      FillCount const count = count_by_level(ctx, a, level);
      FillCount const exact = count_of(fill_pattern(a, level));
      EXPECT_TRUE(count.exact);
      EXPECT_EQ(count.lower, exact.lower);
      EXPECT_EQ(count.upper, exact.upper);
      if (level > 0) continue;
      EXPECT_EQ(count.lower_places, exact.lower_places);
      EXPECT_EQ(count.upper_places, exact.upper_places);
    }
  Csr<double> const a = generate(Poisson7Params{.n = 10, .coefficient = Coefficient::random});
  for (bool symmetric : {true, false}) {
    TriangularFactors const made =
        symmetric ? complete_cholesky(a).factors : complete_lu(a).factors;
    FillCount const exact = count_of(made);
    FillCount const count = *count_complete(a, complete_order(a, symmetric), 0);
    if (symmetric) {
      EXPECT_EQ(count.lower, exact.lower);
      EXPECT_EQ(count.lower_places, exact.lower_places);
      EXPECT_EQ(count.upper_places, exact.upper_places);
    } else {
      EXPECT_NEAR(count.lower, exact.lower, 0.1 * exact.lower);
      EXPECT_NEAR(count.upper, exact.upper, 0.1 * exact.upper);
    }
  }
  EXPECT_FALSE(count_complete(a, Permutation::identity(a.rows), a.entries()));
}

TEST(FillCounts, OfASampleAreAboutThoseOfAll) {
  for (Csr<double> const& natural :
       {generate(Poisson7Params{.n = 24, .coefficient = Coefficient::random}),
        generate(ConvdiffParams{.n = 24})}) {
    Csr<double> const a = permuted(natural.view(), minimum_degree(adjacency(Pattern(natural))));
    auto const factorise = [](Csr<double> const& part) { return threshold_lu(part, {0.01}, 0); };
    FillCount const all = count_by_size(a, a.rows, factorise);
    FillCount const some = count_by_size(a, a.rows / 3, factorise);
    EXPECT_TRUE(all.exact);
    EXPECT_FALSE(some.exact);
    EXPECT_NEAR(some.lower, all.lower, 0.25 * all.lower);
    EXPECT_NEAR(some.upper, all.upper, 0.25 * all.upper);
  }
}

}  // namespace
}  // namespace tcsolve::test
