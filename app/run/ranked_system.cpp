// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/run/ranked_system.hpp>

#include <algorithm>
#include <cmath>
#include <exception>
#include <numeric>
#include <utility>

#include <tcsolve/app/record/output_directory.hpp>
#include <tcsolve/app/run/columns.hpp>
#include <tcsolve/app/run/rank_times.hpp>
#include <tcsolve/graph/reorder/cuthill_mckee.hpp>
#include <tcsolve/graph/reorder/graph_partition.hpp>
#include <tcsolve/io/files/matrix_file.hpp>
#include <tcsolve/io/files/matrix_market.hpp>
#include <tcsolve/matrix/pattern.hpp>

namespace tcsolve {
namespace {

/// Stretches of about equally many entries.
std::vector<std::int64_t> balanced(Csr<double> const& A, int ranks) {
  std::vector<std::int64_t> rows{0};
  // A row without entries is something, too.
  auto const weight = [&](Index i) { return A.offsets[i] + i; };
  std::int64_t const all = weight(A.rows);
  Index i = 0;
  for (int r = 1; r < ranks; ++r) {
    while (i < A.rows && weight(i) * ranks < all * r) ++i;
    rows.push_back(i);
  }
  rows.push_back(A.rows);
  return rows;
}

RowOrder by_parts(std::vector<Index> const& part, int ranks) {
  std::vector<Index> old(part.size());
  std::iota(old.begin(), old.end(), 0);
  std::ranges::stable_sort(old, {}, [&](Index i) { return part[static_cast<std::size_t>(i)]; });
  RowOrder out{Permutation(std::move(old)), {0}};
  std::vector<std::int64_t> count(static_cast<std::size_t>(ranks));
  for (Index const p : part) ++count[static_cast<std::size_t>(p)];
  for (std::int64_t const c : count) out.rows.push_back(out.rows.back() + c);
  return out;
}

std::vector<Index> parts_in(std::filesystem::path const& path, Index rows, int ranks) {
  std::string const file = file_name(path);
  Columns const told = [&] {
    try {
      return read_columns_file(path, "part", {});
    } catch (MatrixError const& e) {
      throw MatrixError(
          cat("'ranks.partition' is a file with one number a line, the part of that "
              "row: ",
              e.what()));
    }
  }();
  if (told.rows != rows || told.cols != 1)
    throw MatrixError(cat(file, ": ranks.partition names the part of ", told.rows,
                          " rows; the matrix has ", rows));
  std::vector<Index> part;
  std::vector<bool> taken(static_cast<std::size_t>(ranks), false);
  for (double const p : told.values) {
    if (!(p >= 0) || p >= ranks || p != std::floor(p))
      throw MatrixError(
          cat(file, ": row ", part.size() + 1, " is in part ", p, "; parts are 0 to ", ranks - 1));
    part.push_back(static_cast<Index>(p));
    taken[static_cast<std::size_t>(p)] = true;
  }
  for (int r = 0; r < ranks; ++r)
    if (!taken[static_cast<std::size_t>(r)])
      throw MatrixError(cat(file, ": no row is in part ", r, " of ", ranks));
  return part;
}

RowOrder grown(Csr<double> const& A, int ranks, CancelFlag cancel) {
  RowOrder out{reverse_cuthill_mckee(Pattern(A.view()), cancel), {}};
  out.rows = balanced(permuted(A.view(), out.order), ranks);
  return out;
}

/// Whether the matrix is small enough outside of ranks' own columns to be left in its order; of
/// `partition: auto`, which else looks for one.
bool few(std::int64_t halo, std::int64_t rows) { return 10 * halo <= rows; }

/// Whether ranks keep the rows that they have read.
bool keeps_order(Ranks& ranks, DealtRows const& read, RanksConfig const& config) {
  if (config.partition == "rows" || read.rows.size() != read.A.cols) return true;
  return few(halo_of(ranks, read), read.rows.size());
}

}  // namespace

std::int64_t halo_of(Csr<double> const& A, std::vector<std::int64_t> const& rows) {
  std::vector<Index> seen_by(static_cast<std::size_t>(A.cols), -1);
  std::int64_t count = 0;
  for (std::size_t r = 0; r + 1 < rows.size(); ++r)
    for (std::int64_t i = rows[r]; i < rows[r + 1]; ++i)
      for (Index const j : A.row_columns(static_cast<Index>(i)))
        if ((j < rows[r] || j >= rows[r + 1]) &&
            std::exchange(seen_by[static_cast<std::size_t>(j)], static_cast<Index>(r)) !=
                static_cast<Index>(r))
          ++count;
  return count;
}

void check_partition(RanksConfig const& config, std::filesystem::path const& file, Index rows,
                     Index cols) {
  std::string const& by = config.partition;
  if (by == "auto" || by == "rows") return;
  if (rows != cols)
    throw ConfigError(cat("ranks.partition: ", by, " orders rows and columns alike; the matrix is ",
                          rows, " x ", cols));
  if (by != "grow" && by != "metis") parts_in(file, rows, config.count);
}

RowOrder order_of_rows(Csr<double> const& A, RanksConfig const& config,
                       std::filesystem::path const& file, CancelFlag cancel) {
  int const ranks = config.count;
  bool const square = A.rows == A.cols;
  std::string const& by = config.partition;
  if (!square) check_partition(config, file, A.rows, A.cols);
  RowOrder given{{}, balanced(A, ranks)};
  if (by == "rows" || !square || ranks == 1) return given;
  if (by == "grow") return grown(A, ranks, cancel);
  if (by == "metis") return by_parts(partition(adjacency(Pattern(A.view())), ranks, cancel), ranks);
  if (by != "auto") return by_parts(parts_in(file, A.rows, ranks), ranks);
  // An order takes a moment: only where the halo is more than a tenth of the rows.
  std::int64_t const halo = halo_of(A, given.rows);
  if (few(halo, A.rows)) return given;
  RowOrder other = grown(A, ranks, cancel);
  return 2 * halo_of(permuted(A.view(), other.order), other.rows) <= halo ? other : given;
}

RanksConfig in_order_of_vectors(RunConfig const& run) {
  RanksConfig config = run.ranks;
  bool const vectors = !run.nullspace.files.empty();
  if (!vectors && !run.output.solution_parts) return config;
  if (config.partition != "auto" && config.partition != "rows")
    throw ConfigError(cat("ranks.partition: ", config.partition, " orders rows, and ",
                          vectors ? "'nullspace.files' is" : "'output.solution_parts' writes them",
                          " in the order of the matrix; take rows"));
  config.partition = "rows";
  return config;
}

void require_gatherable(OutputConfig const& output, std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t most = std::int64_t{1} << 27;
  if (output.writes_x() && rows * columns > most)
    throw ConfigError(cat("'output.", output.solution ? "solution" : "rows",
                          "': rank 0 gathers an x of at most ", most,
                          " numbers (1 GiB), and this one has ", rows * columns,
                          "; take output.solution_parts: true, a file a rank"));
}

RankedSystem::RankedSystem(Context& ctx, ParsedConfig const& parsed, Problem* problem,
                           std::optional<DealtRows> read)
    : ranks_(all_ranks(ctx)), output_(parsed.run.output) {
  RanksConfig const config = in_order_of_vectors(parsed.run);
  DealtRows mine;
  if (read && keeps_order(ranks_, *read, config)) {
    mine = *std::move(read);
  } else {
    if (read) {
      Stretches const whole = on_rank_0(ranks_.ranks(), read->rows.size());
      mine = redealt(ranks_, *std::move(read), whole);
    } else if (problem != nullptr) {
      mine.A = std::move(problem->A);
    }
    mine = in_order(ctx, config, parsed.files.partition, std::move(mine));
  }
  ranks_.busy(false);
  columns_ = static_cast<Index>(told({problem != nullptr ? problem->columns : 0}, 1).front());
  // Columns are dealt as rows are.
  std::int64_t const first = mine.rows.first(ranks_.rank()), cols = mine.A.cols;
  auto const column = [&](std::int64_t row) {
    std::int64_t const all = mine.rows.size();
    return all == cols ? row : row * cols / std::max<std::int64_t>(all, 1);
  };
  std::vector<std::int64_t> const columns(mine.A.columns.begin(), mine.A.columns.end());
  mine.A.columns = {};
  matrix_.emplace(ctx, first,
                  CsrView64{mine.A.rows, cols, static_cast<Offset>(columns.size()),
                            mine.A.offsets.data(), columns.data(), mine.A.values.data()},
                  narrow(column(first + mine.A.rows) - column(first), "columns of a rank"));
  rows_ = matrix_->rows();
  cols_ = matrix_->columns();
  b_ = dealt(problem != nullptr ? problem->b : std::vector<double>{}, rows_);

  HaloPlan const& plan = matrix_->plan();
  auto const all = [&](std::int64_t mine) { return gather(ranks_, mine); };
  auto const rows = all(matrix_->own().rows),
             entries = all(matrix_->own().entries + matrix_->outer().entries()),
             halo = all(plan.halo()), sent = all(8 * std::int64_t(plan.sent.size())),
             neighbours = all(std::int64_t(plan.neighbours.size()));
  for (std::size_t r = 0; r < rows.size(); ++r)
    shares_.push_back({rows[r], entries[r], halo[r], neighbours[r], sent[r]});
}

/// Of rank 0's matrix the rows of each rank, in the order that the config asks for.
DealtRows RankedSystem::in_order(Context& ctx, RanksConfig const& config,
                                 std::filesystem::path const& file, DealtRows whole) {
  auto const count = static_cast<std::size_t>(ranks_.ranks());
  std::vector<std::int64_t> starts;
  if (ranks_.rank() == 0) {
    RowOrder at = order_of_rows(whole.A, config, file, ctx.cancel_flag());
    order_ = std::move(at.order);
    if (order_.size() > 0) whole.A = permuted(whole.A.view(), order_);
    starts = std::move(at.rows);
  }
  starts = told(starts, count + 1);
  whole.A.cols = static_cast<Index>(told({whole.A.cols}, 1).front());
  whole.rows = on_rank_0(ranks_.ranks(), starts.back());
  return redealt(ranks_, std::move(whole), {std::move(starts)});
}

/// Rank 0's list, of so many numbers.
std::vector<std::int64_t> RankedSystem::told(std::vector<std::int64_t> const& of_rank_0,
                                             std::size_t count) {
  std::vector<double> mine(count), all(count * static_cast<std::size_t>(ranks_.ranks()));
  if (ranks_.rank() == 0) std::ranges::copy(of_rank_0, mine.begin());
  ranks_.gather(mine.data(), static_cast<std::int64_t>(count), all.data());
  return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)};
}

