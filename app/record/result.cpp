// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/record/result.hpp>

#include <tcsolve/api/report_figures.hpp>
#include <tcsolve/app/config/blocks.hpp>
#include <tcsolve/app/machine.hpp>
#include <tcsolve/app/record/gnuplot.hpp>
#include <tcsolve/app/record/hierarchy.hpp>
#include <tcsolve/app/record/output_directory.hpp>
#include <tcsolve/app/record/story.hpp>
#include <tcsolve/app/record/systems.hpp>
#include <tcsolve/configs/schema/print.hpp>
#include <tcsolve/core/error.hpp>
#include <tcsolve/io/atomic_file.hpp>
#include <tcsolve/io/files/matrix_file.hpp>
#include <tcsolve/io/files/matrix_market.hpp>
#include <tcsolve/io/files/numpy.hpp>
#include <tcsolve/version.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

namespace tcsolve {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using namespace record;

constexpr int schema_version = 6;  // 6: blocks of choices, taken, iterations in force, profile
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

Json ratio(double a, double b) { return b > 0 ? json_number(a / b) : Json(nullptr); }

Json verdict(RunResult const& run) {
  SolveReport const& r = run.report;
  Json const message = run.message();
  if (run.failure)
    return {{"outcome", run.failure->outcome}, {"reason", run.failure->outcome},
            {"cause", name(Cause::none)},      {"converged", false},
            {"exit_code", run.exit_code},      {"message", message}};
  return {{"outcome", r.outcome()},     {"reason", name(r.reason)},   {"cause", name(r.cause)},
          {"converged", r.converged()}, {"exit_code", run.exit_code}, {"message", message}};
}

/// The report of a run whose solver never began: no figure was computed.
SolveReport without_figures() {
  SolveReport r;
  r.rhs_norm = r.initial_residual = r.tolerance = r.true_residual = r.recurrence_residual =
      r.best_residual = r.backward_error = r.attainable = r.value = unknown;
  return r;
}

/// By which an iteration made the residual smaller, in the geometric mean.
double mean_rate(SolveReport const& r) {
  if (r.iterations == 0 || !(r.initial_residual > 0)) return unknown;
  return std::pow(r.true_residual / r.initial_residual, 1.0 / r.iterations);
}

/// Whether `value` is the number behind this outcome.
bool has_value(Stop reason) {
  return reason == Stop::breakdown || reason == Stop::indefinite_operator ||
         reason == Stop::indefinite_preconditioner;
}

Json residuals(RunResult const& run) {
  SolveReport const r = run.failure ? without_figures() : run.report;
  Json figures = {
      {"true", json_number(r.true_residual)},
      {"true_relative", ratio(r.true_residual, r.rhs_norm)},
      {"recurrence", json_number(r.recurrence_residual)},
      {"recurrence_relative", ratio(r.recurrence_residual, r.rhs_norm)},
      {"initial", json_number(r.initial_residual)},
      {"best", json_number(r.best_residual)},
      {"best_iteration", std::isnan(r.best_residual) ? Json(nullptr) : Json(r.best_iteration)},
      {"mean_rate", json_number(mean_rate(r))}};
  figures.update(measures_json(r));
  figures["breakdown_value"] = has_value(r.reason) ? json_number(r.value) : Json(nullptr);
  return figures;
}

Json seconds(RunTimes const& t) {
  double const sum = t.read + t.upload + t.plan + t.reorder + t.convert + t.setup + t.repeat +
                     t.solve + t.verify + t.probe;
  // The age of the process is known to a hundredth of a second.
  double const age = process_seconds(), total = age > sum ? age : sum;
  return {{"read", t.read},       {"upload", t.upload},   {"plan", t.plan},
          {"reorder", t.reorder}, {"convert", t.convert}, {"setup", t.setup},
          {"repeat", t.repeat},   {"solve", t.solve},     {"verify", t.verify},
          {"probe", t.probe},     {"other", total - sum}, {"total", total}};
}

/// Of this process; nothing where the system does not tell.
Json process() {
  auto const text = [](std::string const& s) { return s.empty() ? Json(nullptr) : Json(s); };
  return {{"date", text(utc_now())},
          {"host", text(host_name())},
          {"cpu", text(cpu_name())},
          {"command", command_line()}};
}

Json repeat_json(std::optional<RepeatTimes> const& r) {
  if (!r || r->seconds.empty()) return nullptr;
  return {{"count", r->seconds.size()}, {"median", r->median()}, {"least", r->least()},
          {"most", r->most()},          {"spread", r->spread()}, {"seconds", r->seconds}};
}

Json traffic(RunResult const& run) {
  SolveReport const r = run.failure ? SolveReport{} : run.report;
  double const rate = run.times.solve > 0 ? r.bytes / run.times.solve : unknown;
  // A comparison of what stays in a cache with the memory would say nothing.
  return {{"bytes_per_iteration", json_number(r.bytes_per_iteration)},
          {"bytes", json_number(r.bytes)},
          {"bytes_per_second", json_number(rate)},
          {"measured_bandwidth", run.bandwidth > 0 ? json_number(run.bandwidth) : Json(nullptr)},
          {"fraction_of_bandwidth", ratio(rate, run.bandwidth)}};
}

Json work(RunResult const& run) {
  if (run.failure) return nullptr;
  SolveReport const& r = run.report;
  return {{"execution", name(r.execution)},
          {"iterations", run.iterations},
          {"seconds_per_iteration", json_number(run.seconds_per_iteration)},
          {"products", r.products},
          {"applications", r.applications},
          {"residuals", r.residuals},
          {"inner_iterations", r.inner_iterations}};
}

Json text_or_null(std::string const& text) { return text.empty() ? Json(nullptr) : Json(text); }

/// A block with every key in force; null where there is none, as for a caller's own operator.
Json block(Block const& b) { return b ? Json::parse(block_json(b)) : Json(nullptr); }

/// What `auto` has tried, in turn; null without it.
Json choices_json(RunResult const& run) {
  if (run.failure || run.report.choices.empty()) return nullptr;
  Json list = Json::array();
  for (ChoiceReport const& c : run.report.choices) {
    Json choice = {{"label", c.label},
                   {"solver", block(c.solver_block)},
                   {"preconditioner", block(c.preconditioner_block)},
                   {"details", text_or_null(c.details)}};
    choice.update(outcome_json(c));
    list.push_back(std::move(choice));
  }
  return list;
}

/// The method that the run ended with, chosen or named; null where `auto` had set none up.
Json taken_json(RunResult const& run, RunConfig const& config) {
  ChoiceReport const* const choice = run.failure ? nullptr : in_force(run.report.choices);
  if (choice != nullptr)
    return {{"label", choice->label},
            {"solver", block(choice->solver_block)},
            {"preconditioner", block(choice->preconditioner_block)}};
  bool const chooses = config.solver.type() == "auto" || config.preconditioner.type() == "auto";
  if (chooses) return nullptr;
  return {{"label", cat(config.solver.type(), " with ", config.preconditioner.type())},
          {"solver", block(config.solver)},
          {"preconditioner", block(config.preconditioner)}};
}

/// Of the method that the run ended with, as its verdict says.
Index iterations(RunResult const& run) {
  ChoiceReport const* const choice = in_force(run.report.choices);
  return choice != nullptr && run.columns.empty() ? choice->iterations : run.report.iterations;
}

/// The solve by parts; null where it was not profiled.
Json profile_json(RunResult const& run) {
  if (run.failure || run.profile.empty()) return nullptr;
  Json parts = Json::object();
  for (ProfiledPart const& p : run.profile)
    parts[name(p.part)] = {{"calls", p.took.calls},
                           {"seconds", p.took.seconds},
                           {"share", ratio(p.took.seconds, run.times.solve)},
                           {"bytes", json_number(p.bytes)},
                           {"bytes_per_second", ratio(p.bytes, p.took.seconds)}};
  return parts;
}

/// The verdicts on several right-hand sides, in order; null where there is one.
Json columns_json(RunResult const& run) {
  if (run.failure || run.columns.empty()) return nullptr;
  Json list = Json::array();
  for (SolveReport const& r : run.columns)
    list.push_back({{"outcome", r.outcome()},
                    {"converged", r.converged()},
                    {"iterations", r.iterations},
                    {"true_residual", json_number(r.true_residual)},
                    {"true_relative", ratio(r.true_residual, r.rhs_norm)},
                    {"tolerance", json_number(r.tolerance)},
                    {"rhs_norm", json_number(r.rhs_norm)},
                    {"message", r.message}});
  return list;
}

/// Of many systems; null where there is one.
Json of_systems(RunResult const& run) {
  return run.systems && !run.failure ? systems_json(*run.systems) : Json(nullptr);
}

Json memory(RunResult const& run) {
  RunMemory const& m = run.memory;
  return {{"host_predicted", json_number(m.host_predicted)},
          {"at_least", m.at_least},
          {"host_peak", json_number(peak_memory())},
          {"device_predicted", json_number(m.device_predicted)},
          {"device_peak", json_number(m.device_peak)},
          {"operator", json_number(run.stored.bytes)},
          {"stored_per_entry", json_number(run.stored.per_entry)}};
}

Json clocks(RunResult const& run) {
  if (run.clocks.multiprocessors == 0) return nullptr;
  return {{"multiprocessors", run.clocks.multiprocessors}, {"memory", run.clocks.memory}};
}

Json locality_json(Locality const& l) {
  return {{"bandwidth", l.bandwidth},
          {"profile", l.profile},
          {"gathered_bytes_per_entry", json_number(l.gather())}};
}

Json reordering_json(std::optional<Reordering> const& order) {
  if (!order) return nullptr;
  auto const measure = [&](Locality const& l) {
    return order->measured ? locality_json(l) : Json(nullptr);
  };
  return {{"taken", name(order->taken)},
          {"before", measure(order->before)},
          {"after", measure(order->after)}};
}

Json ranks_json(std::vector<RankShare> const& ranks) {
  if (ranks.empty()) return nullptr;
  Json table = Json::array();
  for (RankShare const& r : ranks)
    table.push_back({{"rows", r.rows},
                     {"entries", r.entries},
                     {"halo", r.halo},
                     {"neighbours", r.neighbours},
                     {"bytes_sent", r.bytes},
                     {"product_us", json_number(1e6 * r.times.product)},
                     {"waiting_us", json_number(1e6 * r.times.waiting)},
                     {"halo_us", json_number(1e6 * r.times.halo)},
                     {"sum_us", json_number(1e6 * r.times.sum)}});
  return table;
}

/// Of what each rank has, the largest over the mean: 1 where all have as much.
Json imbalance_json(std::vector<RankShare> const& ranks) {
  if (ranks.empty()) return nullptr;
  auto const of = [&](auto const& part) {
    double largest = 0, sum = 0;
    for (RankShare const& r : ranks) {
      largest = std::max(largest, part(r));
      sum += part(r);
    }
    return json_number(largest * static_cast<double>(ranks.size()) / sum);
  };
  return {{"entries", of([](RankShare const& r) { return static_cast<double>(r.entries); })},
          {"product", of([](RankShare const& r) { return r.times.product; })}};
}

/// The parts of x, rows from 1; null where there are none.
Json parts_json(std::vector<SolutionPart> const& parts) {
  if (parts.empty()) return nullptr;
  Json list = Json::array();
  for (SolutionPart const& p : parts)
    list.push_back({{"file", p.file}, {"first_row", p.first_row + 1}, {"rows", p.rows}});
  return list;
}

Json files(WrittenFiles const& f, OutputConfig const& output) {
  return {{"history", f.history ? Json(history_name) : Json(nullptr)},
          {"solution", f.solution ? Json(solution_name(output)) : Json(nullptr)},
          {"solution_parts", parts_json(f.parts)},
          {"plot", f.plot ? Json(plot_name) : Json(nullptr)},
          {"report", f.report ? Json(report_name) : Json(nullptr)},
          {"systems", f.systems ? Json(systems_name) : Json(nullptr)},
          {"failed", f.failed}};
}

Json versions() {
  return {{"tcsolve", version::release},   {"revision", version::revision},
          {"cuda", version::cuda},         {"kokkos", version::kokkos},
          {"compiler", version::compiler}, {"build_type", version::build_type}};
}

char const* mark_text(Mark mark) {
  for (auto const& [value, text] : names(Mark{}))
    if (value == mark) return text;
  return "";
}

/// A row for the guess, then one for each iteration; what is not known is left out.
std::string history_csv(SolveReport const& report) {
  std::string text = "iteration,residual,rate,seconds,true_residual,mark\n";
  auto const figure = [](double v) { return std::isnan(v) ? std::string() : cat(v); };
  double before = unknown;
  auto const row = [&](Record const& r) {
    double const rate = r.norm / std::exchange(before, r.norm);
    text += cat(r.iteration, ",", figure(r.norm), ",", std::isnan(rate) ? "" : figure_text(rate),
                ",", std::isnan(r.seconds) ? "" : figure_text(r.seconds), ",",
                figure(r.true_residual), ",", mark_text(r.mark), "\n");
  };
  double const start = report.initial_residual;
  if (!std::isnan(start)) row({0, start, 0, start});
  for (Record const& record : report.history) row(record);
  return text;
}

/// f(); whether it succeeded, else why not in `failed`.
template <class F>
bool written(std::vector<std::string>& failed, F const& f) {
  try {
    f();
    return true;
  } catch (std::exception const& e) {
    failed.push_back(e.what());
    return false;
  }
}

void write_columns(fs::path const& file, SolutionFormat format, std::vector<double> const& x,
                   Index columns) {
  if (format == SolutionFormat::npy)
    write_numpy_vector(file, x, columns);
  else
    write_vector(file, x, columns);
}

/// convergence.svg and report.html, as far as they are asked for.
void write_pictures(RunResult& run, RunConfig const& config) {
  fs::path const directory = config.output.directory;
  WrittenFiles& files = run.files;
  std::string svg;
  if (!run.systems && (config.output.plot || config.output.report))  // of a batch is no history
    files.plot = written(files.failed,
                         [&] {
                           ChoiceReport const* const taken = in_force(run.report.choices);
                           std::string const method = taken != nullptr
                                                          ? taken->label
                                                          : cat(config.solver.type(), " with ",
                                                                config.preconditioner.type());
                           svg = convergence_svg(run.report, method);
                           if (config.output.plot) write_file(directory / plot_name, svg);
                         }) &&
                 config.output.plot;
  if (config.output.report && run.picture) {
    files.report = true;  // as the page itself says
    files.report = written(files.failed, [&] {
      write_file(directory / report_name,
                 report_html(result_json(run, config), dump_yaml(config), svg, *run.picture));
    });
  }
}

/// These rows of x, which has `cols` rows and as many columns as right-hand sides, one after
/// another.
std::vector<double> rows_of(std::vector<double> const& x, std::vector<Index> const& rows,
                            Index cols, Index columns) {
  std::vector<double> some;
  for (Index k = 0; k < columns; ++k)
    for (Index const i : rows)
      some.push_back(x[static_cast<std::size_t>(k) * static_cast<std::size_t>(cols) +
                       static_cast<std::size_t>(i)]);
  return some;
}

}  // namespace

