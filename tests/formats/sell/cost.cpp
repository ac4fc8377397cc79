// SPDX-License-Identifier: Apache-2.0
/// The bytes that a product by sell moves.
#include <tcsolve/formats/sell/operator.hpp>

#include "tests/support/cost.hpp"

namespace tcsolve::test {
namespace {

template <class P>
class SellCost : public BackendTest<P> {};
TYPED_TEST_SUITE(SellCost, PairsOnBoth, Label);

TYPED_TEST(SellCost, IsTheCompulsoryTraffic) {
  using T = typename TestFixture::T;
  using S = typename TypeParam::Stored;
  check_cost_of<SellOperator<T, S>, T, S>(this->ctx());
}

}  // namespace
}  // namespace tcsolve::test
