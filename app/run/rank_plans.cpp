// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/run/rank_plans.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <tcsolve/api/linear_solver.hpp>
#include <tcsolve/app/run/ranked_system.hpp>
#include <tcsolve/comm/together.hpp>

namespace tcsolve {
namespace {

/// What each rank has, whatever its bits are.
template <class T>
std::vector<T> gathered(Ranks& ranks, T const& mine) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<T> all;
  for (std::string const& text :
       gather(ranks, std::string(reinterpret_cast<char const*>(&mine), sizeof mine))) {
    T one;
    std::memcpy(&one, text.data(), sizeof one);
    all.push_back(one);
  }
  return all;
}

/// A definite matrix of about 24 rows.
Csr<double> small_matrix(ProblemSize const& like) {
  constexpr Index few = 24;
  Index const n = std::min({few, like.rows, like.cols});
  Csr<double> a;
  a.rows = n + (like.rows > like.cols);
  a.cols = n + (like.cols > like.rows);
  for (Index i = 0; i < a.rows; ++i) {
    for (Index j = std::max<Index>(0, i - 1); j < std::min(i + 2, n); ++j) {
      a.columns.push_back(j);
      a.values.push_back(i == j ? 4 : -1);
    }
    a.offsets.push_back(a.entries());
  }
  return a;
}

/// The rank's stretch of the rows of a, and of its columns.
DistributedMatrix part_of(Context& ctx, Csr<double> const& a) {
  Ranks& ranks = all_ranks(ctx);
  std::int64_t const r = ranks.rank(), count = ranks.ranks();
  auto const first = static_cast<Index>(a.rows * r / count),
             end = static_cast<Index>(a.rows * (r + 1) / count);
  auto const columns_here =
      static_cast<Index>(a.cols * (r + 1) / count) - static_cast<Index>(a.cols * r / count);
  std::vector<Offset> offsets{0};
  std::vector<std::int64_t> columns;
  for (Index i = first; i < end; ++i) {
    columns.insert(columns.end(), a.row_columns(i).begin(), a.row_columns(i).end());
    offsets.push_back(static_cast<Offset>(columns.size()));
  }
  return DistributedMatrix(ctx, first,
                           CsrView64{end - first, a.cols, offsets.back(), offsets.data(),
                                     columns.data(), a.values.data() + a.offsets[first]},
                           columns_here);
}

}  // namespace

ProblemSize told_size(Ranks& ranks, ProblemSize const& of_rank_0) {
  struct Told {
    Index rows, cols, columns;
    Offset entries;
    std::int64_t csr_bytes, peak_bytes;
  };
  Told const told =
      gathered(ranks, Told{of_rank_0.rows, of_rank_0.cols, of_rank_0.columns, of_rank_0.entries,
                           of_rank_0.csr_bytes, of_rank_0.peak_bytes})
          .front();
  ProblemSize size = of_rank_0;
  size.rows = told.rows, size.cols = told.cols, size.columns = told.columns;
  size.entries = told.entries, size.csr_bytes = told.csr_bytes, size.peak_bytes = told.peak_bytes;
  return size;
}

std::vector<MemoryPlan> plan_memory_of_ranks(Context const& ctx, SolverParts const& parts,
                                             RunConfig const& run, ProblemSize const& size) {
  Ranks& ranks = all_ranks(ctx);
  std::int64_t const count = ranks.ranks();
  auto const share = [=](std::int64_t all) { return (all + count - 1) / count; };
  ProblemSize part = size;
  part.rows = static_cast<Index>(share(size.rows));
  part.cols = static_cast<Index>(share(size.cols));
  part.entries = share(size.entries);
  MemoryPlan mine = plan_of(ctx, parts);
  double const space = space_bytes(ctx, parts, false, part, size.cols);
  // Rows come with offsets and columns of 64 bits; columns of 32 bits and these lie there together.
  double const n = part.rows, e = static_cast<double>(part.entries);
  double const rows = 8 * n + 16 * e, vectors = 2 * 8 * std::max(n, double(part.cols));
  double host = std::max(rows + 4 * e, rows + vectors * size.columns);
  if (mine.on_device)
    mine.device = static_cast<std::int64_t>(space);
  else
    host =
        std::max({host, space + vectors * size.columns,
                  rows + DistributedMemory::of(part.rows, size.cols, part.entries, false).dealing});
  // distributed/read_rows.hpp; of a generator CSR as made and as dealt.
  double const entry_on_its_way = run.problem.generator ? 2 * 12 : 32;
  if (size.by_ranks) host = std::max(host, entry_on_its_way * e + 2 * 8 * n);
  if (ranks.rank() == 0) {
    // b, x0, x and the solution; the whole, from where the others' rows go.
    double const whole = 4 * 8.0 * std::max(size.rows, size.cols) * size.columns;
    host += whole;
    if (!size.by_ranks || in_order_of_vectors(run).partition != "rows")
      host = std::max({host, static_cast<double>(size.csr_bytes) + rows + 4 * e + whole,
                       static_cast<double>(size.peak_bytes)});
  }
  mine.host = static_cast<std::int64_t>(host);
  return gathered(ranks, mine);
}

void require_room(Ranks& ranks, std::vector<MemoryPlan> const& all) {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  std::vector<std::string> const hosts = gather(ranks, std::string(name.data()));
  together(ranks, [&] {
    MemoryPlan here = all[static_cast<std::size_t>(ranks.rank())];
    here.host = 0;
    for (std::size_t r = 0; r < all.size(); ++r)
      if (hosts[r] == name.data()) here.host += all[r].host;
    here.require();
  });
}

void rehearse(Context const& like, RunConfig const& config, ProblemSize const& size) {
  SolverOptions options = config;
  options.check_matrices = false;
  options.columns = size.columns;
  options.cache.directory.clear();
  Csr<double> a = small_matrix(size);
  Context ctx(like.space() == Space::cuda ? Backend::cuda : Backend::host, like.options());
  bool const ranks = ctx.communicator().extends_sums();
  options.nullspace = {};  // of the run's matrix
  try {
    LinearSolver solver(ctx, options);
    if (!config.problem.batch.empty())
      solver.set_systems(a.view(), {0, a.rows});
    else if (ranks)
      solver.set_matrix(part_of(ctx, a));
    else
      solver.set_matrix(std::move(a));
  } catch (SetupError const&) {
    if (!thrown_by_all(ctx)) throw;
    // Of this matrix; that of the run may be another case.
  }
}

}  // namespace tcsolve
