// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/record/sweep_table.hpp>

#include <tcsolve/api/report_figures.hpp>
#include <tcsolve/configs/schema/number.hpp>
#include <tcsolve/core/error.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

namespace tcsolve {
namespace {

using Json = nlohmann::ordered_json;
constexpr double infinite = std::numeric_limits<double>::infinity();

/// A figure or a text of result.json by its path, where it is there.
double number(Json const& r, char const* path) {
  Json::json_pointer const at(path);
  return r.contains(at) && r.at(at).is_number() ? r.at(at).get<double>() : SweepRow::unknown;
}
std::string text(Json const& r, char const* path) {
  Json::json_pointer const at(path);
  return r.contains(at) && r.at(at).is_string() ? r.at(at).get<std::string>() : "";
}

/// What both tables say of a row beside its problem and its setting.
std::vector<std::pair<char const*, Json>> figures(SweepRow const& r) {
  return {{"outcome", r.outcome},
          {"exit_code", r.exit_code},
          {"iterations", r.iterations},
          {"solves", r.solves},
          {"median_seconds", json_number(r.median)},
          {"least_seconds", json_number(r.least)},
          {"most_seconds", json_number(r.most)},
          {"spread", json_number(r.spread)},
          {"setup_seconds", json_number(r.setup)},
          {"true_relative", json_number(r.residual)},
          {"attainable_relative", json_number(r.attainable)},
          {"joules", json_number(r.joules)},
          {"speedup", json_number(r.speedup)},
          {"speedup_with_setup", json_number(r.whole_speedup)},
          {"method", r.method},
          {"format", r.format},
          {"device", r.device},
          {"run", r.run},
          {"message", r.message}};
}

/// A field of a CSV file (RFC 4180): in quotes where it has a comma, a quote or a line's end.
std::string field(std::string const& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (char const c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string cell(Json const& v) {
  if (v.is_null()) return "";
  if (v.is_string()) return field(v.get<std::string>());
  return v.is_number_float() ? number_text(v.get<double>()) : v.dump();
}

}  // namespace

SweepRow row_of(SweepPoint const& point, std::string const& result) {
  Json const r = Json::parse(result);
  SweepRow row;
  row.problem = point.problem;
  row.setting = point.setting;
  row.run = "runs/" + point.name;
  row.outcome = text(r, "/verdict/outcome");
  row.message = text(r, "/verdict/message");
  row.exit_code = r.at("verdict").at("exit_code").get<int>();
  row.iterations = r.at("iterations").get<std::int64_t>();
  row.method = text(r, "/taken/label");
  row.format = text(r, "/format");
  row.device = text(r, "/device");
  row.setup = 0;
  for (char const* const phase : {"/seconds/upload", "/seconds/plan", "/seconds/reorder",
                                  "/seconds/convert", "/seconds/setup"})
    row.setup += number(r, phase);
  if (!r.at("work").is_object()) return row;  // no solver began
  row.residual = number(r, "/residual/true_relative");
  row.joules = number(r, "/joules");
  row.median = row.least = row.most = number(r, "/seconds/solve");
  row.solves = 1;
  if (!r.at("repeat").is_object()) return row;
  row.solves = r.at("repeat").at("count").get<std::size_t>();
  row.median = number(r, "/repeat/median");
  row.least = number(r, "/repeat/least");
  row.most = number(r, "/repeat/most");
  row.spread = number(r, "/repeat/spread");
  return row;
}

void compare(Sweep const& sweep, std::vector<SweepRow>& rows) {
  std::size_t const settings = sweep.settings.size();
  std::vector<SweepRow const*> at(sweep.problems.size() * settings, nullptr);
  for (SweepRow const& row : rows) at[row.problem * settings + row.setting] = &row;
  for (SweepRow& row : rows) {
    SweepRow const* const base = at[row.problem * settings + sweep.baseline[row.setting]];
    if (base == nullptr || !base->solved() || !row.solved()) continue;
    row.speedup = base->median / row.median;
    row.whole_speedup = base->whole() / row.whole();
  }
}

std::vector<double> best_times(Sweep const& sweep, std::vector<SweepRow> const& rows) {
  std::vector<double> best(sweep.problems.size(), SweepRow::unknown);
  for (SweepRow const& row : rows)
    if (row.solved()) best[row.problem] = std::fmin(best[row.problem], row.whole());
  return best;
}

double ratio_to_best(SweepRow const& row, std::vector<double> const& best) {
  return row.solved() ? row.whole() / best[row.problem] : infinite;
}

double share_within(std::size_t setting, double factor, std::vector<SweepRow> const& rows,
                    std::vector<double> const& best) {
  auto const solvable = std::ranges::count_if(best, [](double t) { return !std::isnan(t); });
  auto const within = std::ranges::count_if(rows, [&](SweepRow const& row) {
    return row.setting == setting && ratio_to_best(row, best) <= factor;
  });
  return solvable > 0 ? static_cast<double>(within) / static_cast<double>(solvable) : 0;
}

std::string sweep_csv(Sweep const& sweep, std::vector<SweepRow> const& rows) {
  std::string csv = "problem";
  for (std::string const& axis : sweep.axes) csv += "," + field(axis);
  for (auto const& [key, v] : figures({})) csv += cat(",", key);
  csv += "\n";
  for (SweepRow const& row : rows) {
    csv += field(sweep.problems[row.problem]);
    for (std::string const& value : sweep.settings[row.setting]) csv += "," + field(value);
    for (auto const& [key, v] : figures(row)) csv += "," + cell(v);
    csv += "\n";
  }
  return csv;
}

std::string sweep_jsonl(Sweep const& sweep, std::vector<SweepRow> const& rows) {
  std::string lines;
  for (SweepRow const& row : rows) {
    Json setting = Json::object();
    for (std::size_t a = 0; a < sweep.axes.size(); ++a)
      setting[sweep.axes[a]] = sweep.settings[row.setting][a];
    Json line = {{"problem", sweep.problems[row.problem]}, {"setting", setting}};
    for (auto const& [key, v] : figures(row)) line[key] = v;
    lines += line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  return lines;
}

}  // namespace tcsolve
