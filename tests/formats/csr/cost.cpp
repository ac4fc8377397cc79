// SPDX-License-Identifier: Apache-2.0
/// The bytes that a product by csr moves.
#include <tcsolve/formats/csr/operator.hpp>

#include "tests/support/cost.hpp"

namespace tcsolve::test {
namespace {

template <class P>
class CsrCost : public BackendTest<P> {};
TYPED_TEST_SUITE(CsrCost, PairsOnBoth, Label);

/// A host copy keeps 64-bit offsets, a device copy has 32-bit ones.
TYPED_TEST(CsrCost, IsTheCompulsoryTraffic) {
  using T = typename TestFixture::T;
  using S = typename TypeParam::Stored;
  using Operator = CsrOperator<T, S>;
  double const offset = this->ctx().space() == Space::host ? 8 : 4;
  check_cost<T, S>(
      this->ctx(), [](Context& c, CsrView<S> const& a) { return Operator(c, a); },
      [&](Operator const&, Csr<S> const& a) {
        return double(a.entries()) * (sizeof(S) + 4) + offset * (a.rows + 1.0);
      });
}

}  // namespace
}  // namespace tcsolve::test
