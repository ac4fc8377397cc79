// SPDX-License-Identifier: Apache-2.0
/// New values on the same pattern: the operator is then the one that a fresh conversion of the new
/// matrix gives, bit by bit, for every format and backend.
#include <tcsolve/formats/same_pattern.hpp>
#include <tcsolve/operators/composite.hpp>
#include <tcsolve/operators/function_operator.hpp>

#include <cmath>
#include <cstring>
#include <limits>

#include "tests/support/formats.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/matrices.hpp"
#include "tests/support/tensor_formats.hpp"

namespace tcsolve::test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

/// The pattern of a with values in [-2, 2), a zero of either sign now and then.
template <class S>
Csr<S> other_values(Csr<S> a, std::uint64_t seed) {
  auto values = random_values(a.values.size(), seed, -2, 2);
  for (std::size_t k = 0; k < values.size(); ++k)
    a.values[k] = S(k % 11 == 5 ? (k % 2 == 0 ? 0.0 : -0.0) : values[k]);
  return a;
}

/// Both say NaN, or have the same bits.
bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || std::memcmp(&a, &b, sizeof a) == 0;
}

template <class T>
void expect_same_products(Context& ctx, LinearOperator<T> const& A, LinearOperator<T> const& B) {
  EXPECT_TRUE(same(A.norm_estimate(), B.norm_estimate()))
      << A.norm_estimate() << " and " << B.norm_estimate();
  for (Op op : {Op::none, Op::transpose}) {
    if (op == Op::transpose && !A.traits().transpose) continue;
    Index domain = op == Op::none ? A.cols() : A.rows(),
          range = op == Op::none ? A.rows() : A.cols();
    for (Index k : {1, 3}) {
      auto x = rounded<T>(random_values(std::size_t(domain) * k, 5));
      Guarded<T> gx(ctx, domain, k, Layout::row_major, 0, x);
      std::vector<double> unset(std::size_t(range) * k, nan);
      Guarded<T> y(ctx, range, k, Layout::row_major, 0, unset),
          z(ctx, range, k, Layout::row_major, 0, unset);
      A.apply(ctx, T(1), gx.in(), T(0), y.view(), op);
      B.apply(ctx, T(1), gx.in(), T(0), z.view(), op);
      auto left = y.get(), right = z.get();
      for (std::size_t i = 0; i < left.size(); ++i)
        ASSERT_TRUE(same(left[i], right[i]))
            << "element " << i << ", k " << k << ": " << left[i] << " and " << right[i];
      EXPECT_TRUE(y.untouched());
    }
  }
}

template <class P>
class UpdateValues : public BackendTest<P> {
 public:
  using F = typename P::Format;
  using T = typename P::Value;
  using S = typename F::Stored;
  /// Its transpose made, where there is one, and its product: nothing of these may stay behind.
  std::shared_ptr<typename F::Operator> used(Csr<S> const& a) {
    auto A = F::of(this->ctx(), a);
    if (A->traits().transpose) A->prepare(this->ctx(), Op::transpose);
    Guarded<T> x(this->ctx(), std::vector<double>(a.cols, 1.0)),
        y(this->ctx(), std::vector<double>(a.rows, 0.0));
    A->apply(this->ctx(), x.in(), y.view());
    return A;
  }
};
TYPED_TEST_SUITE(UpdateValues, Formats, Label);

TYPED_TEST(UpdateValues, GivesTheOperatorOfTheNewMatrix) {
  using S = typename TestFixture::S;
  using F = typename TestFixture::F;
  for (Named const& m : for_conversion()) {
    SCOPED_TRACE(m.name);
    Csr<S> a = representable<S>(m.matrix);
    auto A = this->used(a);
    for (int turn = 0; turn < 2; ++turn) {
      Csr<S> b = other_values(a, turn);
      CsrStorage<S> there(this->ctx(), b);
      A->update_values(this->ctx(), turn == 0 ? there.view() : b.view());
      expect_same_products(this->ctx(), *A, *F::of(this->ctx(), b));
      ASSERT_FALSE(this->HasFatalFailure());
    }
  }
}

