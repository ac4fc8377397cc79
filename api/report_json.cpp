// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/api/report_json.hpp>

#include <cmath>

#include <nlohmann/json.hpp>

namespace tcsolve {
namespace {

using Json = nlohmann::ordered_json;

Json number(double v) {
  if (std::isnan(v)) return nullptr;
  if (std::isinf(v)) return v > 0 ? "inf" : "-inf";
  return v;
}

std::string text_of(Json const& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json choices(SolveReport const& r) {
  Json list = Json::array();
  for (ChoiceReport const& c : r.choices)
    list.push_back({{"label", c.label},
                    {"solver", c.solver},
                    {"preconditioner", c.preconditioner},
                    {"outcome", c.outcome},
                    {"iterations", c.iterations},
                    {"true_residual", number(c.true_residual)},
                    {"setup_seconds", number(c.setup_seconds)},
                    {"solve_seconds", c.ran ? number(c.seconds) : Json(nullptr)}});
  return list;
}

Json history(SolveReport const& r) {
  Json list = Json::array();
  for (Record const& h : r.history)
    list.push_back(
        Json::array({h.iteration, number(h.norm), number(h.seconds), number(h.true_residual)}));
  return list;
}

}  // namespace

std::string to_json(SolveReport const& r) {
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
                  {"residual",
                   {{"true", number(r.true_residual)},
                    {"recurrence", number(r.recurrence_residual)},
                    {"initial", number(r.initial_residual)},
                    {"best", number(r.best_residual)},
                    {"tolerance", number(r.tolerance)},
                    {"rhs_norm", number(r.rhs_norm)},
                    {"backward_error", number(r.backward_error)},
                    {"rowwise_error", number(r.rowwise_error)},
                    {"rows_unmet", number(r.rows_unmet)},
                    {"attainable", number(r.attainable)},
                    {"condition", number(r.condition)}}},
                  {"seconds",
                   {{"solve", number(r.seconds)},
                    {"setup", number(r.setup_seconds)},
                    {"loop", number(r.loop_seconds)}}},
                  {"work",
                   {{"execution", name(r.execution)},
                    {"products", r.products},
                    {"applications", r.applications},
                    {"residuals", r.residuals},
                    {"inner_iterations", r.inner_iterations},
                    {"bytes", number(r.bytes)}}},
                  {"choices", choices(r)},
                  {"history", history(r)}});
}

std::string to_json(SetupReport const& r) {
  return text_of({{"format", r.format},
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
