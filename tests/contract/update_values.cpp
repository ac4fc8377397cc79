// SPDX-License-Identifier: Apache-2.0
/// New values on the same pattern: the operator is then the one that a fresh conversion of the new
/// matrix gives, bit by bit, for every format and backend.
#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/matrix/same_pattern.hpp>
#include <tcsolve/matrix/transfer.hpp>
#include <tcsolve/operators/composite.hpp>
#include <tcsolve/operators/function_operator.hpp>

#include <cmath>
#include <cstring>
#include <limits>

#include "tests/support/formats.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/matrices.hpp"
#include "tests/support/new_values.hpp"
#include "tests/support/tensor_formats.hpp"

namespace tcsolve::test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

/// The pattern of a with values in [-2, 2), a zero of either sign now and then, rounded to
/// `stored`.
Csr<double> other_values(Real stored, Csr<double> a, std::uint64_t seed) {
  auto values = random_values(a.values.size(), seed, -2, 2);
  for (std::size_t k = 0; k < values.size(); ++k)
    a.values[k] = k % 11 == 5 ? (k % 2 == 0 ? 0.0 : -0.0) : values[k];
  return rounded(stored, std::move(a));
}
template <class S>
Csr<S> other_values(Csr<S> const& a, std::uint64_t seed) {
  return converted<S>(other_values(real_of<S>, widened(a), seed));
}

class UpdateValues : public FormatTest {
 protected:
  template <class T>
  using OperatorOf = std::shared_ptr<LinearOperator<T>>;
  /// Its transpose made, where there is one, and its product: nothing of these may stay behind.
  template <class T>
  OperatorOf<T> used(FormatUnderTest<T> const& format, Csr<double> const& a) {
    auto A = format.of(ctx(), a);
    if (A->traits().transpose) A->prepare(ctx(), Op::transpose);
    Guarded<T> x(ctx(), std::vector<double>(a.cols, 1.0)),
        y(ctx(), std::vector<double>(a.rows, 0.0));
    A->apply(ctx(), x.in(), y.view());
    return A;
  }
  /// The operator of `from` is given `to`, which has as many rows and entries.
  template <class T>
  void gives_other_pattern(FormatUnderTest<T> const& format, Csr<double> const& from,
                           Csr<double> const& to) {
    auto A = used(format, rounded(format.stored, from));
    StoredCsr const there = stored_in_space(ctx(), format.stored, to);
    format.update_values(ctx(), *A, there);
    std::visit(
        [&]<class S>(CsrView<S> const& given) {
          Csr<S> const made = converted<S>(from);
          if (from == to) {
            EXPECT_NO_THROW(require_same_pattern(ctx(), made, given));
            return;
          }
          std::string text =
              message_of<MatrixError>([&] { require_same_pattern(ctx(), made, given); });
          EXPECT_NE(text.find("row"), std::string::npos) << text;
        },
        there.view);
  }
};
INSTANTIATE_TEST_SUITE_P(Formats, UpdateValues, ::testing::ValuesIn(format_cases()), case_label);

TEST_P(UpdateValues, GivesTheOperatorOfTheNewMatrix) {
  with_format([&]<class T>(FormatUnderTest<T> const& format) {
    for (Named const& m : for_conversion()) {
      SCOPED_TRACE(m.name);
      Csr<double> a = representable(format.stored, m.matrix);
      auto A = used(format, a);
      for (int turn = 0; turn < 2; ++turn) {
        Csr<double> b = other_values(format.stored, a, turn);
        StoredCsr given =
            turn == 0 ? stored_in_space(ctx(), format.stored, b) : stored_on_host(format.stored, b);
        format.update_values(ctx(), *A, given);
        expect_same_products(ctx(), *A, *format.of(ctx(), b));
        ASSERT_FALSE(HasFatalFailure());
      }
    }
  });
}

/// Rows in pieces, units of long rows, block rows whose side entries are long: what small matrices
/// have not.
TEST_P(UpdateValues, GivesTheOperatorOfANewMatrixWithLongRows) {
  Csr<double> dense{9, 6000, {0}, {}, {}};  // blocks of 64, 750 to a block row
  for (Index i = 0; i < dense.rows; ++i) {
    for (Index j = 0; j < dense.cols; ++j) dense.columns.push_back(j), dense.values.push_back(1);
    dense.offsets.push_back(dense.entries());
  }
  with_format([&]<class T>(FormatUnderTest<T> const& format) {
    for (Csr<double> const& matrix :
         {dense, random_matrix(12, 60000, 5000, 1), mixed_rows(70, 9000, 2)}) {
      Csr<double> a = rounded(format.stored, matrix), b = other_values(format.stored, a, 3);
      auto A = used(format, a);
      StoredCsr there = stored_in_space(ctx(), format.stored, b);
      format.update_values(ctx(), *A, there);
      expect_same_products(ctx(), *A, *format.of(ctx(), b));
      ASSERT_FALSE(HasFatalFailure());
    }
  });
}

