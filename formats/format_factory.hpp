// SPDX-License-Identifier: Apache-2.0
/// What a descriptor of a format (formats/format.hpp) is made of: makers and a factory from the
/// format's operator, and counts that several formats look at.
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <tcsolve/configs/registry.hpp>
#include <tcsolve/formats/choose/sparse_rates.hpp>
#include <tcsolve/formats/format.hpp>
#include <tcsolve/formats/matrix_factory.hpp>
#include <tcsolve/formats/narrow_operator.hpp>
#include <tcsolve/operators/cast.hpp>

namespace tcsolve {

namespace detail {

/// An option as it is, or what it makes of what is known of the matrix.
template <class Option>
auto told(Option const& option, Survey const* seen, Real values) {
  if constexpr (std::is_invocable_v<Option, Survey const*, Real>)
    return option(seen, values);
  else
    return option;
}

/// Operator(ctx, a, options...). What takes a CsrStorage borrows `a` and trusts it.
template <class Operator, class S, class... Options>
std::shared_ptr<Operator> made_of(Context& ctx, CsrView<S> const& a, Options const&... options) {
  if constexpr (std::is_constructible_v<Operator, Context&, CsrStorage<S>, Options const&...>)
    return std::make_shared<Operator>(ctx, CsrStorage<S>(ctx, a), options...);
  else
    return std::make_shared<Operator>(ctx, a, options...);
}

template <class Operator, class T, class S, class... Options>
Maker<T, S> maker_of(Options const&... options) {
  return {.make = [options...](
                      Context& ctx, CsrView<S> const& a,
                      [[maybe_unused]] Survey const* seen) -> std::shared_ptr<LinearOperator<T>> {
            return made_of<Operator>(ctx, a, told(options, seen, real_of<S>)...);
          },
          .update_values =
              [](Context& ctx, LinearOperator<T>& made, CsrView<S> const& a) {
                static_cast<Operator&>(made).update_values(ctx, a);
              }};
}

}  // namespace detail

/// Operator<T, S>(ctx, a, options...) for all types. An option may be a function of the Survey,
/// null where there is none, and the type of the values.
template <template <class, class> class Operator, class... Options>
Makers makers_of(Options const&... options) {
  auto const one = [&]<class T, class S>(Maker<T, S> const*) {
    return detail::maker_of<Operator<T, S>, T, S>(options...);
  };
  return [&]<class... M>(std::tuple<M...> const*) {
    return Makers{one(static_cast<M const*>(nullptr))...};
  }(static_cast<Makers const*>(nullptr));
}

/// f.operator()<T, S>() for the type of vectors and that which values are stored in, the vectors'
/// at the widest.
template <class F>
OperatorPtr<double> for_types(Real vectors, Real values, F const& f) {
  auto const on_floats = [&]<class S>() -> OperatorPtr<double> {
    std::shared_ptr<LinearOperator<float>> A = f.template operator()<float, S>();
    return std::make_shared<Cast<double, float>>(std::move(A));
  };
  bool const floats = vectors == Real::f32;
  switch (values) {
    case Real::f64:
      return floats ? on_floats.template operator()<float>()
                    : f.template operator()<double, double>();
    case Real::f32:
      return floats ? on_floats.template operator()<float>()
                    : f.template operator()<double, float>();
    case Real::f16:
      return floats ? on_floats.template operator()<half>() : f.template operator()<double, half>();
    case Real::bf16:
      return floats ? on_floats.template operator()<bfloat16>()
                    : f.template operator()<double, bfloat16>();
  }
  throw Error("internal: a value type without an operator");
}

/// The factory of a format whose Params are P.
template <class P>
class FactoryOf : public MatrixFactory {
 public:
  using Params = P;
  FactoryOf(P const& params, Format const& format, FormatList const& among)
      : MatrixFactory(common(params), among, &format), params_(params) {}

 protected:
  P params_;

 private:
  static MatrixParams const& common(MatrixParams const& p) { return p; }
  template <class Own>
  static MatrixParams const& common(Own const& own) {
    return own.matrix;
  }
};

/// An operator of a CSR matrix whose values are rounded, and scaled where they would leave their
/// range; `options` are its format's own.
template <template <class, class> class Operator, class... Options>
OperatorPtr<double> rounded_operator(Context& ctx, Csr<double> const& a, OperatorUse const& use,
                                     MatrixParams const& params, Options const&... options) {
  return for_types(use.vectors, params.values, [&]<class T, class S>() {
    if constexpr (std::is_same_v<S, double>) {
      auto A = detail::made_of<Operator<T, S>>(ctx, source(a, use), options...);
      decide_by_rates<T>(*A, use.rates);
      return A;
    } else {
      return NarrowOperator<T, S, Operator<T, S>>::of(ctx, source(a, use),
                                                      {params.scale, params.diagonal}, options...);
    }
  });
}

/// Of a format without parameters of its own.
template <template <class, class> class Operator>
class RoundingFactory final : public FactoryOf<MatrixParams> {
 public:
  using FactoryOf::FactoryOf;
  OperatorPtr<double> build(Context& ctx, Csr<double> const& a,
                            OperatorUse const& use) const override {
    return rounded_operator<Operator>(ctx, a, use, params_);
  }
};

/// Of a class Factory(Factory::Params, Format const&, FormatList const&). Its Params are
/// MatrixParams, or have these as a member `matrix`.
template <class Factory>
FormatFactory factory_of() {
  using P = typename Factory::Params;
  auto const make = [](P const& params, Format const& format,
                       FormatList const& among) -> std::unique_ptr<OperatorFactory> {
    return std::make_unique<Factory>(params, format, among);
  };
  return {.enlist =
              [make](OperatorRegistry& r, Format const& format, FormatList const& among) {
                r.add<P>(format.name, format.doc, [make, &format, &among](P const& params) {
                  return make(params, format, among);
                });
              },
          .with =
              [make](MatrixParams const& given, Format const& format, FormatList const& among) {
                P params;
                if constexpr (std::is_same_v<P, MatrixParams>)
                  params = given;
                else
                  params.matrix = given;
                return make(params, format, among);
              }};
}

/// Why a format that counts positions in 31 bits is not for so many; empty when it is.
inline std::string beyond_31_bits(Features const& f) {
  return f.entries > std::numeric_limits<std::int32_t>::max() ? "more than 2^31 - 1 entries" : "";
}

}  // namespace tcsolve
