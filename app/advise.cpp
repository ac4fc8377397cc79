// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/advise.hpp>

#include <tcsolve/api/ranking.hpp>
#include <tcsolve/app/memory_plan.hpp>
#include <tcsolve/core/error.hpp>
#include <tcsolve/core/host_memory.hpp>
#include <tcsolve/io/matrix_file.hpp>

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

namespace tcsolve {
namespace {

using Json = nlohmann::ordered_json;

std::string seconds_text(double s) {
  char text[32];
  std::snprintf(text, sizeof text, s < 1 ? "%.3g ms" : "%.3g s", s < 1 ? 1e3 * s : s);
  return text;
}

std::string line(RankedChoice const& c) {
  char text[128];
  if (!std::isfinite(c.predicted)) {
    std::snprintf(text, sizeof text, "%10s%10s%12s%11s  ", "-", "-", "-", "-");
    return cat(text, c.solver, " with ", c.preconditioner, ": ", c.outcome, "\n");
  }
  std::snprintf(text, sizeof text, "%10s%10s%12s%11s  ",
                ((c.converged ? "" : "~") + seconds_text(c.predicted)).c_str(),
                seconds_text(c.setup).c_str(),
                cat(c.converged ? "" : "~", std::llround(c.predicted_iterations)).c_str(),
                byte_text(c.bytes).c_str());
  return cat(text, c.solver, " with ", c.preconditioner, ": ", c.reason, "\n");
}

Json json_of(RankedChoice const& c) {
  Json const none = nullptr;
  bool const finite = std::isfinite(c.predicted);
  return {{"solver", c.solver},
          {"preconditioner", c.preconditioner},
          {"reason", c.reason},
          {"details", c.details},
          {"outcome", c.outcome},
          {"converged", c.converged},
          {"iterations", c.iterations},
          {"setup_seconds", c.setup},
          {"solve_seconds", c.solve},
          {"rate", c.rate},
          {"predicted_seconds", finite ? Json(c.predicted) : none},
          {"predicted_iterations", finite ? Json(c.predicted_iterations) : none},
          {"bytes", c.bytes}};
}

}  // namespace

std::string advise(Arguments const& arguments) {
  MatrixFileSize const size = matrix_file_size(arguments.subject);
  require_memory(std::max(3 * size.csr_bytes, size.reading_bytes), 0, file_name(arguments.subject));
  Csr<double> const a = read_matrix(arguments.subject);
  std::vector<double> b;
  if (arguments.rhs.empty()) {
    b.assign(a.rows, 0.0);
    for (Index i = 0; i < a.rows; ++i)
      for (double const v : a.row_values(i)) b[i] += v;
  } else {
    b = read_vector_file(arguments.rhs, "b");
  }
  if (b.size() != static_cast<std::size_t>(a.rows))
    throw MatrixError(cat(file_name(arguments.rhs), ": b has ", b.size(), " entries, the matrix ",
                          a.rows, " rows"));
  Context ctx(arguments.backend);
  RankingParams params;
  if (arguments.rtol != 0) params.rtol = arguments.rtol;
  std::vector<RankedChoice> const list = ranking(ctx, a.view(), b, params);
  if (arguments.json) {
    Json all = Json::array();
    for (RankedChoice const& c : list) all.push_back(json_of(c));
    Json const root = {{"matrix", file_name(arguments.subject)},
                       {"rtol", params.rtol},
                       {"backend", name(ctx.space())},
                       {"ranking", all}};
    return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  std::string text =
      cat("# ", file_name(arguments.subject), ": ", matrix_facts(a.view()).text(), "; to ",
          params.rtol, " on the ", name(ctx.space()), "\n#\n",
          "#     time    set-up  iterations     memory  ~: predicted, -: it fails\n");
  for (RankedChoice const& c : list) text += cat("#", line(c).substr(1));
  if (!list.empty() && std::isfinite(list.front().predicted))
    text += cat("\nsolver: ", list.front().solver,
                "\npreconditioner: ", list.front().preconditioner, "\n");
  return text;
}

}  // namespace tcsolve
