// SPDX-License-Identifier: Apache-2.0
/// Values in a narrower type: on every backend the bits, exponents and words of a plain walk over
/// the entries.
#include <tcsolve/core/precision.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/matrix/scaled.hpp>
#include <tcsolve/matrix/symmetry.hpp>

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
/// An entry this many powers of two below those of its rows does not matter: u / 8.
template <class S>
constexpr int beneath = std::is_same_v<S, half>       ? 14
                        : std::is_same_v<S, bfloat16> ? 11
                                                      : 27;

template <class F>
void for_entries(Csr<double> const& a, F const& f) {
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      if (a.values[k] != 0 && std::isfinite(a.values[k])) f(i, a.columns[k], a.values[k]);
}

struct Range {
  int low = std::numeric_limits<int>::max(), high = std::numeric_limits<int>::min();
  void add(int e) { low = std::min(low, e), high = std::max(high, e); }
};
struct Scales {
  std::vector<int> rows, cols;
  int shift = 0;
};

void balance(Csr<double> const& a, Scales& s) {
  auto const center = [](std::vector<Range> const& range, std::vector<int>& shift) {
    for (std::size_t i = 0; i < shift.size(); ++i)
      if (range[i].low <= range[i].high)
        shift[i] = std::clamp(-((range[i].low + range[i].high) >> 1), -farthest, farthest);
  };
  for (int turn = 0; turn < 3; ++turn) {
    std::vector<Range> range(a.rows);
    for_entries(a, [&](Index i, Index j, double v) { range[i].add(std::ilogb(v) + s.cols[j]); });
    center(range, s.rows);
    range.assign(a.cols, {});
    for_entries(a, [&](Index i, Index j, double v) { range[j].add(std::ilogb(v) + s.rows[i]); });
    center(range, s.cols);
  }
}
void raise(Csr<double> const& a, int to, Scales& s) {
  std::vector<Range> range(a.rows);
  for_entries(a, [&](Index i, Index j, double v) { range[i].add(std::ilogb(v) + s.cols[j]); });
  for (Index i = 0; i < a.rows; ++i)
    if (range[i].low <= range[i].high)
      s.rows[i] = std::clamp(to - range[i].high, -farthest, farthest);
}

/// Where the first value is that would be lost; empty: nowhere. may(i, j, e): one of the scaled
/// exponent e may become zero.
template <class S, class May>
std::string lost(Csr<double> const& a, Scales const& s, May const& may) {
  std::string first;
  for_entries(a, [&](Index i, Index j, double v) {
    int const e = s.shift + s.rows[i] + s.cols[j];
    auto const now = double(S(std::ldexp(v, e)));
    bool const gone = !std::isfinite(now) || (now == 0 && !may(i, j, std::ilogb(v) + e));
    if (gone && first.empty()) first = cat("row ", i + 1, ", column ", j + 1, ": ", v, " is ");
  });
  return first;
}

/// Exponent of a_ii, or of the largest entry of a row without one.
std::vector<int> sizes(Csr<double> const& a) {
  std::vector<int> e(a.rows, std::numeric_limits<int>::min());
  for_entries(a, [&](Index i, Index, double v) { e[i] = std::max(e[i], std::ilogb(v)); });
  for_entries(a, [&](Index i, Index j, double v) {
    if (i == j) e[i] = std::ilogb(v);
  });
  return e;
}

