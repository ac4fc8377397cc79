// SPDX-License-Identifier: Apache-2.0
#include "tests/verdicts/fuzz/check.hpp"
#include "tests/support/dense.hpp"

#include <algorithm>
#include <Eigen/Core>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>

#include <tcsolve/core/error.hpp>
#include <tcsolve/io/files/matrix_market.hpp>

#include "tests/support/files.hpp"
#include "tests/verdicts/fuzz/exact.hpp"

namespace tcsolve::fuzz {

namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

/// Exit codes by outcome, as the table of docs/02-verdicts.md has them.
std::map<std::string, int> const& exit_codes() {
  static std::map<std::string, int> const codes{{"converged", 0},
                                                {"config_error", 1},
                                                {"max_iterations", 3},
                                                {"stagnated", 4},
                                                {"precision_limit", 4},
                                                {"precision_limit:values", 4},
                                                {"least_squares:inconsistent", 4},
                                                {"false_convergence:nullspace", 4},
                                                {"false_convergence", 4},
                                                {"diverged", 4},
                                                {"breakdown:rho", 4},
                                                {"breakdown:sigma", 4},
                                                {"breakdown:omega", 4},
                                                {"breakdown:singular_operator", 4},
                                                {"breakdown:inconsistent", 4},
                                                {"breakdown:inner_solver", 4},
                                                {"indefinite_operator", 4},
                                                {"indefinite_preconditioner", 4},
                                                {"nonfinite:rhs", 4},
                                                {"nonfinite:guess", 4},
                                                {"nonfinite:operator", 4},
                                                {"nonfinite:preconditioner", 4},
                                                {"nonfinite:overflow", 4},
                                                {"setup_failed", 4}};
  return codes;
}

using Dense = Eigen::MatrixXd;

/// A with its largest entry scaled to about 1, by a power of two.
Dense dense(System const& s) {
  Dense a = Dense::Zero(s.rows, s.cols);
  double largest = 0;
  for (Value const& e : s.entries) {
    a(e.row, e.column) = e.value;
    largest = std::max(largest, std::abs(e.value));
  }
  return largest > 0 ? Dense(a * std::ldexp(1.0, -std::ilogb(largest))) : a;
}

/// The findings of one case.
class Analyst {
 public:
  Analyst(Case const& c, int exit_code, fs::path const& output)
      : case_(c), system_(c.system), exit_code_(exit_code), output_(output) {}

  std::vector<std::string> findings() {
    std::string const text = test::read_text(output_ / "result.json");
    result_ = Json::parse(text, nullptr, false);
    if (!result_.is_object()) {
      say("result.json is absent or no JSON: ", text.substr(0, 200));
      return found_;
    }
    try {
      schema();
      outcome_ = result_.at("verdict").at("outcome");
      exit_codes_agree();
      if (!system_.more.empty()) {
        columns_are_true();
      } else if (figure("true")) {
        history();
        solution();
      } else {
        nothing_was_solved();
      }
    } catch (std::exception const& e) { say("it cannot be read: ", e.what()); }
    return found_;
  }

 private:
  template <class... Args>
  void say(Args const&... args) {
    found_.push_back(cat(args...));
  }

  bool refines() const {
    return case_.keys.solver == "refinement" || case_.keys.solver == "gmres_ir";
  }

  /// A number of `residual`; nothing where it is null.
  std::optional<long double> figure(char const* key) const {
    Json const& v = result_.at("residual").at(key);
    if (v.is_null()) return std::nullopt;
    if (v.is_string()) return v == "inf" ? std::numeric_limits<long double>::infinity() : -1;
    return static_cast<long double>(v.get<double>());
  }

  void require_keys(Json const& map, std::set<std::string> const& wanted, char const* where) {
    std::set<std::string> keys;
    for (auto const& [key, value] : map.items()) keys.insert(key);
    for (std::string const& key : wanted)
      if (!keys.contains(key)) say(where, ": the key ", key, " is missing");
    for (std::string const& key : keys)
      if (!wanted.contains(key)) say(where, ": the key ", key, " is none of the known ones");
  }

