// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/api/report_json.hpp>

#include <utility>

#include <nlohmann/json.hpp>

#include <tcsolve/api/report_figures.hpp>

namespace tcsolve {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(Json const& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json choices(SolveReport const& r) {
  Json list = Json::array();
  for (ChoiceReport const& c : r.choices) {
    Json choice = {{"label", c.label}, {"solver", c.solver}, {"preconditioner", c.preconditioner}};
    choice.update(outcome_json(c));
    list.push_back(std::move(choice));
  }
  return list;
}

Json history(SolveReport const& r) {
  Json list = Json::array();
  for (Record const& h : r.history)
    list.push_back(Json::array(
        {h.iteration, json_number(h.norm), json_number(h.seconds), json_number(h.true_residual)}));
  return list;
}

}  // namespace

std::string to_json(SolveReport const& r) {
  Json residual = {{"true", json_number(r.true_residual)},
                   {"recurrence", json_number(r.recurrence_residual)},
                   {"initial", json_number(r.initial_residual)},
                   {"best", json_number(r.best_residual)}};
  residual.update(measures_json(r));
  return text_of({{"outcome", r.outcome()},
                  {"reason", name(r.reason)},
                  {"cause", name(r.cause)},
                  {"converged", r.converged()},
                  {"solved", r.solved()},
                  {"exit_code", r.exit_code()},
                  {"message", r.message},
                  {"iterations", r.iterations},
                  {"restarts", r.restarts},
                  {"rows", r.rows},
                  {"residual", std::move(residual)},
                  {"seconds",
                   {{"solve", json_number(r.seconds)},
                    {"setup", json_number(r.setup_seconds)},
                    {"loop", json_number(r.loop_seconds)}}},
                  {"work",
                   {{"execution", name(r.execution)},
                    {"products", r.products},
                    {"applications", r.applications},
                    {"residuals", r.residuals},
                    {"inner_iterations", r.inner_iterations},
                    {"bytes", json_number(r.bytes)}}},
                  {"precision", precision_json(r)},
                  {"choices", choices(r)},
                  {"history", history(r)}});
}

std::string to_json(SetupReport const& r) {
  return text_of({{"format", r.format},
                  {"rounding", rounding_json(r.rounding)},
                  {"precision", r.precision},
                  {"preconditioner", r.preconditioner},
                  {"transposed", r.transposed},
                  {"updates", r.updates},
                  {"renewals", r.renewals},
                  {"seconds",
                   {{"upload", r.upload},
                    {"plan", r.plan},
                    {"reorder", r.reorder},
                    {"convert", r.convert},
                    {"setup", r.setup},
                    {"renewal", r.renewal},
                    {"transpose", r.transpose}}}});
}

}  // namespace tcsolve
