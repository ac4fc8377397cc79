// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/direct/direct.hpp>

#include <tcsolve/configs/schema/checked.hpp>
#include <tcsolve/factors/cudss/cudss_library.hpp>
#include <tcsolve/matrix/symmetry.hpp>
#include <tcsolve/precond/on_one_rank.hpp>
#include <tcsolve/precond/ranked_inverse.hpp>

namespace tcsolve {
namespace {

/// What can be seen of a matrix: a positive diagonal does not make a symmetric one definite.
/// `symmetric`: where it is known.
Definiteness kind_of(CsrView<double> const& a, std::optional<bool> symmetric) {
  if (!(symmetric ? *symmetric : is_symmetric(a))) return Definiteness::general;
  for (Index i = 0; i < a.rows; ++i) {
    bool positive = false;
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      positive = positive || (a.columns[k] == i && a.values[k] > 0);
    if (!positive) return Definiteness::symmetric;
  }
  return Definiteness::positive_definite;
}

FactorRecipe recipe(DirectParams const& params, bool symmetric) {
  return {.name = "direct",
          .symmetric = symmetric,
          .fill = FillIn::complete,
          .arrangement = {UseMatching::off, FactorScaling::largest, FactorOrder::none},
          .values = real(params.values),
          .solves = TriangularSolves::automatic};
}

/// Why cuDSS cannot be used, and what to do about it; empty where it can.
std::string obstacle(Context const& ctx, DirectParams const& params) {
  if (ctx.space() == Space::host)
    return "it computes on a device, and this runs on the host; take backend: cuda or library: "
           "eigen";
  if (params.values == StoredReal::f16)
    return "it has no fp16; take values: fp64 or fp32, or library: eigen";
  if (!cudss().there)
    return cat(cudss().problem,
               "; install it (e.g. the Python package nvidia-cudss-cu13), name its libcudss.so in "
               "the environment variable TCSOLVE_CUDSS, or take library: eigen");
  return "";
}

}  // namespace

/// As it is asked for, or as it is seen to be.
Definiteness DirectFactory::kind(CsrView<double> const& a, std::optional<bool> symmetric) const {
  switch (params_.factorisation) {
    case CompleteKind::cholesky: return Definiteness::positive_definite;
    case CompleteKind::lu: return Definiteness::general;
    default: return kind_of(a, symmetric);
  }
}

/// By cuDSS. A weaker assumption is made where the matrix turns out not to be what it looked like.
std::shared_ptr<CompleteOnDevice> DirectFactory::on_device(Context& ctx, CsrView<double> const& a,
                                                           Definiteness kind) const {
  try {
    return std::make_shared<CompleteOnDevice>(ctx, a, kind, real(params_.values));
  } catch (MatrixError const&) {
    if (kind == Definiteness::general || params_.factorisation == CompleteKind::cholesky) throw;
  }
  return on_device(
      ctx, a,
      kind == Definiteness::positive_definite ? Definiteness::symmetric : Definiteness::general);
}

/// f(system on the host, recipe) for factors by Eigen.
template <class F>
auto DirectFactory::as_factors(Context& ctx, System const& system, F const& f) const {
  return on_host(ctx, system, "direct", [&](CsrView<double> const& a) {
    bool const symmetric = kind(a, system.symmetric) == Definiteness::positive_definite;
    return f(System{a, system.A, system.notes}, recipe(params_, symmetric));
  });
}

/// Factors by cuDSS take new values. Where these ask for another matching, M is made anew by what
/// build() takes then.
class DirectFactory::ByCudss final : public Preconditioner {
 public:
  ByCudss(DirectFactory factory, std::shared_ptr<CompleteOnDevice> M)
      : factory_(std::move(factory)), M_(std::move(M)) {}
  OperatorPtr<double> view() const override { return anew_ ? anew_->view() : M_; }
  void update(Context& ctx, System const& system) override {
    if (anew_) return anew_->update(ctx, system);
    try {
      with_host(ctx, system, [&](CsrView<double> const& a) { M_->update(ctx, a); });
    } catch (MatrixError const&) {
      anew_ = factory_.build(ctx, system);
      M_ = nullptr;
    }
  }

 private:
  DirectFactory factory_;
  std::shared_ptr<CompleteOnDevice> M_;  // or
  std::unique_ptr<Preconditioner> anew_;
};

std::unique_ptr<Preconditioner> DirectFactory::build(Context& ctx, System const& system) const {
  Params const& p = checked(params_, "direct");
  if (matrix_of_ranks(ctx, system) != nullptr)
    return on_one_rank(ctx, system, "direct", std::make_shared<DirectFactory>(*this));
  return with_host(ctx, system, [&](CsrView<double> const& a) -> std::unique_ptr<Preconditioner> {
    Definiteness const kind = this->kind(a, system.symmetric);
    if (p.library != FactorLibrary::eigen) {
      std::string const problem = obstacle(ctx, p);
      bool const asked = p.library == FactorLibrary::cudss;
      if (asked && !problem.empty()) throw SetupError("direct: no cuDSS: " + problem);
      try {
        if (problem.empty()) return std::make_unique<ByCudss>(*this, on_device(ctx, a, kind));
      } catch (MatrixError const& e) {
        if (asked) throw SetupError(cat("direct: ", e.what()));
        ctx.log(Severity::note, cat("direct: on the device, ", e.what(), "; Eigen tries it"));
      } catch (MemoryError const& e) {  // the host may have more
        if (asked) throw;
        ctx.log(Severity::note, cat("direct: on the device, ", e.what(), "; Eigen tries it"));
      }
    }
    return from_factors(ctx, {a, system.A, system.notes},
                        recipe(p, kind == Definiteness::positive_definite), id());
  });
}

/// What a core of the host does, or, by cuDSS, the order, which the host makes as well.
double DirectFactory::least_seconds(Context& ctx, System const& system) const {
  Params const& p = checked(params_, "direct");
  if (matrix_of_ranks(ctx, system) != nullptr) return 0;  // as in memory()
  if (p.library != FactorLibrary::eigen && obstacle(ctx, p).empty())
    return 50e-9 * static_cast<double>(system.matrix.entries);
  return as_factors(ctx, system, [&](System const& here, FactorRecipe const& recipe) {
    auto const plan = factor_plan(ctx, here, recipe, id());
    return admitted("direct", [&] { return least_complete_seconds(ctx, *plan, recipe); });
  });
}

/// cuDSS counts its factors when it has analysed the pattern, and what does not fit is refused then
/// (factors/cudss/cudss_inverse.hpp). To count them here as well would take the host as long.
MemoryNeed DirectFactory::memory(Context& ctx, System const& system) const {
  Params const& p = checked(params_, "direct");
  if (matrix_of_ranks(ctx, system) != nullptr) return {};  // the rank that has all rows asks
  if (p.library != FactorLibrary::eigen && obstacle(ctx, p).empty()) {
    double const n = system.matrix.rows, z = static_cast<double>(system.matrix.entries);
    return {.host = 20 * z + 60 * n,
            .space = (4.0 + size_of(real(p.values))) * z + 60 * n,
            .exact = false};
  }
  return as_factors(ctx, system, [&](System const& here, FactorRecipe const& recipe) {
    return factors_need(ctx, here, recipe, id());
  });
}

}  // namespace tcsolve
