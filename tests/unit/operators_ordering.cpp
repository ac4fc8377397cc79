// SPDX-License-Identifier: Apache-2.0
/// Which order a matrix gets: when it pays and when it does not, and that what is made of it is
/// P A P^T.
#include <tcsolve/configs/schema/yaml.hpp>
#include <tcsolve/formats/choose/ordering.hpp>
#include <tcsolve/formats/register.hpp>
#include <tcsolve/graph/reorder/cuthill_mckee.hpp>
#include <tcsolve/graph/reorder/graph_partition.hpp>
#include <tcsolve/io/generators.hpp>
#include <tcsolve/io/renumber.hpp>

#include <algorithm>
#include <cmath>
#include <set>

#include "ell/format.hpp"
#include "tests/support/backend.hpp"
#include "tests/support/files.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

Csr<double> lost_mesh(Index n = 24) {
  return generate(Poisson27Params{n, Coefficient::random, Renumber::random});
}

/// Not as one kernel, whose rates know nothing of where x lies: small systems are in the cache.
OrderRequest times(double applies) { return {.plan = {.applies = applies, .persistent = false}}; }

OrderCandidate const& of(OrderPlan const& plan, Reorder order) {
  for (OrderCandidate const& c : plan.candidates)
    if (c.order == order) return c;
  throw std::logic_error("an order without a candidate");
}

template <class P>
class Ordering : public BackendTest<P> {
 protected:
  OrderedMatrix chosen(Csr<double> const& a, OrderRequest const& request,
                       CostTable const& table = CostTable::h200()) {
    return ordered(this->ctx(), a, request, table);
  }
  Csr<double> of_matrix(OrderedMatrix const& ready) {
    return to_host(this->ctx(), ready.matrix->view());
  }
};
TYPED_TEST_SUITE(Ordering, DoubleOnBoth, Label);

TYPED_TEST(Ordering, PaysForManyProductsAndNotForFew) {
  Csr<double> const a = lost_mesh();
  Permutation const P = reverse_cuthill_mckee(Pattern(a));
  OrderedMatrix const few = this->chosen(a, times(10)), many = this->chosen(a, times(1e5));
  EXPECT_EQ(few.order.taken, Reorder::none);
  EXPECT_FALSE(few.order.measured);
  EXPECT_EQ(this->of_matrix(few), a);
  ASSERT_TRUE(few.plan);
  EXPECT_NE(of(*few.plan, Reorder::rcm).excluded.find("not worth it"), std::string::npos);
  EXPECT_EQ(many.order.taken, Reorder::rcm);
  EXPECT_EQ(many.order.P, P);
  EXPECT_EQ(this->of_matrix(many), permuted(a.view(), P));
  EXPECT_EQ(many.survey->least(), features(this->ctx(), many.matrix->view()));
  EXPECT_EQ(many.order.before.sectors, locality(a).sectors);
  EXPECT_EQ(many.order.after.sectors, locality(a, P).sectors);
  ASSERT_TRUE(many.plan);
  OrderCandidate const& rcm = of(*many.plan, Reorder::rcm);
  OrderCandidate const& none = of(*many.plan, Reorder::none);
  EXPECT_EQ(rcm.excluded, "");
  EXPECT_LT(rcm.total, none.total);
  EXPECT_LT(rcm.format.product, none.format.product);
  EXPECT_DOUBLE_EQ(rcm.total, rcm.once + rcm.format.conversion + 1e5 * rcm.format.step);
  EXPECT_GT(rcm.once, 0);
}

/// From one number of products on, and with a total that is less by more than 5 %.
TYPED_TEST(Ordering, TakesTheLeastTotal) {
  Csr<double> const a = lost_mesh();
  bool paid = false;
  for (double applies = 1; applies < 1e7; applies *= 3) {
    OrderedMatrix const ready = this->chosen(a, times(applies));
    bool const pays = ready.order.taken != Reorder::none;
    EXPECT_TRUE(pays || !paid) << applies;
    paid = pays;
    double least = of(*ready.plan, ready.order.taken).total;
    for (OrderCandidate const& c : ready.plan->candidates)
      if (c.excluded.empty()) EXPECT_LE(0.95 * least, c.total) << applies << " " << name(c.order);
    if (pays) EXPECT_LT(least, 0.95 * of(*ready.plan, Reorder::none).total) << applies;
  }
  EXPECT_TRUE(paid);
}

TYPED_TEST(Ordering, LeavesAGoodOrderAlone) {
  Csr<double> const mesh = generate(Poisson27Params{12, Coefficient::random});
  OrderedMatrix const ready = this->chosen(mesh, times(1e9));
  EXPECT_EQ(ready.order.taken, Reorder::none);
  EXPECT_EQ(this->of_matrix(ready), mesh);
}

