// SPDX-License-Identifier: Apache-2.0
/// Must not compile, and say why.
#include <complex>

#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/solvers/cg/cg.hpp>

using Number = std::complex<double>;

#if defined(TRY_OPERATOR)
void f(tcsolve::Context& ctx, tcsolve::Csr<Number> a) {
  tcsolve::CsrOperator<Number> const A(ctx, std::move(a));
}
#elif defined(TRY_VIEW)
tcsolve::CsrView<Number> const a{};
#elif defined(TRY_VECTOR)
tcsolve::In<Number> const x{};
#elif defined(TRY_SOLVER)
tcsolve::Cg<Number> solver;
#endif