  void schema() {
    require_keys(result_, {"schema",         "verdict",          "iterations", "restarts",
                           "residual",       "solution_error",   "problem",    "format",
                           "preconditioner", "choices",          "taken",      "profile",
                           "columns",        "systems",          "reordering", "ranks",
                           "imbalance",      "seconds",          "repeat",     "work",
                           "memory",         "traffic_estimate", "files",      "backend",
                           "device",         "driver",           "clocks_mhz", "process",
                           "versions",       "warnings",         "config",     "joules",
                           "joules_note",    "rounding",         "precision",  "precision_choice",
                           "hierarchy"},
                 "result.json");
    Json const& verdict = result_.at("verdict");
    require_keys(verdict, {"outcome", "reason", "cause", "converged", "exit_code", "message"},
                 "verdict");
    for (char const* key : {"outcome", "reason", "cause", "message"})
      if (!verdict.at(key).is_string()) say("verdict.", key, " is no text");
    if (!verdict.at("exit_code").is_number_integer()) say("verdict.exit_code is no integer");
    if (!verdict.at("converged").is_boolean()) say("verdict.converged is no truth value");
    if (verdict.at("message") == "") say("verdict.message is empty");
    for (char const* key : {"iterations", "restarts"})
      if (!result_.at(key).is_number_unsigned()) say(key, " is no count");
    for (auto const& [key, v] : result_.at("residual").items()) {
      bool const is_text = v == "inf" || v == "-inf";
      if (key == "contractions" && refines() && v.is_array()) continue;
      if (!v.is_null() && !v.is_number() && !is_text) say("residual.", key, " is ", v.dump());
      if (v.is_number() && key != "breakdown_value" && v.get<double>() < 0)
        say("residual.", key, " is negative: ", v.dump());
    }
    require_keys(result_.at("files"),
                 {"history", "solution", "solution_parts", "plot", "report", "systems", "failed"},
                 "files");
    if (!result_.at("files").at("failed").empty()) say("a file could not be written");
    if (!result_.at("warnings").is_array()) say("warnings is no list");
    for (auto const& [key, v] : result_.at("seconds").items())
      if (!v.is_number() || v.get<double>() < 0) say("seconds.", key, " is ", v.dump());
  }

  void exit_codes_agree() {
    Json const& verdict = result_.at("verdict");
    if (verdict.at("exit_code") != exit_code_)
      say("the program ended with ", exit_code_, ", result.json says ",
          verdict.at("exit_code").dump());
    if (verdict.at("converged").get<bool>() != (outcome_ == "converged"))
      say("verdict.converged is ", verdict.at("converged").dump(), ", the outcome ", outcome_);
    if (outcome_ == "least_squares") {
      bool const rectangular = system_.rows != system_.cols;
      if (rectangular != (exit_code_ == 0))
        say("least_squares of a ", system_.rows, " x ", system_.cols, " matrix ended with ",
            exit_code_);
      return;
    }
    auto const known = exit_codes().find(outcome_);
    if (known == exit_codes().end())
      say("the outcome ", outcome_, " is none that this case can have");
    else if (known->second != exit_code_)
      say("the outcome ", outcome_, " ended with ", exit_code_, " instead of ", known->second);
    if (outcome_ == "breakdown:inner_solver" && case_.keys.preconditioner != "solver" && !refines())
      say("there is no inner solver");
    bool const refusable = case_.keys.solver == "lsmr";
    if (outcome_ == "config_error" && !refusable) say("refused, and the keys go together");
    bool const can_fail = case_.keys.preconditioner != "none" || has_nullspace() ||
                          case_.keys.values != "fp64" || case_.keys.format != "csr";
    if (outcome_ == "setup_failed" && !can_fail)
      say("csr in FP64 without M cannot fail to be set up");
  }

  bool has_nullspace() const { return case_.keys.constant || !system_.nullspace.empty(); }

  /// The values of an array in x.mtx.
  std::vector<double> array() const {
    std::istringstream lines(test::read_text(output_ / "x.mtx"));
    std::string line;
    std::vector<double> values;
    bool sized = false;
    while (std::getline(lines, line)) {
      if (line.starts_with('%')) continue;
      if (sized) values.push_back(std::strtod(line.c_str(), nullptr));
      sized = true;
    }
    return values;
  }

