// SPDX-License-Identifier: Apache-2.0
/// Values in a narrower type: on every backend the bits, exponents and words of a plain walk over
/// the entries.
#include <tcsolve/matrix/scaled.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "tests/support/backend.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

constexpr int farthest = 1000;
template <class S>
constexpr int top = std::is_same_v<S, half> ? 14 : 100;
template <class S>
constexpr int smallest_normal = std::is_same_v<S, half> ? -14 : -126;

template <class F>
void for_entries(Csr<double> const& a, F const& f) {
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      if (a.values[k] != 0 && std::isfinite(a.values[k])) f(i, a.columns[k], a.values[k]);
}

struct Exponents {
  int low = std::numeric_limits<int>::max(), high = std::numeric_limits<int>::min();
  void add(int e) { low = std::min(low, e), high = std::max(high, e); }
};
struct Scales {
  std::vector<int> rows, cols;
};

void balance(Csr<double> const& a, Scales& s) {
  auto const center = [](std::vector<Exponents> const& range, std::vector<int>& shift) {
    for (std::size_t i = 0; i < shift.size(); ++i)
      if (range[i].low <= range[i].high)
        shift[i] = std::clamp(-(range[i].low + range[i].high) / 2, -farthest, farthest);
  };
  for (int turn = 0; turn < 3; ++turn) {
    std::vector<Exponents> range(a.rows);
    for_entries(a, [&](Index i, Index j, double v) { range[i].add(std::ilogb(v) + s.cols[j]); });
    center(range, s.rows);
    range.assign(a.cols, {});
    for_entries(a, [&](Index i, Index j, double v) { range[j].add(std::ilogb(v) + s.rows[i]); });
    center(range, s.cols);
  }
}
void raise(Csr<double> const& a, int to, Scales& s) {
  std::vector<Exponents> range(a.rows);
  for_entries(a, [&](Index i, Index j, double v) { range[i].add(std::ilogb(v) + s.cols[j]); });
  for (Index i = 0; i < a.rows; ++i)
    if (range[i].low <= range[i].high)
      s.rows[i] = std::clamp(to - range[i].high, -farthest, farthest);
}

/// Where the first value is that would be lost; empty: nowhere.
template <class S>
std::string lost(Csr<double> const& a, Scales const& s, bool zero_too = true) {
  std::string first;
  for_entries(a, [&](Index i, Index j, double v) {
    auto const now = double(S(std::ldexp(v, s.rows[i] + s.cols[j])));
    bool const gone = !std::isfinite(now) || (zero_too && now == 0);
    if (gone && first.empty()) first = cat("row ", i + 1, ", column ", j + 1, ": ", v, " is ");
  });
  return first;
}

template <class S>
struct Wanted {
  Scales scales;
  std::vector<S> values;
  std::string refused;  ///< the beginning of what is thrown
};
template <class S>
Wanted<S> walked(Csr<double> const& a, Beyond beyond) {
  Wanted<S> w{{std::vector<int>(a.rows), std::vector<int>(a.cols)}, {}, ""};
  w.refused = lost<S>(a, w.scales, beyond != Beyond::refuse_infinite);
  bool subnormal = false;
  for_entries(a, [&](Index, Index, double v) {
    subnormal = subnormal || std::ilogb(v) < smallest_normal<S>;
  });
  if (beyond == Beyond::scale && (!w.refused.empty() || subnormal)) {
    raise(a, top<S>, w.scales);
    if (!lost<S>(a, w.scales).empty()) balance(a, w.scales), raise(a, top<S>, w.scales);
    w.refused = lost<S>(a, w.scales);
  }
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      w.values.push_back(
          S(std::ldexp(a.values[k], w.scales.rows[i] + w.scales.cols[a.columns[k]])));
  return w;
}

template <class S>
std::uint32_t bits(S v) {
  if constexpr (sizeof(S) == 2)
    return v.bits;
  else
    return std::bit_cast<std::uint32_t>(v);
}

/// Values times 2^exponent(i, j).
template <class F>
Csr<double> times(Csr<double> a, F const& exponent) {
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      a.values[k] = std::ldexp(a.values[k], exponent(i, a.columns[k]));
  return a;
}

std::vector<Named> matrices() {
  std::vector<Named> all = adversarial();
  Csr<double> const plain = dominant(90, 12, 8);
  auto const add = [&](std::string name, Csr<double> a) { all.push_back({name, std::move(a)}); };
  add("plain", plain);
  for (int const far : {1, 5, 20}) {
    add(cat("rows ", far), times(plain, [&](Index i, Index) { return far * (i - 40); }));
    add(cat("columns ", far), times(plain, [&](Index, Index j) { return far * (45 - j); }));
    add(cat("both ", far), times(plain, [&](Index i, Index j) { return far * (i / 2 - j); }));
  }
  add("tiny", times(plain, [](Index, Index) { return -1070; }));  // subnormal in FP64
  add("huge", times(plain, [](Index, Index) { return 1000; }));
  add("subnormal", times(plain, [](Index i, Index) { return i % 2 == 0 ? -20 : 0; }));
  add("no scaling", {2, 2, {0, 2, 4}, {0, 1, 0, 1}, {0x1p500, 1, 1, 0x1p500}});
  Csr<double> odd = plain;
  odd.values[3] = std::numeric_limits<double>::infinity();
  odd.values[7] = -0.0, odd.values[8] = 0.0;
  add("infinite", odd);
  add("long rows", random_matrix(7, 9000, 4000, 3));
  return all;
}