/// A symmetric scaling where rows differ by more than the significand has bits, else nothing or a
/// shift; false where none of them holds the matrix.
template <class S>
bool equilibrate(Csr<double> const& a, bool in_range, Scales& s) {
  bool const symmetric = is_symmetric(a.view());
  std::vector<int> const e = symmetric ? sizes(a) : std::vector<int>(a.rows);
  auto const fits = [&](std::vector<int> const& d) {
    Range all;
    for_entries(a, [&](Index i, Index j, double v) {
      bool const matters = !symmetric || 2 * (std::ilogb(v) + 1) > e[i] + e[j] - 2 * beneath<S>;
      if (matters) all.add(std::ilogb(v) + (symmetric ? d[i] + d[j] : 0));
    });
    if (all.low > all.high || all.high - all.low > top<S> - smallest_normal<S>) return false;
    s.shift = top<S> - all.high;
    if (symmetric) s.rows = s.cols = d;
    return true;
  };
  Range rows;
  for (int const of : e)
    if (of > std::numeric_limits<int>::min()) rows.add(of);
  if (symmetric && rows.low <= rows.high && rows.high - rows.low > beneath<S> - 3) {
    std::vector<int> d(a.rows);
    for (Index i = 0; i < a.rows; ++i)
      if (e[i] > std::numeric_limits<int>::min()) d[i] = std::min((rows.high - e[i]) / 2, farthest);
    if (fits(d)) return true;
  }
  return in_range || fits(std::vector<int>(a.rows));
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
  auto const never = [](Index, Index, int) { return false; };
  auto const always = [](Index, Index, int) { return true; };
  Range all;
  for_entries(a, [&](Index, Index, double v) { all.add(std::ilogb(v)); });
  bool const outside = all.low < smallest_normal<S> || (all.low <= all.high && all.high > top<S>);
  if (beyond == Beyond::refuse_infinite) w.refused = lost<S>(a, w.scales, always);
  if (beyond == Beyond::refuse) w.refused = lost<S>(a, w.scales, never);
  if (beyond == Beyond::scale && !equilibrate<S>(a, !outside, w.scales)) {
    raise(a, top<S>, w.scales);
    if (!lost<S>(a, w.scales, never).empty()) {
      balance(a, w.scales), raise(a, top<S>, w.scales);
      std::vector<Range> columns(a.cols);
      for_entries(a, [&](Index i, Index j, double v) {
        columns[j].add(std::ilogb(v) + w.scales.rows[i] + w.scales.cols[j]);
      });
      w.refused = lost<S>(a, w.scales, [&](Index, Index j, int e) {
        return e + beneath<S> <= std::min(columns[j].high, top<S>);
      });
    }
  }
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      w.values.push_back(S(std::ldexp(
          a.values[k], w.scales.shift + w.scales.rows[i] + w.scales.cols[a.columns[k]])));
  return w;
}

/// What Figures counts, in long double.
template <class S>
NarrowFigures counted(Csr<double> const& a, Wanted<S> const& w) {
  NarrowFigures f;
  for (Index i = 0; i < a.rows; ++i) {
    long double size = 0, change = 0;
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
      double const v = a.values[k];
      if (v == 0 || !std::isfinite(v)) continue;
      f.overflow += !std::isfinite(double(S(v)));
      f.underflow += std::ilogb(v) < smallest_normal<S>;
      f.zeros += double(w.values[k]) == 0;
      size += std::abs(v);
      change += std::ldexp(double(w.values[k]),
                           -(w.scales.shift + w.scales.rows[i] + w.scales.cols[a.columns[k]])) -
                static_cast<long double>(v);
    }
    if (size > 0) f.row_sum_change = std::max(f.row_sum_change, double(std::abs(change) / size));
  }
  return f;
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

