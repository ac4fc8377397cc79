// SPDX-License-Identifier: Apache-2.0
/// The main interface: solves A x = b for a matrix or an operator and returns a report.
///
///     LinearSolver solver(a, {.solver = {"cg", CgParams{.stopping = {.rtol = 1e-10}}},
///                             .preconditioner = "jacobi"});
///     SolveReport report = solver.solve(b, x);     // x: the guess, then the answer
///     solver.update_values(a);                     // the same pattern, new values
///     solver.solve(b, x);                          // reuses the set-up: allocates nothing
///     solver.set_matrix(other);                    // another pattern, or another size
///     solver.set_systems(a, starts);               // many small systems, each with its verdict
///
///   order        operator.reorder: b and x stay in the caller's order
///   operator     operator.format, operator.values; `converged` refers to the matrix given, in FP64
///   M            made, updated or made anew with the matrix
///
/// Memory. set_matrix() copies the caller's arrays unless Arrays::borrowed is given; b and x are
/// used where they lie and not kept. A Context that is given must outlive the solver.
///
/// Errors. If set_matrix(), set_operator(), update_values() or refresh() throws, the solver has no
/// matrix: ready() is false, and solve() throws ShapeError until the next successful set_matrix()
/// or set_operator(). Two checks run first and leave the solver unchanged: update_values() checks
/// the extents and the number of entries, and set_matrix() checks that a host matrix is well
/// formed. A solve that throws leaves the solver ready. One that has to make a preconditioner of
/// older values anew (`renew`) and cannot keeps the old one, and its report says why.
///
/// Context::cancel() ends the call that is at work, whenever it comes: the four throw Cancelled, at
/// the latest where they end, and a solve whose set-up it came in reports `cancelled`. A request of
/// SolveCall is withdrawn with its solve; one of the Context stands until clear_cancel().
///
/// One solver, and one Context, serve one host thread at a time: another one that enters meanwhile
/// gets a BusyError, and so does a callback that asks the Context which called it for more.
/// Context::cancel() and stop tokens may be used from any.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include <tcsolve/api/options.hpp>
#include <tcsolve/api/parts.hpp>
#include <tcsolve/api/setup_report.hpp>
#include <tcsolve/core/arrays.hpp>
#include <tcsolve/core/coo_view.hpp>
#include <tcsolve/distributed/distributed_matrix.hpp>
#include <tcsolve/matrix/caller_csr.hpp>

namespace tcsolve {

struct BatchReport;

/// What is asked of one solve: reports while it runs, how to end it early (its outcome is then
/// `cancelled`, with the best x so far), and what takes the place of the options for it alone.
struct SolveCall {
  /// After iterations: the residual by the method's account, in the units of b. False ends the
  /// solve; what it throws ends it and passes through. Called by the thread that solves. On a
  /// device the host sees some of the iterations, not each. Columns in turn, and the methods that
  /// `auto` tries, each count from 1, and `solver` names the one at work; solves inside the method,
  /// as those of a preconditioner, are not heard of.
  std::function<bool(IterationEvent const&)> progress;
  Index every = 1;       ///< iterations between two calls
  std::stop_token stop;  ///< a request, from any thread, ends the solve after its iteration

  /// A^T x = b instead: b has the columns of A, x its rows. A symmetric A serves itself; of another
  /// one the first such solve makes A^T, with M^T where M has a transpose, else a second set-up by
  /// the same options, which SetupReport::transposed tells. update_values() is followed.
  bool transpose = false;
  /// x is written, never read: the guess is 0.
  bool zero_guess = false;
  /// The guess, of x's extents, where x is written, never read; it is copied into x after `stream`.
  /// A vector, or columns that lie without gaps as those of x do. Null: x itself, or 0.
  In<double> guess = {};
  /// In the place of the method's keys of these names, for this solve; nothing is set up again.
  std::optional<double> rtol = {}, atol = {};
  std::optional<Index> max_iters = {};
  std::optional<double> time_limit = {};  ///< seconds
  /// A cudaStream_t: the solve begins after the work that it holds now; x is there on return. Null:
  /// that of the Context. Of no meaning on the host.
  void* stream = nullptr;
};

class LinearSolver {
 public:
  using Options = SolverOptions;

