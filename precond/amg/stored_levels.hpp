// SPDX-License-Identifier: Apache-2.0
/// The levels as an application multiplies by them: each matrix in a format of its own, values in
/// the types of the parameters, scaled where these are narrow (level_scale.hpp):
///
///              set-up, FP64 in CSR            an application, for instance
///     A_0      as the solver has it           diagonals in FP16, scaled
///     P_0      CSR                            sliced rows in FP16
///     A_1      CSR                            blocks in FP16
///     A_2^-1   full rows                      full rows in FP32
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/formats/format.hpp>
#include <tcsolve/precond/amg/coarse_factors.hpp>
#include <tcsolve/precond/amg/hierarchy.hpp>
#include <tcsolve/precond/amg/level_smoother.hpp>
#include <tcsolve/precond/amg/symmetric_operator.hpp>

namespace tcsolve {

/// The types that parameters mean on a Context. Values are at most as wide as vectors.
struct AmgTypes {
  Real values, vectors;
};
AmgTypes types_of(Context const&, AmgParams const&);
/// What `values: auto` is. On a device FP16 pays from the second solve or a later one on
/// (docs/15-multigrid.md).
constexpr AmgValues automatic_values(bool on_device) {
  return on_device ? AmgValues::f64 : AmgValues::f32;
}
/// What A, P and R of a level are stored in.
Real values_of(Context const&, AmgParams const&, std::size_t level);

/// Iterations that a conversion is to pay for.
constexpr double amg_iterations = 25;
/// Bytes of a matrix of a level as it is stored in `values` for an application, which multiplies by
/// it so many times; where FP64 in csr borrows it, those of what is borrowed, or none if somebody
/// has it anyway. Cost: a plan where the matrix has more than a few thousand rows; thorough: by
/// more than these.
double stored_bytes(Context&, AmgParams const&, Real values, CsrView<double> const& a,
                    double applies, bool thorough, bool held_anyway);

/// T is the type of the vectors.
template <class T>
struct StoredLevel {
  Index rows = 0;
  OperatorPtr<T> A;     ///< null where there is an inverse
  OperatorPtr<T> P, R;  ///< to the next coarser level, null on the coarsest; R = P^T
  /// Of the coarsest level, where it is solved, by G or by complete factors; else it is smoothed.
  OperatorPtr<T> inverse;
  Array<T> weights;       ///< of the smoother
  OperatorPtr<T> S;       ///< where it is a preconditioner, which the weights multiply; or null
  double lambda_max = 1;  ///< of W A, about
  double gain = 1;        ///< of what P brings: more than 1 where P is not smoothed
  Real values = Real::f64;
};

/// A matrix in a format, which takes new values.
template <class T>
struct LevelMatrix {
  std::shared_ptr<LinearOperator<T>> A;  ///< null: there is none
  Format const* format = nullptr;        ///< that made it
  Real values = Real::f64;
  bool borrowed = false;  ///< its values lie in the hierarchy
};

template <class T>
class StoredLevels {
 public:
  /// Throws Unsupported for a format that there is not. Cost: a plan for each matrix of more than a
  /// few thousand rows, and conversions.
  StoredLevels(Context&, AmgHierarchy const&);
  /// The new numbers of a hierarchy that has the patterns that it was made of
  /// (AmgHierarchy::renew), in the formats that there are. False where one of them, or a type, does
  /// not hold them: it is then not to be used. Cost: that of giving each matrix its values.
  bool renew(Context&, AmgHierarchy const&);

  std::vector<StoredLevel<T>> const& levels() const { return levels_; }
  /// What it reads of each transfer of the hierarchy: csr in FP64 borrows.
  std::vector<AmgInPlace> in_place() const;
  /// (rows) of level 0; null: 1.
  double const* scale() const { return scale_.size() > 0 ? scale_.data() : nullptr; }
  /// M = factor S M' S.
  double factor() const { return factor_; }
  /// "FORMAT in VALUES" of the matrices A of the levels, finest first.
  std::string summary() const;
  /// The facts of the levels with what they are stored in.
  HierarchyFacts facts(AmgHierarchy const&) const;
  /// us of a product with the matrix of each level, or with its inverse, measured.
  std::vector<double> product_times(Context&) const;

 private:
  /// Scales, weights and the inverse; f(matrix, a, scale, keep, values, use) for each A, P and R
  /// that is stored, of which `matrix` is to become the operator.
  template <class F>
  void take_numbers(Context&, AmgHierarchy const&, F const& f);
  void take_inverse(Context&, AmgHierarchy const&, std::size_t level, int h, double const* scale);
  /// f(level's matrix as the cycle has it, in FP64); rows of zeros, where they store a diagonal
  /// entry, with 1 there.
  template <class F>
  void with_scaled(Context&, CsrView<double> a, int h, double const* scale, F const& f);
  /// Made, or given new values.
  void take_smoother(Context&, AmgHierarchy const&, std::size_t level, int h, double const* scale);
  /// The same of complete factors; false, and told, where there can be none.
  bool take_factors(Context&, AmgHierarchy const&, std::size_t level, int h, double const* scale);

  struct Held {
    LevelMatrix<T> A, P, R;
    std::shared_ptr<SymmetricOperator<T>> inverse;
    std::shared_ptr<CsrOperator<T>> general;  // inverse, where A is not symmetric
    std::optional<LevelSmoother> smoother;
    std::optional<CoarseFactors> factors;
  };
  std::vector<StoredLevel<T>> levels_;
  std::vector<Held> held_;
  Array<double> scale_;
  double factor_ = 1;
};

}  // namespace tcsolve
