// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/api/ranking.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <tcsolve/api/linear_solver.hpp>
#include <tcsolve/core/timed.hpp>
#include <tcsolve/graph/reorder/graph_partition.hpp>

namespace tcsolve {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double first_limit = 0.05, growth = 4;

/// "{type: cg}" with more keys.
std::string with_keys(std::string block, std::string const& keys) {
  return block.insert(block.rfind('}'), ", " + keys);
}

/// The mean factor of the residual over the second half of the iterations.
double rate_of(SolveReport const& r) {
  std::size_t const last = r.history.size();
  if (last < 4) return 1;
  double const before = r.history[last / 2 - 1].norm, now = r.history[last - 1].norm;
  if (!(before > 0) || !(now > 0)) return 1;
  return std::pow(now / before, 1.0 / static_cast<double>(last - last / 2));
}

/// A candidate in the race.
class Runner {
 public:
  Runner(Recipe const& recipe) {
    told_.solver = recipe.solver;
    told_.preconditioner = recipe.preconditioner;
    told_.reason = recipe.reason;
    told_.predicted = infinite;
    told_.outcome = "not tried: the time was up";
  }
  bool running() const { return running_; }
  RankedChoice const& told() const { return told_; }
  double seconds() const { return told_.setup + told_.solve; }

  /// A round of `limit` seconds; `best`: what the fastest took in all. One whose set-up took longer
  /// waits for a round that is as long.
  void round(Context& ctx, CsrView<double> const& a, std::span<double const> b, double rtol,
             double limit, double best) {
    if (told_.setup >= best) return leave_set_up(best);
    if (told_.setup > limit) return;
    auto const start = std::chrono::steady_clock::now();
    try {
      run(ctx, a, b, rtol, limit, best);
    } catch (Cancelled const&) {
      leave(Standing::untried, "cancelled while it was set up");
    } catch (TakesTooLong const& e) {  // not begun: it waits for a round that is as long
      return wait(std::max(seconds_since(start), e.seconds()), best);
    } catch (OutOfTime const&) {  // the next round is longer
      return wait(seconds_since(start), best);
    } catch (Error const& e) {  // SetupError, MemoryError, a build without a library
      told_.setup = seconds_since(start);
      leave(Standing::failed, e.what());
    }
    if (running_ && told_.setup + limit >= best) running_ = false;
  }

  /// One more round to the end, kept where it ends.
  void repeat(Context& ctx, CsrView<double> const& a, std::span<double const> b, double rtol) {
    RankedChoice const before = told_;
    round(ctx, a, b, rtol, infinite, infinite);
    if (!told_.solved()) told_ = before;
  }

  /// Beside the fastest, which took `best` seconds, or where none converged, the time there was.
  void judge(double best, bool any) {
    constexpr double hopeless = 1000, tie = 1.1;
    if (told_.standing == Standing::predicted && !(told_.predicted <= hopeless * best)) {
      told_.standing = Standing::stalled;
      told_.predicted = infinite;
    }
    told_.as_good = any && told_.solved() && told_.predicted <= tie * best;
  }
  void not_tried(std::string const& why) {
    if (told_.standing == Standing::untried && told_.setup == 0) told_.outcome = why;
  }

 private:
  void leave(Standing standing, std::string const& why) {
    told_.standing = standing;
    told_.outcome = why;
    told_.predicted = infinite;
    running_ = false;
  }
  /// For a round in which a set-up of so many seconds ends.
  void wait(double setup, double best) {
    told_.setup = setup;
    if (setup >= best) return leave_set_up(best);
    told_.outcome = cat("its set-up takes more than ", seconds_text(setup));
  }
  void leave_set_up(double best) {
    leave(Standing::slower, cat("slower than the best: set-up alone took more than ",
                                seconds_text(std::min(best, told_.setup))));
  }