  /// Without a matrix, in a Context of its own (options: backend, device, threads, stream, seed,
  /// deterministic). Throws ConfigError with all problems of the options, Unsupported where they
  /// exclude each other, and what Context's constructor throws.
  explicit LinearSolver(SolverOptions options);
  /// The same in the caller's Context, whose options replace those named above.
  LinearSolver(Context& ctx, SolverOptions options);
  /// The same, followed by set_matrix(a, arrays).
  LinearSolver(CsrView<double> const& a, SolverOptions options, Arrays arrays = Arrays::copied);
  LinearSolver(Context& ctx, CsrView<double> const& a, SolverOptions options,
               Arrays arrays = Arrays::copied);
  /// The same, followed by set_operator(A, M). `ctx` is the Context that A was made in.
  LinearSolver(Context& ctx, OperatorPtr<double> A, SolverOptions options,
               OperatorPtr<double> M = nullptr);
  /// With options from YAML text (SolverOptions::from_yaml).
  static LinearSolver from_yaml(CsrView<double> const& a, std::string const& text);
  static LinearSolver from_yaml(Context& ctx, CsrView<double> const& a, std::string const& text);

  ~LinearSolver();
  LinearSolver(LinearSolver&&) noexcept;
  LinearSolver& operator=(LinearSolver&&) noexcept;

  /// What is known of the unknowns of the matrices that are set from now on (precond/system.hpp):
  /// their nodes, coordinates, vectors that A nearly maps to zero, in the caller's order. Multigrid
  /// goes by it where its keys leave it open. Takes the place of the options' `nodes`.
  void set_nodes(NodeFacts nodes);

  /// Orders and converts A, makes the preconditioner and records the method's step. `a` has its
  /// columns ascending and unique in each row (canonical(), matrix/csr.hpp), on the host, which is
  /// checked, or in the Context's device memory, which is not. Borrowed arrays stay as they are
  /// until the next set_matrix() or update_values(), or as long as the solver lives; arrays in
  /// another space than the Context's are copied in any case. Throws MatrixError (malformed),
  /// SetupError (the format, its values or the preconditioner do not admit the matrix), ShapeError,
  /// Unsupported, MemoryError. Frees what was made of an earlier matrix first.
  void set_matrix(CsrView<double> const& a, Arrays arrays = Arrays::copied);
  /// A matrix of which each rank of the Context has some rows (distributed/distributed_matrix.hpp).
  /// Every rank calls this and what follows, with the same options and in the same order; b and x
  /// are its own rows, and the reports are the same on all. What one rank throws all throw, with
  /// its number; the ranks are well afterwards where that was known before they met, else they are
  /// done (Ranks::fail()). `operator.reorder` orders a rank's rows among themselves. Throws
  /// Unsupported for what is known of nodes and for preconditioners that are not over_ranks().
  void set_matrix(DistributedMatrix a);
  /// Moves the matrix into the solver: no copy on the host.
  void set_matrix(Csr<double> a);
  /// A matrix of other number types (matrix/caller_csr.hpp), as 64-bit columns, FP32 values or
  /// Fortran's numbers. They are converted where they lie, into a copy that the solver owns; a
  /// plain() one is taken as a CsrView. Throws as converted(), Unsupported for another device's,
  /// else as set_matrix(). A template, so that braces without a name of a type stay a CsrView.
  template <std::same_as<CallerCsr> Matrix>
  void set_matrix(Matrix const& a, Arrays arrays = Arrays::copied) {
    set_caller_matrix(a, arrays);
  }
  /// The matrix of entries (i, j, v) in any order, where those of one place are added: as element
  /// loops leave them, on the host or the device. Numbers from 0; a negative one leaves its entry
  /// out. The places are found and the entries copied into them here; update_coo() repeats the
  /// second. Throws as set_matrix(), MatrixError with the number of an entry that lies outside.
  /// Cost: two sorts of the entries (sparse/assembly.hpp), and what set_matrix() costs.
  void set_coo(CooView const& entries);
  /// New values of the entries that set_coo() was given, in their order. Throws ShapeError without
  /// it, else as update_values().
  void update_coo(std::span<double const> values, Space space = Space::host);
  /// Many small independent systems at once (solvers/driver/batch.hpp): `a` is block diagonal, and
  /// system k has the rows and columns [starts[k], starts[k + 1]). They take the place of a matrix:
  /// ready() is false, and solve_systems() and update_values() are for them. Method and
  /// preconditioner are those of the options. Throws Unsupported where these do not serve many
  /// systems (Solver::batches(), PreconditionerFactory::batches()), with the names of those that
  /// do, or where `operator`, `nullspace` or `renew` ask for what a batch has not; ShapeError
  /// (starts), MatrixError (an entry couples two systems), else as set_matrix(). Arrays as there.
  void set_systems(CsrView<double> const& a, std::vector<Index> const& starts,
                   Arrays arrays = Arrays::copied);
  /// An operator instead of a matrix; the options' `operator` is ignored. M: the caller's
  /// preconditioner; null: that of the options, which needs A to be a CsrOperator<double> unless it
  /// is made of A alone, as `none` is. A_true: the system that `converged` refers to; null: A.
  void set_operator(OperatorPtr<double> A, OperatorPtr<double> M = nullptr,
                    OperatorPtr<double> A_true = nullptr);
  /// New values on the same pattern. The pattern is not checked (require_same_pattern(),
  /// matrix/same_pattern.hpp, checks it). Later solves have the same bits as those of a solver made
  /// of `a` in the same order and format. `a` may lie on the host or on the device, and is copied;
  /// a solver that borrows arrays borrows those of `a` instead. The preconditioner is updated or
  /// made anew. Throws as set_matrix(). Cost: a copy or two, the preconditioner's, a pass over A.
  void update_values(CsrView<double> const& a);
  template <std::same_as<CallerCsr> Matrix>
  void update_values(Matrix const& a) {
    update_caller_values(a);
  }
  /// The same of the matrix of several ranks: this one's values, in the order of its entries.
  void update_values(std::span<double const> values, Space space = Space::host);
  /// To be called when the operators given to set_operator() have changed: makes the options'
  /// preconditioner anew and records the method's step again.
  void refresh();

