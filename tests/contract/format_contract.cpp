// SPDX-License-Identifier: Apache-2.0
/// CSR in and out: validation, canonical form, transposition, narrower values, transfer, facts.
#include <tcsolve/matrix/transfer.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/support/backend.hpp"
#include "tests/support/bounds.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

template <class V>
struct Stored {
  using Value = V;
  static std::string label() { return type_name<V>; }
};
template <class P>
class FormatContract : public ::testing::Test {
 public:
  using T = typename P::Value;
  /// The matrix with values of T; those beyond its range are made small.
  static Csr<T> typed(Csr<double> a) {
    for (double& v : a.values)
      if (!std::isfinite(double(T(v)))) v = std::copysign(3.0, v);
    return converted<T>(a);
  }
};
using Values = ::testing::Types<Stored<double>, Stored<float>, Stored<half>, Stored<bfloat16>>;
TYPED_TEST_SUITE(FormatContract, Values, Label);

TYPED_TEST(FormatContract, AdversarialMatricesAreValidAndCanonical) {
  using T = typename TestFixture::T;
  for (Named const& m : adversarial()) {
    SCOPED_TRACE(m.name);
    Csr<T> a = this->typed(m.matrix);
    EXPECT_NO_THROW(validate(a.view()));
    EXPECT_EQ(canonical(a.view()), a);
    EXPECT_EQ(canonical(a.view(), Duplicates::sum), a);
  }
}

TYPED_TEST(FormatContract, TransposedTwiceIsItself) {
  using T = typename TestFixture::T;
  for (Named const& m : adversarial()) {
    SCOPED_TRACE(m.name);
    Csr<T> a = this->typed(m.matrix), t = transpose(a.view());
    EXPECT_NO_THROW(validate(t.view()));
    EXPECT_EQ(t.rows, a.cols);
    EXPECT_EQ(t.cols, a.rows);
    EXPECT_EQ(t.entries(), a.entries()) << "explicit zeros are kept";
    for (Index i = 0; i < a.rows; ++i)
      for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
        auto row = t.row_columns(a.columns[k]);
        auto at = std::lower_bound(row.begin(), row.end(), i);
        ASSERT_TRUE(at != row.end() && *at == i);
        ASSERT_EQ(t.row_values(a.columns[k])[at - row.begin()], a.values[k]);
      }
    EXPECT_EQ(transpose(t.view()), a);
  }
}

TYPED_TEST(FormatContract, ShuffledRowsBecomeCanonical) {
  using T = typename TestFixture::T;
  for (Named const& m : adversarial()) {
    SCOPED_TRACE(m.name);
    Csr<T> a = this->typed(m.matrix), shuffled = a;
    for (Index i = 0; i < a.rows; ++i) {
      std::reverse(shuffled.columns.begin() + a.offsets[i],
                   shuffled.columns.begin() + a.offsets[i + 1]);
      std::reverse(shuffled.values.begin() + a.offsets[i],
                   shuffled.values.begin() + a.offsets[i + 1]);
    }
    EXPECT_EQ(canonical(shuffled.view()), a);
    EXPECT_EQ(canonical(shuffled.view(), Duplicates::sum), a);
  }
}

TYPED_TEST(FormatContract, NarrowOffsetsAreReadAsWell) {
  using T = typename TestFixture::T;
  for (Named const& m : adversarial()) {
    Csr<T> a = this->typed(m.matrix);
    std::vector<std::int32_t> offsets(a.offsets.begin(), a.offsets.end());
    CsrView<T> view = a.view();
    view.offsets = offsets.data();
    EXPECT_NO_THROW(validate(view)) << m.name;
    EXPECT_EQ(canonical(view), a) << m.name;
    EXPECT_EQ(transpose(view), transpose(a.view())) << m.name;
  }
}

void expect_words(std::string const& text, std::vector<std::string> const& words) {
  for (auto const& word : words)
    EXPECT_NE(text.find(word), std::string::npos) << text << " lacks " << word;
}

TEST(FormatErrors, MalformedArraysAreRefusedByRow) {
  for (Malformed const& m : malformed()) {
    SCOPED_TRACE(m.name);
    expect_words(message_of<MatrixError>([&] { validate(m.view()); }), m.says);
  }
}

TEST(FormatErrors, CanonicalMendsOrRefuses) {
  for (Malformed const& m : malformed()) {
    SCOPED_TRACE(m.name);
    if (m.mendable)
      EXPECT_EQ(canonical(m.view(), Duplicates::sum), m.mended);
    else
      expect_words(message_of<MatrixError>([&] { canonical(m.view(), Duplicates::sum); }), m.says);
    if (m.name.find("duplicate") != std::string::npos)
      expect_words(message_of<MatrixError>([&] { canonical(m.view()); }),
                   {"row", "column 2", "twice", "sum"});
  }
}

TEST(FormatErrors, NonFiniteValuesAreKeptWhenAskedFor) {
  for (Malformed const& m : malformed())
    if (m.name == "NaN" || m.name == "Inf") {
      EXPECT_NO_THROW(validate(m.view(), NonFinite::keep));
      Csr<double> kept = canonical(m.view(), Duplicates::refuse, NonFinite::keep);
      EXPECT_EQ(kept.columns, m.columns);
      for (std::size_t i = 0; i < m.values.size(); ++i)
        EXPECT_TRUE(kept.values[i] == m.values[i] || std::isnan(m.values[i]));
    }
}

