// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/commands/advise.hpp>

#include <tcsolve/api/ranking.hpp>
#include <tcsolve/api/system_facts.hpp>
#include <tcsolve/app/config/memory_plan.hpp>
#include <tcsolve/app/config/problem.hpp>
#include <tcsolve/app/config/run_input.hpp>
#include <tcsolve/app/record/progress.hpp>
#include <tcsolve/app/run/launched.hpp>
#include <tcsolve/app/run/signals.hpp>
#include <tcsolve/configs/schema/number.hpp>
#include <tcsolve/core/error.hpp>
#include <tcsolve/core/host_memory.hpp>
#include <tcsolve/io/files/matrix_file.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <span>
#include <string>
#include <vector>

namespace tcsolve {
namespace {

using Json = nlohmann::ordered_json;

/// The progress of a race: on a terminal what runs at the moment, everywhere a line for each
/// candidate that has left.
class RaceDisplay final : public Observer {
 public:
  explicit RaceDisplay(Talk talk)
      : talk_(talk), terminal_(rewrites_lines()), line_(std::cerr, {talk, terminal_, 0, 0}) {}
  ~RaceDisplay() override { line_.clear(); }

  void on(IterationEvent const& event) override {
    if (terminal_ && !racing_.empty()) line_.on(event);
  }
  void on(PhaseEvent const& event) override {
    if (terminal_ && !event.ended)
      line_.on(PhaseEvent{cat(racing_, racing_.empty() ? "" : ": ", event.name), false, 0});
  }
  void on(LogEvent const& event) override {
    bool const of_the_run = racing_.empty() || event.severity == Severity::warning;
    if (of_the_run || talk_ == Talk::verbose) line_.on(event);
  }
  void watch(RankedChoice const& c, bool over) {
    racing_ = c.name();
    if (!over) return;
    std::string const seconds = c.solved() ? cat(" in ", figure_text(c.setup + c.solve), " s") : "";
    line_.on(LogEvent{Severity::note, cat(racing_, ": ", c.outcome, seconds)});
  }

 private:
  Talk talk_;
  bool terminal_;
  ProgressDisplay line_;
  std::string racing_;  // the candidate at work
};

char const* mark_of(Standing standing) {
  switch (standing) {
    case Standing::solved: return "";
    case Standing::predicted: return "~";
    case Standing::precision_limit: return "=";
    case Standing::slower: return "<";
    case Standing::stalled: return "stalled";
    case Standing::failed:
    case Standing::untried: return "-";
  }
  return "";
}

std::string row(std::string const& time, std::string const& setup, std::string const& iterations,
                std::string const& memory) {
  char text[128];
  std::snprintf(text, sizeof text, "%10s%10s%12s%11s  ", time.c_str(), setup.c_str(),
                iterations.c_str(), memory.c_str());
  return cat("#", std::string(text).substr(1));
}

std::string line(RankedChoice const& c, bool first) {
  std::string const mark = mark_of(c.standing), memory = c.bytes > 0 ? byte_text(c.bytes) : "-";
  if (c.standing == Standing::slower)
    return cat(row(mark, ">" + seconds_text(c.setup), "-", memory), c.name(), ": ", c.outcome,
               "\n");
  if (!std::isfinite(c.predicted))
    return cat(row(mark, c.setup > 0 ? seconds_text(c.setup) : "-", "-", memory), c.name(), ": ",
               c.outcome, "\n");
  std::string const said = c.standing == Standing::precision_limit ? c.outcome : c.reason;
  return cat(row(mark + seconds_text(c.predicted), seconds_text(c.setup),
                 cat(mark == "~" ? mark : "", std::llround(c.predicted_iterations)), memory),
             c.name(), ": ", said, c.as_good && !first ? "; as good as the first" : "", "\n");
}

Json json_of(RankedChoice const& c) {
  Json const none = nullptr;
  bool const finite = std::isfinite(c.predicted);
  return {{"solver", c.solver},
          {"preconditioner", c.preconditioner},
          {"reason", c.reason},
          {"details", c.details},
          {"outcome", c.outcome},
          {"standing", name(c.standing)},
          {"solved", c.solved()},
          {"converged", c.converged},
          {"as_good_as_the_first", c.as_good},
          {"iterations", c.iterations},
          {"setup_seconds", c.setup},
          {"solve_seconds", c.solve},
          {"rate", c.rate},
          {"predicted_seconds", finite ? Json(c.predicted) : none},
          {"predicted_iterations", finite ? Json(c.predicted_iterations) : none},
          {"bytes", c.bytes}};
}

/// What was raced, and how it ended.
struct Race {
  ParsedConfig const& asked;
  Context const& ctx;
  double rtol;
  std::string matrix, rhs, facts;  ///< facts: of the matrix, and why no race took place
  std::string singular;            ///< what is known of a singular A
  std::vector<RankedChoice> list;
  bool cancelled = false;

