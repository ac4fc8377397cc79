// SPDX-License-Identifier: Apache-2.0
/// The operators under contract test: every format of tcsolve::formats() with every type of vectors
/// and values that it makes (Format::makers). No test names a format or its class, so that a new
/// line in formats/register.cpp is a new row of every contract.
#pragma once

#include <tcsolve/formats/format.hpp>
#include <tcsolve/matrix/csr.hpp>
#include <tcsolve/operators/linear_operator.hpp>

#include <gtest/gtest.h>

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
  Format const* format;
  Real stored;
  std::string name;  ///< format, type of the vectors, type of the values: csr_f64_f16

  /// The operator of a, values rounded to `stored`. Throws MatrixError for values beyond its range.
  OperatorPtr<T> make(Context&, Csr<double> const& a) const;
  /// The operator of a whose values are of the type `stored` already, finite or not.
  std::shared_ptr<Operator> of(Context&, Csr<double> const& a) const;
  /// update_values() with values of the type that the format stores, of an operator from of().
  void update_values(Context&, Operator&, StoredCsr const& a) const;
};

/// Every format, and every type of values that it stores for vectors of T.
template <class T>
std::vector<FormatUnderTest<T>> const& formats_under_test();

/// Adds a format that is not of tcsolve::formats(), or another tuning of one of these, to all
/// contracts. To be called before main(), by what initialises a variable of a test's file; gives
/// true. Throws std::logic_error when the name is taken.
bool under_contract(Format);

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
