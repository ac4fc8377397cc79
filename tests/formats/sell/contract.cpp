// SPDX-License-Identifier: Apache-2.0
/// What is true of SELL-32 alone: its bytes. What it computes is in operator_contract.cpp with all
/// other formats.
#include <tcsolve/formats/sell/operator.hpp>

#include <algorithm>

#include "tests/support/tensor_formats.hpp"

namespace tcsolve::test {
namespace {

template <class P>
class SellProducts : public BackendTest<P> {};
TYPED_TEST_SUITE(SellProducts, PairsOnBoth, Label);

/// Slices padded to their longest row; 32-bit columns where 16-bit distances do not reach.
double bytes_of(Csr<double> const& a, double value) {
  double sum = 4.0 * a.rows;
  for (Index begin = 0; begin < a.rows; begin += 32) {
    Index end = std::min(begin + 32, a.rows);
    std::size_t width = 0;
    for (Index i = begin; i < end; ++i) width = std::max(width, a.row_columns(i).size());
    auto first = a.columns.begin() + a.offsets[begin], last = a.columns.begin() + a.offsets[end];
    bool wide =
        first != last && *std::max_element(first, last) - *std::min_element(first, last) > 65535;
    sum += 32.0 * double(width) * (value + (wide ? 4 : 2)) + 32;
  }
  return sum;
}

TYPED_TEST(SellProducts, CostIsTheCompulsoryTraffic) {
  using T = typename TestFixture::T;
  using S = typename TypeParam::Stored;
  using Operator = SellOperator<T, S>;
  check_cost<T, S>(
      this->ctx(), [](Context& c, CsrView<S> const& a) { return Operator(c, a); },
      [](Operator const&, Csr<double> const& a) { return bytes_of(a, sizeof(S)); });
}

}  // namespace
}  // namespace tcsolve::test
