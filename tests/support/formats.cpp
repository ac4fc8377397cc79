// SPDX-License-Identifier: Apache-2.0
#include "tests/support/formats.hpp"

#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/formats/register.hpp>
#include <tcsolve/matrix/transfer.hpp>

#include <type_traits>
#include <utility>

#include "ell/format.hpp"
#include "tests/support/bounds.hpp"
#include "tests/support/tensor_formats.hpp"

namespace tcsolve::test {
namespace {

/// The values of a as S, to which they are rounded where they are not of it.
template <class S>
Csr<S> as_stored(Csr<double> const& a) {
  Csr<S> out{a.rows, a.cols, a.offsets, a.columns, {}};
  for (double v : a.values) out.values.push_back(S(v));
  return out;
}

/// A maker of csr borrows its matrix; what is tested owns it.
template <class T, class S>
std::shared_ptr<LinearOperator<T>> made(Format const& format, Maker<T, S> const& maker,
                                        Context& ctx, Csr<S> a) {
  if (!format.converted) return std::make_shared<CsrOperator<T, S>>(ctx, std::move(a));
  return maker.make(ctx, a.view(), nullptr);
}

template <class T, class S>
FormatUnderTest<T> row(Format const& format, std::string const& name, Makers const& makers) {
  Maker<T, S> const maker = std::get<Maker<T, S>>(makers);
  return {.name = cat(name, "_", type_name<T>, "_", type_name<S>),
          .format = &format,
          .stored = real_of<S>,
          .make = [maker, &format](Context& ctx, Csr<double> const& a) -> OperatorPtr<T> {
            return made(format, maker, ctx, converted<S>(a));
          },
          .of = [maker, &format](
                    Context& ctx,
                    Csr<double> const& a) { return made(format, maker, ctx, as_stored<S>(a)); },
          .update_values =
              [maker](Context& ctx, LinearOperator<T>& A, StoredCsr const& a) {
                maker.update_values(ctx, A, std::get<CsrView<S>>(a.view));
              }};
}

template <class T>
std::vector<FormatUnderTest<T>> rows() {
  std::vector<FormatUnderTest<T>> all;
  auto const add = [&](Format const& format, std::string const& name, Makers const& makers) {
    auto const one = [&]<class V, class S>(Maker<V, S> const&) {
      if constexpr (std::is_same_v<V, T>) all.push_back(row<T, S>(format, name, makers));
    };
    std::apply([&](auto const&... maker) { (one(maker), ...); }, makers);
  };
  for (Format const& format : tested_formats()) {
    add(format, format.name, format.makers);
    if (format.miniature) add(format, format.name + "_miniature", *format.miniature);
  }
  return all;
}

}  // namespace

FormatList const& tested_formats() {
  static FormatList const& list = []() -> FormatList& {
    static FormatList all;
    register_formats(all);
    return all.add(ell_format());  // the line
  }();
  return list;
}

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

template <>
std::vector<FormatUnderTest<double>> const& formats_under_test() {
  static auto const table = rows<double>();
  return table;
}
template <>
std::vector<FormatUnderTest<float>> const& formats_under_test() {
  static auto const table = rows<float>();
  return table;
}

template <class T, class S>
std::vector<std::shared_ptr<LinearOperator<T>>> in_every_format(Context& ctx, CsrView<S> const& a) {
  std::vector<std::shared_ptr<LinearOperator<T>>> all;
  for (Format const& format : tested_formats()) {
    try {
      all.push_back(format.make<T, S>(ctx, a));
    } catch (MatrixError const&) {
      EXPECT_TRUE(format.converted) << format.name << " holds every matrix";
    }
  }
  return all;
}
#define TCSOLVE_INSTANTIATE(T, S)                                                 \
  template std::vector<std::shared_ptr<LinearOperator<T>>> in_every_format<T, S>( \
      Context&, CsrView<S> const&);
TCSOLVE_INSTANTIATE(double, double)
TCSOLVE_INSTANTIATE(double, float)
TCSOLVE_INSTANTIATE(double, half)
TCSOLVE_INSTANTIATE(double, bfloat16)

std::vector<Format const*> formats_that(std::function<bool(Format const&)> const& is) {
  std::vector<Format const*> all;
  for (Format const& format : formats())
    if (is(format)) all.push_back(&format);
  EXPECT_FALSE(all.empty()) << "no format of the list is like that";
  return all;
}

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
