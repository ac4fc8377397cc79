// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/commands/matrix_info.hpp>

#include <tcsolve/app/commands/graph_facts.hpp>
#include <tcsolve/app/commands/level_info.hpp>
#include <tcsolve/core/error.hpp>
#include <tcsolve/core/host_memory.hpp>
#include <tcsolve/formats/choose/ordering.hpp>
#include <tcsolve/graph/reorder/locality.hpp>
#include <tcsolve/io/files/matrix_file.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <vector>

namespace tcsolve {
namespace {

using Json = nlohmann::ordered_json;

std::string number(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", v);
  return text;
}

std::string symmetry_text(CsrSummary const& s) {
  if (s.rows != s.cols) return "not square";
  if (s.pattern_symmetric && s.asymmetry == 0) return "symmetric";
  // norm(A - A^T) <= 2 norm(A), with equality for A^T = -A alone.
  if (s.pattern_symmetric && s.asymmetry == 2) return "skew-symmetric: A^T = -A";
  return cat("nonsymmetric: norm(A - A^T) / norm(A) = ", number(s.asymmetry), ", pattern ",
             s.pattern_symmetric ? "symmetric" : "nonsymmetric");
}

std::string histogram_text(CsrSummary const& s) {
  std::string text = "row lengths     rows\n";
  Offset const most =
      s.histogram.empty() ? 0 : *std::max_element(s.histogram.begin(), s.histogram.end());
  for (std::size_t bin = 0; bin < s.histogram.size(); ++bin) {
    if (s.histogram[bin] == 0) continue;
    Offset const high = bin == 0 ? 0 : Offset{1} << (bin - 1);
    Offset const low = bin < 2 ? high : high / 2 + 1;
    std::string const range = low == high ? cat(low) : cat(low, "-", high);
    auto const bar = static_cast<std::size_t>(40 * s.histogram[bin] / most);
    char line[96];
    std::snprintf(line, sizeof line, "  %-12s  %-10lld", range.c_str(),
                  static_cast<long long>(s.histogram[bin]));
    text += line + std::string(bar, '#') + "\n";
  }
  return text;
}

/// What `operator: {format: auto, reorder: auto}` would take, and why.
struct DevicePlan {
  Plan formats;
  std::optional<OrderPlan> orders;  ///< of a square matrix
};

/// What formats say of their own products with many columns.
struct NamedModel {
  std::string format;
  FormatModel model;
};

struct FileFacts {
  std::string file;
  MatrixFileSize size;
  CsrSummary summary;
  Locality locality;
  std::optional<GraphFacts> graph;  ///< where it is asked for
  std::optional<LevelInfo> levels;  ///< likewise
  std::vector<DevicePlan> plans;
  std::vector<NamedModel> models;
};

std::vector<DevicePlan> plans(Csr<double> const& a, std::string const& calibration) {
  Context ctx(Backend::host);
  Features const f = features(ctx, a.view());
  auto const plan = [&](CostTable const& table) {
    DevicePlan made{make_plan(f, {}, table), std::nullopt};
    if (a.rows == a.cols) made.orders = *ordered(ctx, a, {}, table).plan;
    return made;
  };
  if (!calibration.empty()) return {plan(CostTable::load(calibration))};
  return {plan(CostTable::h200()), plan(CostTable::host())};
}

/// Of formats that have one, where there is memory for their conversions: about 64 bytes an entry.
std::vector<NamedModel> models(Csr<double> const& a) {
  Context ctx(Backend::host);
  std::vector<NamedModel> all;
  if (64 * a.entries() > available_memory() / 2) return all;
  for (Format const& format : formats()) {
    if (!format.model) continue;
    try {
      all.push_back({format.name, format.model(ctx, a.view())});
    } catch (SizeError const&) {}  // it is not for so many entries
  }
  return all;
}

FileFacts gather(std::filesystem::path const& file, std::string const& calibration,
                 bool with_models, InfoParts parts) {
  MatrixFileSize const size = matrix_file_size(file);
  // The summary transposes the matrix: twice its size, and what reading takes.
  require_memory(std::max(2 * size.csr_bytes, size.reading_bytes), 0, file_name(file));
  Csr<double> const a = read_matrix(file);
  return {file_name(file),
          size,
          summarize(a),
          locality(a),
          parts.graph ? std::optional(graph_facts(a)) : std::nullopt,
          parts.amg ? std::optional(level_info(a)) : std::nullopt,
          plans(a, calibration),
          with_models ? models(a) : std::vector<NamedModel>{}};
}

double mean_row(CsrSummary const& s) { return s.rows > 0 ? double(s.entries) / s.rows : 0; }

/// Types and layouts of blocks of columns that models are shown for.
struct BlockKind {
  char const* name;
  Real values;
  Layout layout;
};
constexpr BlockKind block_kinds[] = {
    {"fp32, row-major", Real::f32, Layout::row_major},
    {"fp32, column-major", Real::f32, Layout::col_major},
    {"fp64, row-major", Real::f64, Layout::row_major},
    {"fp16 values, fp32, row-major", Real::f16, Layout::row_major}};

std::string model_text(NamedModel const& named) {
  std::string text =
      cat("model of ", named.format, " for many columns: ", named.model.decision, "\n ");
  std::size_t on_line = 0;
  for (auto const& [name, value] : named.model.terms) {
    if (on_line++ == 8) text += "\n ", on_line = 1;
    text += cat(" ", name, " ", number(value), ",");
  }
  text.back() = '\n';
  for (BlockKind const& kind : block_kinds) {
    Levels const of = named.model.intensity(kind.values, kind.layout);
    text += cat("  ", number(of.memory), " operations a byte of memory, ", number(of.cache),
                " of the second-level cache, ", number(of.shared), " of shared memory (", kind.name,
                ")\n");
  }
  return text;
}

/// "format          NAME on NVIDIA H200, NAME on the host".
std::string decision_text(std::vector<DevicePlan> const& plans) {
  std::string text = "format         ";
  for (DevicePlan const& plan : plans)
    text += cat(&plan == plans.data() ? " " : ", ", plan.formats.taken().name,
                plan.orders && plan.orders->taken != Reorder::none
                    ? cat(" after ", name(plan.orders->taken))
                    : "",
                " on ", plan.formats.device);
  return text + " (-v: what each would cost)\n";
}

std::string info_text(FileFacts const& facts, bool all) {
  CsrSummary const& s = facts.summary;
  std::string decisions = all ? "" : decision_text(facts.plans);
  for (DevicePlan const& plan : facts.plans)
    if (all) decisions += text(plan.formats) + (plan.orders ? text(*plan.orders) : "");
  for (NamedModel const& named : facts.models) decisions += model_text(named);
  std::string const assumed = facts.size.assumed;
  return cat("file            ", facts.file, "\n",                                            //
             assumed.empty() ? "" : cat("read as         ", assumed, "\n"),                   //
             "size            ", s.rows, " x ", s.cols, "\n",                                 //
             "entries         ", s.entries, " (", facts.size.stored, " in the file)\n",       //
             "symmetry        ", symmetry_text(s), "\n",                                      //
             "diagonal        ", s.zero_diagonal, " zero or absent, ",                        //
             s.negative_diagonal, " negative\n",                                              //
             "dominance       ", s.dominant_rows, " of ", s.rows, " rows\n",                  //
             "bandwidth       ", s.bandwidth, ", profile ", facts.locality.profile, "\n",     //
             "locality        ", number(facts.locality.gather()),                             //
             " bytes of x an entry (0.25 to 32; docs/reordering.md)\n",                       //
             "norms           inf ", number(s.norm_inf), ", Frobenius ",                      //
             number(s.norm_frobenius), ", largest entry ", number(s.max_abs), "\n",           //
             "entries a row   least ", s.min_row, ", mean ", number(mean_row(s)), ", most ",  //
             s.max_row, "; ", s.empty_rows, " rows are empty\n",                              //
             histogram_text(s), facts.graph ? text(*facts.graph) : "",
             facts.levels ? text(*facts.levels) : "", decisions);
}

Json histogram_json(CsrSummary const& s) {
  Json bins = Json::array();
  for (std::size_t bin = 0; bin < s.histogram.size(); ++bin) {
    Offset const high = bin == 0 ? 0 : Offset{1} << (bin - 1);
    bins.push_back(
        {{"from", bin < 2 ? high : high / 2 + 1}, {"to", high}, {"rows", s.histogram[bin]}});
  }
  return bins;
}

Json candidate_json(Candidate const& c) {
  constexpr double microsecond = 1e-6;
  Json const none = nullptr;
  bool const taken = c.excluded.empty();
  auto const seconds = [&](double us) { return taken ? Json(us * microsecond) : none; };
  return {{"format", c.format->name},
          {"bytes", c.bytes},
          {"product", seconds(c.product)},
          {"step", seconds(c.step)},
          {"conversion", seconds(c.conversion)},
          {"total", seconds(c.total)},
          {"excluded", taken ? none : Json(c.excluded)}};
}

Json plan_json(DevicePlan const& plan) {
  Json formats = Json::array();
  for (Candidate const& c : plan.formats.candidates) formats.push_back(candidate_json(c));
  return {{"device", plan.formats.device},
          {"products", plan.formats.request.applies},
          {"format", plan.formats.taken().name},
          {"reorder", plan.orders ? Json(name(plan.orders->taken)) : Json(nullptr)},
          {"formats", formats}};
}

Json of_levels(Levels const& of) {
  return {{"memory", of.memory}, {"cache", of.cache}, {"shared", of.shared}};
}

Json models_json(std::vector<NamedModel> const& models) {
  Json all = Json::array();
  for (NamedModel const& named : models) {
    Json terms = Json::object(), intensities = Json::object();
    for (auto const& [name, value] : named.model.terms) terms[name] = value;
    for (BlockKind const& kind : block_kinds)
      intensities[kind.name] = of_levels(named.model.intensity(kind.values, kind.layout));
    all.push_back({{"format", named.format},
                   {"decision", named.model.decision},
                   {"terms", terms},
                   {"operations_per_byte", intensities}});
  }
  return all;
}

Json graph_json(GraphFacts const& g) {
  return {{"vertices", g.vertices},
          {"edges", g.edges},
          {"components", g.components},
          {"isolated", g.isolated},
          {"largest_component", g.largest},
          {"degrees", {{"least", g.least_degree}, {"most", g.most_degree}}},
          {"tiles",
           {{"side", g.tile_side}, {"count", g.tiles}, {"edges", g.in_tiles}, {"rest", g.in_rest}}},
          {"pseudo_peripheral_vertex", g.from > 0 ? Json(g.from) : Json(nullptr)},
          {"levels", g.levels},
          {"search",
           {{"on", name(g.searched_on)},
            {"microseconds_per_level", g.vertices > 0 ? Json(g.level_us) : Json(nullptr)}}}};
}

std::string info_json(FileFacts const& facts) {
  CsrSummary const& s = facts.summary;
  Json plans = Json::array();
  for (DevicePlan const& plan : facts.plans) plans.push_back(plan_json(plan));
  Json info = {
      {"file", facts.file},
      {"rows", s.rows},
      {"cols", s.cols},
      {"entries", s.entries},
      {"stored", facts.size.stored},
      {"assumed", facts.size.assumed.empty() ? Json(nullptr) : Json(facts.size.assumed)},
      {"holds_rhs", facts.size.holds_rhs},
      {"symmetric", s.rows == s.cols && s.pattern_symmetric && s.asymmetry == 0},
      {"pattern_symmetric", s.rows == s.cols && s.pattern_symmetric},
      {"asymmetry", s.rows == s.cols ? Json(s.asymmetry) : Json(nullptr)},
      {"zero_diagonal", s.zero_diagonal},
      {"negative_diagonal", s.negative_diagonal},
      {"dominant_rows", s.dominant_rows},
      {"bandwidth", s.bandwidth},
      {"profile", facts.locality.profile},
      {"gathered_bytes_per_entry", facts.locality.gather()},
      {"norms",
       {{"inf", s.norm_inf}, {"frobenius", s.norm_frobenius}, {"largest_entry", s.max_abs}}},
      {"row_entries",
       {{"least", s.min_row},
        {"mean", mean_row(s)},
        {"most", s.max_row},
        {"empty_rows", s.empty_rows},
        {"histogram", histogram_json(s)}}},
      {"plans", plans},
      {"models", models_json(facts.models)}};
  if (facts.graph) info["graph"] = graph_json(*facts.graph);
  if (facts.levels) info["multigrid"] = json(*facts.levels);
  return info.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string matrix_info(std::filesystem::path const& file, std::string const& calibration,
                        InfoForm form, InfoParts parts) {
  FileFacts const facts = gather(file, calibration, form != InfoForm::facts, parts);
  return form == InfoForm::json ? info_json(facts) : info_text(facts, form == InfoForm::all);
}

}  // namespace tcsolve
