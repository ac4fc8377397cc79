// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/amg/coarse_factors.hpp>

#include <tcsolve/configs/schema/print.hpp>
#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/kernels/reductions.hpp>
#include <tcsolve/precond/smoother.hpp>
#include <tcsolve/precond/stored_real.hpp>

namespace tcsolve {
namespace {

/// The one key that `direct` is given.
struct StoredIn {
  StoredReal values = StoredReal::f64;
  static constexpr auto schema() {
    return std::tuple{field(&StoredIn::values, "values", "type of the factors")};
  }
};
std::unique_ptr<PreconditionerFactory> direct(Real values) {
  StoredIn const in{values == Real::f64 ? StoredReal::f64 : StoredReal::f32};
  return make_smoother(Block("direct", in));
}

}  // namespace

CoarseFactors::CoarseFactors(Context& ctx, Real values, CsrView<double> const& a, bool symmetric)
    : symmetric_(symmetric), accuracy_(values == Real::f64 ? 1e-3 : 0.1), factory_(direct(values)) {
  with_system(ctx, a, [&](System const& system) { owner_ = factory_->build(ctx, system); });
}

void CoarseFactors::update(Context& ctx, CsrView<double> const& a) {
  with_system(ctx, a, [&](System const& system) { owner_->update(ctx, system); });
}

double CoarseFactors::bytes(Index rows, Offset entries) {
  return direct(Real::f64)->bytes(rows, entries);
}

/// Factors of a singular matrix are some that rounding has made; what they do to a vector that the
/// matrix maps to zero shows in M A x.
template <class F>
void CoarseFactors::with_system(Context& ctx, CsrView<double> const& a, F const& f) {
  auto const A = std::make_shared<CsrOperator<double>>(ctx, CsrStorage<double>(ctx, a));
  f(System{.matrix = a, .A = A, .symmetric = symmetric_});
  auto scope = ctx.arena().scope();
  auto const vector = [&] { return scope.template vectors<double>(a.rows, 1); };
  Out<double> const x = vector(), y = vector(), z = vector();
  random_vector<double>(ctx, 0, x);
  A->apply(ctx, x, y);
  M()->apply(ctx, y, z);
  axpby<double, double>(ctx, 1.0, In<double>(x), -1.0, z);
  double const error = largest<double>(ctx, In<double>(z)),
               size = largest<double>(ctx, In<double>(x));
  if (!(error <= accuracy_ * size))
    throw SetupError(cat("complete factors of ", a.rows, " rows solve a system with a relative ",
                         "error of ", error / size));
}

}  // namespace tcsolve
