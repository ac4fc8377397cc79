// SPDX-License-Identifier: Apache-2.0
/// bench_ranks [RANKS = 2] [REPETITIONS = 9] [BACKEND = cuda] [NAMES = all] [EXECUTION = auto]
///     [TRANSPORT = auto] [PRECISION = fp64]
/// Whole solves by ranks, threads of this process with a device each (or a share of the
/// processors), beside one. BACKEND: host, cuda, or one: the first device for all ranks, joined by
/// mpi. Rows are dealt as they come, random coefficients, b = ones, a true
/// residual of 1e-8. poisson7_252 has twice the rows of poisson7_200: on two ranks beside that on
/// one it says what twice the system takes on twice the devices. Ranks run their loop as EXECUTION
/// says, the one rank as it is quickest. PRECISION is the key of that name, of
/// one rank and of all.
///
///   us      an iteration: seconds of the solve on the slowest rank / iterations, the median
///   threads on the host, where each rank has one thread: us of one rank with as many threads as
///   there
///           are ranks
///   gain    us of one, on the host with one thread, over us of all
///   set-up  rows given on each rank, until the first iteration
///   auto    how many ranks `--ranks auto` takes of as many GPUs
///   halo    entries of x that the rank with most of them gets in each product
///
/// A verdict other than converged is named in the place of a gain.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <string>
#include <vector>

#include <tcsolve/api/linear_solver.hpp>
#include <tcsolve/app/run/rank_choice.hpp>
#include <tcsolve/comm/threads.hpp>
#include <tcsolve/core/parallel.hpp>
#include <tcsolve/core/timed.hpp>
#include <tcsolve/distributed/distributed_matrix.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/version.hpp>

using namespace tcsolve;

namespace {

struct Run {
  std::string outcome;
  int iterations = 0;
  double us = 0, setup = 0, ms = 0;
  std::int64_t halo = 0;
  std::string device, execution;
};

double median(std::vector<double> v) {
  std::ranges::nth_element(v, v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2));
  return v[v.size() / 2];
}

std::string options(std::string const& method, std::string const& execution,
                    std::string const& precision) {
  return cat("solver: {type: ", method, ", rtol: 1.0e-8, max_iters: 20000, execution: ", execution,
             "}\npreconditioner: {type: jacobi}\nprecision: ", precision, "\n");
}

/// How many of these GPUs `--ranks auto` takes.
int chosen(Csr<double> const& a, int gpus) {
  ProblemSize size;
  size.rows = a.rows, size.cols = a.cols, size.entries = a.offsets[a.rows];
  return ranks_on_devices(size, gpus).count;
}

/// b = ones, x = 0, in the solver's space.
Run solves(LinearSolver& solver, Index rows, int repetitions) {
  Context& ctx = solver.context();
  std::vector<double> const ones(static_cast<std::size_t>(rows), 1.0);
  Array<double> const b = to_space(ctx, ones.data(), ones.size());
  Array<double> x(ctx.space(), ones.size());
  SolveCall call;
  call.zero_guess = true;
  std::vector<double> seconds;
  SolveReport report;
  for (int k = -1; k < repetitions; ++k) {
    report = solver.solve(b.view(), x.view(), call);
    if (k >= 0) seconds.push_back(report.seconds);
  }
  Run run{report.outcome(), report.iterations};
  run.ms = 1e3 * median(seconds);
  run.us = 1e3 * run.ms / std::max(report.iterations, 1);
  run.device = ctx.device_name();
  run.execution = name(report.execution);
  return run;
}

/// threads: of the host, 0: all.
Run by_one(Csr<double> const& a, std::string const& yaml, Backend backend, int repetitions,
           int threads) {
  Context ctx(backend, {.threads = threads});
  auto const start = std::chrono::steady_clock::now();
  LinearSolver solver = LinearSolver::from_yaml(ctx, a.view(), yaml);
  ctx.synchronize();
  double const setup = 1e3 * seconds_since(start);
  Run run = solves(solver, a.rows, repetitions);
  run.setup = setup;
  return run;
}

/// What joins devices, and whether all ranks have the first one.
struct Join {
  DeviceTransport transport = DeviceTransport::automatic;
  bool one_device = false;
};

Run by_ranks(int count, Csr<double> const& a, std::string const& yaml, Backend backend,
             int repetitions, Join join) {
  std::vector<Run> runs(static_cast<std::size_t>(count));
  run_threads(count, [&](Ranks& ranks) {
    int const r = ranks.rank();
    Context ctx(backend, {.device = join.one_device ? 0 : r,
                          .threads = backend == Backend::host ? 1 : thread_count(0) / count,
                          .communicator = &ranks,
                          .transport = join.transport});
    auto const first = static_cast<Index>(std::int64_t{a.rows} * r / count),
               end = static_cast<Index>(std::int64_t{a.rows} * (r + 1) / count);
    std::vector<std::int64_t> const columns(a.columns.begin() + a.offsets[first],
                                            a.columns.begin() + a.offsets[end]);
    std::vector<Offset> offsets(a.offsets.begin() + first, a.offsets.begin() + end + 1);
    for (Offset& k : offsets) k -= a.offsets[first];
    CsrView64 const rows{end - first,    a.cols,         offsets.back(),
                         offsets.data(), columns.data(), a.values.data() + a.offsets[first],
                         Space::host};
    auto const start = std::chrono::steady_clock::now();
    LinearSolver solver(ctx, SolverOptions::from_yaml(yaml));
    DistributedMatrix dealt(ctx, first, rows);
    std::int64_t const halo = dealt.plan().halo();
    solver.set_matrix(std::move(dealt));
    ctx.synchronize();
    double const setup = 1e3 * seconds_since(start);
    Run run = solves(solver, end - first, repetitions);
    run.setup = setup, run.halo = halo;
    runs[static_cast<std::size_t>(r)] = run;
  });
  Run all = runs.front();
  for (Run const& run : runs) {
    all.us = std::max(all.us, run.us), all.ms = std::max(all.ms, run.ms);
    all.setup = std::max(all.setup, run.setup), all.halo = std::max(all.halo, run.halo);
  }
  return all;
}