TEST(FormatErrors, DuplicatesThatSumToInfinityAreRefused) {
  std::vector<Offset> offsets{0, 0, 2};
  std::vector<Index> columns{1, 1};
  std::vector<double> values{1.7e308, 1.7e308};
  CsrView<double> a{2, 2, 2, offsets.data(), columns.data(), values.data(), Space::host};
  expect_words(message_of<MatrixError>([&] { canonical(a, Duplicates::sum); }),
               {"row 2", "column 2", "inf"});
  EXPECT_TRUE(std::isinf(canonical(a, Duplicates::sum, NonFinite::keep).values[0]));
}

TEST(FormatErrors, ManyDuplicatesAreSummedInStorageOrder) {
  std::vector<Offset> offsets{0, 5};
  std::vector<Index> columns{2, 0, 2, 2, 0};
  std::vector<double> values{1e16, 1, 1, -1e16, 2};  // (1e16 + 1) - 1e16 = 0
  CsrView<double> a{1, 3, 5, offsets.data(), columns.data(), values.data(), Space::host};
  EXPECT_EQ(canonical(a, Duplicates::sum), (Csr<double>{1, 3, {0, 2}, {0, 2}, {3, 0}}));
}

TEST(FormatErrors, DeviceMemoryCannotBeCheckedOnTheHost) {
  Csr<double> a{1, 1, {0, 1}, {0}, {1}};
  CsrView<double> view = a.view();
  view.space = Space::cuda;
  EXPECT_THROW(validate(view), MatrixError);
  EXPECT_THROW(canonical(view), MatrixError);
}

TEST(FormatConversion, ValuesAreRoundedOnce) {
  for (Named const& m : adversarial()) {
    if (m.name.find("values") != std::string::npos) continue;
    Csr<half> h = converted<half>(m.matrix);
    Csr<bfloat16> b = converted<bfloat16>(m.matrix);
    Csr<float> f = converted<float>(m.matrix);
    EXPECT_EQ(h.columns, m.matrix.columns);
    EXPECT_EQ(f.offsets, m.matrix.offsets);
    for (std::size_t i = 0; i < h.values.size(); ++i) {
      EXPECT_EQ(h.values[i], half(m.matrix.values[i]));
      EXPECT_EQ(b.values[i], bfloat16(m.matrix.values[i]));
      EXPECT_EQ(f.values[i], float(m.matrix.values[i]));
    }
    EXPECT_EQ(converted<double>(m.matrix), m.matrix);
  }
}

TEST(FormatConversion, RefusesWhatIsOutOfRangeByRowAndColumn) {
  Csr<double> a{3, 4, {0, 1, 3, 4}, {0, 1, 3, 2}, {1, 65519, -65520, 2}};
  expect_words(message_of<MatrixError>([&] { converted<half>(a); }),
               {"row 2", "column 4", "-65520", "16-bit"});
  EXPECT_NO_THROW(converted<float>(a));
  a.values[2] = 65504;
  EXPECT_EQ(double(converted<half>(a).values[1]), 65504);  // 65519 rounds down
  a.values[3] = 1e39;
  expect_words(message_of<MatrixError>([&] { converted<float>(a); }),
               {"row 3", "column 3", "e+38", "32-bit"});
  a.values[3] = 1e-30;
  EXPECT_EQ(double(converted<half>(a).values[3]), 0);  // too small is zero, the entry is kept
  a.values[3] = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(std::isinf(double(converted<half>(a).values[3])));  // it was infinite before
  a.values[3] = -3.4e38;  // a float, but more than half a unit beyond the largest bfloat16
  EXPECT_NO_THROW(converted<float>(a));
  expect_words(message_of<MatrixError>([&] { converted<bfloat16>(a); }),
               {"row 3", "column 3", "-3.4e+38", "16-bit"});
  a.values[3] = -3.39e38;
  EXPECT_EQ(double(converted<bfloat16>(a).values[3]), -0x1.fep127);
  EXPECT_EQ(double(converted<bfloat16>(a).values[1]), 65536);
}

template <class P>
class FormatTransfer : public BackendTest<P> {};
using AllOnBoth = on_both<double, float, half, bfloat16>;
TYPED_TEST_SUITE(FormatTransfer, AllOnBoth, Label);

TYPED_TEST(FormatTransfer, ThereAndBackIsTheSame) {
  using T = typename TestFixture::T;
  for (Named const& m : adversarial()) {
    SCOPED_TRACE(m.name);
    Csr<T> a = FormatContract<Stored<T>>::typed(m.matrix);
    CsrStorage<T> there(this->ctx(), a);
    EXPECT_EQ(there.view().space, this->ctx().space());
    EXPECT_EQ(to_host(this->ctx(), there.view()), a);
    CsrStorage<T> moved = std::move(there);
    EXPECT_EQ(to_host(this->ctx(), moved.view()), a);
    CsrStorage<T> borrowed(this->ctx(), moved.view());  // it is in the right space
    EXPECT_EQ(borrowed.view().values, moved.view().values);
    EXPECT_EQ(borrowed.view().columns, moved.view().columns);
  }
}

}  // namespace
}  // namespace tcsolve::test