/// Rows in pieces, units of long rows, block rows whose side entries are long: what small matrices
/// have not.
TYPED_TEST(UpdateValues, GivesTheOperatorOfANewMatrixWithLongRows) {
  using S = typename TestFixture::S;
  using F = typename TestFixture::F;
  Csr<double> dense{9, 6000, {0}, {}, {}};  // blocks of 64, 750 to a block row
  for (Index i = 0; i < dense.rows; ++i) {
    for (Index j = 0; j < dense.cols; ++j) dense.columns.push_back(j), dense.values.push_back(1);
    dense.offsets.push_back(dense.entries());
  }
  for (Csr<double> const& matrix :
       {dense, random_matrix(12, 60000, 5000, 1), mixed_rows(70, 9000, 2)}) {
    Csr<S> a = converted<S>(matrix), b = other_values(a, 3);
    auto A = this->used(a);
    CsrStorage<S> there(this->ctx(), b);
    A->update_values(this->ctx(), there.view());
    expect_same_products(this->ctx(), *A, *F::of(this->ctx(), b));
    ASSERT_FALSE(this->HasFatalFailure());
  }
}

/// Values of T by way of LinearOperator: a narrower type rounds them, or refuses.
TYPED_TEST(UpdateValues, TakesTheTypeOfTheVectors) {
  using S = typename TestFixture::S;
  using T = typename TestFixture::T;
  using F = typename TestFixture::F;
  for (Named const& m : for_conversion()) {
    SCOPED_TRACE(m.name);
    Csr<S> a = representable<S>(m.matrix);
    auto A = this->used(a), before = this->used(a);
    LinearOperator<T>& general = *A;
    Csr<T> b{a.rows, a.cols, a.offsets, a.columns, {}};
    for (double v : random_values(a.values.size(), 9)) b.values.push_back(T(v + 0.1));
    CsrStorage<T> there(this->ctx(), b);
    general.update_values(this->ctx(), there.view());
    expect_same_products<T>(this->ctx(), *A, *F::of(this->ctx(), converted<S>(widened(b))));
    ASSERT_FALSE(this->HasFatalFailure());
    if (sizeof(S) > 2 || b.values.empty()) continue;
    bool const fp16 = std::is_same_v<S, half>;
    for (double far : {fp16 ? 1e6 : 3.4e38, fp16 ? 1e-12 : 1e-42}) {  // infinite, and zero, as S
      Csr<T> c = b;
      c.values.back() = T(far);
      A->update_values(this->ctx(), a.view());
      if constexpr (sizeof(T) > 2) {
        CsrStorage<T> far_there(this->ctx(), c);
        std::string text =
            message_of<MatrixError>([&] { general.update_values(this->ctx(), far_there.view()); });
        EXPECT_NE(text.find("row"), std::string::npos) << text;
      }
      expect_same_products<T>(this->ctx(), *A, *before);
      ASSERT_FALSE(this->HasFatalFailure());
    }
  }
}

TYPED_TEST(UpdateValues, KeepsValuesThatAreNotFinite) {
  using S = typename TestFixture::S;
  using F = typename TestFixture::F;
  for (Csr<double> const& matrix : {dominant(60, 9, 1), random_matrix(20, 3000, 700, 2)})
    for (double odd : {inf, -inf, nan}) {
      Csr<S> a = converted<S>(matrix), b = other_values(a, 4);
      for (std::size_t k = 3; k < b.values.size(); k += 97) b.values[k] = S(odd);
      auto A = this->used(a);
      A->update_values(this->ctx(), b.view());
      expect_same_products(this->ctx(), *A, *F::of(this->ctx(), b));
      EXPECT_EQ(std::isnan(A->norm_estimate()), std::isnan(odd));
      A->update_values(this->ctx(), a.view());
      expect_same_products(this->ctx(), *A, *F::of(this->ctx(), a));
      ASSERT_FALSE(this->HasFatalFailure());
    }
}

TYPED_TEST(UpdateValues, RefusesOtherExtentsAndStaysAsItWas) {
  using S = typename TestFixture::S;
  Csr<S> a = converted<S>(dominant(40, 6, 1));
  auto A = this->used(a), before = this->used(a);
  auto refuses = [&](Csr<S> const& b, std::vector<std::string> const& words) {
    CsrStorage<S> there(this->ctx(), b);
    std::string text = message_of<ShapeError>([&] { A->update_values(this->ctx(), there.view()); });
    for (std::string const& word : words) EXPECT_NE(text.find(word), std::string::npos) << text;
    expect_same_products(this->ctx(), *A, *before);
  };
  Csr<S> taller = a, wider = a, fuller = a;
  ++taller.rows, taller.offsets.push_back(taller.entries());
  ++wider.cols;
  fuller.rows = 40, ++fuller.cols;
  fuller.columns.push_back(40), fuller.values.push_back(S(1.0f)), ++fuller.offsets.back();
  refuses(taller, {"40 x 40", "41 x 40"});
  refuses(wider, {"40 x 40", "40 x 41"});
  fuller = a;
  fuller.columns.clear(), fuller.values.clear(), fuller.offsets.assign(41, 0);
  refuses(fuller, {cat(a.entries()), " 0"});
}

