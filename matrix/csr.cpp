// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/matrix/csr.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <tcsolve/matrix/same_pattern.hpp>

namespace tcsolve {

namespace {

template <class T>
void check_entry(CsrView<T> const& a, Index i, Offset k, NonFinite nonfinite) {
  if (a.columns[k] < 0 || a.columns[k] >= a.cols)
    throw MatrixError(cat("CSR row ", i + 1, ": column ", Offset{a.columns[k]} + 1,
                          " is outside [1, ", a.cols, "]"));
  if (nonfinite == NonFinite::refuse && !std::isfinite(double(a.values[k])))
    throw MatrixError(cat("CSR row ", i + 1, ", column ", a.columns[k] + 1, ": the value is ",
                          double(a.values[k]), ", not finite"));
}

}  // namespace

template <class T>
void require_offsets(CsrView<T> const& a) {
  if (a.rows < 0 || a.cols < 0 || a.entries < 0)
    throw MatrixError(
        cat("CSR: negative extents: ", a.rows, " x ", a.cols, ", ", a.entries, " entries"));
  if (a.space != Space::host)
    throw MatrixError("CSR: only a matrix in host memory can be checked here");
  if (a.offsets.data == nullptr || (a.entries > 0 && (a.columns == nullptr || a.values == nullptr)))
    throw MatrixError(cat("CSR: ", a.rows, " x ", a.cols, ", ", a.entries,
                          " entries, but null arrays; was it moved from?"));
  if (a.offsets[0] != 0) throw MatrixError(cat("CSR: offsets[0] is ", a.offsets[0], ", not 0"));
  for (Index i = 0; i < a.rows; ++i)
    if (a.offsets[i + 1] < a.offsets[i] || a.offsets[i + 1] > a.entries)
      throw MatrixError(cat("CSR row ", i + 1, ": offsets go from ", a.offsets[i], " to ",
                            a.offsets[i + 1], "; they must ascend to ", a.entries));
  if (a.offsets[a.rows] != a.entries)
    throw MatrixError(
        cat("CSR: the last offset is ", a.offsets[a.rows], ", entries is ", a.entries));
}

template <class T>
void validate(CsrView<T> const& a, NonFinite nonfinite) {
  require_offsets(a);
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
      check_entry(a, i, k, nonfinite);
      if (k == a.offsets[i]) continue;
      if (a.columns[k] == a.columns[k - 1])
        throw MatrixError(cat("CSR row ", i + 1, ": column ", a.columns[k] + 1,
                              " occurs twice; sum duplicates with canonical(a, Duplicates::sum)"));
      if (a.columns[k] < a.columns[k - 1])
        throw MatrixError(cat("CSR row ", i + 1, ": column ", a.columns[k] + 1, " comes after ",
                              a.columns[k - 1] + 1, "; sort rows with canonical(a)"));
    }
}

template <class T>
void require_indices(CsrView<T> const& a) {
  require_offsets(a);
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) check_entry(a, i, k, NonFinite::keep);
}

template <class T>
Csr<T> canonical(CsrView<T> const& a, Duplicates duplicates, NonFinite nonfinite) {
  require_offsets(a);
  Csr<T> out;
  out.rows = a.rows;
  out.cols = a.cols;
  out.offsets.assign(static_cast<std::size_t>(a.rows) + 1, 0);
  out.columns.reserve(a.entries);
  out.values.reserve(a.entries);
  std::vector<Offset> order;
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) check_entry(a, i, k, nonfinite);
    order.resize(a.offsets[i + 1] - a.offsets[i]);
    std::iota(order.begin(), order.end(), a.offsets[i]);
    std::stable_sort(order.begin(), order.end(),
                     [&](Offset p, Offset q) { return a.columns[p] < a.columns[q]; });
    Offset row_start = out.entries();
    for (Offset k : order) {
      if (out.entries() > row_start && out.columns.back() == a.columns[k]) {
        if (duplicates == Duplicates::refuse)
          throw MatrixError(cat("CSR row ", i + 1, ": column ", a.columns[k] + 1,
                                " occurs twice; ask for Duplicates::sum to add such entries"));
        out.values.back() = T(double(out.values.back()) + double(a.values[k]));
        if (nonfinite == NonFinite::refuse && !std::isfinite(double(out.values.back())))
          throw MatrixError(cat("CSR row ", i + 1, ", column ", a.columns[k] + 1,
                                ": the sum of its entries is ", double(out.values.back()),
                                ", not finite"));
      } else {
        out.columns.push_back(a.columns[k]);
        out.values.push_back(a.values[k]);
      }
    }
    out.offsets[i + 1] = out.entries();
  }
  return out;
}

template <class T>
Csr<T> transpose(CsrView<T> const& a) {
  Csr<T> out;
  out.rows = a.cols;
  out.cols = a.rows;
  out.offsets.assign(static_cast<std::size_t>(a.cols) + 1, 0);
  out.columns.resize(a.entries);
  out.values.resize(a.entries);
  for (Offset k = 0; k < a.entries; ++k) ++out.offsets[a.columns[k] + 1];
  std::partial_sum(out.offsets.begin(), out.offsets.end(), out.offsets.begin());
  std::vector<Offset> next(out.offsets.begin(), out.offsets.end() - 1);
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
      Offset at = next[a.columns[k]]++;
      out.columns[at] = i;
      out.values[at] = a.values[k];
    }
  return out;
}

