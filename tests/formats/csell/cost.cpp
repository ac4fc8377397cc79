// SPDX-License-Identifier: Apache-2.0
/// The bytes that a product by csell moves.
#include <tcsolve/formats/csell/operator.hpp>

#include "tests/support/cost.hpp"

namespace tcsolve::test {
namespace {

template <class P>
class CsellCost : public BackendTest<P> {};
TYPED_TEST_SUITE(CsellCost, PairsOnBoth, Label);

TYPED_TEST(CsellCost, IsTheCompulsoryTraffic) {
  using T = typename TestFixture::T;
  using S = typename TypeParam::Stored;
  check_cost_of<CsellOperator<T, S>, T, S>(this->ctx());
  // Short pieces, windows and strips, so that small matrices have many.
  constexpr CsellTuning short_pieces{.max_length = 24, .window = 96, .strip = 2};
  check_cost_of<CsellOperator<T, S>, T, S>(this->ctx(), short_pieces);
}

}  // namespace
}  // namespace tcsolve::test
