// SPDX-License-Identifier: Apache-2.0
/// bench_ranks_setup [RANKS = 2] [REPETITIONS = 9] [BACKEND = cuda] [N = 160]: what the set-up of a
/// matrix over ranks consists of, in milliseconds: 7-point N^3, random coefficients, CG with
/// Jacobi. Each rank has its rows where it computes before the clock starts; ranks are threads with
/// a device each, on the host with one thread. Medians over the repetitions of the slowest rank's
/// time, beside one rank whose matrix lies there too.
///
///   rows dealt    DistributedMatrix: rows checked, split and renumbered, the halo planned
///   halo          OuterPart: the halo's memory on all ranks, the rows with outer entries
///   set_matrix    all that follows, the halo once more; its parts are those of SetupReport
///   new values    DistributedMatrix::update_values(), not for the first time
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include <tcsolve/api/linear_solver.hpp>
#include <tcsolve/comm/threads.hpp>
#include <tcsolve/core/timed.hpp>
#include <tcsolve/distributed/operator.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/version.hpp>

using namespace tcsolve;

namespace {

constexpr char const* options =
    "solver: {type: cg, rtol: 1.0e-8}\npreconditioner: {type: jacobi}\n";

/// Milliseconds of each part, of each repetition.
using Times = std::map<std::string, std::vector<double>>;

/// Adds f()'s, until the Context has done it.
template <class F>
void timed_ms(Context& ctx, Times& times, std::string const& part, F const& f) {
  double seconds = 0;
  timed(seconds, [&] {
    f();
    ctx.synchronize();
  });
  times[part].push_back(1e3 * seconds);
}

void add_parts(Times& times, SetupReport const& report) {
  times["  taking the matrix"].push_back(1e3 * report.upload);
  times["  choosing a format"].push_back(1e3 * report.plan);
  times["  converting it"].push_back(1e3 * report.convert);
  times["  M and the method"].push_back(1e3 * report.setup);
}

double median(std::vector<double> v) {
  std::ranges::nth_element(v, v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2));
  return v[v.size() / 2];
}

Times by_one(Csr<double> const& a, Backend backend, int repetitions) {
  Context ctx(backend, {.threads = backend == Backend::host ? 1 : 0});
  CsrStorage<double> const there(ctx, a.view());
  Times times, unseen;
  for (int k = -1; k < repetitions; ++k) {
    Times& to = k < 0 ? unseen : times;
    LinearSolver solver(ctx, SolverOptions::from_yaml(options));
    timed_ms(ctx, to, "set_matrix", [&] { solver.set_matrix(there.view()); });
    add_parts(to, solver.setup_report());
  }
  return times;
}

Times by_rank(Ranks& ranks, Csr<double> const& a, Backend backend, int repetitions) {
  int const r = ranks.rank(), count = ranks.ranks();
  Context ctx(backend, {.device = r,
                        .threads = backend == Backend::host ? 1 : thread_count(0) / count,
                        .communicator = &ranks});
  auto const first = static_cast<Index>(std::int64_t{a.rows} * r / count),
             end = static_cast<Index>(std::int64_t{a.rows} * (r + 1) / count);
  std::vector<Offset> offsets(a.offsets.begin() + first, a.offsets.begin() + end + 1);
  for (Offset& k : offsets) k -= a.offsets[first];
  std::vector<std::int64_t> const columns(a.columns.begin() + a.offsets[first],
                                          a.columns.begin() + a.offsets[end]);
  auto const entries = static_cast<std::size_t>(offsets.back());
  Array<Offset> const offsets_there = to_space(ctx, offsets.data(), offsets.size());
  Array<std::int64_t> const columns_there = to_space(ctx, columns.data(), entries);
  Array<double> const values_there = to_space(ctx, a.values.data() + a.offsets[first], entries);
  CsrView64 const rows{
      end - first,         a.cols,     offsets.back(), offsets_there.data(), columns_there.data(),
      values_there.data(), ctx.space()};
  Times times, unseen;
  for (int k = -1; k < repetitions; ++k) {
    Times& to = k < 0 ? unseen : times;
    std::shared_ptr<DistributedMatrix> dealt;
    std::shared_ptr<OuterPart> outer;
    auto const part = [&](char const* name, auto const& f) {
      barrier(ranks);
      timed_ms(ctx, to, name, f);
    };
    part("rows dealt", [&] { dealt = std::make_shared<DistributedMatrix>(ctx, first, rows); });
    part("halo", [&] { outer = std::make_shared<OuterPart>(ctx, dealt); });
    auto const renew = [&] { dealt->update_values(ctx, rows.values, rows.entries, ctx.space()); };
    renew();
    part("new values", renew);
    outer.reset(), dealt.reset();
    LinearSolver solver(ctx, SolverOptions::from_yaml(options));
    DistributedMatrix given(ctx, first, rows);
    part("set_matrix", [&] { solver.set_matrix(std::move(given)); });
    add_parts(to, solver.setup_report());
  }
  return times;
}

}  // namespace

int main(int count, char** words) try {
  int const ranks = count > 1 ? std::atoi(words[1]) : 2;
  int const repetitions = count > 2 ? std::atoi(words[2]) : 9;
  Backend const backend =
      count > 3 && std::string(words[3]) == "host" ? Backend::host : Backend::cuda;
  Index const n = count > 4 ? std::atoi(words[4]) : 160;
  Csr<double> const a = generate(Poisson7Params{.n = n, .coefficient = Coefficient::random});
  Times one = by_one(a, backend, repetitions);
  std::vector<Times> of(static_cast<std::size_t>(ranks));
  run_threads(ranks, [&](Ranks& all) {
    of[static_cast<std::size_t>(all.rank())] = by_rank(all, a, backend, repetitions);
  });
  std::cout << "{\"revision\": \"" << version::revision << "\", \"ranks\": " << ranks
            << ", \"repetitions\": " << repetitions << ", \"rows\": " << a.rows
            << "}\npart | one, ms | all, ms\n---|---|---\n";
  for (char const* const part :
       {"rows dealt", "halo", "new values", "set_matrix", "  taking the matrix",
        "  choosing a format", "  converting it", "  M and the method"}) {
    std::cout << part << " | ";
    if (one.contains(part)) std::cout << median(one[part]);
    double slowest = 0;
    for (Times& times : of) slowest = std::max(slowest, median(times[part]));
    std::cout << " | " << slowest << "\n";
  }
} catch (std::exception const& e) {
  std::cerr << e.what() << "\n";
  return 1;
}