template <class U, class T>
Csr<U> converted(Csr<T> const& a) {
  auto const rows = static_cast<std::size_t>(a.rows);
  if (a.offsets.size() != rows + 1 || a.columns.size() != a.values.size() ||
      a.offsets[rows] != a.entries() || a.values.size() != static_cast<std::size_t>(a.entries()))
    throw ShapeError(cat("converted: ", a.offsets.size(), " offsets, ", a.columns.size(),
                         " columns and ", a.values.size(), " values are no CSR matrix of ", a.rows,
                         " rows"));
  Csr<U> out{a.rows, a.cols, a.offsets, a.columns, {}};
  out.values.reserve(a.values.size());
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
      U v(a.values[k]);
      if (!std::isfinite(double(v)) && std::isfinite(double(a.values[k])))
        throw MatrixError(cat("CSR row ", i + 1, ", column ", a.columns[k] + 1, ": ",
                              double(a.values[k]), " is beyond the range of the ", 8 * sizeof(U),
                              "-bit format; scale the matrix or store it wider"));
      out.values.push_back(v);
    }
  return out;
}

CsrSummary summarize(Csr<double> const& a) {
  CsrSummary s;
  s.rows = a.rows;
  s.cols = a.cols;
  s.entries = a.entries();
  s.min_row = a.rows > 0 ? a.cols : 0;
  s.pattern_symmetric = a.rows == a.cols;
  for (Index i = 0; i < a.rows; ++i) {
    auto columns = a.row_columns(i);
    auto values = a.row_values(i);
    Index length = static_cast<Index>(columns.size());
    s.min_row = std::min(s.min_row, length);
    s.max_row = std::max(s.max_row, length);
    s.empty_rows += length == 0;
    std::size_t bin = 0;  // lengths 0, 1, 2, 3-4, 5-8, ...
    while (length > 0 && (Index{1} << bin) < length) ++bin;
    bin += length > 0;
    if (s.histogram.size() <= bin) s.histogram.resize(bin + 1);
    ++s.histogram[bin];
    double diagonal = 0, others = 0;
    for (std::size_t k = 0; k < columns.size(); ++k) {
      s.max_abs = std::max(s.max_abs, std::abs(values[k]));
      if (columns[k] == i)
        diagonal = values[k];
      else
        others += std::abs(values[k]);
      s.bandwidth = std::max(s.bandwidth, std::abs(columns[k] - i));
    }
    s.norm_inf = std::max(s.norm_inf, others + std::abs(diagonal));
    if (i < a.cols) {
      s.zero_diagonal += diagonal == 0;
      s.negative_diagonal += diagonal < 0;
      s.dominant_rows += std::abs(diagonal) >= others && diagonal != 0;
    }
  }
  if (s.max_abs == 0) return s;
  double squares = 0;
  for (double v : a.values) squares += v / s.max_abs * (v / s.max_abs);
  s.norm_frobenius = s.max_abs * std::sqrt(squares);
  if (a.rows != a.cols) return s;
  Csr<double> t = transpose(a.view());
  s.pattern_symmetric = t.columns == a.columns && t.offsets == a.offsets;
  double difference = 0;  // || A - A^T ||_F^2 by merging the rows of both
  for (Index i = 0; i < a.rows; ++i) {
    auto ca = a.row_columns(i), ct = t.row_columns(i);
    auto va = a.row_values(i), vt = t.row_values(i);
    for (std::size_t p = 0, q = 0; p < ca.size() || q < ct.size();) {
      bool left = q == ct.size() || (p < ca.size() && ca[p] <= ct[q]);
      bool right = p == ca.size() || (q < ct.size() && ct[q] <= ca[p]);
      double d = ((left ? va[p] : 0.0) - (right ? vt[q] : 0.0)) / s.max_abs;
      difference += d * d;
      p += left;
      q += right;
    }
  }
  s.asymmetry = std::sqrt(difference / squares);
  return s;
}

#define TCSOLVE_INSTANTIATE(T)                                            \
  template void validate<T>(CsrView<T> const&, NonFinite);                \
  template void require_offsets<T>(CsrView<T> const&);                    \
  template void require_indices<T>(CsrView<T> const&);                    \
  template Csr<T> canonical<T>(CsrView<T> const&, Duplicates, NonFinite); \
  template Csr<T> transpose<T>(CsrView<T> const&);
TCSOLVE_INSTANTIATE(double)
TCSOLVE_INSTANTIATE(float)
TCSOLVE_INSTANTIATE(half)
TCSOLVE_INSTANTIATE(bfloat16)
#undef TCSOLVE_INSTANTIATE
template Csr<double> converted<double, double>(Csr<double> const&);
template Csr<float> converted<float, double>(Csr<double> const&);
template Csr<half> converted<half, double>(Csr<double> const&);
template Csr<bfloat16> converted<bfloat16, double>(Csr<double> const&);

}  // namespace tcsolve
