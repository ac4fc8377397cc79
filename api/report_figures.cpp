// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/api/report_figures.hpp>

#include <cmath>

#include <nlohmann/json.hpp>

namespace tcsolve {

using Json = nlohmann::ordered_json;

Json json_number(double v) {
  if (std::isnan(v)) return nullptr;
  if (std::isinf(v)) return v > 0 ? "inf" : "-inf";
  return v;
}

namespace {

Json numbers(std::vector<double> const& values) {
  Json list = Json::array();
  for (double const v : values) list.push_back(json_number(v));
  return list;
}

}  // namespace

Json measures_json(SolveReport const& r) {
  return {{"tolerance", json_number(r.tolerance)},
          {"rhs_norm", json_number(r.rhs_norm)},
          {"backward_error", json_number(r.backward_error)},
          {"rowwise_error", json_number(r.rowwise_error)},
          {"rows_unmet", json_number(r.rows_unmet)},
          {"attainable", json_number(r.attainable)},
          {"condition", json_number(r.condition)},
          {"contractions", numbers(r.contractions)}};
}

Json precision_json(SolveReport const& r) {
  Json list = Json::array();
  for (PrecisionReport const& p : r.precision)
    list.push_back({{"values", name(p.values)},
                    {"vectors", name(p.vectors)},
                    {"iterations", p.iterations},
                    {"why", p.why.empty() ? Json(nullptr) : Json(p.why)}});
  return list;
}

Json outcome_json(ChoiceReport const& c) {
  return {{"outcome", c.outcome},
          {"iterations", c.iterations},
          {"true_residual", json_number(c.true_residual)},
          {"setup_seconds", json_number(c.setup_seconds)},
          {"solve_seconds", c.ran ? json_number(c.seconds) : Json(nullptr)}};
}

Json rounding_json(std::optional<NarrowFigures> const& figures) {
  if (!figures) return nullptr;
  return {{"scaled", name(figures->scaled)},
          {"overflow", figures->overflow},
          {"underflow", figures->underflow},
          {"zeros", figures->zeros},
          {"row_sum_change", json_number(figures->row_sum_change)}};
}

}  // namespace tcsolve
