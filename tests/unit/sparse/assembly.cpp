// SPDX-License-Identifier: Apache-2.0
/// Entries as they are assembled, summed into CSR: against sums made one after another, bit by bit.
#include <tcsolve/sparse/assembly.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "tests/support/backend.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

struct Entries {
  Index rows = 0, cols = 0;
  std::vector<Index> i, j;
  std::vector<double> v;
};

/// Places at random, of which many meet; one in `left_out` has a negative number.
Entries at_random(Index rows, Index cols, int n, int left_out, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> value(-1, 1);
  Entries e{rows, cols, {}, {}, {}};
  for (int k = 0; k < n; ++k) {
    e.i.push_back(static_cast<Index>(random() % static_cast<unsigned>(rows)));
    e.j.push_back(static_cast<Index>(random() % static_cast<unsigned>(cols)));
    if (left_out > 0 && k % left_out == 0) (k % 2 == 0 ? e.i : e.j).back() = -1 - k;
    e.v.push_back(value(random) * (k % 7 == 0 ? 1e10 : 1.0));
  }
  return e;
}

Csr<double> one_after_another(Entries const& e) {
  std::map<std::pair<Index, Index>, double> sums;
  for (std::size_t k = 0; k < e.v.size(); ++k) {
    if (e.i[k] < 0 || e.j[k] < 0) continue;
    auto const [at, first] = sums.try_emplace({e.i[k], e.j[k]}, e.v[k]);
    if (!first) at->second += e.v[k];
  }
  Csr<double> a{e.rows, e.cols, std::vector<Offset>(static_cast<std::size_t>(e.rows) + 1), {}, {}};
  for (auto const& [place, sum] : sums) {
    ++a.offsets[static_cast<std::size_t>(place.first) + 1];
    a.columns.push_back(place.second);
    a.values.push_back(sum);
  }
  for (std::size_t i = 1; i < a.offsets.size(); ++i) a.offsets[i] += a.offsets[i - 1];
  return a;
}

template <class P>
class SparseAssembly : public BackendTest<P> {
 public:
  Csr<double> assembled(Entries const& e) {
    There<Index> i(this->ctx(), e.i), j(this->ctx(), e.j);
    sparse::Assembly const plan(this->ctx(), {e.rows, e.cols, static_cast<Offset>(e.v.size()),
                                              i.data(), j.data(), nullptr, this->ctx().space()});
    EXPECT_EQ(plan.entries(), static_cast<Offset>(e.v.size()));
    There<double> from(this->ctx(), e.v);
    Array<double> to(this->ctx().space(), static_cast<std::size_t>(plan.pattern().entries));
    plan.values(this->ctx(), from.data(), to.data());
    return to_host(this->ctx(), plan.pattern().with(static_cast<double const*>(to.data())));
  }
};
TYPED_TEST_SUITE(SparseAssembly, DoubleOnBoth, Label);

TYPED_TEST(SparseAssembly, SumsPlacesInOrder) {
  for (auto const& e :
       {at_random(40, 30, 5000, 0, 1), at_random(300, 500, 20000, 9, 2), at_random(1, 1, 100, 3, 3),
        at_random(5000, 5000, 300, 2, 4), at_random(3, 100000, 70000, 0, 5)}) {
    SCOPED_TRACE(e.v.size());
    EXPECT_EQ(this->assembled(e), one_after_another(e));
  }
}

TYPED_TEST(SparseAssembly, NoEntryAndNoRow) {
  EXPECT_EQ(this->assembled({3, 4, {}, {}, {}}), (Csr<double>{3, 4, {0, 0, 0, 0}, {}, {}}));
  EXPECT_EQ(this->assembled({0, 4, {}, {}, {}}), (Csr<double>{0, 4, {0}, {}, {}}));
  EXPECT_EQ(this->assembled({2, 0, {}, {}, {}}), (Csr<double>{2, 0, {0, 0, 0}, {}, {}}));
  EXPECT_EQ(this->assembled({2, 2, {-1, 0}, {0, -5}, {1, 2}}),
            (Csr<double>{2, 2, {0, 0, 0}, {}, {}}));
}

TYPED_TEST(SparseAssembly, ACanonicalMatrixComesBack) {
  for (auto const& [name, a] : adversarial()) {
    SCOPED_TRACE(name);
    Entries e{a.rows, a.cols, {}, a.columns, a.values};
    for (Index i = 0; i < a.rows; ++i) e.i.insert(e.i.end(), a.row_columns(i).size(), i);
    EXPECT_EQ(this->assembled(e), a);
    std::ranges::reverse(e.i), std::ranges::reverse(e.j), std::ranges::reverse(e.v);
    EXPECT_EQ(this->assembled(e), a);
  }
}

TYPED_TEST(SparseAssembly, WhatLiesOutsideIsNamed) {
  auto const says = [&](Entries const& e, char const* text) {
    EXPECT_THAT(message_of<MatrixError>([&] { this->assembled(e); }), ::testing::HasSubstr(text));
  };
  says({2, 3, {0, 2, 1}, {0, 0, 0}, {1, 1, 1}}, "entry 1");
  says({2, 3, {0, 1, 1}, {0, 0, 3}, {1, 1, 1}}, "entry 2");
  says({2, 3, {-1, 1, 1}, {0, 0, 3}, {1, 1, 1}}, "2 x 3");
  says({0, 0, {0}, {0}, {1}}, "entry 0");
}

}  // namespace
}  // namespace tcsolve::test