  bool some_works() const { return !list.empty() && list.front().solved(); }
  bool some_may() const { return !list.empty() && list.front().standing <= Standing::predicted; }
  int exit_code() const {
    if (cancelled) return exit_code_of(Stop::cancelled);
    if (some_works()) return 0;
    bool const open = std::ranges::any_of(list, [](RankedChoice const& c) {
      return c.standing == Standing::predicted || c.standing == Standing::untried;
    });
    return exit_code_of(open ? Stop::time_limit : Stop::breakdown);
  }

 private:
  static int exit_code_of(Stop reason) { return tcsolve::exit_code(reason); }
};

/// The first of the ranking as a config that runs as it is.
std::string config_of(Race const& race) {
  RankedChoice const& best = race.list.front();
  constexpr double least = 1000, room = 2, most = 1e8;
  double const iterations = std::clamp(room * best.predicted_iterations, least, most);
  std::string solver = best.solver;
  solver.insert(solver.rfind('}'),
                cat(", rtol: ", number_text(race.rtol), ", max_iters: ", std::llround(iterations)));
  ProblemConfig const& problem = race.asked.run.problem;
  return cat("problem:\n  matrix: ", quoted_value(problem.matrix),
             "\n  rhs: ", race.asked.files.rhs.empty() ? problem.rhs : quoted_value(problem.rhs),
             "\nsolver: ", solver, "\npreconditioner: ", best.preconditioner,
             "\nbackend: ", name(race.ctx.space()), "\n");
}

std::string text_of(Race const& race) {
  std::string text = cat("# ", race.matrix, ": ", race.facts, "; to ", number_text(race.rtol),
                         " on the ", name(race.ctx.space()), "\n# b: ", race.rhs, "\n");
  if (!race.singular.empty()) text += cat("# ", race.singular, "\n");
  if (race.list.empty()) return text;
  text += cat("#\n#     time    set-up  iterations     memory\n");
  for (RankedChoice const& c : race.list) text += line(c, &c == &race.list.front());
  text +=
      "#\n# ~: predicted, <: slower, not finished, =: as far as FP64 goes, -: it fails\n"
      "# time: plan, conversion, set-up and solve; memory: A, preconditioner and vectors\n";
  if (race.cancelled) text += "# cancelled: this is the ranking so far\n";
  if (!race.some_may()) return text + "# no method meets the tolerance\n";
  if (!race.some_works()) text += "# none has converged in this time; the first is predicted to\n";
  return cat(text, "\n", config_of(race));
}

std::string json_text(Race const& race) {
  Json all = Json::array();
  for (RankedChoice const& c : race.list) all.push_back(json_of(c));
  Json const none = nullptr;
  Json const root = {{"matrix", race.matrix},
                     {"rhs", race.rhs},
                     {"rtol", race.rtol},
                     {"backend", name(race.ctx.space())},
                     {"solved", race.some_works()},
                     {"cancelled", race.cancelled},
                     {"singular", race.singular.empty() ? none : Json(race.singular)},
                     {"ranking", all},
                     {"config", race.some_may() ? Json(config_of(race)) : none}};
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string rhs_text(ParsedConfig const& asked, Index columns) {
  if (!asked.files.rhs.empty())
    return cat(file_name(asked.files.rhs), columns > 1 ? ", the first column" : "");
  if (asked.run.problem.rhs != "A_times_ones") return asked.run.problem.rhs;
  return "A (1, ..., 1); for another b times may differ";
}

}  // namespace

int advise(Arguments const& arguments, Registries const& registries) {
  require_no_launcher("a race");
  ParsedConfig const asked = matrix_run(arguments, registries.catalog);
  RankingParams params;
  params.rtol = arguments.rtol.value_or(params.rtol);
  params.seconds = arguments.time_limit.value_or(params.seconds);
  params.all = arguments.all;
  RaceDisplay display(arguments.talk);
  params.watch = [&](RankedChoice const& c, bool over) { display.watch(c, over); };
  Context ctx(asked.run.backend, {}, &display);
  CancelOnSignal const signals(ctx);
  asked.require_files();
  ProblemSize const size = problem_size(asked);
  require_memory(std::max(3 * size.csr_bytes, size.peak_bytes), 0, size.source);
  Problem const problem = load_problem(asked, ctx.cancel_flag());
  std::span<double const> const b(problem.b.data(), static_cast<std::size_t>(problem.A.rows));
  SystemFacts const facts(problem.A.view(), ctx.cancel_flag());
  Race race{.asked = asked,
            .ctx = ctx,
            .rtol = params.rtol,
            .matrix = size.source,
            .rhs = rhs_text(asked, problem.columns),
            .facts = matrix_facts(problem.A.view()).text(),
            .singular = facts.text(),
            .list = {}};
  StoppingParams stopping;
  stopping.rtol = params.rtol;
  if (facts.unsolvable(b.data(), stopping, "advise"))
    race.singular = facts.contradiction(b.data());
  else
    race.list = ranking(ctx, problem.A.view(), b, params);
  race.cancelled = ctx.cancelled();
  std::cout << (arguments.json ? json_text(race) : text_of(race));
  return race.exit_code();
}

}  // namespace tcsolve
