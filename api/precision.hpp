// SPDX-License-Identifier: Apache-2.0
/// The types that a solve works in, as keys of its options, and the next wider ones:
///
///     values   fp16 | bf16  ->  fp32            ->  fp64
///     vectors  as they are      as they are         fp64
///
/// A solve steps up where its A is rounded and it ends in a word that rounding may explain. x is
/// kept: what a narrow A has found is the initial guess of the wider one.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include <tcsolve/api/options.hpp>
#include <tcsolve/core/precision.hpp>
#include <tcsolve/solvers/report.hpp>

namespace tcsolve {

/// What A is stored in and what a method computes with.
struct WorkingPrecision {
  Real values = Real::f64, vectors = Real::f64;
  bool operator==(WorkingPrecision const&) const = default;
};

/// Nothing is wider than FP64.
std::optional<WorkingPrecision> next_wider(WorkingPrecision);

/// The options with `operator.values`, `solver.values` and `solver.vectors` set so, as far as there
/// are such keys.
/// A solver without `vectors` has FP64 vectors, and keeps them. Options must have been read. Throws
/// Unsupported where the format has no key `values`.
SolverOptions with_precision(SolverOptions options, WorkingPrecision);

/// The operator as the method wants it: where that says what A is stored in, `values` is that.
/// Throws ConfigError where the operator says otherwise, or says FP64 to a method with FP32
/// vectors.
Block operator_of(SolverOptions const&, Solver const& method);
/// What `values` of an operator's block says; FP64 where the format has no such key.
Real values_of(Block const& matrix_operator);
/// `operator.scale: refuse`.
bool refuses_to_scale(SolverOptions const&);

/// The options with `precision` in the keys of the operator and the method; `auto` is left to
/// choose_precision(). Throws ConfigError where these keys are given as well.
SolverOptions with_precision_keys(SolverOptions options);

/// What `precision: auto` takes, and why.
struct PrecisionChosen {
  WorkingPrecision types;
  bool narrow_basis = false;  ///< a Krylov basis in FP32 under FP64 vectors
  std::string why;
  /// Of the condition, in a solve that is watched for what its steps see of it.
  double most_condition = std::numeric_limits<double>::infinity();
};
/// The options with `solver.basis: fp32`.
SolverOptions with_narrow_basis(SolverOptions options);
/// FP64 vectors of a Krylov basis that FP32 halves without updates in between: those of a method
/// that begins anew after 50 steps at most, with an M that does not vary; 0: there are none.
int basis_vectors(SolverOptions const&, Solver const& method);
/// Whether A and such a basis are so small beside a device's cache that a step waits for other
/// things than memory: FP32 takes as long there, or longer, by its updates
/// (docs/results/mixed-h200.md).
bool lies_in_cache(CsrView<double> const& a, int basis, double cache_bytes);
/// Where a solve is at work: on the host, on a device within its cache, or there beyond it.
enum class RunsWhere { host, cache, device_memory };
/// FP32 as long as u cond(M A) <= 3e-3, u its roundoff, by what the steps of the solve see
/// (ConditionWatch): there r made anew on the way costs at most some 1.2 times the iterations of
/// FP64. Of a method for general matrices that tells nothing of A, as long as r falls by three from
/// one time that it is made anew to the next (condition_of_update): by twelve and more it falls in
/// solves that gain by FP32, by two in those that are lost in it (docs/results/mixed-host.md).
/// Never 16 bits, which have not been measured to be faster, and not in a device's cache, where
/// FP32 has been measured to be slower. A method that begins anew after few steps takes FP32 as
/// well; where M varies, or the format has FP64 values alone, it keeps FP64 vectors, and has its
/// Krylov basis in FP32 where a device streams it, which costs no iterations. rows, cols: of all
/// ranks.
PrecisionChosen choose_precision(std::int64_t rows, std::int64_t cols, SolverOptions const&,
                                 Solver const& method, RunsWhere);

/// The rounding of A's stored entries may be why the solve has ended so: another one may do better
/// with wider ones.
bool may_be_the_rounding(SolveReport const&);
/// What a report says of the stretch that ended so: the outcome, or "slow" where it has taken all
/// the iterations there are.
std::string why_wider(SolveReport const&);

}  // namespace tcsolve
