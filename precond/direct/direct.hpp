// SPDX-License-Identifier: Apache-2.0
/// M = A^-1, up to rounding: a complete factorisation (Davis 2006), made on the host by Eigen and
/// applied where the Context computes, or made and applied on a device by cuDSS, where that library
/// is found. The last resort where nothing else converges: the solver around it refines what
/// rounding left, and judges it as any other x.
#pragma once

#include <array>
#include <memory>
#include <optional>

#include <tcsolve/configs/schema/field.hpp>
#include <tcsolve/factors/arrange/arrangement.hpp>
#include <tcsolve/factors/cudss/complete_on_device.hpp>
#include <tcsolve/formats/matrix_factory.hpp>
#include <tcsolve/precond/from_factors.hpp>
#include <tcsolve/precond/over_ranks.hpp>

namespace tcsolve {

enum class CompleteKind { automatic, lu, cholesky };
constexpr auto names(CompleteKind) {
  return std::array{std::pair{CompleteKind::automatic, "auto"}, std::pair{CompleteKind::lu, "lu"},
                    std::pair{CompleteKind::cholesky, "cholesky"}};
}

enum class FactorLibrary { automatic, eigen, cudss };
constexpr auto names(FactorLibrary) {
  return std::array{std::pair{FactorLibrary::automatic, "auto"},
                    std::pair{FactorLibrary::eigen, "eigen"},
                    std::pair{FactorLibrary::cudss, "cudss"}};
}

struct DirectParams {
  CompleteKind factorisation = CompleteKind::automatic;
  FactorLibrary library = FactorLibrary::automatic;
  StoredReal values = StoredReal::f64;

  static constexpr auto schema() {
    using P = DirectParams;
    return std::tuple{
        field(&P::factorisation, "factorisation",
              "lu: partial pivoting, any square matrix; cholesky: L D L^T of a symmetric positive "
              "definite one; auto looks at the values"),
        field(&P::library, "library",
              "eigen: on the host; cudss: on the device, by NVIDIA's library where it is installed "
              "(TCSOLVE_CUDSS may name its file); auto: cudss where it can be used"),
        field(&P::values, "values",
              "type of the factors; cudss makes them in it, eigen stores them in it")};
  }
};

/// Of several ranks the first has all rows and makes the factors (precond/on_one_rank.hpp).
/// Memory: the factors, which for a mesh in three dimensions are 20 to 50 times the matrix.
class DirectFactory final : public FromFactors, public OverRanks {
 public:
  using Params = DirectParams;
  explicit DirectFactory(Params const& params = {}) : params_(params) {}
  std::unique_ptr<Preconditioner> build(Context&, System const&) const override;
  MemoryNeed memory(Context&, System const&) const override;
  double least_seconds(Context&, System const&) const override;

 private:
  class ByCudss;
  Definiteness kind(CsrView<double> const& a, std::optional<bool> symmetric) const;
  template <class F>
  auto as_factors(Context&, System const&, F const& f) const;
  std::shared_ptr<CompleteOnDevice> on_device(Context&, CsrView<double> const& a,
                                              Definiteness kind) const;
  Params params_;
};

}  // namespace tcsolve
