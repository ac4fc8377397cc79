// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/config/sweep.hpp>

#include <tcsolve/app/config/run_input.hpp>
#include <tcsolve/configs/schema/print.hpp>
#include <tcsolve/core/error.hpp>
#include <tcsolve/io/files/matrix_file.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <set>
#include <span>
#include <sstream>
#include <utility>

namespace tcsolve {
namespace {

namespace fs = std::filesystem;
using Kind = ConfigNode::Kind;
using Numbers = std::vector<std::size_t>;  // of a value on each axis

constexpr std::size_t most_runs = 10'000;

/// What an entry of `problems` writes into the config, and its name: of a file that without the
/// folder.
SweepValue problem_value(ConfigNode const& item) {
  if (item.kind == Kind::scalar)
    return {fs::path(item.scalar).filename().string(), {{"problem.matrix", item.at, item}}};
  SweepValue value;
  for (ConfigNode::Entry const& e : item.entries) {
    value.keys.push_back({"problem." + e.key, e.at, e.value});
    bool const names = e.key == "matrix" || e.key == "generator";
    std::string const text = e.key == "matrix" && e.value.kind == Kind::scalar
                                 ? fs::path(e.value.scalar).filename().string()
                                 : label_of(e.value);
    value.label += cat(value.label.empty() ? "" : ", ", names ? "" : e.key + " ", text);
  }
  return value;
}

/// The matrices in a folder, by their names.
std::vector<std::string> matrices_in(fs::path const& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (auto const& entry : fs::directory_iterator(folder, ignored))
    if (entry.is_regular_file(ignored) && is_matrix(entry.path()))
      names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

/// The entries of `problems`, a folder as the matrices in it. A path stays relative to the file
/// that it is written in.
std::vector<SweepValue> problem_values(SweepProblems const& list, fs::path const& folder,
                                       Diagnostics& problems) {
  std::vector<SweepValue> values;
  for (ConfigNode const& item : list.items) {
    fs::path const given = item.scalar;
    bool const from_file = item.at.line > 0 && given.is_relative();
    fs::path const path = from_file ? folder / given : given;
    std::error_code ignored;
    if (item.kind != Kind::scalar || !fs::is_directory(path, ignored)) {
      values.push_back(problem_value(item));
      continue;
    }
    std::vector<std::string> const names = matrices_in(path);
    if (names.empty())
      problems.add(item.at, cat("there is no matrix in the folder ", path.string()));
    for (std::string const& name : names) {
      ConfigNode file = item;
      file.scalar = (given / name).string();
      values.push_back(problem_value(file));
    }
  }
  // Files of one name are told apart by their folders.
  std::multiset<std::string> labels;
  for (SweepValue const& v : values) labels.insert(v.label);
  for (SweepValue& v : values)
    if (labels.count(v.label) > 1 && v.keys.size() == 1) v.label = v.keys.front().value.scalar;
  require_distinct(values, {}, "'problems'", problems);
  return values;
}

/// A matrix, a generator and a batch stand in each other's place.
void keep_one_source(ConfigNode& problem, std::string const& given) {
  std::set<std::string> const sources{"matrix", "generator", "batch"};
  if (!sources.contains(given)) return;
  std::erase_if(problem.entries, [&](ConfigNode::Entry const& e) {
    return e.key != given && sources.contains(e.key);
  });
}

/// Writes one key into the tree; blocks on the way are made when missing.
void write(ConfigNode& root, SweepValue::Key const& key, Diagnostics& problems) {
  ConfigNode* node = &root;
  std::istringstream path(key.path);
  for (std::string part; std::getline(path, part, '.');) {
    if (part.empty())
      return problems.add(key.at, cat("'", shown(key.path), "' is no path of keys as solver.rtol"));
    if (node->kind == Kind::null) {
      node->kind = Kind::map;
      node->at = key.at;
    }
    if (node->kind != Kind::map)
      return problems.add(
          key.at,
          cat("'", shown(part), "' is not inside a block: ", node->at.text(), " holds a value"));
    if (ConfigNode* const there = node->find(part)) {
      node = there;
    } else {
      node->entries.push_back({part, key.at, {}});
      node = &node->entries.back().value;
    }
  }
  *node = key.value;
  if (key.path.starts_with("problem."))
    keep_one_source(*root.find("problem"), key.path.substr(key.path.find('.') + 1));
}

/// Every combination of the axes, the last one changing fastest; of no axis the empty one. Throws
/// ConfigError where they are too many.
std::vector<Numbers> combinations(std::vector<SweepAxis> const& axes, Position const& at) {
  std::vector<Numbers> all{{}};
  for (SweepAxis const& axis : axes) {
    if (all.size() * axis.values.size() > most_runs)
      throw ConfigError(cat(at.text(), ": more than ", most_runs, " runs"));
    std::vector<Numbers> longer;
    for (Numbers const& one : all)
      for (std::size_t k = 0; k < axis.values.size(); ++k) {
        longer.push_back(one);
        longer.back().push_back(k);
      }
    all = std::move(longer);
  }
  return all;
}

/// The number of the setting that `setting` is compared with: where `key` has its first value, or,
/// without a key, all axes.
std::size_t baseline_of(Numbers const& setting, std::vector<SweepAxis> const& axes,
                        std::string const& key) {
  std::size_t number = 0;
  for (std::size_t a = 0; a < axes.size(); ++a)
    number = number * axes[a].values.size() + (key.empty() || axes[a].name == key ? 0 : setting[a]);
  return number;
}

void require_baseline(SweepConfig const& config, std::vector<SweepAxis> const& axes,
                      Position const& at, Diagnostics& problems) {
  std::vector<std::string> names;
  for (SweepAxis const& axis : axes) names.push_back(axis.name);
  if (config.baseline.empty() || std::ranges::count(names, config.baseline) > 0) return;
  problems.add(at, cat("'baseline' = '", shown(config.baseline), "' is none of what changes",
                       suggestion(config.baseline, names)));
}

/// The name of a run's folder, which is the same where all that it depends on is.
std::string name_of(ParsedConfig const& parsed, int repeats) {
  RunConfig config = parsed.run;
  config.output = {};
  std::string text = cat(dump_json(config), "\n", repeats);
  for (fs::path const& file : parsed.files.all())
    text += "\n" + fs::absolute(file).lexically_normal().string();
  std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  for (unsigned char const c : text) hash = (hash ^ c) * 0x100000001b3u;
  std::ostringstream name;
  name << std::hex << hash;
  return name.str();
}

/// Lines of messages, each once: runs that share a mistake share its line.
class Lines {
 public:
  void add(std::string const& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
      if (seen_.insert(line).second) text_ += (text_.empty() ? "" : "\n") + line;
  }
  std::string const& text() const { return text_; }

 private:
  std::set<std::string> seen_;
  std::string text_;
};

/// The config of every run, read one after another.
class Runs {
 public:
  Runs(ConfigNode root, fs::path folder, Catalog const& catalog)
      : root_(std::move(root)), folder_(std::move(folder)), catalog_(catalog) {
    unfold_blocks(root_, catalog_);
  }

  /// Throws ConfigError.
  ParsedConfig read(std::span<SweepValue const* const> values) const {
    ConfigNode root = root_;
    Diagnostics problems;
    for (SweepValue const* const value : values)
      for (SweepValue::Key const& key : value->keys) {
        write(root, key, problems);
        unfold_blocks(root, catalog_);
      }
    problems.throw_if_any();
    ParsedConfig parsed = read_config(std::move(root), folder_, {}, catalog_);
    for (fs::path const& file : parsed.files.all())
      if (is_standard_input(file))
        throw ConfigError("standard input is read once; the runs of a sweep need files");
    OutputConfig& output = parsed.run.output;
    output.history = true;  // for the plots
    output.plot = output.report = false;
    return parsed;
  }

 private:
  ConfigNode root_;
  fs::path folder_;
  Catalog const& catalog_;
};

/// A tolerance that no x meets.
SweepValue no_tolerance(Position const& at) {
  ConfigNode const zero = ConfigNode::of_plain("0");
  return {"", {{"solver.rtol", at, zero}, {"solver.atol", at, zero}}};
}

/// The values of one combination, and the name of the problem where the axes are of problems.
std::vector<SweepValue const*> values_of(std::vector<SweepAxis> const& axes,
                                         Numbers const& numbers) {
  std::vector<SweepValue const*> values;
  for (std::size_t a = 0; a < axes.size(); ++a) values.push_back(&axes[a].values[numbers[a]]);
  return values;
}

std::string problem_label(std::vector<SweepAxis> const& axes, Numbers const& numbers) {
  std::string text;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    std::string const key = axes[a].name.substr(axes[a].name.rfind('.') + 1);
    bool const names = key == "problem" || key == "matrix" || key == "generator";
    text += cat(text.empty() ? "" : ", ", names ? "" : key + " ", axes[a].values[numbers[a]].label);
  }
  return text;
}

/// The runs of every problem with every setting.
void add_points(Sweep& sweep, Runs const& runs, std::vector<SweepAxis> const& of_problem,
                std::vector<SweepAxis> const& of_method, Position const& at) {
  std::vector<Numbers> const settings = combinations(of_method, at);
  for (Numbers const& setting : settings) {
    std::vector<std::string>& labels = sweep.settings.emplace_back();
    for (SweepValue const* const value : values_of(of_method, setting))
      labels.push_back(value->label);
    sweep.baseline.push_back(baseline_of(setting, of_method, sweep.config.baseline));
  }
  SweepValue const strict = no_tolerance(at);
  Lines wrong, missing;
  for (Numbers const& problem : combinations(of_problem, at)) {
    std::size_t const p = sweep.problems.size();
    sweep.problems.push_back(problem_label(of_problem, problem));
    if (sweep.problems.size() * settings.size() > most_runs)
      throw ConfigError(cat(at.text(), ": more than ", most_runs, " runs"));
    for (std::size_t s = 0; s < settings.size(); ++s) {
      std::vector<SweepValue const*> values = values_of(of_problem, problem);
      std::ranges::copy(values_of(of_method, settings[s]), std::back_inserter(values));
      try {
        sweep.points.push_back({p, s, false, runs.read(values), ""});
        missing.add(sweep.points.back().parsed.missing);
        values.push_back(&strict);
        if (sweep.config.attainable) sweep.points.push_back({p, s, true, runs.read(values), ""});
      } catch (ConfigError const& e) { wrong.add(e.what()); }
    }
  }
  if (!wrong.text().empty()) throw ConfigError(wrong.text());
  if (!missing.text().empty()) throw MatrixError(missing.text());
}

/// Where each run goes: below the directory of the sweep, by its name.
void name_points(Sweep& sweep, std::string const& stem) {
  ParsedConfig const& first = sweep.points.front().parsed;
  if (sweep.problems.size() == 1 && sweep.problems.front().empty())
    sweep.problems.front() = problem_name(first.run.problem);
  sweep.directory = with_name(first.run.output.directory, stem);
  for (SweepPoint& point : sweep.points) {
    point.name = name_of(point.parsed, point.attainable ? 0 : sweep.config.repeats);
    point.parsed.run.output.directory = (fs::path(sweep.directory) / "runs" / point.name).string();
  }
}

}  // namespace

std::string Sweep::setting_text(std::size_t setting) const {
  std::string text;
  for (std::size_t a = 0; a < axes.size(); ++a)
    text += cat(text.empty() ? "" : ", ", axes[a] == "variants" ? "" : axes[a] + " ",
                settings[setting][a]);
  return text.empty() ? "the config" : text;
}

Sweep read_sweep(std::string const& file, std::vector<std::string> const& sets,
                 Catalog const& catalog) {
  fs::path const folder = fs::path(file).parent_path();
  Diagnostics problems;
  ConfigNode root = load_yaml(readable_file(file));
  apply_sets(root, sets, problems);
  auto const found = std::ranges::find(root.entries, "sweep", &ConfigNode::Entry::key);
  if (root.kind != Kind::map || found == root.entries.end())
    throw ConfigError(cat(file,
                          ": it has no 'sweep', which says what changes from run to run; see "
                          "tcsolve --explain sweep"));
  ConfigNode const block = found->value;
  root.entries.erase(found);

  Sweep sweep;
  SweepConfig& config = sweep.config;
  read_params(block, config, problems, "'sweep'", catalog);
  std::vector<SweepAxis> of_problem, of_method;
  std::vector<SweepValue> values = problem_values(config.problems, folder, problems);
  if (!values.empty()) of_problem.push_back({"problem", std::move(values)});
  if (!config.variants.values.empty()) of_method.push_back({"variants", config.variants.values});
  for (SweepAxis const& axis : config.keys.axes)
    (axis.of_problem() ? of_problem : of_method).push_back(axis);
  require_baseline(config, of_method, block.at, problems);
  problems.throw_if_any();

  for (SweepAxis const& axis : of_method) sweep.axes.push_back(axis.name);
  add_points(sweep, Runs(std::move(root), folder, catalog), of_problem, of_method, block.at);
  name_points(sweep, fs::path(file).stem().string());
  return sweep;
}

}  // namespace tcsolve
