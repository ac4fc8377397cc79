// SPDX-License-Identifier: Apache-2.0
/// One multigrid cycle from zero as an operator, y = M x (Trottenberg, Oosterlee and Schueller
/// 2001, Multigrid, section 2.4.1):
///
///     cycle(l, r):  d = x = S r                     smooth from zero
///                   r = r - A d
///                   e = cycle(l + 1, P^T r)         W: twice, the second time for what is left
///                                                   K: two Krylov steps, of which it is the
///                                                   preconditioner (krylov_ops.hpp)
///                   d = g P e,  r = r - A d
///                   x = x + d + S r                 smooth with the same polynomial
///     coarsest:     x = A^-1 r, or S r where it is too large
///
/// g is 1 where P is smoothed. Where it is not, the coarser matrix makes of smooth errors as many
/// times the energy as aggregates are rows long, and e is too short: g > 1 makes up for some of it
/// (Braess 1995, Towards algebraic multigrid for elliptic problems of second order). M stays
/// positive definite: g P M_c P^T is where M_c is.
///
/// S is a polynomial in W A times W, W a diagonal or a sparse inverse (level_smoother.hpp), the
/// same before and after, so that M is symmetric where A is, and positive definite where A is and
/// the spectrum of W A lies below the bound of the polynomial. A K cycle is no linear map: what it
/// makes of r varies with r. r is the residual all along: no step reads the right-hand side or
/// makes r from x. An application is a list of operations: nothing is read by the host.
#pragma once

#include <variant>

#include <tcsolve/precond/amg/stored_levels.hpp>

namespace tcsolve {

/// Of vectors of T.
template <class T>
class CycleOf {
 public:
  CycleOf(Context& ctx, AmgHierarchy const& made);
  /// See StoredLevels::renew(). Recordings of an application are then to be made anew.
  bool renew(Context& ctx, AmgHierarchy const& made);

  /// y = alpha M x + beta y
  void apply(Context&, double alpha, In<double> x, double beta, Out<double> y) const;
  Traits traits() const;
  Cost cost(Index k) const;
  double advance(Context&, double applications) const;
  std::uint64_t revision() const;
  StoredLevels<T> const& stored() const { return stored_; }

 private:
  /// What r is to become before it is used: r = alpha A v + beta r, or what it is. A step takes
  /// each row as the product ends it (LinearOperator::apply_then).
  struct Update {
    OperatorPtr<T> A;
    T alpha = 0;
    In<T> v{};
    T beta = 0;
    void make(Context& ctx, Out<T> r) const {
      if (A) A->apply(ctx, alpha, v, beta, r);
    }
  };
  /// x from r, which holds something else afterwards: the residual f - A x with `leaves_residual`,
  /// where the level is not solved.
  void cycle(Context&, std::size_t level, Update const&, Out<T> r, Out<T> x,
             bool leaves_residual = false) const;
  /// x from f by two steps of a Krylov method, which leave another f. The level has a coarser one.
  void krylov(Context&, std::size_t level, Out<T> f, Out<T> x) const;
  /// The last change of x, which r does not know of, and where the next one is to be: other threads
  /// gather the last one until they have met.
  struct Correction {
    Out<T> now, next;
  };
  /// Steps that begin with the residual r.
  void smooth(Context&, StoredLevel<T> const&, Update const&, Out<T> r, Correction& d, Out<T> x,
              bool from_zero) const;
  int visits(std::size_t level) const;
  bool by_krylov() const { return params_.cycle == AmgCycleKind::k; }

  AmgParams params_;
  bool symmetric_;
  StoredLevels<T> stored_;
  std::uint64_t renewals_ = 0;
};

/// bytes per application: of each level 2 degree products with A and 2 degree passes of 6 n values,
/// and products with P and P^T; W and K: the levels below the first twice, four times, ...; K: of
/// each of these times one product with A and some 9 n values more.
class AmgCycle final : public LinearOperator<double>, public TellsHierarchy {
 public:
  AmgCycle(Context&, std::shared_ptr<AmgHierarchy const> hierarchy);
  /// The new numbers of the hierarchy, whose patterns are those that it was made of; false: it is
  /// not to be used then. revision() changes.
  bool renew(Context&);
  /// What it reads of each transfer of the hierarchy, which may leave() the rest.
  std::vector<AmgInPlace> in_place() const;

  Traits traits() const override;
  Cost cost(Index k) const override;
  std::string name() const override { return "amg"; }
  std::string details() const override;
  double advance(Context&, double applications) const override;
  std::uint64_t revision() const override;
  AmgHierarchy const& hierarchy() const { return *hierarchy_; }
  /// What the matrices A of the levels are stored in, finest first.
  std::vector<Real> values() const;
  /// One of them has 16 bits.
  bool is_narrow() const;
  HierarchyFacts hierarchy_facts() const override;
  void time_levels(Context&, HierarchyFacts&) const override;

 private:
  void do_apply(Context&, double alpha, In<double> x, double beta, Out<double> y,
                Op) const override;

  std::shared_ptr<AmgHierarchy const> hierarchy_;
  std::variant<CycleOf<double>, CycleOf<float>> cycle_;
};

}  // namespace tcsolve