  /// Of several right-hand sides each has a verdict, which is true of its x.
  void columns_are_true() {
    Json const& columns = result_.at("columns");
    if (columns.is_null()) return nothing_was_solved();
    std::vector<double> const all = array();
    std::size_t const count = system_.more.size() + 1, n = std::size_t(system_.cols);
    if (columns.size() != count) say("there are ", columns.size(), " of ", count, " columns");
    if (all.size() != n * count) return say("x.mtx has ", all.size(), " values");
    bool solved = true;
    for (std::size_t j = 0; j < std::min(count, columns.size()); ++j) {
      Json const& c = columns[j];
      std::vector<double> const& b = j == 0 ? system_.b : system_.more[j - 1];
      std::vector<double> const x(all.begin() + std::ptrdiff_t(n * j),
                                  all.begin() + std::ptrdiff_t(n * (j + 1)));
      solved = solved && c.at("converged").get<bool>();
      if (!c.at("true_residual").is_number() ||
          !std::ranges::all_of(x, [](double e) { return std::isfinite(e); })) {
        if (c.at("converged").get<bool>()) say("column ", j + 1, " converged without a residual");
        continue;
      }
      long double const now = norm(residual(system_, b, x)),
                        said = c.at("true_residual").get<double>();
      if (!(std::abs(said - now) <= residual_slack(system_, b, x, now, twice_working)))
        say("the residual of column ", j + 1, " is said to be ", double(said), "; it is ",
            double(now));
      if (c.at("converged").get<bool>() && c.at("tolerance").is_number() &&
          now > c.at("tolerance").get<double>() + excess(system_, now))
        say("column ", j + 1, " is called converged with ", double(now), ", its tolerance is ",
            c.at("tolerance").dump());
    }
    if (result_.at("verdict").at("converged").get<bool>() != solved)
      say("verdict.converged is ", result_.at("verdict").at("converged").dump(),
          ", of the columns it is ", solved);
  }

  void nothing_was_solved() {
    bool const expected = outcome_ == "config_error" || outcome_ == "setup_failed" ||
                          !system_.finite || outcome_.starts_with("nonfinite");
    if (!expected) say(outcome_, " without a true residual");
    // A nonfinite b or x0 has no residual; then there is nothing to believe in either.
    for (char const* key : {"true_relative", "backward_error"})
      if (figure(key))
        say("residual.", key, " is ", result_.at("residual").at(key).dump(),
            ", and the true residual is not known");
  }

  void history() {
    std::istringstream lines(test::read_text(output_ / "history.csv"));
    std::string line;
    std::getline(lines, line);
    if (line != "iteration,residual,rate,seconds,true_residual,mark")
      say("history.csv begins with ", line);
    int rows = -1;  // the guess is row 0
    while (std::getline(lines, line))
      if (std::stoi(line) != ++rows) say("history.csv: row ", rows, " is of iteration ", line);
    int const iterations = result_.at("iterations");
    if (rows != iterations && !(rows == -1 && iterations == 0))
      say("history.csv has ", rows, " rows after ", iterations, " iterations");
    if (iterations > (case_.keys.automatic ? 2 : 1) * case_.keys.max_iters)
      say(iterations, " iterations, of which ", case_.keys.max_iters, " are allowed");
    Json const& best = result_.at("residual").at("best_iteration");
    if (best.is_number() && best.get<int>() > iterations)
      say("the best iteration is ", best.dump());
  }

  void solution() {
    std::vector<double> const x = read_vector(output_ / "x.mtx", {.nonfinite = NonFinite::keep});
    if (x.size() != std::size_t(system_.cols)) {
      say("x.mtx has ", x.size(), " elements");
      return;
    }
    if (!system_.finite) {
      if (outcome_ == "converged") say("converged, with NaN or Inf about");
      return;
    }
    if (!std::ranges::all_of(x, [](double e) { return std::isfinite(e); })) {
      say("x holds NaN or Inf");
      return;
    }
    residual_is_as_reported(x);
    tolerance_is_met_or_not(x);
    names_are_true();
  }