TYPED_TEST(Ordering, OfOneFormatByItsOwnRates) {
  Csr<double> const a = lost_mesh();
  CostTable table = CostTable::h200();
  OrderRequest request = times(1e5);
  request.format = &formats().source();
  OrderedMatrix const ready = this->chosen(a, request, table);
  EXPECT_EQ(ready.order.taken, Reorder::rcm);
  for (OrderCandidate const& c : ready.plan->candidates)
    if (c.excluded.empty()) EXPECT_EQ(c.format.format->name, "csr");
  table.rates("csr", Real::f64).product.tiles = 0;  // x costs csr nothing: no order can help it
  EXPECT_EQ(this->chosen(a, request, table).order.taken, Reorder::none);
  // Any other pays for x as before.
  Features const f = features(this->ctx(), CsrStorage<double>(this->ctx(), a.view()).view());
  for (Format const& format : formats()) {
    if (!format.converted || !why_not(format, f, request.plan).empty()) continue;
    request.format = &format;
    EXPECT_EQ(this->chosen(a, request, table).order.taken, Reorder::rcm) << format.name;
  }
}

/// A path whose vertices came in no order, and a format that holds only matrices with short ways.
TYPED_TEST(Ordering, AFormatThatCannotHoldTheMatrixTakesTheOrderInWhichItCan) {
  std::set<std::pair<Index, Index>> path;
  for (Index i = 0; i < 3000; ++i)
    for (Index j = std::max(i - 1, 0); j < std::min(i + 2, 3000); ++j) path.insert({i, j});
  Csr<double> const lost = permuted(with_entries(3000, path).view(), random_permutation(3000, 7));
  FormatList list;
  register_formats(list);
  Format narrow = ell_format();
  narrow.refuses = [](Features const& f, PlanRequest const&) -> std::string {
    return f.tiles < f.rows ? "" : "columns far apart";
  };
  list.add(narrow);
  OrderRequest request = times(1);
  request.plan.among = &list;
  request.format = list.find(narrow.name);
  CostTable table = CostTable::h200();
  table.by_format[narrow.name] = table.of("csr");
  OrderedMatrix const ready = this->chosen(lost, request, table);
  EXPECT_EQ(ready.order.taken, Reorder::rcm);
  EXPECT_TRUE(std::isinf(of(*ready.plan, Reorder::none).total));
  EXPECT_LT(ready.survey->least().tiles, 3000);
  EXPECT_NO_THROW(make_operator<double>(this->ctx(), ready.matrix->view(), *request.format));
}

TYPED_TEST(Ordering, WithoutRatesOrASquareMatrixThereIsNone) {
  Csr<double> const a = lost_mesh(8), wide = random_matrix(40, 50, 6, 1);
  CostTable table = CostTable::h200();
  table.order = {};
  OrderedMatrix const ready = this->chosen(a, times(1e9), table);
  EXPECT_EQ(ready.order.taken, Reorder::none);
  EXPECT_EQ(of(*ready.plan, Reorder::rcm).excluded, "no rates");
  OrderedMatrix const left = this->chosen(wide, times(1e9));
  EXPECT_EQ(left.order.taken, Reorder::none);
  EXPECT_EQ(this->of_matrix(left), wide);
  OrderRequest request = times(1);
  request.asked = Reorder::rcm;
  EXPECT_THROW(this->chosen(wide, request), ShapeError);
}

TYPED_TEST(Ordering, WhatIsAskedForIsMade) {
  Csr<double> const a = lost_mesh(8);
  OrderRequest request = times(0);
  for (Reorder const asked : {Reorder::rcm, Reorder::metis}) {
    request.asked = asked;
    if (asked == Reorder::metis && !metis_built()) {
      EXPECT_THROW(this->chosen(a, request), NotBuilt);
      continue;
    }
    OrderedMatrix const ready = this->chosen(a, request);
    EXPECT_EQ(ready.order.taken, asked);
    EXPECT_EQ(ready.order.P, reordering(a, asked).P);
    EXPECT_EQ(this->of_matrix(ready), permuted(a.view(), ready.order.P));
    EXPECT_FALSE(ready.plan);
  }
  request.asked = Reorder::none;
  EXPECT_EQ(this->of_matrix(this->chosen(a, request)), a);
}

TYPED_TEST(Ordering, ByPartsWhereThatPays) {
  Csr<double> const a = lost_mesh();
  CostTable table = CostTable::h200();
  table.order = {.serial_entries = 1e12, .metis_entries = 1, .permute_entries = 1};
  OrderedMatrix const ready = this->chosen(a, times(1e6), table);
  EXPECT_NE(of(*ready.plan, Reorder::rcm).excluded, "");
  EXPECT_EQ(ready.order.taken, metis_built() ? Reorder::metis : Reorder::none);
  if (!metis_built()) EXPECT_EQ(of(*ready.plan, Reorder::metis).excluded, "not built");
}

