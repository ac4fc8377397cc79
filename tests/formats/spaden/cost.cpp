// SPDX-License-Identifier: Apache-2.0
/// The bytes that a product by spaden moves.
#include <tcsolve/formats/spaden/operator.hpp>

#include "tests/support/cost.hpp"

namespace tcsolve::test {
namespace {

template <class P>
class SpadenCost : public BackendTest<P> {};
TYPED_TEST_SUITE(SpadenCost, PairsOnBoth, Label);

TYPED_TEST(SpadenCost, IsTheCompulsoryTraffic) {
  using T = typename TestFixture::T;
  using S = typename TypeParam::Stored;
  check_cost_of<SpadenOperator<T, S>, T, S>(this->ctx());
}

}  // namespace
}  // namespace tcsolve::test