struct Case {
  std::string name, method;
  Csr<double> (*make)();
};

}  // namespace

int main(int count, char** words) try {
  int const ranks = count > 1 ? std::atoi(words[1]) : 2;
  int const repetitions = count > 2 ? std::atoi(words[2]) : 9;
  Backend const backend =
      count > 3 && std::string(words[3]) == "host" ? Backend::host : Backend::cuda;
  std::string const names = count > 4 ? words[4] : "all";
  std::string const wanted = names == "all" ? "" : cat(",", names, ",");
  std::string const execution = count > 5 ? words[5] : "auto";
  std::string const transport = count > 6 ? words[6] : "auto";
  std::string const precision = count > 7 ? words[7] : "fp64";
  Join join;
  for (auto const t : {DeviceTransport::peer, DeviceTransport::nccl, DeviceTransport::mpi})
    if (transport == name(t)) join.transport = t;
  if (transport != name(join.transport)) throw ConfigError("TRANSPORT is auto, peer, nccl or mpi");
  join.one_device = count > 3 && std::string(words[3]) == "one";
  constexpr auto random = Coefficient::random;
  std::vector<Case> const cases{
      {"poisson27_32", "cg",
       [] { return generate(Poisson27Params{.n = 32, .coefficient = random}); }},
      // Where `--ranks auto` begins to take two.
      {"poisson7_80", "cg",
       [] { return generate(Poisson7Params{.n = 80, .coefficient = random}); }},
      {"poisson7_90", "cg",
       [] { return generate(Poisson7Params{.n = 90, .coefficient = random}); }},
      {"poisson7_100", "cg",
       [] { return generate(Poisson7Params{.n = 100, .coefficient = random}); }},
      {"poisson27_68", "cg",
       [] { return generate(Poisson27Params{.n = 68, .coefficient = random}); }},
      {"elasticity_36", "cg",
       [] { return generate(ElasticityParams{.n = 36, .coefficient = random}); }},
      {"poisson27_64", "cg",
       [] { return generate(Poisson27Params{.n = 64, .coefficient = random}); }},
      {"poisson27_64", "chronopoulos_gear",
       [] { return generate(Poisson27Params{.n = 64, .coefficient = random}); }},
      {"poisson27_96", "cg",
       [] { return generate(Poisson27Params{.n = 96, .coefficient = random}); }},
      {"poisson27_96", "chronopoulos_gear",
       [] { return generate(Poisson27Params{.n = 96, .coefficient = random}); }},
      {"elasticity_56", "cg",
       [] { return generate(ElasticityParams{.n = 56, .coefficient = random}); }},
      {"elasticity_56", "chronopoulos_gear",
       [] { return generate(ElasticityParams{.n = 56, .coefficient = random}); }},
      {"poisson7_160", "cg",
       [] { return generate(Poisson7Params{.n = 160, .coefficient = random}); }},
      {"poisson7_160", "pipelined_cg",
       [] { return generate(Poisson7Params{.n = 160, .coefficient = random}); }},
      {"poisson7_200", "cg",
       [] { return generate(Poisson7Params{.n = 200, .coefficient = random}); }},
      {"poisson7_252", "cg",
       [] { return generate(Poisson7Params{.n = 252, .coefficient = random}); }},
      {"poisson7_256", "cg",
       [] { return generate(Poisson7Params{.n = 256, .coefficient = random}); }}};
  std::cout << "{\"revision\": \"" << version::revision << "\", \"ranks\": " << ranks
            << ", \"repetitions\": " << repetitions << ", \"transport\": \"" << transport
            << "\", \"precision\": \"" << precision << "\"}\n"
            << "matrix | rows | method | iterations, one | us | all: iterations | us | gain | auto "
               "| runs "
               "as | set-up, one, ms | all, ms | halo | threads, us\n"
               "---|---|---|---|---|---|---|---|---|---|---|---|---|---\n";
  for (Case const& c : cases) {
    if (!wanted.empty() && wanted.find("," + c.name + ",") == std::string::npos) continue;
    Csr<double> const a = c.make();
    bool const host = backend == Backend::host;
    Run const one =
        by_one(a, options(c.method, "auto", precision), backend, repetitions, host ? 1 : 0);
    Run const all =
        by_ranks(ranks, a, options(c.method, execution, precision), backend, repetitions, join);
    std::cout << c.name << " | " << a.rows << " | " << c.method << " | " << one.iterations << " | "
              << one.us << " | " << all.iterations << " | " << all.us << " | ";
    if (one.outcome == "converged" && all.outcome == "converged")
      std::cout << one.us / all.us;
    else
      std::cout << one.outcome << ", " << all.outcome;
    std::cout << " | " << chosen(a, ranks) << " | " << one.execution << ", " << all.execution
              << " | " << one.setup << " | " << all.setup << " | " << all.halo << " | ";
    if (host)
      std::cout << by_one(a, options(c.method, "auto", precision), backend, repetitions, ranks).us
                << std::endl;
    else
      std::cout << "-" << std::endl;
  }
} catch (std::exception const& e) {
  std::cerr << e.what() << "\n";
  return 1;
}