void RankedSystem::set_matrix(LinearSolver& solver) {
  solver.set_matrix(*std::move(matrix_));
  matrix_.reset();
}

/// Of rank 0's vectors of all rows, column after column, those of each rank.
std::vector<double> RankedSystem::dealt(std::vector<double> const& whole, Stretches const& to) {
  std::vector<std::vector<double>> out(static_cast<std::size_t>(ranks_.ranks()));
  if (ranks_.rank() == 0) {
    std::int64_t const n = to.size();
    for (int r = 0; r < ranks_.ranks(); ++r)
      for (Index j = 0; j < columns_; ++j)
        for (std::int64_t i = to.first(r); i < to.first(r) + to.size(r); ++i) {
          std::int64_t const from =
              order_.size() > 0 ? order_.old_numbers()[static_cast<std::size_t>(i)] : i;
          out[static_cast<std::size_t>(r)].push_back(whole[static_cast<std::size_t>(j * n + from)]);
        }
  }
  return all_to_all(ranks_, out).front();
}

/// The other way; empty but on rank 0.
std::vector<double> RankedSystem::gathered(std::vector<double> const& mine) {
  std::vector<std::vector<double>> out(static_cast<std::size_t>(ranks_.ranks()));
  out.front() = mine;
  auto const parts = all_to_all(ranks_, out);
  if (ranks_.rank() != 0) return {};
  std::int64_t const n = cols_.size();
  std::vector<double> whole(static_cast<std::size_t>(n * columns_));
  for (int r = 0; r < ranks_.ranks(); ++r) {
    std::int64_t const size = cols_.size(r);
    for (Index j = 0; j < columns_; ++j)
      for (std::int64_t i = 0; i < size; ++i) {
        std::int64_t const number = cols_.first(r) + i;
        std::int64_t const to =
            order_.size() > 0 ? order_.old_numbers()[static_cast<std::size_t>(number)] : number;
        whole[static_cast<std::size_t>(j * n + to)] =
            parts[static_cast<std::size_t>(r)][static_cast<std::size_t>(j * size + i)];
      }
  }
  return whole;
}