template <class P>
class FormatsNarrow : public BackendTest<P> {};
using Narrower = on_both<float, half, bfloat16>;
TYPED_TEST_SUITE(FormatsNarrow, Narrower, Label);

TYPED_TEST(FormatsNarrow, IsWhatAWalkOverTheEntriesGives) {
  using S = typename TypeParam::Value;
  int refusals = 0, scalings = 0;
  for (auto const& [name, a] : matrices())
    for (Beyond const beyond : {Beyond::refuse_infinite, Beyond::refuse, Beyond::scale})
      for (bool const there : {false, true}) {
        SCOPED_TRACE(cat(name, ", ", int(beyond), there ? ", in its space" : ""));
        CsrStorage<double> const stored(this->ctx(), a.view());
        CsrView<double> const view = there ? stored.view() : a.view();
        Wanted<S> const wanted = walked<S>(a, beyond);
        if (!wanted.refused.empty()) {
          std::string const says =
              message_of<MatrixError>([&] { NarrowCsr<S>(this->ctx(), view, beyond); });
          EXPECT_NE(says.find(wanted.refused), std::string::npos) << says << "\n" << wanted.refused;
          ++refusals;
          continue;
        }
        NarrowCsr<S> made(this->ctx(), view, beyond);
        Csr<S> const got = to_host(this->ctx(), made.view());
        EXPECT_EQ(got.columns, a.columns);
        EXPECT_EQ(got.offsets, a.offsets);
        ASSERT_EQ(got.values.size(), wanted.values.size());
        for (std::size_t k = 0; k < got.values.size(); ++k)
          ASSERT_EQ(bits(got.values[k]), bits(wanted.values[k])) << k;
        auto const factors = [&](std::vector<int> const& exponents, std::vector<double> const& f) {
          bool const none = std::ranges::all_of(exponents, [](int e) { return e == 0; });
          ASSERT_EQ(f.empty(), none);
          for (std::size_t i = 0; i < f.size(); ++i)
            ASSERT_EQ(f[i], std::ldexp(1.0, -exponents[i])) << i;
        };
        factors(wanted.scales.rows,
                to_host(this->ctx(), made.template undone_rows<double>(this->ctx())));
        factors(wanted.scales.cols,
                to_host(this->ctx(), made.template undone_columns<double>(this->ctx())));
        scalings += made.scaled();
        double norm = 0;
        for (Index i = 0; i < a.rows; ++i) {
          double sum = 0;
          for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
            sum += std::ldexp(std::abs(double(wanted.values[k])),
                              -(wanted.scales.rows[i] + wanted.scales.cols[a.columns[k]]));
          norm = std::max(norm, sum);
        }
        if (name != "infinite") EXPECT_EQ(made.unscaled_norm(this->ctx()), norm);
        CsrStorage<S> const owned = std::move(made).owned(this->ctx());
        EXPECT_EQ(to_host(this->ctx(), owned.view()), got);
      }
  EXPECT_GT(refusals, 10);
  EXPECT_GT(scalings, 4);
}

TYPED_TEST(FormatsNarrow, EveryNotANumberIsTheSame) {
  using S = typename TypeParam::Value;
  Csr<double> a{1, 3, {0, 3}, {0, 1, 2}, {}};
  for (std::uint64_t const payload :
       {0x7ff8000000000000u, 0xfff8000000000001u, 0x7ff0000000000001u})
    a.values.push_back(std::bit_cast<double>(payload));
  NarrowCsr<S> const made(this->ctx(), a.view(), Beyond::scale);
  Csr<S> const got = to_host(this->ctx(), made.view());
  S const wanted(std::numeric_limits<float>::quiet_NaN());
  EXPECT_TRUE(std::isnan(double(got.values[0])));
  for (S const v : got.values)
    if constexpr (std::is_same_v<S, half>)  // the device has a NaN of its own: none beside it
      EXPECT_EQ(bits(v), bits(got.values[0]));
    else
      EXPECT_EQ(bits(v), bits(wanted));
}

/// A scale that FP32 vectors cannot undo.
TYPED_TEST(FormatsNarrow, RefusesScalesBeyondTheVectors) {
  using S = typename TypeParam::Value;
  Csr<double> const a{2, 2, {0, 1, 2}, {0, 1}, {1, 0x1p-400}};
  NarrowCsr<S> const made(this->ctx(), a.view(), Beyond::scale);
  EXPECT_NO_THROW(made.template undone_rows<double>(this->ctx()));
  std::string const says =
      message_of<MatrixError>([&] { made.template undone_rows<float>(this->ctx()); });
  EXPECT_NE(says.find("row 2: its scale 2^-"), std::string::npos) << says;
  EXPECT_NE(says.find("use wider vectors"), std::string::npos) << says;
}

}  // namespace
}  // namespace tcsolve::test
