// SPDX-License-Identifier: Apache-2.0
/// A^T of the Context against the serial one of the host (matrix/csr.hpp), bit by bit.
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/sparse/transpose.hpp>

#include <algorithm>

#include "tests/support/backend.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

template <class T>
Csr<T> as(Csr<double> const& a) {
  return {a.rows, a.cols, a.offsets, a.columns, {a.values.begin(), a.values.end()}};
}

template <class P>
class SparseTranspose : public BackendTest<P> {};
TYPED_TEST_SUITE(SparseTranspose, RealsOnBoth, Label);

TYPED_TEST(SparseTranspose, IsThatOfTheHost) {
  using T = typename TestFixture::T;
  auto list = adversarial();
  list.push_back({"hubs", generate(RmatParams{10, 8, Coefficient::random})});
  list.push_back({"tall, empty columns", random_matrix(3000, 5000, 2, 21)});
  list.push_back({"large", generate(Poisson27Params{.n = 30})});
  for (auto const& [name, from] : list) {
    SCOPED_TRACE(name);
    Csr<T> const a = as<T>(from);
    CsrStorage<T> const there(this->ctx(), a.view());
    CsrStorage<T> const t = sparse::transposed(this->ctx(), there.view());
    EXPECT_EQ(t.view().space, this->ctx().space());
    EXPECT_EQ(to_host(this->ctx(), t.view()), transpose(a.view()));
    EXPECT_EQ(to_host(this->ctx(), sparse::transposed(this->ctx(), t.view()).view()), a);
  }
}

TYPED_TEST(SparseTranspose, NewValuesOnTheSamePattern) {
  using T = typename TestFixture::T;
  Csr<T> a = as<T>(mixed_rows(300, 200, 5));
  CsrStorage<T> const there(this->ctx(), a.view());
  sparse::Transpose const plan(this->ctx(), there.view());
  std::reverse(a.values.begin(), a.values.end());
  There<T> from(this->ctx(), a.values), to(this->ctx(), std::vector<T>(a.values.size(), T(-1)));
  plan.values(this->ctx(), from.data(), to.data());
  CsrView<T> const got = plan.pattern().with(static_cast<T const*>(to.data()));
  EXPECT_EQ(to_host(this->ctx(), got), transpose(a.view()));
}

TYPED_TEST(SparseTranspose, WideOffsetsGoIn) {
  using T = typename TestFixture::T;
  Csr<T> const a = as<T>(random_matrix(70, 40, 9, 3));
  CsrStorage<T> const there(this->ctx(), a.view());
  There<Offset> wide(this->ctx(), a.offsets);
  CsrView<T> view = there.view();
  view.offsets = OffsetsView(wide.data());
  EXPECT_EQ(to_host(this->ctx(), sparse::transposed(this->ctx(), view).view()),
            transpose(a.view()));
}

TEST(SparseTransposeGpu, AMatrixElsewhereIsRefused) {
  std::unique_ptr<Context> ctx;
  open_context(Backend::cuda, ctx);
  if (!ctx) return;
  Csr<double> const a = random_matrix(3, 3, 2, 1);
  EXPECT_THROW(sparse::transposed(*ctx, a.view()), ShapeError);
}

}  // namespace
}  // namespace tcsolve::test
