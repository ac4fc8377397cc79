// SPDX-License-Identifier: Apache-2.0
/// A caller's own arrays go into a CSR operator without a copy.
#include <tcsolve/formats/csr/operator.hpp>

#include "tests/support/backend.hpp"
#include "tests/support/bounds.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

template <class P>
class OperatorsCsr : public BackendTest<P> {
 public:
  using T = typename P::Value;
};
TYPED_TEST_SUITE(OperatorsCsr, RealsOnBoth, Label);

/// The caller's arrays in the Context's space, with offsets of O.
template <class S, class O>
struct Caller {
  Array<O> offsets;
  Array<std::int32_t> columns;
  Array<S> values;
  CsrView<S> view;
  Caller(Context& ctx, Csr<double> const& a) {
    std::vector<O> o(a.offsets.begin(), a.offsets.end());
    Csr<S> s = converted<S>(a);
    offsets = to_space(ctx, o.data(), o.size());
    columns = to_space(ctx, s.columns.data(), s.columns.size());
    values = to_space(ctx, s.values.data(), s.values.size());
    view = {a.rows,         a.cols,        a.entries(), offsets.data(),
            columns.data(), values.data(), ctx.space()};
  }
};

template <class T, class S, class O>
void check(Context& ctx, Csr<double> const& matrix) {
  Caller<S, O> caller(ctx, matrix);
  CsrOperator<T, S> A(ctx, caller.view);
  EXPECT_EQ(A.view().values, caller.values.data());
  EXPECT_EQ(A.view().columns, caller.columns.data());
  EXPECT_EQ(A.view().offsets.data, caller.offsets.data());
  EXPECT_EQ(A.view().offsets.wide, sizeof(O) == 8);
  Csr<double> a = rounded<S>(matrix);
  for (Op op : {Op::none, Op::transpose})
    for (Index k : {1, 5}) {
      Index domain = op == Op::none ? a.cols : a.rows, range = op == Op::none ? a.rows : a.cols;
      auto x = rounded<T>(random_values(domain * k, 1)),
           y0 = rounded<T>(random_values(range * k, 2));
      Guarded<T> gx(ctx, domain, k, Layout::row_major, 0, x),
          y(ctx, range, k, Layout::row_major, 0, y0);
      A.apply(ctx, T(2), gx.in(), T(-1), y.view(), op);
      EXPECT_TRUE(
          within(A.traits().precision, real_of<T>, exact_apply(a, op, 2, x, -1, y0, k), y.get()));
      EXPECT_TRUE(y.untouched());
    }
  double offset = sizeof(O);
  EXPECT_DOUBLE_EQ(A.cost(1).bytes, a.entries() * (sizeof(S) + 4.0) + offset * (a.rows + 1) +
                                        sizeof(T) * (double(a.rows) + a.cols));
}

TYPED_TEST(OperatorsCsr, CallersArraysAreViewedWithoutACopy) {
  using T = typename TestFixture::T;
  for (Csr<double> const& a :
       {mixed_rows(300, 280, 1), random_matrix(20, 90, 7, 2), random_matrix(90, 20, 7, 3)}) {
    check<T, T, std::int32_t>(this->ctx(), a);
    check<T, T, std::int64_t>(this->ctx(), a);
    check<T, float, std::int32_t>(this->ctx(), a);
    check<T, half, std::int64_t>(this->ctx(), a);
    check<T, bfloat16, std::int32_t>(this->ctx(), a);
  }
}

TYPED_TEST(OperatorsCsr, NewValuesInTheCallersArraysCount) {
  using T = typename TestFixture::T;
  Csr<double> a{2, 2, {0, 1, 2}, {0, 1}, {3, 4}};
  Caller<T, std::int32_t> caller(this->ctx(), a);
  CsrOperator<T> A(this->ctx(), caller.view);
  Guarded<T> x(this->ctx(), {1, 1}), y(this->ctx(), {0, 0});
  A.apply(this->ctx(), x.in(), y.view());
  EXPECT_EQ(y.get(), (std::vector<double>{3, 4}));
  std::vector<T> values{5, 6};
  copy_bytes(this->ctx(), caller.values.data(), this->ctx().space(), values.data(), Space::host,
             2 * sizeof(T));
  A.apply(this->ctx(), x.in(), y.view());
  EXPECT_EQ(y.get(), (std::vector<double>{5, 6}));
}

TYPED_TEST(OperatorsCsr, AHostMatrixIsBorrowedOrCopiedToTheDevice) {
  using T = typename TestFixture::T;
  Csr<T> a = converted<T>(dominant(30, 4, 1));
  CsrOperator<T> A(this->ctx(), a.view());
  EXPECT_EQ(A.view().space, this->ctx().space());
  EXPECT_EQ(A.view().values == a.values.data(), this->ctx().space() == Space::host);
  EXPECT_EQ(to_host(this->ctx(), A.view()), a);
}

TYPED_TEST(OperatorsCsr, OwnedMatrixOutlivesItsSource) {
  using T = typename TestFixture::T;
  OperatorPtr<T> A;
  Csr<double> a = dominant(100, 5, 2);
  {
    Csr<T> temporary = converted<T>(a);
    A = std::make_shared<CsrOperator<T>>(this->ctx(), std::move(temporary));
  }
  auto x = rounded<T>(random_values(100, 1));
  Guarded<T> gx(this->ctx(), x), y(this->ctx(), std::vector<double>(100, 0));
  A->apply(this->ctx(), gx.in(), y.view());
  EXPECT_TRUE(within(A->traits().precision, real_of<T>,
                     exact_apply(rounded<T>(a), Op::none, 1, x, 0, {}, 1), y.get()));
}

TEST(OperatorsCsrHost, DeviceArraysNeedADeviceContext) {
  Context ctx(Backend::host);
  Csr<double> a = dominant(3, 2, 1);
  CsrView<double> view = a.view();
  view.space = Space::cuda;
  std::string text = message_of<ShapeError>([&] { CsrOperator<double> A(ctx, view); });
  EXPECT_NE(text.find("device"), std::string::npos) << text;
}

}  // namespace
}  // namespace tcsolve::test
