// SPDX-License-Identifier: Apache-2.0
/// What stands between the b and x of a caller and those that a driver works on.
///
///     caller                                      driver
///     b   any space, any layout   -- enter -->    b' = N P b         in the Context's space
///     x   likewise                -- enter -->    x' = N P x
///                                                 (P A P^T) x' = b',  with N M N
///     x   = P^T N x'              <-- leave --
///
/// P is an order of the rows, N = I - Z Z^T the projection that takes the nullspace of P A P^T out
/// of a vector: of all solutions N x' is the shortest. Either may be missing. Operators are made in
/// the new numbers (permuted(a, P)); neither they nor the method know of the frame.
///
/// ||P b - P A P^T x'|| = ||b - A x||, so that an order changes no residual but by the order of its
/// sums. A projection does: the report is about A x = b with the b that was given and the x that is
/// handed out, whose residual is measured once more (SolveFrame::judge()). Where no x meets the
/// tolerance, since the part of b outside the range of A exceeds it, a converged solve is
/// `least_squares`, cause `inconsistent`. Where N has moved the residual, the vectors are not quite
/// in the nullspace, and it is `false_convergence`, cause `nullspace`.
///
/// Where A^T Z is not 0 (a nonsymmetric A; z^T A v of random v tells), b stays as it is and M
/// becomes N M.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tcsolve/core/array.hpp>
#include <tcsolve/operators/projection.hpp>
#include <tcsolve/solvers/framing.hpp>
#include <tcsolve/solvers/report.hpp>

namespace tcsolve {

class SolveFrame {
 public:
  /// For the next setup().
  void set(Framing framing) {
    framing_ = std::move(framing);
    ctx_ = nullptr;
  }

  /// For a solver called `solver` of the system `A`, in the new numbers. Throws ShapeError where
  /// order or vectors do not suit A, SetupError where ||A z|| is not at most 1e-8 ||A|| for a unit
  /// vector z of the nullspace. Cost: a product for each such vector and three more; none without a
  /// nullspace.
  void setup(Context&, std::string const& solver, OperatorPtr<double> const& A);
  /// N M N or N M; M itself without a nullspace, null for null.
  OperatorPtr<double> around(OperatorPtr<double> M) const;

  struct Inside {
    In<double> b;
    Out<double> x;
  };
  /// b' and x' for any number of columns. A single vector of adjacent entries in the Context's
  /// space is taken as it is where there is nothing to do to it, unless `own` asks for blocks
  /// (row-major) that the driver may write to. b and x stay where they are until leave(). Throws
  /// ShapeError for rows with gaps in the memory of another device.
  Inside enter(In<double> b, Out<double> x, bool own = false);
  /// x as it is handed out, complete on return; nothing where x' was x itself.
  void leave();
  /// solve(b', x') between the two. x is handed out as well where it throws: what was reached.
  template <class Solve>
  void around_solve(In<double> b, Out<double> x, Solve const& solve, bool own = false) {
    Inside const inside = enter(b, x, own);
    try {
      solve(inside.b, inside.x);
    } catch (...) {
      try {
        leave();
      } catch (...) {}  // of a device in error: the first exception is the one to report
      throw;
    }
    leave();
  }
  /// The report on column j of the solve that has left: verdict and figures from the residual of
  /// what was handed out. Nothing without a nullspace. Every comparison fails on NaN.
  void judge(Index j, SolveReport&);
  /// Vectors of workspace that it takes beside those of a Measurement.
  Index judging() const { return projects() ? 3 : 0; }

  /// Of the length of x, allocated.
  double vectors() const;

 private:
  bool projects() const { return N_ != nullptr; }
  void check_nullspace(LinearOperator<double> const& A);
  void bring(In<double> v, MultiVector<double>& here);

  Framing framing_;
  Context* ctx_ = nullptr;
  std::string solver_;
  OperatorPtr<double> A_;
  Array<Index> old_numbers_, new_numbers_;
  std::shared_ptr<Projection const> N_;
  bool left_ = true;  // A^T Z = 0 too
  Out<double> given_x_{};
  bool own_x_ = false;           // x' is x_
  MultiVector<double> b_, x_;    // b', x'
  MultiVector<double> given_b_;  // P b, with a nullspace
  MultiVector<double> out_;      // N x' in the new numbers, with a nullspace
  MultiVector<double> staged_;   // of the caller's vectors, in their numbers
  std::vector<double> outside_;  // ||P b - b'||
};

}  // namespace tcsolve