/// Where the pattern is another, which is not looked at, nothing outside the operator is touched
/// (memory checkers look), and require_same_pattern() says so.
TYPED_TEST(UpdateValues, AnotherPatternOfTheSameSizeIsHarmless) {
  using S = typename TestFixture::S;
  std::vector<Csr<double>> list;
  for (Csr<double> a : {mixed_rows(60, 3000, 7), random_matrix(50, 900, 400, 2)}) {
    list.push_back(a);
    Csr<double> all_in_one{
        a.rows, a.cols, {0}, {}, a.values};  // as full as rows can be, then empty
    for (Index i = 0; i < a.rows; ++i) {
      for (Index j = 0; j < a.cols && all_in_one.entries() < a.entries(); ++j)
        all_in_one.columns.push_back(j);
      all_in_one.offsets.push_back(all_in_one.entries());
    }
    list.push_back(all_in_one);
    std::vector<Offset> lengths;
    for (Index i = a.rows; i-- > 0;) lengths.push_back(a.offsets[i + 1] - a.offsets[i]);
    Csr<double> upside_down{a.rows, a.cols, {0}, {}, a.values};
    for (Offset length : lengths) {
      for (Offset k = 0; k < length; ++k)
        upside_down.columns.push_back(static_cast<Index>(a.cols - length + k));
      upside_down.offsets.push_back(upside_down.entries());
    }
    list.push_back(upside_down);
    for (Csr<double> const& from : list)
      for (Csr<double> const& to : list) {
        if (from.entries() != to.entries() || from.rows != to.rows) continue;
        Csr<S> made = converted<S>(from), given = converted<S>(to);
        auto A = this->used(made);
        CsrStorage<S> there(this->ctx(), given);
        A->update_values(this->ctx(), there.view());
        if (from == to) {
          EXPECT_NO_THROW(require_same_pattern(this->ctx(), made, there.view()));
          continue;
        }
        std::string text =
            message_of<MatrixError>([&] { require_same_pattern(this->ctx(), made, there.view()); });
        EXPECT_NE(text.find("row"), std::string::npos) << text;
      }
  }
}

/// What was recorded before sees the new values: the arrays stay where they are.
TYPED_TEST(UpdateValues, RecordedProductsSeeTheNewValues) {
  using S = typename TestFixture::S;
  using T = typename TestFixture::T;
  using F = typename TestFixture::F;
  Csr<S> a = converted<S>(dominant(80, 12, 1)), b = other_values(a, 6);
  auto A = this->used(a);
  Guarded<T> x(this->ctx(), rounded<T>(random_values(80, 2)));
  Guarded<T> y(this->ctx(), std::vector<double>(80, nan)),
      z(this->ctx(), std::vector<double>(80, nan));
  Recording list = this->ctx().record([&](Context& c) { A->apply(c, x.in(), y.view()); });
  CsrStorage<S> there(this->ctx(), b);
  A->update_values(this->ctx(), there.view());
  for (Command const& command : list.commands) command.call(this->ctx());
  F::of(this->ctx(), b)->apply(this->ctx(), x.in(), z.view());
  EXPECT_EQ(y.get(), z.get());
}

template <class P>
class UpdateScaledValues : public BackendTest<P> {};
using ScaledFormats =
    cases<DaspFormat<double, half>, DaspFormat<float, half>, SpadenFormat<double, half>,
          SpadenFormat<float, half>, DaspFormat<double, bfloat16>, SpadenFormat<double, bfloat16>>;
TYPED_TEST_SUITE(UpdateScaledValues, ScaledFormats, Label);

