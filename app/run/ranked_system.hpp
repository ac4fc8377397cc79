// SPDX-License-Identifier: Apache-2.0
/// A system that rank 0 has read, and that all ranks solve: rows, b and x0 go out, x comes back.
///
///     rank 0   RankedSystem(.., &problem)   set_matrix   solve   solve  ..  end
///     others   RankedSystem(.., null)       set_matrix   follow: solve whenever rank 0 does
///
/// Or each has read its own rows, which then need not be dealt.
#pragma once

#include <optional>
#include <vector>

#include <tcsolve/api/linear_solver.hpp>
#include <tcsolve/app/config/problem.hpp>
#include <tcsolve/app/record/result.hpp>
#include <tcsolve/comm/ranks.hpp>
#include <tcsolve/distributed/dealt_rows.hpp>
#include <tcsolve/graph/reorder/permutation.hpp>

namespace tcsolve {

/// Who has which rows: stretches of an order.
struct RowOrder {
  Permutation order;               ///< of nothing: as given
  std::vector<std::int64_t> rows;  ///< of each rank, the first of its rows; the number of them last
};
/// Throws ConfigError, or MatrixError, where `ranks.partition` is not for a matrix of that size.
void check_partition(RanksConfig const&, std::filesystem::path const& file, Index rows, Index cols);
/// `ranks` of a run. Every rank reads the vectors of a nullspace, and writes a part of x, in the
/// order of the matrix, which then stays: throws ConfigError where a partition would change it.
RanksConfig in_order_of_vectors(RunConfig const&);
/// By `ranks.partition`; `file`: the one it names. Throws MatrixError for a file that does not name
/// a part for each row, and every part. Cost: a pass over A, an order or parts where these are
/// asked for.
RowOrder order_of_rows(Csr<double> const& A, RanksConfig const&, std::filesystem::path const& file,
                       CancelFlag cancel = {});
/// Entries of x that ranks have to ask of others, where they have these rows: the sum over ranks.
std::int64_t halo_of(Csr<double> const& A, std::vector<std::int64_t> const& rows);

/// Throws ConfigError where the run would write a whole x that is too large to be gathered.
void require_gatherable(OutputConfig const&, std::int64_t rows, std::int64_t columns);

class RankedSystem {
 public:
  /// Every rank calls it; rank 0 gives the problem, whose matrix it moves away. read: on all ranks
  /// or on none, the rows that each has read. Where `ranks.partition: auto` looks for another order
  /// rank 0 gets them all.
  RankedSystem(Context&, ParsedConfig const&, Problem* problem,
               std::optional<DealtRows> read = std::nullopt);
  /// Every rank calls it; once.
  void set_matrix(LinearSolver&);
  std::vector<RankShare> const& shares() const { return shares_; }
  Index columns() const { return columns_; }  ///< right-hand sides

  /// Of rank 0: from the guess in x, which becomes the answer where the run writes it as a whole.
  SolveReport solve(LinearSolver&, std::vector<double>& x, std::vector<SolveReport>& columns);
  /// Of rank 0: norm(x - solution) / norm(solution) of the last answer.
  double error_against(std::vector<double> const& solution);
  /// Of rank 0: each rank writes its rows of the last answer; files.failed says which could not.
  void write_parts(WrittenFiles& files);
  /// Of rank 0: the others need not wait for another solve. `timed`: parts of an iteration are
  /// timed, for the shares, beside `solve` seconds of a solve.
  void end(LinearSolver&, bool timed, double solve);
  /// Of the others, until then.
  void follow(LinearSolver&);

 private:
  enum class Next { end, solve, compare, write, time };
  Next next(Next said);
  DealtRows in_order(Context&, RanksConfig const&, std::filesystem::path const& file,
                     DealtRows whole);
  std::vector<std::int64_t> told(std::vector<std::int64_t> const& of_rank_0, std::size_t count);
  std::vector<double> dealt(std::vector<double> const& whole, Stretches const& to);
  std::vector<double> gathered(std::vector<double> const& mine);
  std::vector<SolveReport> solve_mine(LinearSolver&, std::vector<double>& x);
  double compared(std::vector<double> const& solution);
  void written(WrittenFiles& files);
  void time(LinearSolver&, double solve);

  Ranks& ranks_;
  OutputConfig output_;
  Index columns_ = 1;  // right-hand sides
  Permutation order_;  // rank 0's
  std::optional<DistributedMatrix> matrix_;
  Stretches rows_, cols_;
  std::vector<double> b_, x_;  // of this rank
  std::vector<RankShare> shares_;
};

}  // namespace tcsolve
