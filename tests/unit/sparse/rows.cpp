// SPDX-License-Identifier: Apache-2.0
/// Sums, diagonals, strong entries and filters of the Context against loops on the host, bit by
/// bit.
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/sparse/filter.hpp>
#include <tcsolve/sparse/rows.hpp>

#include <cmath>
#include <limits>

#include "tests/support/backend.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

using sparse::Lump;

template <class T>
Csr<T> as(Csr<double> const& a) {
  return {a.rows, a.cols, a.offsets, a.columns, {a.values.begin(), a.values.end()}};
}

std::vector<Named> matrices() {
  auto list = adversarial();
  list.push_back({"large", generate(Poisson7Params{.n = 30, .coefficient = Coefficient::random})});
  list.push_back({"hubs", generate(RmatParams{11, 8, Coefficient::random})});
  list.push_back({"dominant", dominant(400, 30, 3)});
  return list;
}

template <class P>
class SparseRows : public BackendTest<P> {};
TYPED_TEST_SUITE(SparseRows, RealsOnBoth, Label);

TYPED_TEST(SparseRows, SumsAndDiagonal) {
  using T = typename TestFixture::T;
  for (auto const& [name, from] : matrices()) {
    SCOPED_TRACE(name);
    Csr<T> const a = as<T>(from);
    CsrStorage<T> const A(this->ctx(), a.view());
    std::vector<T> sums, sizes, diagonal;
    for (Index i = 0; i < a.rows; ++i) {
      T sum = 0, size = 0, d = 0;
      for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
        sum += a.values[k], size += std::abs(a.values[k]);
        if (a.columns[k] == i) d = a.values[k];
      }
      sums.push_back(sum), sizes.push_back(size), diagonal.push_back(d);
    }
    There<T> y(this->ctx(), std::vector<T>(a.rows, T(7)));
    sparse::row_sums(this->ctx(), A.view(), y.view());
    EXPECT_EQ(y.all(), sums);
    sparse::absolute_row_sums(this->ctx(), A.view(), y.view());
    EXPECT_EQ(y.all(), sizes);
    sparse::diagonal(this->ctx(), A.view(), y.view());
    EXPECT_EQ(y.all(), diagonal);
    There<T> longer(this->ctx(), std::vector<T>(a.rows + 1));
    EXPECT_THROW(sparse::row_sums(this->ctx(), A.view(), longer.view()), ShapeError);
    EXPECT_THROW(sparse::diagonal(this->ctx(), A.view(), longer.view()), ShapeError);
  }
}

template <class T>
std::vector<std::uint8_t> strong(Csr<T> const& a, double theta) {
  std::vector<double> root(a.rows);
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      if (a.columns[k] == i) root[i] = std::sqrt(std::abs(double(a.values[k])));
  std::vector<std::uint8_t> keep;
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      keep.push_back(a.columns[k] == i ||
                     !(std::abs(double(a.values[k])) <= theta * (root[i] * root[a.columns[k]])));
  return keep;
}

template <class T>
Csr<T> filtered(Csr<T> const& a, std::vector<std::uint8_t> const& keep, Lump lump) {
  Csr<T> f{a.rows, a.cols, {0}, {}, {}};
  for (Index i = 0; i < a.rows; ++i) {
    T dropped = 0;
    Offset diagonal = -1;
    bool any = false;
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
      if (keep[k] == 0) {
        dropped += a.values[k], any = true;
        continue;
      }
      if (a.columns[k] == i) diagonal = f.entries();
      f.columns.push_back(a.columns[k]), f.values.push_back(a.values[k]);
    }
    if (any && lump == Lump::diagonal) f.values[diagonal] += dropped;
    f.offsets.push_back(f.entries());
  }
  return f;
}

TYPED_TEST(SparseRows, StrongEntriesAndWhatIsKept) {
  using T = typename TestFixture::T;
  for (auto const& [name, from] : matrices()) {
    if (from.rows != from.cols) continue;
    SCOPED_TRACE(name);
    Csr<T> a = as<T>(from);
    CsrStorage<T> A(this->ctx(), Csr<T>(a));
    for (double const theta : {0.0, 0.08, 0.5, 3.0}) {
      auto const wanted = strong(a, theta);
      There<std::uint8_t> keep(this->ctx(), std::vector<std::uint8_t>(a.values.size(), 9));
      sparse::strong_entries(this->ctx(), A.view(), theta, keep.data());
      ASSERT_EQ(keep.all(), wanted);
      sparse::Filter const plan(this->ctx(), A.view(), keep.data());
      There<T> f(this->ctx(), std::vector<T>(static_cast<std::size_t>(plan.pattern().entries)));
      plan.values(this->ctx(), A.view(), f.data());
      EXPECT_EQ(to_host(this->ctx(), plan.pattern().with(static_cast<T const*>(f.data()))),
                filtered(a, wanted, Lump::none));
    }
  }
  CsrStorage<T> const wide(this->ctx(), as<T>(random_matrix(4, 5, 3, 1)));
  There<std::uint8_t> keep(this->ctx(), std::vector<std::uint8_t>(20));
  EXPECT_THROW(sparse::strong_entries(this->ctx(), wide.view(), 0.1, keep.data()), ShapeError);
}

