// SPDX-License-Identifier: Apache-2.0
/// The operators under contract test, as a table: each format of the list (formats/format.hpp) with
/// each pair of types that it has makers for, and once more in miniature where it says how.
/// No test names a class, and a format that was added to the list is tested.
#pragma once

#include <tcsolve/formats/format.hpp>
#include <tcsolve/matrix/csr.hpp>
#include <tcsolve/operators/linear_operator.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <variant>
#include <vector>

#include "tests/support/backend.hpp"

namespace tcsolve::test {

/// f.operator()<S>(), S the type that `stored` names.
template <class F>
auto with_stored_type(Real stored, F const& f) {
  switch (stored) {
    case Real::f64: return f.template operator()<double>();
    case Real::f32: return f.template operator()<float>();
    case Real::f16: return f.template operator()<half>();
    case Real::bf16: break;
  }
  return f.template operator()<bfloat16>();
}

/// A CSR matrix with values of one of the types that formats store, and the memory that it lies in.
struct StoredCsr {
  std::shared_ptr<void const> memory;
  std::variant<CsrView<double>, CsrView<float>, CsrView<half>, CsrView<bfloat16>> view;
};
/// The values of a as `stored`, in the Context's space or on the host.
StoredCsr stored_in_space(Context&, Real stored, Csr<double> const& a);
StoredCsr stored_on_host(Real stored, Csr<double> const& a);

/// Values rounded to `stored` and back.
Csr<double> rounded(Real stored, Csr<double> a);
/// The same, with values beyond the range of `stored` made small.
Csr<double> representable(Real stored, Csr<double> const& a);

/// A format with vectors of T and values of the type `stored`.
template <class T>
struct FormatUnderTest {
  using Operator = LinearOperator<T>;
  std::string name;  ///< format, type of the vectors, type of the values: csr_f64_f16
  Format const* format;
  Real stored;
  /// The operator of a, values rounded to `stored`. Throws MatrixError for values beyond its range.
  std::function<OperatorPtr<T>(Context&, Csr<double> const& a)> make;
  /// The operator of a whose values are of the type `stored` already, finite or not.
  std::function<std::shared_ptr<Operator>(Context&, Csr<double> const& a)> of;
  /// update_values() with values of the type that the format stores, of an operator from of().
  std::function<void(Context&, Operator&, StoredCsr const& a)> update_values;
};

/// The formats of the library, and the worked example of the documents.
FormatList const& tested_formats();

/// Every format, and every type of values that it stores for vectors of T.
template <class T>
std::vector<FormatUnderTest<T>> const& formats_under_test();

/// A in every format that takes it, in the order of the list; csr is the first.
template <class T, class S = T>
std::vector<std::shared_ptr<LinearOperator<T>>> in_every_format(Context&, CsrView<S> const& a);

/// The formats of the list that `is` says yes to, as many as there are: one at least.
std::vector<Format const*> formats_that(std::function<bool(Format const&)> const& is);
/// One that is made from CSR.
inline Format const& converted_format() {
  return *formats_that([](Format const& f) { return f.converted; }).front();
}

/// The parameter of a contract test: a format on a backend.
struct FormatCase {
  Backend backend;
  std::variant<FormatUnderTest<double> const*, FormatUnderTest<float> const*> format;

  std::string label() const;  ///< cuda_csr_f64_f16
  friend void PrintTo(FormatCase const& c, std::ostream* out) { *out << c.label(); }
};
/// All of formats_under_test<double>() and <float>() on every backend.
std::vector<FormatCase> format_cases();
/// The formats with vectors and values of FP64 on every backend.
std::vector<FormatCase> fp64_format_cases();

/// The name of a case in --gtest_list_tests: Formats/SUITE.TEST/cuda_csr_f64_f16.
inline std::string case_label(::testing::TestParamInfo<FormatCase> const& info) {
  return info.param.label();
}

/// Opens the Context that the parameter asks for, once a test.
class FormatTest : public ::testing::TestWithParam<FormatCase> {
 protected:
  void SetUp() override { open_context(GetParam().backend, ctx_); }
  Context& ctx() { return *ctx_; }
  /// f(format), a FormatUnderTest<double> or <float>.
  template <class F>
  void with_format(F const& f) {
    std::visit([&](auto const* format) { f(*format); }, GetParam().format);
  }

 private:
  std::unique_ptr<Context> ctx_;
};

}  // namespace tcsolve::test