  void run(Context& ctx, CsrView<double> const& a, std::span<double const> b, double rtol,
           double limit, double best) {
    SolverOptions const options = SolverOptions::from_yaml(
        cat("solver: ",
            with_keys(told_.solver,
                      cat("rtol: ", rtol, ", max_iters: 100000000, time_limit: ",
                          std::clamp(std::min(limit, best - told_.setup), 1e-3, 1e6))),
            "\npreconditioner: ", told_.preconditioner, "\n"),
        "advise");
    auto const start = std::chrono::steady_clock::now();
    std::optional<LinearSolver> made;
    ctx.setting_up(deadline_after(start, std::min(limit, best)),
                   [&] { made.emplace(ctx, a, options); });
    LinearSolver& solver = *made;
    told_.setup = seconds_since(start);
    told_.details = solver.M() ? solver.M()->details() : "";
    told_.bytes = 8 * solver.parts().method->cost().vectors * a.rows + solver.A()->cost(1).bytes +
                  (solver.M() ? solver.M()->cost(1).bytes : 0);
    std::vector<double> x(static_cast<std::size_t>(a.cols), 0.0);
    take(solver.solve(b, x));
  }

  void take(SolveReport const& report) {
    told_.outcome = report.outcome();
    told_.iterations = report.iterations;
    told_.solve = report.seconds;
    told_.rate = rate_of(report);
    told_.converged = report.converged();
    told_.predicted_iterations = report.iterations;
    told_.predicted = seconds();
    bool const unfinished = report.reason == Stop::time_limit || report.reason == Stop::cancelled;
    if (unfinished) {
      told_.outcome = report.reason == Stop::cancelled
                          ? "cancelled"
                          : cat("not finished in ", seconds_text(seconds()));
      return predict(report);
    }
    running_ = false;
    told_.standing = report.solved()                          ? Standing::solved
                     : report.reason == Stop::precision_limit ? Standing::precision_limit
                                                              : Standing::failed;
    if (told_.standing == Standing::failed) told_.predicted = infinite;
  }

  void predict(SolveReport const& r) {
    double const more = std::log(r.tolerance / r.true_residual) / std::log(told_.rate);
    bool const falls = told_.rate < 1 && more > 0;
    told_.standing = falls ? Standing::predicted : Standing::stalled;
    told_.predicted = infinite;
    if (!falls) return;
    told_.predicted_iterations = r.iterations + more;
    told_.predicted =
        told_.setup + told_.solve * told_.predicted_iterations / std::max<Index>(1, r.iterations);
  }

  RankedChoice told_;
  bool running_ = true;
};

/// Those that are not in the list already.
void add(std::vector<Recipe>& list, std::vector<std::string> const& solvers,
         std::string const& preconditioner, std::string const& reason) {
  for (std::string const& solver : solvers)
    if (std::ranges::none_of(list, [&](Recipe const& r) {
          return r.solver == solver && r.preconditioner == preconditioner;
        }))
      list.push_back({solver, preconditioner, reason});
}

}  // namespace

std::string seconds_text(double s) {
  return s < 1 ? figure_text(1e3 * s) + " ms" : figure_text(s) + " s";
}