TYPED_TEST(SparseRows, LumpedRowsKeepTheirSums) {
  using T = typename TestFixture::T;
  Csr<T> a = as<T>(dominant(400, 30, 3));
  CsrStorage<T> A(this->ctx(), Csr<T>(a));
  auto const wanted = strong(a, 0.02);
  There<std::uint8_t> keep(this->ctx(), wanted);
  sparse::Filter const plan(this->ctx(), A.view(), keep.data(), Lump::diagonal);
  ASSERT_LT(plan.pattern().entries, a.entries());
  There<T> f(this->ctx(), std::vector<T>(static_cast<std::size_t>(plan.pattern().entries)));
  for (int turn = 0; turn < 2; ++turn) {  // the pattern stays when values change
    plan.values(this->ctx(), A.view(), f.data());
    Csr<T> const got = to_host(this->ctx(), plan.pattern().with(static_cast<T const*>(f.data())));
    EXPECT_EQ(got, filtered(a, wanted, Lump::diagonal));
    for (T& v : a.values) v = -v * v;
    A.update_values(this->ctx(), a.view());
  }
  CsrStorage<T> const other(this->ctx(), Csr<T>{400, 400, std::vector<Offset>(401), {}, {}});
  EXPECT_THROW(plan.values(this->ctx(), other.view(), f.data()), ShapeError);
}

TYPED_TEST(SparseRows, ARowWithoutDiagonalIsNotLumped) {
  using T = typename TestFixture::T;
  // Row 2 drops nothing; row 3 drops an entry and has no diagonal to take it.
  Csr<T> const a{3, 3, {0, 2, 3, 5}, {0, 1, 0, 0, 1}, {1, 2, 3, 4, 5}};
  CsrStorage<T> const A(this->ctx(), a.view());
  There<std::uint8_t> keep(this->ctx(), std::vector<std::uint8_t>{1, 0, 1, 1, 0});
  EXPECT_NE(message_of<MatrixError>([&] {
              sparse::Filter(this->ctx(), A.view(), keep.data(), Lump::diagonal);
            }).find("row 3"),
            std::string::npos);
  EXPECT_EQ(sparse::Filter(this->ctx(), A.view(), keep.data()).pattern().entries, 3);
}

/// Whole numbers, so that sums are exact; other rows are not looked at.
TYPED_TEST(SparseRows, ResidualsFollowNewValues) {
  using T = typename TestFixture::T;
  Csr<double> const a = generate(Poisson7Params{.n = 8});
  auto const n = static_cast<std::size_t>(a.rows);
  std::vector<T> b(n), x(n), wanted(n, T(7));
  for (Index i = 0; i < a.rows; ++i) b[i] = T(i % 13), x[i] = T(i % 5 - 2);
  Csr<float> changed = as<float>(a);
  std::vector<Index> const rows{300, 0, 511, 300};
  for (Index const i : rows) {
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) changed.values[k] = float(k % 9);
    wanted[i] = b[i];
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      wanted[i] -= T(changed.values[k]) * x[a.columns[k]];
  }
  CsrStorage<float> const there(this->ctx(), changed);
  There<T> B(this->ctx(), b), X(this->ctx(), x), r(this->ctx(), std::vector<T>(n, T(7)));
  auto const updated = [&](std::vector<Index> const& of, There<T>& to) {
    return update_residual<float, T>(this->ctx(), there.view(), of, B.in(), X.in(), to.view());
  };
  EXPECT_EQ(updated(rows, r), 3);
  EXPECT_EQ(r.all(), wanted);
  EXPECT_EQ(updated({}, r), 0);
  EXPECT_EQ(r.all(), wanted);
  auto const refused = [&](std::vector<Index> const& of, There<T>& to, std::string const& says) {
    std::string const text = message_of<ShapeError>([&] { updated(of, to); });
    EXPECT_NE(text.find(says), std::string::npos) << text;
  };
  There<T> longer(this->ctx(), std::vector<T>(n + 1));
  refused({3, -1}, r, "row -1 is outside [0, 512)");
  refused({3, 512}, r, "row 512 is outside [0, 512)");
  refused(rows, longer, "r 513 x 1");
  EXPECT_EQ(r.all(), wanted) << "nothing is touched";
}

}  // namespace
}  // namespace tcsolve::test