  /// |reported - exact| <= slack.
  void compare(char const* key, long double exact, long double slack) {
    std::optional<long double> const reported = figure(key);
    if (!reported) {
      say("residual.", key, " is null; it is ", double(exact));
    } else if (!(std::abs(*reported - exact) <= slack)) {
      say("residual.", key, " is said to be ", double(*reported), "; it is ", double(exact),
          ", which rounding explains to ", double(slack));
    }
  }

  void residual_is_as_reported(std::vector<double> const& x) {
    now_ = norm(residual(system_, system_.b, x));
    slack_ = residual_slack(system_, system_.b, x, now_, twice_working);  // it decides
    before_ = norm(residual(system_, system_.b, system_.x0));
    slack_before_ = residual_slack(system_, system_.b, system_.x0, before_, working);
    compare("true", now_, slack_);
    b_ = norm(system_.b);
    compare("rhs_norm", b_, (system_.rows / 2.0L + 4) * 0x1p-53L * b_ + 0x1p-1074L);
    if (has_nullspace()) return;  // the guess is projected
    // Of b = 0 the answer is 0 whatever the guess; nothing is measured then.
    if (figure("initial") || result_.at("verdict").at("cause") != "zero_rhs")
      compare("initial", before_, slack_before_);
    if (now_ > before_ + slack_ + slack_before_)
      say("x is worse than the guess: ", double(now_), " after ", double(before_));
  }

  /// |r_i| <= max(rtol (|b_i| + (|A| e)_i max |x|), atol).
  void rows_are_met(std::vector<double> const& x) {
    Keys const& keys = case_.keys;
    std::vector<Exact> const r = residual(system_, system_.b, x);
    double most = 0;
    for (double const e : x) most = std::max(most, std::abs(e));
    std::vector<Exact> size;
    for (double const e : system_.b) size.push_back(std::abs(e));
    for (Value const& e : system_.entries)
      size[std::size_t(e.row)] += Exact(std::abs(e.value)) * most;
    for (std::size_t i = 0; i < r.size(); ++i)
      if (std::abs(r[i]) > 1.000001L * std::max<Exact>(keys.rtol * size[i], keys.atol) + 0x1p-1060L)
        say("called converged by rows; row ", i + 1, " has ", double(r[i]), " of ",
            double(size[i]));
  }

  void tolerance_is_met_or_not(std::vector<double> const& x) {
    Keys const& keys = case_.keys;
    if (has_nullspace()) {  // whose tolerance may be that of a smaller b
      long double const said = figure("tolerance").value_or(0);
      if (outcome_ == "converged" && now_ > said + excess(system_, now_))
        say("called converged with ", double(now_), ", the tolerance is ", double(said));
      if (keys.baseline == "rhs" &&
          said > std::max<long double>(keys.rtol * b_, keys.atol) * 1.000001L + 0x1p-1070L)
        say("the tolerance is ", double(said), ", norm(b) is ", double(b_));
      return;
    }
    if (keys.baseline == "rows" && outcome_ == "converged" &&
        result_.at("verdict").at("cause") != "zero_rhs")
      rows_are_met(x);
    bool const of_b = keys.baseline == "rhs" || keys.baseline == "rows";
    long double const base = of_b ? b_ : keys.baseline == "initial" ? before_ : 0;
    long double const base_slack = keys.baseline == "initial"
                                       ? slack_before_
                                       : (system_.rows / 2.0L + 4) * 0x1p-53L * base + 0x1p-1074L;
    long double const tolerance = std::max<long double>(keys.rtol * base, keys.atol);
    long double const tolerance_slack = keys.rtol * base_slack + 0x1p-52L * tolerance;
    if (figure("tolerance") || result_.at("verdict").at("cause") != "zero_rhs")
      compare("tolerance", tolerance, tolerance_slack);
    if (outcome_ == "converged" && now_ > tolerance + tolerance_slack + excess(system_, now_))
      say("called converged with ", double(now_), " (", double(now_ / b_),
          " of norm(b)), the tolerance is ", double(tolerance), ", rounding explains ",
          double(slack_));
    bool const ended_early = outcome_.starts_with("nonfinite") || keys.baseline == "rows";
    if (outcome_ != "converged" && !ended_early && now_ < tolerance - tolerance_slack - slack_)
      say("called ", outcome_, " with ", double(now_), ", which meets the tolerance ",
          double(tolerance));
  }

