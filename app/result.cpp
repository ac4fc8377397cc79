// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/result.hpp>

#include <tcsolve/configs/schema/print.hpp>
#include <tcsolve/core/error.hpp>
#include <tcsolve/io/atomic_file.hpp>
#include <tcsolve/io/matrix_market.hpp>
#include <tcsolve/version.hpp>

#include <nlohmann/json.hpp>

#include <cmath>

namespace tcsolve {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int schema_version = 1;

Json number(double v) {
  if (std::isnan(v)) return nullptr;
  if (std::isinf(v)) return v > 0 ? "inf" : "-inf";
  return v;
}

Json ratio(double a, double b) { return b > 0 ? number(a / b) : Json(nullptr); }

Json verdict(RunResult const& run) {
  SolveReport const& r = run.report;
  return {{"outcome", r.outcome()},     {"reason", name(r.reason)},   {"cause", name(r.cause)},
          {"converged", r.converged()}, {"exit_code", run.exit_code}, {"message", r.message}};
}

Json residuals(RunResult const& run) {
  SolveReport const& r = run.report;
  return {{"true", number(r.true_residual)},
          {"true_relative", ratio(r.true_residual, r.rhs_norm)},
          {"recurrence", number(r.recurrence_residual)},
          {"recurrence_relative", ratio(r.recurrence_residual, r.rhs_norm)},
          {"initial", number(r.initial_residual)},
          {"best", number(r.best_residual)},
          {"best_iteration", r.best_iteration},
          {"tolerance", number(r.tolerance)},
          {"rhs_norm", number(r.rhs_norm)},
          {"backward_error", number(r.backward_error)},
          {"attainable", number(r.attainable)},
          {"condition", number(r.condition)},
          {"breakdown_value", number(r.value)}};
}

Json seconds(RunTimes const& t) {
  double const total = t.read + t.reorder + t.convert + t.setup + t.solve + t.verify;
  return {{"read", t.read},   {"reorder", t.reorder}, {"convert", t.convert}, {"setup", t.setup},
          {"solve", t.solve}, {"verify", t.verify},   {"total", total}};
}

Json traffic(RunResult const& run) {
  RunTraffic const& t = run.traffic;
  double const rate = run.times.solve > 0 ? t.bytes / run.times.solve : 0;
  return {{"bytes_per_iteration", number(t.bytes_per_iteration)},
          {"bytes", number(t.bytes)},
          {"bytes_per_second", number(rate)},
          {"measured_bandwidth", t.bandwidth > 0 ? number(t.bandwidth) : Json(nullptr)},
          {"fraction_of_bandwidth", ratio(rate, t.bandwidth)}};
}

Json locality_json(Locality const& l) {
  return {{"bandwidth", l.bandwidth},
          {"profile", l.profile},
          {"gathered_bytes_per_entry", number(l.gather())}};
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

Json versions() {
  return {{"tcsolve", version::release},   {"revision", version::revision},
          {"cuda", version::cuda},         {"kokkos", version::kokkos},
          {"compiler", version::compiler}, {"build_type", version::build_type}};
}

std::string history_csv(SolveReport const& report) {
  std::string text = "iteration,residual\n";
  for (Record const& record : report.history) text += cat(record.iteration, ",", record.norm, "\n");
  return text;
}

}  // namespace

std::string result_json(RunResult const& run, RunConfig const& config) {
  Json const result = {
      {"schema", schema_version},
      {"verdict", verdict(run)},
      {"iterations", run.report.iterations},
      {"restarts", run.report.restarts},
      {"residual", residuals(run)},
      {"solution_error", number(run.solution_error)},
      {"problem",
       {{"source", run.source}, {"rows", run.rows}, {"cols", run.cols}, {"entries", run.entries}}},
      {"format", run.format.empty() ? Json(nullptr) : Json(run.format)},
      {"reordering", reordering_json(run.reordering)},
      {"seconds", seconds(run.times)},
      {"traffic", traffic(run)},
      {"backend", run.backend == Backend::cuda ? "cuda" : "host"},
      {"device", run.device},
      {"versions", versions()},
      {"warnings", run.warnings},
      {"config", Json::parse(dump_json(config))}};
  return result.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void prepare_directory(fs::path const& directory) {
  std::error_code failed;
  fs::create_directories(directory, failed);
  if (failed || !fs::is_directory(directory))
    throw Error(cat("the output directory ", directory.string(),
                    " can't be made: ", failed ? failed.message() : "a file of that name is there",
                    "; choose another with --output"));
  fs::path const probe = directory / ".tcsolve-probe";
  try {
    write_file(probe, "");
  } catch (Error const& e) {
    throw Error(cat("nothing can be written to the output directory: ", e.what(),
                    "; choose another with --output"));
  }
  fs::remove(probe, failed);
}

void write_results(RunResult const& run, RunConfig const& config, std::vector<double> const& x) {
  fs::path const directory = config.output.directory;
  if (config.output.history) write_file(directory / "history.csv", history_csv(run.report));
  if (config.output.solution && !x.empty()) write_vector(directory / "x.mtx", x);
  write_file(directory / "result.json", result_json(run, config));  // last: it stands for the run
}

}  // namespace tcsolve
