// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/solvers/loop/one_kernel.hpp>

#include <algorithm>

#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/operators/cast.hpp>

namespace tcsolve {
namespace {

/// tridiag(-1, 2, -1).
Csr<double> small_system() {
  constexpr Index n = 12;
  Csr<double> a{n, n, {0}, {}, {}};
  for (Index i = 0; i < n; ++i) {
    for (Index j = std::max(i - 1, 0); j < std::min(i + 2, n); ++j) {
      a.columns.push_back(j);
      a.values.push_back(i == j ? 2 : -1);
    }
    a.offsets.push_back(a.entries());
  }
  return a;
}

}  // namespace

bool runs_as_one_kernel(Solver& solver, PreconditionerFactory const* M) {
  Context ctx(Backend::host);
  Csr<double> const a = small_system();
  try {
    auto const given = std::make_shared<CsrOperator<double>>(ctx, a.view());
    OperatorPtr<double> A = given;
    if (solver.vectors() == Real::f32)
      A = std::make_shared<Cast<double, float>>(
          OperatorPtr<float>(std::make_shared<CsrOperator<float>>(ctx, converted<float>(a))));
    solver.setup(ctx, A, M ? M->build_in_miniature(ctx, {given->view(), given})->view() : nullptr);
    return solver.one_kernel();
  } catch (Error const&) { return false; }
}

}  // namespace tcsolve
