// SPDX-License-Identifier: Apache-2.0
/// The bytes that a product by bsell moves.
#include <tcsolve/formats/bsell/operator.hpp>

#include "tests/support/cost.hpp"

namespace tcsolve::test {
namespace {

template <class P>
class BsellCost : public BackendTest<P> {};
TYPED_TEST_SUITE(BsellCost, PairsOnBoth, Label);

TYPED_TEST(BsellCost, IsTheCompulsoryTraffic) {
  using T = typename TestFixture::T;
  using S = typename TypeParam::Stored;
  check_cost_of<BsellOperator<T, S>, T, S>(this->ctx());
}

}  // namespace
}  // namespace tcsolve::test
