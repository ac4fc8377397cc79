// SPDX-License-Identifier: Apache-2.0
#include "tests/support/formats.hpp"

#include <tcsolve/formats/bsell/operator.hpp>
#include <tcsolve/formats/csell/operator.hpp>
#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/formats/dasp/operator.hpp>
#include <tcsolve/formats/dia/operator.hpp>
#include <tcsolve/formats/sell/operator.hpp>
#include <tcsolve/formats/spaden/operator.hpp>
#include <tcsolve/matrix/transfer.hpp>

#include <algorithm>

#include "tests/support/tensor_formats.hpp"

namespace tcsolve::test {
namespace {

/// CSR with values of S and vectors of T.
template <class T, class S = T>
struct CsrFormat {
  using Value = T;
  using Stored = S;  ///< the type that values are rounded to when the operator is built
  static std::string label() { return std::string("csr_") + type_name<T> + "_" + type_name<S>; }
  using Operator = CsrOperator<T, S>;
  static std::shared_ptr<Operator> of(Context& ctx, Csr<S> const& a) {
    return std::make_shared<Operator>(ctx, Csr<S>(a));
  }
  /// Bytes of the stored matrix: a host copy keeps 64-bit offsets, a device copy has 32-bit ones.
  static double bytes(Context& ctx, Csr<double> const& a) {
    double offset = ctx.space() == Space::host ? 8 : 4;
    return double(a.entries()) * (sizeof(S) + 4) + offset * (a.rows + 1.0);
  }
};

/// A format that an operator makes from a view of CSR, values of S and vectors of T.
template <class T, class S, class Made, auto... options>
struct ConvertedFormat {
  using Value = T;
  using Stored = S;
  using Operator = Made;
  static std::string types() { return cat("_", type_name<T>, "_", type_name<S>); }
  static std::shared_ptr<Made> of(Context& ctx, Csr<S> const& a) {
    return std::make_shared<Made>(ctx, a.view(), options...);
  }
  /// What the conversion made of it: the format's own contract looks inside.
  static double bytes(Context& ctx, Csr<double> const& a) {
    return double(of(ctx, converted<S>(a))->matrix().bytes());
  }
};

template <class T, class S = T>
struct SellFormat : ConvertedFormat<T, S, SellOperator<T, S>> {
  static std::string label() { return "sell" + SellFormat::types(); }
  /// Slices padded to their longest row; 32-bit columns where 16-bit distances do not reach.
  static double bytes(Context&, Csr<double> const& a) {
    double sum = 4.0 * a.rows;
    for (Index begin = 0; begin < a.rows; begin += 32) {
      Index end = std::min(begin + 32, a.rows);
      std::size_t width = 0;
      for (Index i = begin; i < end; ++i) width = std::max(width, a.row_columns(i).size());
      auto first = a.columns.begin() + a.offsets[begin], last = a.columns.begin() + a.offsets[end];
      bool wide =
          first != last && *std::max_element(first, last) - *std::min_element(first, last) > 65535;
      sum += 32.0 * double(width) * (sizeof(S) + (wide ? 4 : 2)) + 32;
    }
    return sum;
  }
};

template <class T, class S = T>
struct DiaFormat : ConvertedFormat<T, S, DiaOperator<T, S>> {
  static std::string label() { return "dia" + DiaFormat::types(); }
};

template <class T, class S = T>
struct BsellFormat : ConvertedFormat<T, S, BsellOperator<T, S>> {
  static std::string label() { return "bsell" + BsellFormat::types(); }
};

/// Short pieces, windows and strips, so that small matrices have many.
constexpr CsellTuning short_pieces{.max_length = 24, .window = 96, .strip = 2};
template <class T, class S = T>
struct CsellFormat : ConvertedFormat<T, S, CsellOperator<T, S>, short_pieces> {
  static std::string label() { return "csell" + CsellFormat::types(); }
};

template <class T, class S = T>
struct DaspFormat : ConvertedFormat<T, S, DaspOperator<T, S>> {
  static std::string label() { return "dasp" + DaspFormat::types(); }
};

template <class T, class S = T>
struct SpadenFormat : ConvertedFormat<T, S, SpadenOperator<T, S>> {
  static std::string label() { return "spaden" + SpadenFormat::types(); }
};

/// The values of a as S, to which they are rounded where they are not of it.
template <class S>
Csr<S> as_stored(Csr<double> const& a) {
  Csr<S> out{a.rows, a.cols, a.offsets, a.columns, {}};
  for (double v : a.values) out.values.push_back(S(v));
  return out;
}

/// The row of the struct F in the table.
template <class F>
FormatUnderTest<typename F::Value> row() {
  using T = typename F::Value;
  using S = typename F::Stored;
  FormatUnderTest<T> format{.name = F::label(), .stored = real_of<S>};
  format.make = [](Context& ctx, Csr<double> const& a) -> OperatorPtr<T> {
    return F::of(ctx, converted<S>(a));
  };
  format.of = [](Context& ctx, Csr<double> const& a) -> std::shared_ptr<LinearOperator<T>> {
    return F::of(ctx, as_stored<S>(a));
  };
  format.update_values = [](Context& ctx, LinearOperator<T>& A, StoredCsr const& a) {
    dynamic_cast<typename F::Operator&>(A).update_values(ctx, std::get<CsrView<S>>(a.view));
  };
  format.bytes = F::bytes;
  return format;
}

}  // namespace

StoredCsr stored_in_space(Context& ctx, Real stored, Csr<double> const& a) {
  return with_stored_type(stored, [&]<class S>() -> StoredCsr {
    auto there = std::make_shared<CsrStorage<S>>(ctx, as_stored<S>(a));
    return {there, there->view()};
  });
}
StoredCsr stored_on_host(Real stored, Csr<double> const& a) {
  return with_stored_type(stored, [&]<class S>() -> StoredCsr {
    auto here = std::make_shared<Csr<S>>(as_stored<S>(a));
    return {here, here->view()};
  });
}

Csr<double> rounded(Real stored, Csr<double> a) {
  return with_stored_type(stored, [&]<class S>() { return widened(as_stored<S>(a)); });
}
Csr<double> representable(Real stored, Csr<double> const& a) {
  return with_stored_type(stored, [&]<class S>() { return widened(representable<S>(a)); });
}

// FP32 vectors with bf16 values of bsell, dasp and spaden: in the contract of each.
template <>
std::vector<FormatUnderTest<double>> const& formats() {
  static std::vector<FormatUnderTest<double>> const table{
      row<CsrFormat<double>>(),          row<CsrFormat<double, float>>(),
      row<CsrFormat<double, half>>(),    row<CsrFormat<double, bfloat16>>(),
      row<SellFormat<double>>(),         row<SellFormat<double, float>>(),
      row<SellFormat<double, half>>(),   row<SellFormat<double, bfloat16>>(),
      row<DiaFormat<double>>(),          row<DiaFormat<double, float>>(),
      row<DiaFormat<double, half>>(),    row<DiaFormat<double, bfloat16>>(),
      row<BsellFormat<double>>(),        row<BsellFormat<double, float>>(),
      row<BsellFormat<double, half>>(),  row<BsellFormat<double, bfloat16>>(),
      row<CsellFormat<double>>(),        row<CsellFormat<double, float>>(),
      row<CsellFormat<double, half>>(),  row<CsellFormat<double, bfloat16>>(),
      row<DaspFormat<double>>(),         row<DaspFormat<double, float>>(),
      row<DaspFormat<double, half>>(),   row<DaspFormat<double, bfloat16>>(),
      row<SpadenFormat<double>>(),       row<SpadenFormat<double, float>>(),
      row<SpadenFormat<double, half>>(), row<SpadenFormat<double, bfloat16>>()};
  return table;
}
template <>
std::vector<FormatUnderTest<float>> const& formats() {
  static std::vector<FormatUnderTest<float>> const table{
      row<CsrFormat<float>>(),           row<CsrFormat<float, half>>(),
      row<CsrFormat<float, bfloat16>>(), row<SellFormat<float>>(),
      row<SellFormat<float, half>>(),    row<SellFormat<float, bfloat16>>(),
      row<DiaFormat<float>>(),           row<DiaFormat<float, half>>(),
      row<DiaFormat<float, bfloat16>>(), row<BsellFormat<float>>(),
      row<BsellFormat<float, half>>(),   row<CsellFormat<float>>(),
      row<CsellFormat<float, half>>(),   row<CsellFormat<float, bfloat16>>(),
      row<DaspFormat<float>>(),          row<DaspFormat<float, half>>(),
      row<SpadenFormat<float>>(),        row<SpadenFormat<float, half>>()};
  return table;
}

std::string FormatCase::label() const {
  std::string const name = std::visit([](auto const* f) { return f->name; }, format);
  return cat(test::label(backend), "_", name);
}

std::vector<FormatCase> format_cases() {
  std::vector<FormatCase> cases;
  for (Backend backend : backends()) {
    for (auto const& format : formats<double>()) cases.push_back({backend, &format});
    for (auto const& format : formats<float>()) cases.push_back({backend, &format});
  }
  return cases;
}
std::vector<FormatCase> fp64_format_cases() {
  std::vector<FormatCase> cases;
  for (Backend backend : backends())
    for (auto const& format : formats<double>())
      if (format.stored == Real::f64) cases.push_back({backend, &format});
  return cases;
}

}  // namespace tcsolve::test
