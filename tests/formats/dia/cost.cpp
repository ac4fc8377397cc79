// SPDX-License-Identifier: Apache-2.0
/// The bytes that a product by dia moves.
#include <tcsolve/formats/dia/operator.hpp>

#include "tests/support/cost.hpp"

namespace tcsolve::test {
namespace {

template <class P>
class DiaCost : public BackendTest<P> {};
TYPED_TEST_SUITE(DiaCost, PairsOnBoth, Label);

TYPED_TEST(DiaCost, IsTheCompulsoryTraffic) {
  using T = typename TestFixture::T;
  using S = typename TypeParam::Stored;
  check_cost_of<DiaOperator<T, S>, T, S>(this->ctx());
}

}  // namespace
}  // namespace tcsolve::test
