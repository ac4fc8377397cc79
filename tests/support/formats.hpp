// SPDX-License-Identifier: Apache-2.0
/// The operators under contract test. A new format is one struct here and one line in `Formats`.
#pragma once

#include <tcsolve/formats/transfer.hpp>
#include <tcsolve/operators/bsell_operator.hpp>
#include <tcsolve/operators/csell_operator.hpp>
#include <tcsolve/operators/csr_operator.hpp>
#include <tcsolve/operators/dasp_operator.hpp>
#include <tcsolve/operators/dia_operator.hpp>
#include <tcsolve/operators/sell_operator.hpp>
#include <tcsolve/operators/spaden_operator.hpp>

#include <algorithm>
#include <memory>
#include <string>

#include "tests/support/backend.hpp"

namespace tcsolve::test {

/// CSR with values of S and vectors of T.
template <class T, class S = T>
struct CsrFormat {
  using Value = T;
  using Stored = S;  ///< the type that values are rounded to when the operator is built
  static std::string label() { return std::string("csr_") + type_name<T> + "_" + type_name<S>; }
  /// Throws MatrixError for values beyond the range of S.
  using Operator = CsrOperator<T, S>;
  static std::shared_ptr<Operator> of(Context& ctx, Csr<S> const& a) {
    return std::make_shared<Operator>(ctx, Csr<S>(a));
  }
  static OperatorPtr<T> make(Context& ctx, Csr<double> const& a) {
    return of(ctx, converted<S>(a));
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
  static OperatorPtr<T> make(Context& ctx, Csr<double> const& a) {
    return of(ctx, converted<S>(a));
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

template <class B, class F>
struct Case {
  using Where = B;
  using Format = F;
  using Value = typename F::Value;
  static std::string label() { return std::string(B::name) + "_" + F::label(); }
};

template <class... F>
using cases = on_backends<Case, F...>;

// FP32 vectors with bf16 values of bsell, dasp and spaden: in the contract of each.
using Formats =
    cases<CsrFormat<double>, CsrFormat<double, float>, CsrFormat<double, half>,
          CsrFormat<double, bfloat16>, CsrFormat<float>, CsrFormat<float, half>,
          CsrFormat<float, bfloat16>, SellFormat<double>, SellFormat<double, float>,
          SellFormat<double, half>, SellFormat<double, bfloat16>, SellFormat<float>,
          SellFormat<float, half>, SellFormat<float, bfloat16>, DiaFormat<double>,
          DiaFormat<double, float>, DiaFormat<double, half>, DiaFormat<double, bfloat16>,
          DiaFormat<float>, DiaFormat<float, half>, DiaFormat<float, bfloat16>, BsellFormat<double>,
          BsellFormat<double, float>, BsellFormat<double, half>, BsellFormat<double, bfloat16>,
          BsellFormat<float>, BsellFormat<float, half>, CsellFormat<double>,
          CsellFormat<double, float>, CsellFormat<double, half>, CsellFormat<double, bfloat16>,
          CsellFormat<float>, CsellFormat<float, half>, CsellFormat<float, bfloat16>,
          DaspFormat<double>, DaspFormat<double, float>, DaspFormat<double, half>,
          DaspFormat<double, bfloat16>, DaspFormat<float>, DaspFormat<float, half>,
          SpadenFormat<double>, SpadenFormat<double, float>, SpadenFormat<double, half>,
          SpadenFormat<double, bfloat16>, SpadenFormat<float>, SpadenFormat<float, half>>;

}  // namespace tcsolve::test