  /// x <- an approximation of A^-1 b, or of A^-T b, from the guess in x, as Solver::solve(). Throws
  /// ShapeError, ConfigError for limits out of their range; a first transposed solve throws as
  /// set_matrix(), and Unsupported where operators that were given have no transpose, or a
  /// nullspace is given for an A that is not symmetric. Nothing is lost then: the solver is ready.
  SolveReport solve(In<double> b, Out<double> x, SolveCall const& call = {});
  /// The same on host vectors.
  SolveReport solve(std::span<double const> b, std::span<double> x, SolveCall const& call = {});
  /// The same of FP32 vectors, converted where the Context computes into FP64 ones that the solver
  /// keeps; x is rounded at the end. The report is about x before that: rounding adds up to
  /// 2^-24 || |A| |x| || to its residual, so that tolerances below some 1e-6 are not those of what
  /// is handed out. Throws Unsupported for blocks.
  SolveReport solve(In<float> b, Out<float> x, SolveCall const& call = {});
  SolveReport solve(std::span<float const> b, std::span<float> x, SolveCall const& call = {});
  /// Solves for every column of b from the guess in its column of x; a report for each, whatever
  /// ends the solve. A block method (`block_cg`) iterates the columns together, up to
  /// parts().columns_at_once(); any other takes them in turn. The time limit is that of all
  /// columns: those that are not begun in it, or after a cancelled one, have its reason, and their
  /// residual is unknown. Blocks in another space than the
  /// Context's are column-major, or row-major without gaps. Throws ShapeError where b and x differ
  /// in their columns.
  std::vector<SolveReport> solve_columns(In<double> b, Out<double> x, SolveCall const& call = {});

  /// x <- an approximation of A^-1 b, system by system, from the guess in x: b and x are vectors of
  /// all rows, end to end. A report of the size of a few numbers a system, whose of(k) is the
  /// report of system k; one that fails leaves the others alone. The time limit is that of all.
  /// `progress` is not called: the host does not see the iterations. What it returns is complete
  /// with solvers/driver/batch_report.hpp. Throws ShapeError; Unsupported for limits of the call
  /// and `transpose`.
  BatchReport solve_systems(In<double> b, Out<double> x, SolveCall const& call = {});
  /// The same on host vectors.
  BatchReport solve_systems(std::span<double const> b, std::span<double> x,
                            SolveCall const& call = {});

  /// Whether the solver has a matrix or an operator.
  bool ready() const;
  /// How many systems it has; 0 where set_systems() has not made them.
  Index systems() const;
  Context& context();
  /// The factories and the method that the options name; they give limits, costs and requirements.
  SolverParts const& parts() const;
  /// The options with every value in force.
  SolverOptions const& options() const;
  /// The report of the last set_matrix() or set_operator(); if that call threw, of the phases
  /// completed.
  SetupReport const& setup_report() const;
  /// The name of the format that A is in now; a lazy conversion changes it. Empty where there is
  /// none.
  std::string format() const;
  /// The operator and the preconditioner in force, in the solver's row order; null while not
  /// ready(), and M is null without a preconditioner. `auto` may have another one after a solve.
  /// They may borrow the solver's arrays: do not use them, or pass them to the solver, after the
  /// next set_matrix() or set_operator() or after the solver's destruction.
  OperatorPtr<double> A() const;
  OperatorPtr<double> M() const;

 private:
  void set_caller_matrix(CallerCsr const& a, Arrays arrays);
  void update_caller_values(CallerCsr const& a);
  struct Impl;
  Impl& with_matrix(char const* what) const;
  Impl& with_systems(char const* what) const;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tcsolve
