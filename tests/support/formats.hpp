// SPDX-License-Identifier: Apache-2.0
/// The operators under contract test. A new format is one struct here and one line in `Formats`.
#pragma once

#include <tcsolve/operators/csr_operator.hpp>

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
  static OperatorPtr<T> make(Context& ctx, Csr<double> const& a) {
    return std::make_shared<CsrOperator<T, S>>(ctx, converted<S>(a));
  }
  /// Bytes of the stored matrix: a host copy keeps 64-bit offsets, a device copy has 32-bit ones.
  static double bytes(Context& ctx, Csr<double> const& a) {
    double offset = ctx.space() == Space::host ? 8 : 4;
    return double(a.entries()) * (sizeof(S) + 4) + offset * (a.rows + 1.0);
  }
};

template <class B, class F>
struct Case {
  using Where = B;
  using Format = F;
  using Value = typename F::Value;
  static std::string label() { return std::string(B::name) + "_" + F::label(); }
};

template <class... F>
using cases = ::testing::Types<Case<HostBackend, F>..., Case<CudaBackend, F>...>;

using Formats = cases<CsrFormat<double>,         //
                      CsrFormat<double, float>,  //
                      CsrFormat<double, half>,   //
                      CsrFormat<float>,          //
                      CsrFormat<float, half>>;

}  // namespace tcsolve::test