  /// What an outcome says of the matrix is so, as far as its singular values can tell.
  void names_are_true() {
    if (has_nullspace()) return;
    if (outcome_ == "least_squares") is_least_squares();
    if (case_.keys.values != "fp64" || system_.rows != system_.cols) return;
    Dense const a = dense(system_);
    double const roundoff = double(a.rows()) * 0x1p-50 * a.norm();
    if (outcome_ == "indefinite_operator") {
      Dense const symmetric = (a + a.transpose()) / 2;
      double const least = test::symmetric_eigenvalues(symmetric).minCoeff();
      if (least > roundoff) say("called indefinite; the least eigenvalue is ", least);
    }
    bool const scales = case_.keys.preconditioner == "jacobi";
    if (outcome_ == "indefinite_preconditioner" &&
        (case_.keys.preconditioner == "none" || (scales && (a.diagonal().array() > 0).all())))
      say("M is positive definite");
    bool const symmetric = a == a.transpose();
    if (outcome_ == "breakdown:singular_operator" && (case_.keys.solver != "minres" || symmetric)) {
      Eigen::VectorXd const values = test::singular_values(a);
      double const rcond = values.tail(1)[0] / values[0];
      if (rcond > 1e-6) say("called singular; the condition number is ", 1 / rcond);
    }
  }

  /// No x leaves much less, where columns that depend on others to twelve digits count as
  /// dependent.
  void is_least_squares() {
    Dense a = dense(system_);
    for (Index j = 0; j < a.cols(); ++j)
      if (double const size = a.col(j).norm(); size > 0) a.col(j) /= size;
    Eigen::VectorXd b = Eigen::Map<Eigen::VectorXd const>(system_.b.data(), system_.rows);
    double const size = b.norm();
    if (size == 0) return;
    b /= size;
    double const smallest = (b - a * test::least_squares_solution(a, b, 1e-12)).norm() * size;
    if (now_ > 1.01L * smallest + *figure("tolerance"))
      say("called a least-squares solution with ", double(now_), "; ", smallest, " can be had");
  }

  Case const& case_;
  System const& system_;
  int exit_code_;
  fs::path output_;
  Json result_;
  std::string outcome_;
  long double now_ = 0, slack_ = 0, before_ = 0, slack_before_ = 0, b_ = 0;
  std::vector<std::string> found_;
};

void collect_keys(Json const& value, std::string const& page, std::vector<std::string>& missing) {
  for (auto const& [key, inner] : value.items()) {
    if (page.find("`" + key + "`") == std::string::npos) missing.push_back(key);
    bool const is_free = key == "config" || key == "taken";  // the keys of docs/reference
    if (inner.is_object() && !is_free) collect_keys(inner, page, missing);
  }
}

}  // namespace

std::vector<std::string> faults(Case const& c, int exit_code, fs::path const& output) {
  return Analyst(c, exit_code, output).findings();
}

std::string timeless(fs::path const& result) {
  Json r = Json::parse(test::read_text(result), nullptr, false);
  if (!r.is_object()) return "";
  r.erase("seconds");
  if (r.contains("work") && r["work"].is_object()) r["work"].erase("seconds_per_iteration");
  if (r.contains("choices") && r["choices"].is_array())
    for (Json& choice : r["choices"])
      for (char const* key : {"setup_seconds", "solve_seconds"}) choice.erase(key);
  r.erase("traffic_estimate");
  r.erase("memory");
  r.erase("process");
  r.erase("joules");
  r.erase("joules_note");  // tells how long the solves took
  r.erase("clocks_mhz");
  return r.dump();
}

std::vector<std::string> undocumented(fs::path const& result, std::string const& page) {
  std::vector<std::string> missing;
  collect_keys(Json::parse(test::read_text(result)), page, missing);
  return missing;
}

}  // namespace tcsolve::fuzz
