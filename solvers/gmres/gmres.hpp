// SPDX-License-Identifier: Apache-2.0
/// Restarted GMRES (Saad and Schultz 1986; Saad 2003, Algorithms 6.9 and 9.5) and flexible GMRES
/// (Saad 1993; Saad 2003, Algorithm 9.6). Any square A.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include <tcsolve/solvers/driver/krylov_solver.hpp>
#include <tcsolve/solvers/gmres/ops.hpp>

namespace tcsolve {

/// right: A M u = b, x = M u; the monitored norm is the residual's. left: M A x = M b.
enum class Side { right, left };
constexpr auto names(Side) {
  return std::array{std::pair{Side::right, "right"}, std::pair{Side::left, "left"}};
}

constexpr char const* basis_doc =
    "type that the Krylov vectors are stored in, no wider than 'vectors', which it is where it is "
    "not "
    "given; frsz16: 16 bits with one exponent for 32 rows. The narrower, the fewer bytes an "
    "iteration, "
    "and the sooner a restart is needed: take restart 30, not 100";

/// Which Krylov basis goes with what else is asked for; "" or why not.
std::string check_basis(std::optional<BasisType>, VectorType, Execution);

struct GmresParams {
  StoppingParams stopping;
  Execution execution = Execution::automatic;
  int restart = 30;
  Side side = Side::right;
  VectorType vectors = VectorType::fp64;
  std::optional<BasisType> basis{};
  std::string check() const {
    std::string const wrong = stopping.check();
    return wrong.empty() ? check_basis(basis, vectors, execution) : wrong;
  }
  static constexpr auto schema() {
    using P = GmresParams;
    return std::tuple{
        include(&P::stopping),
        field(&P::execution, "execution", execution_doc),
        field(&P::vectors, "vectors", vectors_doc),
        field(&P::restart, "restart", between(1, 1000), "Krylov vectors kept between restarts"),
        field(&P::basis, "basis", basis_doc),
        field(&P::side, "side", "side of the preconditioner; left monitors norm2(M r)")};
  }
};

struct FgmresParams {
  StoppingParams stopping;
  Execution execution = Execution::automatic;
  int restart = 30;
  VectorType vectors = VectorType::fp64;
  std::optional<BasisType> basis{};
  std::string check() const {
    std::string const wrong = stopping.check();
    return wrong.empty() ? check_basis(basis, vectors, execution) : wrong;
  }
  static constexpr auto schema() {
    using P = FgmresParams;
    return std::tuple{
        include(&P::stopping), field(&P::execution, "execution", execution_doc),
        field(&P::vectors, "vectors", vectors_doc),
        field(&P::restart, "restart", between(1, 1000), "Krylov vectors kept between restarts"),
        field(&P::basis, "basis", basis_doc)};
  }
};

/// What GMRES and FGMRES share: classical Gram-Schmidt with delayed reorthogonalisation
/// (solvers/gmres/ops.hpp), Givens rotations, all on the device. Per iteration: one product with
/// A, one with M, about 2 (j + 4) n values read. Memory: restart n values, FGMRES twice that.
template <class T>
class Arnoldi : public Method<T> {
 protected:
  Arnoldi(int restart, std::optional<BasisType> basis);
  /// `vectors` allocated and `passes` made an iteration beside those of the basis, in units of the
  /// vectors' length.
  MethodFacts arnoldi_facts(std::string name, double vectors, double passes) const;
  /// The basis is narrower than the vectors.
  bool narrow() const { return basis_ != own_basis; }
  auto do_allocate(Context&) -> typename Method<T>::Workspace override;
  /// The basis, which each cycle fills anew.
  void share(Method<T> const& other) override {
    if (auto const* const same = dynamic_cast<Arnoldi const*>(&other)) V_ = same->V_;
  }
  bool saw_singular(Context&) override;
  /// The largest over the smallest |r_ii| of this cycle: both lie within the singular values of R,
  /// which lie within those of A M.
  double seen_condition(Context&) override;
  /// What a narrow basis claims, and the true residual refutes, is the end of a cycle.
  void classify_stop(Context&, LoopState&) override;

  /// u = r / ||r|| for the r in `start`.
  void start_basis(Context&, In<T> start);
  /// u becomes the next vector of the basis and w, orthogonalised against all of it, the next u;
  /// one column of H is rotated; ends the step.
  void extend_basis(Context&);
  /// y = R^-1 g for the columns of this cycle.
  void solve_for_y(Context&);
  /// u = V y.
  void combine_basis(Context&, Out<T> u);

  static constexpr BasisType own_basis =
      std::is_same_v<T, double> ? BasisType::fp64 : BasisType::fp32;
  Index restart_;
  BasisType basis_;
  // (n, restart), column after column, as basis_ says
  std::shared_ptr<Array<std::byte>> V_ = std::make_shared<Array<std::byte>>();
  Vector<T> u_, w_, z_;
  Array<double> small_;
  Array<double> partials_;
  Hessenberg H_{};
};

template <class T = double>
class GmresMethod final : public Arnoldi<T> {
 public:
  using Params = GmresParams;
  explicit GmresMethod(GmresParams const& params = {})
      : Arnoldi<T>(params.restart, params.basis), side_(params.side) {}
  MethodFacts facts() const override {
    MethodFacts facts = this->arnoldi_facts("gmres", 8, 6);
    facts.batches = !this->narrow();
    return facts;
  }

 private:
  void begin(Context&, Attempt const&) override;
  void step(Context&) override;
  void complete(Context&) override;
  bool monitors_residual() const override {
    return side_ == Side::right || !this->system().preconditioned;
  }
  Side side_;
};

template <class T = double>
class FgmresMethod final : public Arnoldi<T> {
 public:
  using Params = FgmresParams;
  explicit FgmresMethod(FgmresParams const& params = {})
      : Arnoldi<T>(params.restart, params.basis) {}
  MethodFacts facts() const override {
    MethodFacts facts = this->arnoldi_facts("fgmres", 8.0 + this->restart_, 8);
    facts.needs.fixed_preconditioner = false;
    return facts;
  }

 private:
  auto do_allocate(Context&) -> typename Method<T>::Workspace override;
  void share(Method<T> const& other) override {
    Arnoldi<T>::share(other);
    if (auto const* const same = dynamic_cast<FgmresMethod const*>(&other)) Z_ = same->Z_;
  }
  void begin(Context&, Attempt const&) override;
  void step(Context&) override;
  void complete(Context&) override;
  // (n, restart): what M made of each u
  std::shared_ptr<Array<T>> Z_ = std::make_shared<Array<T>>();
  Array<double> S_;  // see Hessenberg
};

template <class T = double>
using Gmres = SolverBy<GmresMethod<T>>;

template <class T = double>
using Fgmres = SolverBy<FgmresMethod<T>>;

}  // namespace tcsolve
