// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/formats/scaled.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace tcsolve {

namespace {

template <class S>
struct Limits;
template <>
struct Limits<half> {
  static constexpr int top = 14, smallest_normal = -14;  // largest values get exponent `top`
};
template <>
struct Limits<float> {
  static constexpr int top = 100, smallest_normal = -126;
};
template <>
struct Limits<bfloat16> : Limits<float> {};

constexpr int farthest = 1000;  ///< 2^-farthest and 2^farthest are normal in FP64

struct Exponents {
  int low = std::numeric_limits<int>::max(), high = std::numeric_limits<int>::min();
  bool empty() const { return low > high; }
  void add(int e) { low = std::min(low, e), high = std::max(high, e); }
};

template <class F>
void for_entries(Csr<double> const& a, F const& f) {
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      if (a.values[k] != 0 && std::isfinite(a.values[k])) f(i, a.columns[k], a.values[k]);
}

/// Moves the middle of the exponents of each row, then of each column, to 0; thrice.
void balance(Csr<double> const& a, std::vector<int>& rows, std::vector<int>& cols) {
  auto center = [](std::vector<Exponents> const& range, std::vector<int>& shift) {
    for (std::size_t i = 0; i < shift.size(); ++i)
      if (!range[i].empty())
        shift[i] = std::clamp(-(range[i].low + range[i].high) / 2, -farthest, farthest);
  };
  for (int round = 0; round < 3; ++round) {
    std::vector<Exponents> range(a.rows);
    for_entries(a, [&](Index i, Index j, double v) { range[i].add(std::ilogb(v) + cols[j]); });
    center(range, rows);
    range.assign(a.cols, {});
    for_entries(a, [&](Index i, Index j, double v) { range[j].add(std::ilogb(v) + rows[i]); });
    center(range, cols);
  }
}

/// Rows get their largest exponent at `top`.
void raise(Csr<double> const& a, int top, std::vector<int>& rows, std::vector<int> const& cols) {
  std::vector<Exponents> range(a.rows);
  for_entries(a, [&](Index i, Index j, double v) { range[i].add(std::ilogb(v) + cols[j]); });
  for (Index i = 0; i < a.rows; ++i)
    if (!range[i].empty()) rows[i] = std::clamp(top - range[i].high, -farthest, farthest);
}

struct Misfit {
  Index row = -1, column = -1;
  double value = 0;
};

/// The first value that would become infinite or zero.
template <class S>
Misfit misfit(Csr<double> const& a, std::vector<int> const& rows, std::vector<int> const& cols) {
  Misfit first;
  for_entries(a, [&](Index i, Index j, double v) {
    if (first.row >= 0) return;
    double s = double(S(std::ldexp(v, rows[i] + cols[j])));
    if (s == 0 || !std::isfinite(s)) first = {i, j, v};
  });
  return first;
}

template <class S>
[[noreturn]] void refuse(Misfit const& m, char const* remedy) {
  throw MatrixError(cat("row ", m.row + 1, ", column ", m.column + 1, ": ", m.value,
                        " is outside the range of the ", 8 * sizeof(S), "-bit format", remedy));
}

}  // namespace

template <class S>
ScaledCsr<S> scaled(Csr<double> const& a, Scaling scaling) {
  std::vector<int> rows(a.rows), cols(a.cols);
  Misfit bad = misfit<S>(a, rows, cols);
  if (bad.row >= 0 && scaling == Scaling::refuse)
    refuse<S>(bad, "; use `scale: powers_of_two` or wider values");
  bool subnormal = false;
  for_entries(a, [&](Index, Index, double v) {
    subnormal = subnormal || std::ilogb(v) < Limits<S>::smallest_normal;
  });
  if (scaling == Scaling::powers_of_two && (bad.row >= 0 || subnormal)) {
    raise(a, Limits<S>::top, rows, cols);
    if (misfit<S>(a, rows, cols).row >= 0) {
      balance(a, rows, cols);
      raise(a, Limits<S>::top, rows, cols);
    }
    bad = misfit<S>(a, rows, cols);
    if (bad.row >= 0)
      refuse<S>(bad, ", and no scaling of rows and columns holds it; use wider values");
  }
  auto zeros = [](std::vector<int> const& v) {
    return std::all_of(v.begin(), v.end(), [](int e) { return e == 0; });
  };
  ScaledCsr<S> out{{a.rows, a.cols, a.offsets, a.columns, {}}, {}, {}};
  out.matrix.values.reserve(a.values.size());
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      out.matrix.values.push_back(S(std::ldexp(a.values[k], rows[i] + cols[a.columns[k]])));
  if (!zeros(rows)) out.rows = std::move(rows);
  if (!zeros(cols)) out.cols = std::move(cols);
  return out;
}

template ScaledCsr<half> scaled<half>(Csr<double> const&, Scaling);
template ScaledCsr<bfloat16> scaled<bfloat16>(Csr<double> const&, Scaling);
template ScaledCsr<float> scaled<float>(Csr<double> const&, Scaling);

}  // namespace tcsolve