Csr<double> symmetric(Index n) {
  return generate(Poisson27Params{.n = n, .coefficient = Coefficient::random});
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
  add("no diagonal matters", {2, 2, {0, 2, 4}, {0, 1, 0, 1}, {0x1p500, 1, 1, 0x1p500}});
  Csr<double> const spd = symmetric(4);
  add("symmetric", spd);
  for (int const far : {1, 3, 9}) {
    auto const of = [far](Index i) { return far * ((7 * i) % 31 - 15); };
    add(cat("symmetric, diagonal ", far),
        times(spd, [&](Index i, Index j) { return of(i) + of(j); }));
    add(cat("symmetric, tiny ", far),
        times(spd, [&](Index i, Index j) { return i == j ? 0 : -20 * far; }));
  }
  add("saddle point",
      {3, 3, {0, 2, 4, 6}, {0, 2, 1, 2, 0, 1}, {0x1p40, 0x1p30, 0x1p-30, 1, 0x1p30, 1}});
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
        Narrowed const& powers = made.powers();
        auto const exponents = [&](std::vector<int> const& wanted, Array<std::int32_t> const& e) {
          bool const none = std::ranges::all_of(wanted, [](int of) { return of == 0; });
          std::vector<std::int32_t> const got = to_host(this->ctx(), e);
          ASSERT_EQ(got.empty(), none);
          if (!none) EXPECT_EQ(got, wanted);
        };
        EXPECT_EQ(powers.shift, wanted.scales.shift);
        exponents(wanted.scales.rows, powers.row_exponents);
        exponents(wanted.scales.cols, powers.column_exponents);
        EXPECT_EQ(powers.symmetric, is_symmetric(a.view()) && powers.row_exponents.size() > 0);
        if (beyond != Beyond::refuse_infinite) {
          NarrowFigures const figures = counted(a, wanted), &all = powers.figures;
          EXPECT_EQ(all.overflow, figures.overflow);
          EXPECT_EQ(all.underflow, figures.underflow);
          EXPECT_EQ(all.zeros, figures.zeros);
          EXPECT_NEAR(all.row_sum_change, figures.row_sum_change, 1e-3 * figures.row_sum_change);
        }
        scalings += made.scaled();
        double norm = 0;
        for (Index i = 0; i < a.rows; ++i) {
          double sum = 0;
          for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
            sum += std::ldexp(
                std::abs(double(wanted.values[k])),
                -(wanted.scales.shift + wanted.scales.rows[i] + wanted.scales.cols[a.columns[k]]));
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

/// 2^s A is stored with the bits of A, whatever it takes to hold A.
TYPED_TEST(FormatsNarrow, APowerOfTwoChangesNoBit) {
  using S = typename TypeParam::Value;
  for (Named const& m : matrices()) {
    Csr<double> const& a = m.matrix;
    SCOPED_TRACE(m.name);
    Range all;
    for (double v : a.values)
      if (v != 0) all.add(std::isfinite(v) ? std::ilogb(v) : 2000);
    if (all.low < -800 || all.high > 800) continue;  // 2^s A would be another matrix
    auto const stored = [&](int s) {
      Csr<double> const b = times(a, [&](Index, Index) { return s; });
      std::vector<std::uint32_t> all;
      try {
        Csr<S> const got =
            to_host(this->ctx(), NarrowCsr<S>(this->ctx(), b.view(), Beyond::scale).view());
        // Significands: the powers of two may differ.
        for (S v : got.values) {
          int e = 0;
          all.push_back(std::bit_cast<std::uint32_t>(float(std::frexp(double(v), &e))));
        }
      } catch (MatrixError const&) {}
      return all;
    };
    auto const first = stored(0);
    for (int const s : {-150, -7, 1, 2, 33, 150}) EXPECT_EQ(stored(s), first) << s;
  }
}

/// A symmetric matrix stays symmetric, and what matters of it keeps its digits.
TYPED_TEST(FormatsNarrow, ASymmetricMatrixIsScaledSymmetrically) {
  using S = typename TypeParam::Value;
  constexpr int far = 17;
  auto const of = [](Index i) { return far * ((7 * i) % 11 - 5) / 5; };
  Csr<double> const a = times(symmetric(6), [&](Index i, Index j) { return of(i) + of(j); });
  NarrowCsr<S> const made(this->ctx(), a.view(), Beyond::scale);
  ASSERT_TRUE(made.powers().symmetric);
  EXPECT_EQ(made.powers().figures.zeros, 0);
  Csr<S> const got = to_host(this->ctx(), made.view());
  std::vector<std::int32_t> const d = to_host(this->ctx(), made.powers().row_exponents);
  EXPECT_EQ(to_host(this->ctx(), made.powers().column_exponents), d);
  Csr<double> wide{got.rows, got.cols, got.offsets, got.columns, {}};
  for (S v : got.values) wide.values.push_back(double(v));
  EXPECT_TRUE(is_symmetric(wide.view()));
  Range diagonal;
  for_entries(wide, [&](Index i, Index j, double v) {
    if (i == j) diagonal.add(std::ilogb(v));
  });
  EXPECT_LE(diagonal.high - diagonal.low, 2);
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
      double const back =
          std::ldexp(wide.values[k], -(made.powers().shift + d[i] + d[a.columns[k]]));
      EXPECT_LE(std::abs(back - a.values[k]), roundoff(real_of<S>) * std::abs(a.values[k]));
    }
}

}  // namespace
}  // namespace tcsolve::test