std::vector<Recipe> candidates(MatrixFacts const& f) {
  std::vector<Recipe> list;
  if (!f.square()) {
    add(list, {"{type: lsmr}"}, "{type: none}", "no set-up");
    add(list, {"{type: lsmr}"}, "{type: column_scaling}", "columns of different lengths");
    add(list, {"{type: lsmr}"}, "{type: normal_ic}", "fewer iterations, a factor of A^T A");
    return list;
  }
  std::string const gmres = "{type: gmres, restart: 50}";
  bool const definite = f.symmetric && f.positive_diagonal();
  if (definite) {
    add(list, {"{type: cg}"}, "{type: jacobi}", "no set-up, the cheapest iterations");
    add(list, {"{type: cg}"}, "{type: none}", "no preconditioner, where A needs none");
    add(list, {"{type: cg}"}, "{type: chebyshev}", "fewer iterations, products alone");
    add(list, {"{type: cg}"}, "{type: fsai}", "fewer iterations, products alone");
    constexpr Index some = 2000;  // fewer are inverted after one level
    if (f.rows >= some)
      add(list, {"{type: cg}"}, "{type: amg}", "multigrid: iterations hardly grow with the mesh");
    add(list, {"{type: cg}"}, "{type: ic}", "a factor on the pattern of A");
    add(list, {"{type: cg}"}, "{type: ic, drop_tolerance: 0.01, complete_below: 5}",
        "a factor with the large fill");
    add(list, {"{type: cg}"}, "{type: direct}", "a complete factor");
    add(list, {"{type: cg}"}, "{type: schwarz, values: fp32}", "parts solved exactly");
  } else if (f.symmetric) {
    add(list, {"{type: minres}"}, "{type: none}", "no set-up, short recurrences");
    if (f.zero_diagonal == 0) add(list, {gmres}, "{type: jacobi}", "no set-up");
  } else if (f.zero_diagonal == 0) {
    add(list, {"{type: bicgstab}", gmres}, "{type: jacobi}", "no set-up, the cheapest iterations");
  }
  if (!definite) {
    add(list, {"{type: bicgstab}", gmres}, "{type: ilu}", "factors on the pattern of A");
    add(list, {"{type: bicgstab}", gmres}, "{type: ilu, drop_tolerance: 0.01}",
        "factors with the large fill, matched and scaled");
    add(list, {gmres}, "{type: ilu, drop_tolerance: 1e-4, fill_factor: 40}",
        "factors with nearly all fill");
    add(list, {gmres}, "{type: direct}", "complete factors");
    if (metis_built())
      add(list, {"{type: bicgstab}"}, "{type: schwarz, values: fp32}", "parts solved exactly");
    add(list, {"{type: bicgstab}"}, "{type: spai}", "fewer iterations, products alone");
  }
  for (Recipe const& r : recipes(f, false))  // what auto would take in turn is in the race, too
    if (!r.least_squares) add(list, {r.solver}, r.preconditioner, "auto takes it: " + r.reason);
  if (f.uneven_rows())
    for (Recipe& recipe : list) recipe.solver = by_rows(recipe.solver);
  return list;
}

std::vector<RankedChoice> ranking(Context& ctx, CsrView<double> const& a, std::span<double const> b,
                                  RankingParams const& params) {
  if (b.size() != static_cast<std::size_t>(a.rows))
    throw ShapeError(cat("advise: b has ", b.size(), " entries, the matrix ", a.rows, " rows"));
  SolverOptions::from_yaml(cat("solver: {type: auto, rtol: ", params.rtol, "}\n"), "advise");
  auto const start = std::chrono::steady_clock::now();
  std::vector<Runner> runners;
  for (Recipe const& recipe : candidates(matrix_facts(a))) runners.emplace_back(recipe);
  auto const best = [&] {
    double least = infinite;
    for (Runner const& r : runners)
      if (r.told().solved()) least = std::min(least, r.seconds());
    return least;
  };
  auto const left = [&] { return params.seconds - seconds_since(start); };
  auto const watch = [&](Runner const& r, bool over) {
    if (params.watch) params.watch(r.told(), over);
  };
  for (double limit = first_limit; left() > 0 && !ctx.cancelled(); limit *= growth) {
    for (Runner& r : runners) {
      if (!r.running() || left() <= 0 || ctx.cancelled()) continue;
      watch(r, false);
      r.round(ctx, a, b, params.rtol, std::min(limit, left()), params.all ? infinite : best());
      if (!r.running()) watch(r, true);
    }
    if (std::ranges::none_of(runners, &Runner::running) || limit > params.seconds) break;
  }
  // What was first of its kind on a device has loaded code: those near the front run once more,
  // where there is time.
  double const enough = 3 * best() + 0.2;
  for (Runner& r : runners)
    if (r.told().solved() && r.told().predicted <= enough && r.told().predicted < left() &&
        !ctx.cancelled())
      r.repeat(ctx, a, b, params.rtol);
  double const least = best();
  bool const any = std::isfinite(least);
  std::vector<RankedChoice> list;
  for (Runner& r : runners) {
    r.judge(any ? least : params.seconds, any);
    if (ctx.cancelled()) r.not_tried("not tried: cancelled");
    list.push_back(r.told());
  }
  std::ranges::stable_sort(list, [](RankedChoice const& x, RankedChoice const& y) {
    return x.standing != y.standing ? x.standing < y.standing : x.predicted < y.predicted;
  });
  return list;
}

}  // namespace tcsolve
