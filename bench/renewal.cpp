// SPDX-License-Identifier: Apache-2.0
/// bench_renewal FOLDER [device | host] NAME...: new values on the pattern of a real matrix, on
/// both where neither is named.
///
///     set-up        everything before the first iteration, and update_values() beside it (the
///                   medians of five)
///     a sequence    fifty steps, entries drifting by up to 1 % of themselves a step, definite
///                   matrices staying so; a solve to 1e-8 from 0 in each: with a solver made anew
///                   each step, and with one that is kept, by `renew: always`, `auto` and `never`
///
/// BENCH_STEPS: another number of steps; 0 times set-ups and updates alone.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <optional>

#include <tcsolve/api/linear_solver.hpp>
#include <tcsolve/api/recipes.hpp>
#include <tcsolve/core/timed.hpp>
#include <tcsolve/io/files/matrix_market.hpp>
#include <tcsolve/version.hpp>

using namespace tcsolve;

namespace {

using Clock = std::chrono::steady_clock;

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

/// In [-1, 1).
double drift(Index i) {
  std::uint64_t h = (static_cast<std::uint64_t>(i) + 1) * 0x9e3779b97f4a7c15u;
  h = (h ^ h >> 31) * 0x7fb5d329728ea185u;
  h = (h ^ h >> 27) * 0x81dadef4bc2dd44du;
  return static_cast<double>(h >> 12) * 0x1p-51 - 1;
}

/// D A D, D's entries 1 + 0.005 step drift: as definite as A.
Csr<double> at_step(Csr<double> const& a, int step) {
  Csr<double> now = a;
  auto const d = [&](Index i) { return 1 + 0.005 * step * drift(i); };
  for (Index i = 0; i < a.rows; ++i)
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      now.values[k] *= d(i) * d(a.columns[k]);
  return now;
}

int steps() {
  char const* const given = std::getenv("BENCH_STEPS");
  return given != nullptr ? std::atoi(given) : 50;
}

struct Sequence {
  double seconds = 0;
  long iterations = 0;
  int failed = 0, renewals = 0;
};

/// `kept`: one solver for all steps.
Sequence sequence(Context& ctx, Csr<double> const& a, std::string const& yaml, bool kept) {
  Sequence s;
  SolverOptions const options = SolverOptions::from_yaml(yaml);
  std::optional<LinearSolver> solver(std::in_place, ctx, a.view(), options);
  std::vector<double> const b(a.rows, 1.0);
  for (int step = 0; step < steps(); ++step) {
    Csr<double> const now = at_step(a, step);
    std::vector<double> x(a.rows, 0.0);
    if (!kept) solver.reset();
    auto const start = Clock::now();
    if (kept)
      solver->update_values(now.view());
    else
      solver.emplace(ctx, now.view(), options);
    SolveReport const report = solver->solve(b, x);
    s.seconds += seconds_since(start);
    s.iterations += report.iterations;
    s.failed += !report.converged();
  }
  s.renewals = solver->setup_report().renewals;
  return s;
}

void bench(Context& ctx, std::string const& name, Csr<double> const& a, std::string const& solver,
           std::string const& preconditioner) {
  std::string const yaml = cat("solver: ", solver, "\npreconditioner: ", preconditioner, "\n");
  std::vector<double> setup, update;
  for (int k = 0; k < 5; ++k) {
    auto start = Clock::now();
    LinearSolver made(ctx, a.view(), SolverOptions::from_yaml(yaml));
    setup.push_back(seconds_since(start));
    Csr<double> const now = at_step(a, 1);
    made.update_values(now.view());  // keeps what later ones need
    start = Clock::now();
    made.update_values(now.view());
    update.push_back(seconds_since(start));
  }
  if (steps() == 0) {
    std::cout << name << " | " << tcsolve::name(ctx.space()) << " | " << preconditioner << " | "
              << std::fixed << std::setprecision(2) << 1e3 * median(setup) << " | "
              << 1e3 * median(update) << " | " << median(update) / median(setup) << std::endl;
    return;
  }
  Sequence const anew = sequence(ctx, a, yaml, false), always = sequence(ctx, a, yaml, true),
                 automatic = sequence(ctx, a, yaml + "renew: auto\n", true),
                 never = sequence(ctx, a, yaml + "renew: never\n", true);
  std::cout << name << " | " << tcsolve::name(ctx.space()) << " | " << preconditioner << " | "
            << std::fixed << std::setprecision(2) << 1e3 * median(setup) << " | "
            << 1e3 * median(update) << " | " << median(update) / median(setup);
  for (Sequence const* s : {&anew, &always, &automatic, &never})
    std::cout << " | " << std::setprecision(1) << 1e3 * s->seconds << " (" << s->renewals << ", "
              << s->iterations << (s->failed > 0 ? cat(", ", s->failed, " failed") : "") << ")";
  std::cout << " | " << std::setprecision(2) << anew.seconds / automatic.seconds << " | "
            << always.seconds / automatic.seconds << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || !std::filesystem::is_directory(argv[1])) {
    std::cout << "bench_renewal: no folder and names of matrices given: nothing to do\n";
    return 0;
  }
  std::string const only = argv[2];
  bool const named = only == "device" || only == "host";
  std::vector<std::unique_ptr<Context>> contexts;
  if (std::string why; only != "host" && cuda::available(why))
    contexts.push_back(std::make_unique<Context>(Backend::cuda));
  if (only != "device") contexts.push_back(std::make_unique<Context>(Backend::host));
  std::cout << "tcsolve " << version::release << " (" << version::revision << ")";
  for (auto const& c : contexts) std::cout << "; " << c->device_name();
  std::cout << "\n\nmatrix | on | preconditioner | set-up ms | update ms | ratio | anew ms "
               "(renewals, iterations) | always | auto | never | anew / auto | always / auto\n"
               "---|---|---|---|---|---|---|---|---|---|---|---\n";
  for (int k = named ? 3 : 2; k < argc; ++k)
    for (auto const& entry : std::filesystem::directory_iterator(argv[1])) {
      std::string const file = entry.path().filename().string();
      if (!file.starts_with(cat(argv[k], ".mtx"))) continue;
      Csr<double> const a = read_matrix_market(entry.path());
      bool const definite = matrix_facts(a.view()).symmetric;
      for (auto const& ctx : contexts) try {
          if (definite) {
            for (char const* M : {"{type: ic}", "{type: ic, drop_tolerance: 0.01}", "{type: fsai}"})
              bench(*ctx, argv[k], a, "{type: cg}", M);
          } else {
            for (char const* M : {"{type: ilu}", "{type: ilu, drop_tolerance: 0.01}"})
              bench(*ctx, argv[k], a, "{type: gmres, restart: 50}", M);
          }
        } catch (Error const& e) { std::cout << argv[k] << " | " << e.what() << std::endl; }
    }
}