std::vector<SolveReport> RankedSystem::solve_mine(LinearSolver& solver, std::vector<double>& x) {
  auto const rows = static_cast<Index>(rows_.size(ranks_.rank())),
             cols = static_cast<Index>(cols_.size(ranks_.rank()));
  if (columns_ == 1) return {solver.solve(b_, x)};
  return solver.solve_columns({b_.data(), rows, columns_, rows, Layout::col_major},
                              {x.data(), cols, columns_, cols, Layout::col_major});
}

SolveReport RankedSystem::solve(LinearSolver& solver, std::vector<double>& x,
                                std::vector<SolveReport>& columns) {
  next(Next::solve);
  x_ = dealt(x, cols_);
  std::vector<SolveReport> reports = solve_mine(solver, x_);
  if (output_.writes_x()) x = gathered(x_);
  if (columns_ == 1) return std::move(reports.front());
  columns = std::move(reports);
  return report_of_columns(columns, solver.parts().columns_at_once());
}

double RankedSystem::error_against(std::vector<double> const& solution) {
  next(Next::compare);
  return compared(solution);
}

void RankedSystem::write_parts(WrittenFiles& files) {
  next(Next::write);
  written(files);
}

void RankedSystem::end(LinearSolver& solver, bool timed, double solve) {
  next(timed ? Next::time : Next::end);
  if (timed) time(solver, solve);
}