/// A cache spares the time of an order and changes nothing else.
TYPED_TEST(Ordering, CachedOrAsMade) {
  TemporaryFolder const folder;
  DiskCache const cache(folder.path(), 1 << 24);
  Csr<double> const a = lost_mesh();
  OrderRequest request = times(1e6);
  OrderedMatrix const plain = this->chosen(a, request);
  ASSERT_EQ(plain.order.taken, Reorder::rcm);
  EXPECT_EQ(plain.cached, "");
  request.cache = &cache;
  for (char const* says : {"kept in the cache", "from the cache"}) {
    OrderedMatrix const ready = this->chosen(a, request);
    EXPECT_EQ(ready.cached, says);
    EXPECT_EQ(ready.order.P, plain.order.P);
    EXPECT_EQ(text(ready.order), text(plain.order));
    EXPECT_EQ(this->of_matrix(ready), this->of_matrix(plain));
    EXPECT_EQ(text(*ready.plan), text(*plain.plan));
  }
  request.plan.applies = 10;
  EXPECT_EQ(this->chosen(a, request).order.taken, Reorder::none) << "reckoned though it is there";
}

TYPED_TEST(Ordering, OperatorsAreMadeOfTheOrderedMatrix) {
  OperatorRegistry registry{"operator", "format"};
  register_operators(registry);
  Catalog catalog;
  catalog.add(registry);
  Csr<double> const a = lost_mesh(9);
  Permutation const P = reverse_cuthill_mckee(Pattern(a));
  auto const x = random_values(std::size_t(a.cols), 5);
  std::vector<double> moved(x.size()), wanted(x.size()), y(x.size());
  for (Index i = 0; i < a.rows; ++i) moved[i] = x[P.old_numbers()[i]];
  Context host(Backend::host);
  make_operator<double>(host, a.view(), "csr")
      ->apply(host, vector_view<double const>(x.data(), a.rows),
              vector_view(wanted.data(), a.rows));
  std::vector<std::string> configs{"format: auto", "format: auto, values: fp32"};
  Features const f = features(host, permuted(a.view(), P).view());
  for (Format const& format : formats()) {
    if (!why_not(format, f, {}).empty()) continue;
    for (char const* values : {"", ", values: fp32", ", values: fp16"})
      configs.push_back(cat("format: ", format.name, values));
  }
  for (std::string const& keys : configs) {
    SCOPED_TRACE(keys);
    Diagnostics problems;
    ConfigNode const node = parse_yaml("{" + keys + ", reorder: rcm}", "test");
    auto const factory = registry.make(node, problems, catalog);
    problems.throw_if_any();
    OrderedMatrix const ready = factory->order(this->ctx(), a);
    EXPECT_EQ(ready.order.P, P);
    // What the program hands on: extents alone unless more is asked for.
    Csr<double> const rest{a.rows, a.cols, {}, {}, {}};
    EXPECT_FALSE(factory->needs_host());
    auto const A = factory->build(this->ctx(), rest, {.ready = &ready});
    Array<double> there = to_space(this->ctx(), moved.data(), moved.size());
    Array<double> product(this->ctx().space(), y.size());
    A->apply(this->ctx(), In<double>(there.view()), product.view());
    std::vector<double> const got = to_host(this->ctx(), product);
    double const near = factory->exact() ? 1e-12 : keys.ends_with("16") ? 3e-2 : 1e-5;
    for (Index i = 0; i < a.rows; ++i)
      ASSERT_NEAR(got[i], wanted[P.old_numbers()[i]], near * 30) << i;
  }
}

TEST(OrderingCost, GoesByLevelsOnADeviceAndByVerticesElsewhere) {
  Features f;
  f.entries = 1'000'000, f.longest = 27;
  CostTable table;
  table.order = {.levels = 1000,
                 .levels_entries = 500,
                 .serial_entries = 1e5,
                 .metis_entries = 2e5,
                 .permute = 10,
                 .permute_entries = 20};
  EXPECT_DOUBLE_EQ(order_microseconds(Reorder::none, f, table), 0);
  EXPECT_DOUBLE_EQ(order_microseconds(Reorder::rcm, f, table), 1530);
  EXPECT_DOUBLE_EQ(order_microseconds(Reorder::metis, f, table), 200030);
  f.longest = 100000;  // a hub
  EXPECT_DOUBLE_EQ(order_microseconds(Reorder::rcm, f, table), 100030);
  f.longest = 27, f.entries = 20000;  // small
  EXPECT_DOUBLE_EQ(order_microseconds(Reorder::rcm, f, table), 2000 + 10.4);
  f.entries = 1'000'000, table.order.levels_entries = 0;
  EXPECT_DOUBLE_EQ(order_microseconds(Reorder::rcm, f, table), 100030);
}

TEST(OrderingCost, TableShowsEveryOrderTheTakenOneFirst) {
  Context ctx(Backend::host);
  Csr<double> const a = lost_mesh();
  for (double const applies : {1.0, 1e6}) {
    OrderedMatrix const ready = ordered(ctx, a, times(applies), CostTable::h200());
    std::string const table = text(*ready.plan);
    EXPECT_NE(table.find("NVIDIA H200"), std::string::npos) << table;
    std::size_t const first = table.find(cat("\n  ", name(ready.order.taken)));
    ASSERT_NE(first, std::string::npos) << table;
    for (Reorder const order : {Reorder::none, Reorder::rcm, Reorder::metis}) {
      std::size_t const here = table.find(cat("\n  ", name(order)));
      ASSERT_NE(here, std::string::npos) << table;
      EXPECT_GE(here, first) << table;
    }
  }
}

}  // namespace
}  // namespace tcsolve::test