/// Values of T by way of LinearOperator: a narrower type rounds them, or refuses.
TEST_P(UpdateValues, TakesTheTypeOfTheVectors) {
  with_format([&]<class T>(FormatUnderTest<T> const& format) {
    for (Named const& m : for_conversion()) {
      SCOPED_TRACE(m.name);
      Csr<double> a = representable(format.stored, m.matrix);
      auto A = used(format, a), before = used(format, a);
      Csr<T> b{a.rows, a.cols, a.offsets, a.columns, {}};
      for (double v : random_values(a.values.size(), 9)) b.values.push_back(T(v + 0.1));
      CsrStorage<T> there(ctx(), b);
      A->update_values(ctx(), there.view());
      expect_same_products<T>(ctx(), *A, *format.make(ctx(), widened(b)));
      ASSERT_FALSE(HasFatalFailure());
      if (size_of(format.stored) > 2 || b.values.empty()) continue;
      bool const fp16 = format.stored == Real::f16;
      Csr<T> c = b;
      c.values.back() = T(fp16 ? 1e6 : 3.4e38);  // infinite as stored
      StoredCsr back = stored_on_host(format.stored, a);
      format.update_values(ctx(), *A, back);
      CsrStorage<T> far_there(ctx(), c);
      std::string text =
          message_of<MatrixError>([&] { A->update_values(ctx(), far_there.view()); });
      EXPECT_NE(text.find("row"), std::string::npos) << text;
      expect_same_products<T>(ctx(), *A, *before);
      ASSERT_FALSE(HasFatalFailure());
    }
  });
}

TEST_P(UpdateValues, KeepsValuesThatAreNotFinite) {
  with_format([&]<class T>(FormatUnderTest<T> const& format) {
    for (Csr<double> const& matrix : {dominant(60, 9, 1), random_matrix(20, 3000, 700, 2)})
      for (double odd : {inf, -inf, nan}) {
        Csr<double> a = rounded(format.stored, matrix), b = other_values(format.stored, a, 4);
        for (std::size_t k = 3; k < b.values.size(); k += 97) b.values[k] = odd;
        auto A = used(format, a);
        StoredCsr const with_odd = stored_on_host(format.stored, b),
                        finite = stored_on_host(format.stored, a);
        format.update_values(ctx(), *A, with_odd);
        expect_same_products(ctx(), *A, *format.of(ctx(), b));
        EXPECT_EQ(std::isnan(A->norm_estimate()), std::isnan(odd));
        format.update_values(ctx(), *A, finite);
        expect_same_products(ctx(), *A, *format.of(ctx(), a));
        ASSERT_FALSE(HasFatalFailure());
      }
  });
}

TEST_P(UpdateValues, RefusesOtherExtentsAndStaysAsItWas) {
  with_format([&]<class T>(FormatUnderTest<T> const& format) {
    Csr<double> a = rounded(format.stored, dominant(40, 6, 1));
    auto A = used(format, a), before = used(format, a);
    auto refuses = [&](Csr<double> const& b, std::vector<std::string> const& words) {
      StoredCsr there = stored_in_space(ctx(), format.stored, b);
      std::string text = message_of<ShapeError>([&] { format.update_values(ctx(), *A, there); });
      for (std::string const& word : words) EXPECT_NE(text.find(word), std::string::npos) << text;
      expect_same_products(ctx(), *A, *before);
    };
    Csr<double> taller = a, wider = a, fuller = a;
    ++taller.rows, taller.offsets.push_back(taller.entries());
    ++wider.cols;
    refuses(taller, {"40 x 40", "41 x 40"});
    refuses(wider, {"40 x 40", "40 x 41"});
    fuller.columns.clear(), fuller.values.clear(), fuller.offsets.assign(41, 0);
    refuses(fuller, {cat(a.entries()), " 0"});
  });
}

/// Where the pattern is another, which is not looked at, nothing outside the operator is touched
/// (memory checkers look), and require_same_pattern() says so.
TEST_P(UpdateValues, AnotherPatternOfTheSameSizeIsHarmless) {
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
    with_format([&]<class T>(FormatUnderTest<T> const& format) {
      for (Csr<double> const& from : list)
        for (Csr<double> const& to : list)
          if (from.entries() == to.entries() && from.rows == to.rows)
            gives_other_pattern(format, from, to);
    });
  }
}

/// What was recorded before sees the new values: the arrays stay where they are.
TEST_P(UpdateValues, RecordedProductsSeeTheNewValues) {
  with_format([&]<class T>(FormatUnderTest<T> const& format) {
    Csr<double> a = rounded(format.stored, dominant(80, 12, 1)),
                b = other_values(format.stored, a, 6);
    auto A = used(format, a);
    Guarded<T> x(ctx(), rounded<T>(random_values(80, 2)));
    Guarded<T> y(ctx(), std::vector<double>(80, nan)), z(ctx(), std::vector<double>(80, nan));
    Recording list = ctx().record([&](Context& c) { A->apply(c, x.in(), y.view()); });
    StoredCsr there = stored_in_space(ctx(), format.stored, b);
    format.update_values(ctx(), *A, there);
    for (Command const& command : list.commands) command.call(ctx());
    format.of(ctx(), b)->apply(ctx(), x.in(), z.view());
    EXPECT_EQ(y.get(), z.get());
  });
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
  CsrOperator<double, S> A(this->ctx(), mine.view(), Arrays::borrowed);
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
