// SPDX-License-Identifier: Apache-2.0
/// M = A^-1, up to rounding: a complete factorisation (Davis 2006), made on the host and applied
/// where the Context computes. The last resort where nothing else converges: the solver around it
/// refines what rounding left, and judges it as any other x.
#pragma once

#include <array>

#include <tcsolve/configs/schema/field.hpp>
#include <tcsolve/factors/arrangement.hpp>
#include <tcsolve/formats/matrix_factory.hpp>
#include <tcsolve/precond/from_factors.hpp>

namespace tcsolve {

enum class CompleteKind { automatic, lu, cholesky };
constexpr auto names(CompleteKind) {
  return std::array{std::pair{CompleteKind::automatic, "auto"}, std::pair{CompleteKind::lu, "lu"},
                    std::pair{CompleteKind::cholesky, "cholesky"}};
}

struct DirectParams {
  CompleteKind factorisation = CompleteKind::automatic;
  Real values = Real::f64;

  std::string check() const;
  static constexpr auto schema() {
    using P = DirectParams;
    return std::tuple{
        field(&P::factorisation, "factorisation",
              "lu: partial pivoting, any square matrix; cholesky: L D L^T of a symmetric positive "
              "definite one; auto looks at the values"),
        field(&P::values, "values", "type that the factors are stored in once they are made")};
  }
};

/// Memory: the factors, which for a mesh in three dimensions are 20 to 50 times the matrix.
class DirectFactory final : public FromFactors {
 public:
  using Params = DirectParams;
  explicit DirectFactory(Params const& params = {}) : params_(params) {}
  OperatorPtr<double> build(Context&, System const&) const override;
  MemoryNeed memory(Context&, System const&) const override;

 private:
  template <class F>
  auto with_recipe(Context&, System const&, F const& f) const;
  Params params_;
};

}  // namespace tcsolve
