// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/commands/sweep.hpp>

#include <tcsolve/app/config/sweep.hpp>
#include <tcsolve/app/machine.hpp>
#include <tcsolve/app/record/output_directory.hpp>
#include <tcsolve/app/record/sweep_page.hpp>
#include <tcsolve/app/record/sweep_table.hpp>
#include <tcsolve/app/run/aside.hpp>
#include <tcsolve/app/run/launched.hpp>
#include <tcsolve/app/run/signals.hpp>
#include <tcsolve/app/run/solve_run.hpp>
#include <tcsolve/core/error.hpp>
#include <tcsolve/core/timed.hpp>
#include <tcsolve/io/atomic_file.hpp>
#include <tcsolve/solvers/report.hpp>
#include <tcsolve/version.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>

namespace tcsolve {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int stopped_code = 3;  // as of a solve that was cancelled

std::string content(fs::path const& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Whether a file that the run reads has changed since `then`.
bool inputs_changed(InputFiles const& files, fs::file_time_type then) {
  return std::ranges::any_of(files.all(), [&](fs::path const& file) {
    std::error_code unknown;
    auto const when = fs::last_write_time(file, unknown);
    return !unknown && when > then;
  });
}

/// The result of a point that has run, on this machine by this program, to its end: what its files,
/// its memory or its device kept it from is tried again.
std::optional<std::string> kept(SweepPoint const& point) {
  fs::path const file = fs::path(point.parsed.run.output.directory) / record::result_name;
  std::error_code missing;
  auto const then = fs::last_write_time(file, missing);
  if (missing || inputs_changed(point.parsed.files, then)) return {};
  std::string text = content(file);
  try {
    Json const r = Json::parse(text);
    int const code = r.at("verdict").at("exit_code");
    bool const ended = code == 0 || code == 1 || code == 3 || code == 4;
    if (!ended || r.at("verdict").at("outcome") == "cancelled") return {};
    if (r.at("versions").at("revision") != version::revision) return {};
    if (Json const& host = r.at("process").at("host"); host.is_string() && host != host_name())
      return {};
    return text;
  } catch (Json::exception const&) { return {}; }  // of something else
}

/// Runs a point; its result, nothing where it left none: `why` says so.
std::optional<std::string> run(SweepPoint const& point, int repeats, PassSignalsOn& signals,
                               std::string& why) {
  fs::path const directory = point.parsed.run.output.directory;
  std::error_code failed;
  fs::create_directories(directory, failed);
  if (failed) throw Error(cat(directory.string(), ": can't be made: ", failed.message()));
  fs::remove(directory / record::result_name, failed);
  Arguments arguments;
  arguments.command = Task::solve;
  arguments.repeat = point.attainable ? 0 : repeats;
  ProcessEnd const end =
      run_aside(signals, directory / "log.txt", [&] { return solve_run(arguments, point.parsed); });
  std::string result = content(directory / record::result_name);
  if (!result.empty()) return result;
  why = end.signal != 0 ? cat("ended by signal ", end.signal, " (", ::strsignal(end.signal), ")")
                        : cat("exit code ", end.exit_code);
  return {};
}

/// What is known of a point that left no result.
SweepRow lost_row(SweepPoint const& point, std::string const& why) {
  SweepRow row;
  row.problem = point.problem;
  row.setting = point.setting;
  row.run = "runs/" + point.name;
  row.outcome = "internal_error";
  row.message = why;
  return row;
}

/// The rows so far, and their files.
class Tables {
 public:
  Tables(Sweep const& sweep, std::string title) : sweep_(sweep), title_(std::move(title)) {}

  void add(SweepPoint const& point, SweepRow row) {
    ++runs_;
    if (!point.attainable) return rows_.push_back(std::move(row));
    // It follows the run with the tolerance, if that is there.
    if (rows_.empty()) return;
    SweepRow& last = rows_.back();
    if (last.problem == point.problem && last.setting == point.setting)
      last.attainable = row.residual;
  }
  /// Writes the tables, once a second at most: what a crash takes is in the folders of the runs.
  void write_some() {
    if (seconds_since(written_) < 1) return;
    write_now();
  }
  void finish() {
    write_now();
    write_file(page(), sweep_html(sweep_, rows_, title_, status(), directory()));
  }
  bool complete() const { return runs_ == sweep_.points.size(); }
  fs::path page() const { return directory() / "sweep.html"; }
  std::string status() const {
    auto const solved = std::ranges::count_if(rows_, &SweepRow::solved);
    return cat(runs_, " of ", sweep_.points.size(), " runs; ", solved, " of ", rows_.size(),
               " solved");
  }
  /// The least of all; as of a solve that was cancelled where some are missing.
  int exit_code() const {
    if (!complete() || rows_.empty()) return stopped_code;
    return std::ranges::min_element(rows_, {}, &SweepRow::exit_code)->exit_code;
  }

 private:
  fs::path directory() const { return sweep_.directory; }
  void write_now() {
    compare(sweep_, rows_);
    write_file(directory() / "sweep.csv", sweep_csv(sweep_, rows_));
    write_file(directory() / "sweep.jsonl", sweep_jsonl(sweep_, rows_));
    written_ = std::chrono::steady_clock::now();
  }

  Sweep const& sweep_;
  std::string title_;
  std::vector<SweepRow> rows_;
  std::size_t runs_ = 0;
  std::chrono::steady_clock::time_point written_{};
};

std::string point_text(Sweep const& sweep, SweepPoint const& point) {
  return cat(sweep.problems[point.problem], ", ", sweep.setting_text(point.setting),
             point.attainable ? ", rtol 0" : "");
}

std::string outcome_text(SweepPoint const& point, SweepRow const& row) {
  if (std::isnan(row.median)) return cat(row.outcome, ": ", row.message);
  std::string text = cat(row.outcome, " after ", row.iterations, " iterations, ");
  if (point.attainable)
    return cat(text, "true residual ", figure_text(row.residual), " of norm(b)");
  return cat(text, figure_text(row.median), " s, spread ", figure_text(100 * row.spread), " %");
}

std::string plan_text(Sweep const& sweep, std::size_t there) {
  auto const counted = [](std::size_t n, char const* what) {
    return cat(n, " ", what, n == 1 ? "" : "s");
  };
  return cat("sweep: ", counted(sweep.problems.size(), "problem"), " with ",
             counted(sweep.settings.size(), "setting"), ", ", counted(sweep.points.size(), "run"),
             " of ", counted(static_cast<std::size_t>(sweep.config.repeats), "solve"),
             " after a warm-up", there > 0 ? cat("; ", there, " kept from before") : "", "\n");
}

int dry_run(Sweep const& sweep) {
  for (SweepPoint const& point : sweep.points)
    std::cout << "# " << point_text(sweep, point) << (kept(point) ? " (kept from before)" : "")
              << "\n";
  std::cout << "# dry run: the config of every run is valid; nothing was solved\n";
  return 0;
}

/// The row of a point: from before, or of its run. Nothing where a signal keeps it from running.
std::optional<SweepRow> row_for(Sweep const& sweep, SweepPoint const& point, bool quiet,
                                PassSignalsOn& signals) {
  if (std::optional<std::string> const before = kept(point)) return row_of(point, *before);
  if (signals.asked()) return {};
  if (!quiet)
    std::cout << &point - sweep.points.data() + 1 << " of " << sweep.points.size() << ": "
              << point_text(sweep, point) << ": " << std::flush;
  std::string why;
  std::optional<std::string> const result = run(point, sweep.config.repeats, signals, why);
  if (signals.asked()) {
    if (!quiet) std::cout << "stopped\n";
    return {};
  }
  SweepRow row = result ? row_of(point, *result) : lost_row(point, why);
  if (!quiet) std::cout << outcome_text(point, row) << "\n" << std::flush;
  return row;
}

}  // namespace

int sweep(Arguments const& arguments, Registries const& registries) {
  require_no_launcher("a sweep");
  Sweep const plan = read_sweep(arguments.subject, arguments.sets, registries.catalog);
  bool const quiet = arguments.talk == Talk::quiet;
  auto const there = std::ranges::count_if(
      plan.points, [](SweepPoint const& point) { return kept(point).has_value(); });
  if (!quiet)
    std::cout << (arguments.dry_run ? "# " : "") << plan_text(plan, static_cast<std::size_t>(there))
              << std::flush;
  if (arguments.dry_run) return dry_run(plan);

  IgnoreLostReaders const pipes;
  LockedDirectory const directory(plan.directory);
  PassSignalsOn signals;
  Tables tables(plan, fs::path(arguments.subject).filename().string());
  for (SweepPoint const& point : plan.points) {
    std::optional<SweepRow> row = row_for(plan, point, quiet, signals);
    if (!row) continue;  // what is kept of later ones stands in the tables
    tables.add(point, *std::move(row));
    tables.write_some();
  }
  tables.finish();
  if (!quiet) std::cout << "results: " << tables.page().string() << "\n";
  std::cout << "sweep: " << tables.status()
            << (tables.complete() ? "" : "; stopped: the same command goes on with the others")
            << "\n"
            << std::flush;
  return tables.exit_code();
}

}  // namespace tcsolve
