// SPDX-License-Identifier: Apache-2.0
/// The bytes that a product by dasp moves.
#include <tcsolve/formats/dasp/operator.hpp>

#include "tests/support/cost.hpp"

namespace tcsolve::test {
namespace {

template <class P>
class DaspCost : public BackendTest<P> {};
TYPED_TEST_SUITE(DaspCost, PairsOnBoth, Label);

TYPED_TEST(DaspCost, IsTheCompulsoryTraffic) {
  using T = typename TestFixture::T;
  using S = typename TypeParam::Stored;
  check_cost_of<DaspOperator<T, S>, T, S>(this->ctx());
}

}  // namespace
}  // namespace tcsolve::test