/// Values come in and out of the range of 16 bits: scaled anew each time, by rows, by columns, or
/// not at all.
TYPED_TEST(UpdateScaledValues, AreScaledAnew) {
  using T = typename TypeParam::Value;
  using F = typename TypeParam::Format;
  using S = typename F::Stored;
  Csr<double> plain = dominant(90, 12, 8);
  auto spread = [&](auto const& exponent) {
    Csr<double> a = plain;
    for (Index i = 0; i < a.rows; ++i)
      for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
        a.values[k] = std::ldexp(a.values[k], wider<S> * exponent(i, a.columns[k]));
    return a;
  };
  std::vector<Csr<double>> list{plain, spread([](Index i, Index) { return i - 40; }),
                                spread([](Index, Index j) { return 45 - j; }),
                                spread([](Index i, Index j) { return i / 2 - j; }), plain};
  using Operator = typename F::Operator;
  auto fresh = [&](Csr<double> const& a) {
    return std::make_shared<Operator>(this->ctx(), scaled<S>(a, Scaling::powers_of_two));
  };
  for (Csr<double> const& first : list) {
    auto A = fresh(first), B = fresh(first);
    for (Csr<double> const& next : list) {
      Csr<T> typed = representable<T>(next);
      LinearOperator<T>& general = *A;
      general.update_values(this->ctx(), typed.view());
      B->update_values(this->ctx(), scaled<S>(widened(typed), Scaling::powers_of_two));
      expect_same_products<T>(this->ctx(), *A, *fresh(widened(typed)));
      expect_same_products<T>(this->ctx(), *B, *A);
      ASSERT_FALSE(this->HasFatalFailure());
    }
  }
  // What no scaling holds is refused, and the operator stays as it was.
  Csr<double> one{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1, 2, 3, 4}}, hopeless = one;
  double const far = std::ldexp(1, wider<S> * 80);
  hopeless.values = {far, 1, 1, far};
  auto A = fresh(one);
  LinearOperator<T>& general = *A;
  EXPECT_THROW(general.update_values(this->ctx(), representable<T>(hopeless).view()), MatrixError);
  expect_same_products<T>(this->ctx(), *A, *fresh(one));
  // Values of the stored type are taken as they are.
  Csr<S> h = converted<S>(plain);
  for (Csr<double> const& first : list) {
    auto B = fresh(first);
    B->update_values(this->ctx(), h.view());
    expect_same_products<T>(this->ctx(), *B, *F::of(this->ctx(), h));
  }
}

template <class P>
class UpdateBorrowed : public BackendTest<P> {};
TYPED_TEST_SUITE(UpdateBorrowed, StoredOnBoth, Label);

/// A caller's own arrays: changed in place, and others instead.
TYPED_TEST(UpdateBorrowed, CsrFollowsTheCallersArrays) {
  using S = typename TestFixture::T;
  Csr<S> a = converted<S>(dominant(70, 9, 3)), b = other_values(a, 1), c = other_values(a, 2);
  CsrStorage<S> mine(this->ctx(), Csr<S>(a));
  auto theirs = std::make_unique<CsrStorage<S>>(this->ctx(), Csr<S>(c));
  CsrOperator<double, S> A(this->ctx(), mine.view());
  A.prepare(this->ctx(), Op::transpose);
  auto expect = [&](Csr<S> const& matrix) {
    expect_same_products<double>(this->ctx(), A, CsrOperator<double, S>(this->ctx(), matrix));
  };
  expect(a);
  mine.update_values(this->ctx(), b.view());
  A.update_values(this->ctx(), mine.view());
  EXPECT_EQ(A.view().values, mine.view().values);
  expect(b);
  A.update_values(this->ctx(), theirs->view());
  EXPECT_EQ(A.view().values, theirs->view().values);
  expect(c);
  {
    Csr<S> for_a_while = b;
    A.update_values(this->ctx(), std::move(for_a_while));
  }
  EXPECT_EQ(to_host(this->ctx(), theirs->view()), c) << "what was borrowed is not written";
  EXPECT_EQ(to_host(this->ctx(), mine.view()), b);
  theirs.reset();  // and let go
  expect(b);
}

TEST(UpdateNothing, OperatorsWithoutAMatrixSaySo) {
  Context ctx(Backend::host);
  Csr<double> a{1, 1, {0, 1}, {0}, {1}};
  Identity<double> I(1);
  EXPECT_THROW(I.update_values(ctx, a.view()), Unsupported);
  Scaled<double> twice(2, std::make_shared<Identity<double>>(1));
  std::string text = message_of<Unsupported>([&] { twice.update_values(ctx, a.view()); });
  EXPECT_NE(text.find("scaled(identity): update_values"), std::string::npos) << text;
}

}  // namespace
}  // namespace tcsolve::test