SolutionPart write_solution_part(OutputConfig const& output, int rank, std::int64_t first_row,
                                 std::vector<double> const& x, Index columns) {
  std::string const name = part_name(output, rank);
  std::error_code failed;  // what cannot be written says why
  fs::create_directories(output.directory, failed);
  write_columns(fs::path(output.directory) / name, output.solution_format, x, columns);
  return {name, first_row,
          static_cast<std::int64_t>(x.size()) / std::max<std::int64_t>(1, columns)};
}

std::string RunResult::message() const {
  std::string text = report.message;
  if (failure)  // "cancelled before the solve" names its outcome itself
    text = failure->message.starts_with(failure->outcome)
               ? failure->message
               : cat(failure->outcome, ": ", failure->message);
  for (std::string const& why : files.failed) text += "; " + why;
  return text;
}

std::string result_json(RunResult const& run, RunConfig const& config) {
  Json const result = {{"schema", schema_version},
                       {"verdict", verdict(run)},
                       {"taken", taken_json(run, config)},
                       {"iterations", iterations(run)},
                       {"restarts", run.report.restarts},
                       {"residual", residuals(run)},
                       {"solution_error", json_number(run.solution_error)},
                       {"problem",
                        {{"source", run.source},
                         {"rows", run.rows},
                         {"cols", run.cols},
                         {"entries", run.entries},
                         {"hash", run.hash.empty() ? Json(nullptr) : Json(run.hash)}}},
                       {"format", run.format.empty() ? Json(nullptr) : Json(run.format)},
                       {"rounding", rounding_json(run.rounding)},
                       {"reordering", reordering_json(run.reordering)},
                       {"ranks", ranks_json(run.ranks)},
                       {"imbalance", imbalance_json(run.ranks)},
                       {"preconditioner", text_or_null(run.preconditioner)},
                       {"hierarchy", hierarchy_json(run.hierarchy)},
                       {"precision", precision_json(run.report)},
                       {"precision_choice", text_or_null(run.precision)},
                       {"choices", choices_json(run)},
                       {"columns", columns_json(run)},
                       {"systems", of_systems(run)},
                       {"seconds", seconds(run.times)},
                       {"repeat", repeat_json(run.repeat)},
                       {"joules", json_number(run.joules.value)},
                       {"joules_note", text_or_null(run.joules.note)},
                       {"work", work(run)},
                       {"profile", profile_json(run)},
                       {"memory", memory(run)},
                       {"traffic_estimate", traffic(run)},
                       {"files", files(run.files, config.output)},
                       {"backend", run.backend == Backend::cuda ? "cuda" : "host"},
                       {"device", run.device},
                       {"driver", run.driver.empty() ? Json(nullptr) : Json(run.driver)},
                       {"clocks_mhz", clocks(run)},
                       {"process", process()},
                       {"versions", versions()},
                       {"warnings", run.warnings},
                       {"config", Json::parse(dump_json(config))}};
  return result.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void write_results(RunResult& run, RunConfig const& config, std::vector<double> const& x) {
  fs::path const directory = config.output.directory;
  WrittenFiles& files = run.files;
  bool const solved = !run.failure;
  auto const columns =
      run.cols > 0 ? static_cast<Index>(x.size() / static_cast<std::size_t>(run.cols)) : 1;
  if (solved && run.systems)
    files.systems = written(files.failed, [&] {
      write_file(directory / systems_name, systems_csv(*run.systems, run.starts));
    });
  if (solved && !run.systems && config.output.history)
    files.history = written(files.failed,
                            [&] { write_file(directory / history_name, history_csv(run.report)); });
  if (solved && config.output.writes_x())
    files.solution = written(files.failed, [&] {
      std::vector<double> const some = rows_of(x, run.rows_of_x, run.cols, columns);
      std::vector<double> const& told = run.rows_of_x.empty() ? x : some;
      write_columns(directory / solution_name(config.output), config.output.solution_format, told,
                    columns);
    });
  if (solved && config.output.solution_parts && run.ranks.empty())  // one part
    written(files.failed,
            [&] { files.parts.push_back(write_solution_part(config.output, 0, 0, x, columns)); });
  if (solved) write_pictures(run, config);
  constexpr int file_error = 2;
  if (!files.failed.empty()) run.exit_code = file_error;
  // Last: it stands for the run.
  if (!written(files.failed,
               [&] { write_file(directory / result_name, result_json(run, config)); }))
    run.exit_code = file_error;
}

}  // namespace tcsolve
