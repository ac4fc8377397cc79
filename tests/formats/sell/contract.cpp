// SPDX-License-Identifier: Apache-2.0
/// SELL inside: there and back, and its bytes. What it computes is in tests/contract with all other
/// formats.
#include <tcsolve/formats/sell/operator.hpp>
#include <tcsolve/matrix/transfer.hpp>

#include <algorithm>

#include "tests/support/bounds.hpp"
#include "tests/support/matrices.hpp"
#include "tests/support/tensor_formats.hpp"

namespace tcsolve::test {
namespace {

template <class P>
class SellContract : public BackendTest<P> {
 public:
  using T = typename BackendTest<P>::T;
  /// Adversarial, and slices of 32-bit columns beside narrow ones.
  static std::vector<Named> matrices() {
    auto list = adversarial();
    Csr<double> far = random_matrix(70, 200000, 6, 11);
    for (Index i = 32; i < 64; ++i)
      for (Offset k = far.offsets[i]; k < far.offsets[i + 1]; ++k)
        far.columns[k] = 100000 + static_cast<Index>(k - far.offsets[i]);
    list.push_back({"far", far});
    return list;
  }
};
TYPED_TEST_SUITE(SellContract, StoredOnBoth, Label);

TYPED_TEST(SellContract, ThereAndBackIsTheSame) {
  using T = typename TestFixture::T;
  for (Named const& m : this->matrices()) {
    SCOPED_TRACE(m.name);
    Csr<T> a = representable<T>(m.matrix);
    CsrStorage<T> there(this->ctx(), a);
    Sell<T> sell(this->ctx(), there.view());
    EXPECT_EQ(sell.to_csr(this->ctx()), a);
    EXPECT_GE(sell.stored(), a.entries());
  }
}

/// Slices padded to their longest row; 32-bit columns where 16-bit distances do not reach.
TYPED_TEST(SellContract, BytesAreThoseOfItsSlices) {
  using T = typename TestFixture::T;
  for (Named const& m : this->matrices()) {
    SCOPED_TRACE(m.name);
    Csr<T> a = representable<T>(m.matrix);
    std::size_t bytes = 4 * std::size_t(a.rows);
    for (Index begin = 0; begin < a.rows; begin += 32) {
      Index const end = std::min(begin + 32, a.rows);
      std::size_t width = 0;
      for (Index i = begin; i < end; ++i) width = std::max(width, a.row_columns(i).size());
      auto const first = a.columns.begin() + a.offsets[begin],
                 last = a.columns.begin() + a.offsets[end];
      bool const wide =
          first != last && *std::max_element(first, last) - *std::min_element(first, last) > 65535;
      bytes += 32 * width * (sizeof(T) + (wide ? 4 : 2)) + 32;
    }
    CsrStorage<T> there(this->ctx(), a);
    EXPECT_EQ(Sell<T>(this->ctx(), there.view()).bytes(), bytes);
  }
}

}  // namespace
}  // namespace tcsolve::test