void RankedSystem::follow(LinearSolver& solver) {
  for (;;) {
    WrittenFiles files;
    switch (next(Next::end)) {
      case Next::end: return;
      case Next::time: return time(solver, 0);
      case Next::compare: compared({}); break;
      case Next::write: written(files); break;
      case Next::solve:
        x_ = dealt({}, cols_);
        solve_mine(solver, x_);
        if (output_.writes_x()) gathered(x_);
    }
  }
}

double RankedSystem::compared(std::vector<double> const& solution) {
  std::vector<double> const mine = dealt(solution, cols_);
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    difference = std::hypot(difference, x_[i] - mine[i]);
    size = std::hypot(size, mine[i]);
  }
  auto const norm = [&](double part) {
    double all = 0;
    for (double const one : gather(ranks_, part)) all = std::hypot(all, one);
    return all;
  };
  difference = norm(difference);
  size = norm(size);
  return size > 0 ? difference / size : difference;
}

void RankedSystem::written(WrittenFiles& files) {
  int const me = ranks_.rank();
  std::string why;
  ranks_.busy(true);
  try {
    write_solution_part(output_, me, cols_.first(me), x_, columns_);
  } catch (std::exception const& e) { why = e.what(); }
  ranks_.busy(false);
  std::vector<std::string> const failed = gather(ranks_, why);
  for (int r = 0; r < ranks_.ranks(); ++r)
    if (std::string const& said = failed[static_cast<std::size_t>(r)]; said.empty())
      files.parts.push_back({record::part_name(output_, r), cols_.first(r), cols_.size(r)});
    else
      files.failed.push_back(r == 0 ? said : cat("rank ", r, ": ", said));
}

/// What rank 0 says is next.
RankedSystem::Next RankedSystem::next(Next said) {
  return static_cast<Next>(gather(ranks_, static_cast<std::int64_t>(said)).front());
}

void RankedSystem::time(LinearSolver& solver, double solve) {
  RankTimes const mine = time_parts(solver, solve);
  auto const of_all = [&](double RankTimes::*part) {
    std::vector<double> const all = gather(ranks_, mine.*part);
    for (std::size_t r = 0; r < all.size(); ++r) shares_[r].times.*part = all[r];
  };
  for (auto const part :
       {&RankTimes::product, &RankTimes::waiting, &RankTimes::halo, &RankTimes::sum})
    of_all(part);
}

}  // namespace tcsolve
