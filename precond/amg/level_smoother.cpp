// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/amg/level_smoother.hpp>

#include <tcsolve/configs/schema/print.hpp>
#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/precond/smoother.hpp>
#include <tcsolve/precond/spectrum.hpp>
#include <tcsolve/precond/stored_real.hpp>

namespace tcsolve {
namespace {

/// The one key that fsai and ilu are given.
struct StoredIn {
  StoredReal values = StoredReal::f64;
  static constexpr auto schema() {
    return std::tuple{field(&StoredIn::values, "values", "type of the stored factors")};
  }
};

}  // namespace

std::unique_ptr<PreconditionerFactory> level_smoother_factory(AmgSmoother kind, Real values) {
  if (kind != AmgSmoother::fsai && kind != AmgSmoother::ilu) return nullptr;
  StoredIn const in{values == Real::f64 ? StoredReal::f64 : StoredReal::f32};
  return make_smoother(Block(kind == AmgSmoother::fsai ? "fsai" : "ilu", in));
}

LevelSmoother::LevelSmoother(Context& ctx, AmgSmoother kind, Real values, CsrView<double> const& a,
                             int steps)
    : kind_(kind), steps_(steps), factory_(level_smoother_factory(kind, values)) {
  with_system(ctx, a, [&](System const& system) { owner_ = factory_->build(ctx, system); });
}

void LevelSmoother::update(Context& ctx, CsrView<double> const& a) {
  with_system(ctx, a, [&](System const& system) { owner_->update(ctx, system); });
}

template <class F>
void LevelSmoother::with_system(Context& ctx, CsrView<double> const& a, F const& f) {
  auto const A = std::make_shared<CsrOperator<double>>(ctx, CsrStorage<double>(ctx, a));
  bool const symmetric = kind_ == AmgSmoother::fsai;
  f(System{.matrix = a, .A = A, .symmetric = symmetric});
  if (!symmetric) return;
  constexpr double most = 1.9;
  double const bound = spectrum_margin * estimate_spectrum(ctx, *A, *S(), steps_, "amg").largest;
  weight_ = bound > most ? most / bound : 1.0;
}

}  // namespace tcsolve
