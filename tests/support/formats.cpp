// SPDX-License-Identifier: Apache-2.0
#include "tests/support/formats.hpp"

#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/matrix/transfer.hpp>

#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tests/support/tensor_formats.hpp"

namespace tcsolve::test {
namespace {

/// Formats that under_contract() was given.
FormatList& further_formats() {
  static FormatList list;
  return list;
}

/// The values of a as S, to which they are rounded where they are not of it.
template <class S>
Csr<S> as_stored(Csr<double> const& a) {
  Csr<S> out{a.rows, a.cols, a.offsets, a.columns, {}};
  for (double v : a.values) out.values.push_back(S(v));
  return out;
}

/// The format's operator with values of S. csr borrows what its maker is given, and an operator
/// under test outlives that: it takes the matrix over.
template <class T, class S>
std::shared_ptr<LinearOperator<T>> made(Context& ctx, Format const& format, Csr<S> a) {
  if (!format.converted) return std::make_shared<CsrOperator<T, S>>(ctx, std::move(a));
  return format.make<T, S>(ctx, a.view());
}

template <class T>
void add_rows(std::vector<FormatUnderTest<T>>& table, Format const& format) {
  auto const add = [&]<class V, class S>(Maker<V, S> const&) {
    if constexpr (std::is_same_v<V, T>)
      table.push_back(
          {&format, real_of<S>, cat(format.name, "_", type_name<T>, "_", type_name<S>)});
  };
  std::apply([&](auto const&... maker) { (add(maker), ...); }, format.makers);
}

template <class T>
std::vector<FormatUnderTest<T>> all_rows() {
  std::vector<FormatUnderTest<T>> table;
  for (FormatList const* list : {&tcsolve::formats(), &std::as_const(further_formats())})
    for (Format const& format : *list) add_rows(table, format);
  return table;
}

/// f.operator()<S>() for the type `stored`, which vectors of T can be multiplied by.
template <class T, class F>
auto with_stored_beside(Real stored, F const& f) {
  if constexpr (std::is_same_v<T, float>)
    if (stored == Real::f64) throw std::logic_error("FP64 values for vectors in FP32");
  return with_stored_type(stored, [&]<class S>() {
    if constexpr (std::is_same_v<T, float> && std::is_same_v<S, double>)
      return f.template operator()<float>();  // not reached
    else
      return f.template operator()<S>();
  });
}

}  // namespace

bool under_contract(Format format) {
  if (tcsolve::formats().find(format.name) != nullptr)
    throw std::logic_error("'" + format.name + "' is under contract already");
  further_formats().add(std::move(format));
  return true;
}

template <class T>
OperatorPtr<T> FormatUnderTest<T>::make(Context& ctx, Csr<double> const& a) const {
  return with_stored_beside<T>(stored, [&]<class S>() -> OperatorPtr<T> {
    return made<T, S>(ctx, *format, converted<S>(a));
  });
}
template <class T>
std::shared_ptr<LinearOperator<T>> FormatUnderTest<T>::of(Context& ctx,
                                                          Csr<double> const& a) const {
  return with_stored_beside<T>(
      stored, [&]<class S>() { return made<T, S>(ctx, *format, as_stored<S>(a)); });
}
template <class T>
void FormatUnderTest<T>::update_values(Context& ctx, LinearOperator<T>& A,
                                       StoredCsr const& a) const {
  with_stored_beside<T>(stored, [&]<class S>() {
    auto const& values = std::get<CsrView<S>>(a.view);
    std::get<Maker<T, S>>(format->makers).update_values(ctx, A, values);
  });
}
template struct FormatUnderTest<double>;
template struct FormatUnderTest<float>;

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

template <class T>
std::vector<FormatUnderTest<T>> const& formats_under_test() {
  static std::vector<FormatUnderTest<T>> const table = all_rows<T>();
  return table;
}
template std::vector<FormatUnderTest<double>> const& formats_under_test();
template std::vector<FormatUnderTest<float>> const& formats_under_test();

std::string FormatCase::label() const {
  std::string const name = std::visit([](auto const* f) { return f->name; }, format);
  return cat(test::label(backend), "_", name);
}

std::vector<FormatCase> format_cases() {
  std::vector<FormatCase> cases;
  for (Backend backend : backends()) {
    for (auto const& format : formats_under_test<double>()) cases.push_back({backend, &format});
    for (auto const& format : formats_under_test<float>()) cases.push_back({backend, &format});
  }
  return cases;
}
std::vector<FormatCase> fp64_format_cases() {
  std::vector<FormatCase> cases;
  for (Backend backend : backends())
    for (auto const& format : formats_under_test<double>())
      if (format.stored == Real::f64) cases.push_back({backend, &format});
  return cases;
}

}  // namespace tcsolve::test
