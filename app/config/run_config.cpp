// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/config/run_config.hpp>

#include <tcsolve/app/config/run_input.hpp>
#include <tcsolve/configs/schema/shorthand.hpp>
#include <tcsolve/core/error.hpp>
#include <tcsolve/io/files/file_advice.hpp>
#include <tcsolve/io/files/matrix_file.hpp>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

namespace tcsolve {
namespace {

namespace fs = std::filesystem;

/// A path that the config's file gives is relative to that file's folder, one of a set to the
/// working directory.
fs::path resolved(fs::path const& folder, ConfigNode const& node) {
  bool const from_file = node.at.line > 0;
  fs::path const path = node.scalar;
  return from_file && path.is_relative() ? folder / path : path;
}

/// A `--set` of problem.matrix replaces a generator of the file, and the other way round.
void let_sets_replace(ConfigNode& root) {
  ConfigNode* const problem = root.find("problem");
  if (!problem || problem->kind != ConfigNode::Kind::map) return;
  auto const from_set = [](ConfigNode::Entry const& entry) { return entry.value.at.line == 0; };
  auto const find = [&](char const* key) {
    return std::find_if(problem->entries.begin(), problem->entries.end(),
                        [&](ConfigNode::Entry const& entry) { return entry.key == key; });
  };
  auto const matrix = find("matrix"), generator = find("generator"), none = problem->entries.end();
  if (matrix == none || generator == none || from_set(*matrix) == from_set(*generator)) return;
  problem->entries.erase(from_set(*matrix) ? generator : matrix);
}

/// `batch: [A.mtx, B.mtx]` becomes `batch: {files: [A.mtx, B.mtx]}`, and so does `batch: folder`.
void unfold_batch(ConfigNode& root) {
  ConfigNode* const problem = root.find("problem");
  ConfigNode* const batch = problem ? problem->find("batch") : nullptr;
  if (!batch || batch->kind == ConfigNode::Kind::map || batch->kind == ConfigNode::Kind::null)
    return;
  ConfigNode files = *batch, map;
  if (files.kind == ConfigNode::Kind::scalar) {
    files = {};
    files.kind = ConfigNode::Kind::sequence;
    files.at = batch->at;
    files.items.push_back(*batch);
  }
  map.kind = ConfigNode::Kind::map;
  map.at = files.at;
  map.entries.push_back({"files", files.at, std::move(files)});
  *batch = std::move(map);
}

/// `rhs: {file: B.mtx}` becomes `rhs: B.mtx`; `rhs: {columns: 16}` two keys of `problem`, `rhs:
/// random` and `columns: 16`, and `rhs: {units: [1, 500]}` `rhs: units` and `units: [1, 500]`.
void unfold_rhs(ConfigNode& root, Diagnostics& problems) {
  ConfigNode* const problem = root.find("problem");
  ConfigNode* const rhs = problem ? problem->find("rhs") : nullptr;
  if (!rhs || rhs->kind == ConfigNode::Kind::scalar) return;
  ConfigNode const *const file = rhs->find("file"), *const columns = rhs->find("columns"),
                          *const units = rhs->find("units");
  bool const one = rhs->kind == ConfigNode::Kind::map && rhs->entries.size() == 1;
  if (!one || (!file && !columns && !units)) {
    problems.add(rhs->at,
                 rhs->kind == ConfigNode::Kind::sequence
                     ? "write the elements of 'rhs' to a file, one a line, and its name here"
                     : "'rhs' is {file: NAME}, {columns: K} or {units: [ROW, ...]}");
    *rhs = ConfigNode::of_text("ones");  // one mistake is one message
    return;
  }
  if (file) {
    *rhs = ConfigNode(*file);
    return;
  }
  ConfigNode::Entry key = columns ? ConfigNode::Entry{"columns", columns->at, *columns}
                                  : ConfigNode::Entry{"units", units->at, *units};
  ConfigNode value = ConfigNode::of_text(columns ? "random" : "units");
  value.at = rhs->at;
  *rhs = std::move(value);
  problem->entries.push_back(std::move(key));
}

/// `ranks: {devices: auto}` is a list that is not given.
void unfold_devices(ConfigNode& root) {
  ConfigNode* const ranks = root.find("ranks");
  if (ranks == nullptr) return;
  std::erase_if(ranks->entries, [](ConfigNode::Entry const& e) {
    return e.key == "devices" && e.value.kind == ConfigNode::Kind::scalar &&
           e.value.scalar == "auto";
  });
}

/// The file that a key of `problem`, or of another block, names; empty when the value is one of the
/// `words`.
fs::path input_file(fs::path const& folder, ConfigNode const& root, std::string const& key,
                    std::vector<std::string> const& words, std::string& missing,
                    char const* block = "problem") {
  ConfigNode const* const problem = root.find(block);
  ConfigNode const* const node = problem ? problem->find(key) : nullptr;
  if (!node || node->scalar.empty()) return {};
  if (std::find(words.begin(), words.end(), node->scalar) != words.end()) return {};
  if (is_standard_input(node->scalar)) return node->scalar;
  fs::path const path = resolved(folder, *node);
  bool const from_file = node->at.line > 0;
  std::error_code ignored;
  if (fs::exists(path, ignored)) return path;
  missing += cat(missing.empty() ? "" : "\n", node->at.text(), ": '", key, "': there is no file ",
                 path.string());
  std::string const near = nearest(node->scalar, words);
  missing += near.empty() ? file_advice(path) : cat("; did you mean '", near, "'?");
  if (!words.empty()) missing += cat("; '", key, "' is a file or one of ", joined(words));
  bool const from_set = node->at.text().starts_with("--set");
  if (from_file || (from_set && path.is_relative()))
    missing += from_file ? " (paths are relative to the config's directory)"
                         : " (paths of --set are relative to the working directory)";
  return {};
}

/// The files of `problem.batch`, those of a folder by their names.
std::vector<fs::path> batch_files(fs::path const& folder, ConfigNode const& root,
                                  std::string& missing) {
  std::vector<fs::path> files;
  ConfigNode const* const problem = root.find("problem");
  ConfigNode const* const batch = problem ? problem->find("batch") : nullptr;
  ConfigNode const* const given = batch ? batch->find("files") : nullptr;
  if (!given) return files;
  for (ConfigNode const& node : given->items) {
    fs::path const path = resolved(folder, node);
    std::error_code ignored;
    if (!fs::is_directory(path, ignored)) {
      if (!fs::exists(path, ignored))
        missing += cat(missing.empty() ? "" : "\n", node.at.text(), ": 'batch': there is no file ",
                       path.string(), file_advice(path));
      files.push_back(path);
      continue;
    }
    std::vector<fs::path> inside;
    for (auto const& entry : fs::directory_iterator(path, ignored))
      if (entry.is_regular_file(ignored) && is_matrix(entry.path())) inside.push_back(entry.path());
    if (inside.empty())
      missing += cat(missing.empty() ? "" : "\n", node.at.text(),
                     ": 'batch': there is no matrix in the folder ", path.string());
    std::ranges::sort(inside);
    files.insert(files.end(), inside.begin(), inside.end());
  }
  return files;
}

/// b, and x0, that lie in the file of the matrix are taken where the config names none.
void take_held(ConfigNode const& root, ParsedConfig& parsed) {
  fs::path const& matrix = parsed.files.matrix;
  ConfigNode const* const problem = root.find("problem");
  if (matrix.empty() || problem == nullptr || problem->find("rhs")) return;
  try {
    FileType const type = file_type(matrix);
    if (type != FileType::petsc && type != FileType::matlab) return;
    MatrixFileSize const size =
        matrix_file_size(matrix, {.petsc = parsed.run.problem.petsc.scalar});
    if (!size.holds_rhs) return;
    parsed.files.rhs = matrix;
    parsed.run.problem.rhs = parsed.run.problem.matrix;
    if (!size.holds_guess || problem->find("x0")) return;
    parsed.files.x0 = matrix;
    parsed.run.problem.x0 = parsed.run.problem.matrix;
  } catch (Error const&) {
    // Whatever is wrong with it is said where the matrix is read.
  }
}

}  // namespace

void unfold_blocks(ConfigNode& root, Catalog const& catalog) {
  auto const unfold = [&](ConfigNode* parent, char const* key, char const* kind) {
    ConfigNode* const node = parent ? parent->find(key) : nullptr;
    if (node && node->kind == ConfigNode::Kind::scalar) *node = as_block(catalog.at(kind), *node);
  };
  for (char const* const key : {"solver", "preconditioner", "operator"}) unfold(&root, key, key);
  ConfigNode* const problem = root.find("problem");
  unfold(problem, "generator", "generator");
  unfold(problem ? problem->find("batch") : nullptr, "generator", "generator");
}

std::string BatchConfig::check() const {
  if (!files.empty() && generator) return "give one of 'files' and 'generator', not both";
  if (!files.empty() && count > 1) return "'count' is for a 'generator'";
  if (!generator || vary.empty()) return "";
  std::vector<std::string> integers;
  for (KeyDoc const& key : generator.registry()->keys_of(generator.type()))
    if (key.type == "integer") integers.push_back(key.key);
  if (std::ranges::find(integers, vary) != integers.end()) return "";
  return cat("'vary': the generator '", generator.type(), "' has no integer key '", vary,
             "'; it has ", joined(integers));
}

std::string RanksConfig::check() const {
  int number = -1;
  auto const [end, error] = std::from_chars(asked.data(), asked.data() + asked.size(), number);
  bool const whole = error == std::errc{} && end == asked.data() + asked.size();
  if (!is_auto() && (!whole || number < 0 || number > most))
    return cat("'count' = ", asked, " is neither auto nor a number of processes from 0 to ", most);
  if (!is_auto() && number > 0 && !devices.empty() && devices.size() != std::size_t(number))
    return cat("'devices' names ", devices.size(), " GPUs for ", number, " ranks");
  for (std::size_t k = 0; k < devices.size(); ++k)
    if (transport != DeviceTransport::mpi &&
        std::count(devices.begin(), devices.begin() + std::ptrdiff_t(k), devices[k]) > 0)
      return cat("'devices' names GPU ", devices[k],
                 " twice: two ranks on one would wait for each other, but with 'transport: mpi'");
  return "";
}

ParsedConfig read_config(std::string const& path, std::vector<std::string> const& sets,
                         Catalog const& catalog) {
  return read_config(load_yaml(path), fs::path(path).parent_path(), sets, catalog);
}

ParsedConfig read_config(ConfigNode root, fs::path const& folder,
                         std::vector<std::string> const& sets, Catalog const& catalog) {
  Diagnostics problems;
  unfold_blocks(root, catalog);
  for (std::string const& set : sets) {
    apply_sets(root, {&set, 1}, problems);
    unfold_blocks(root, catalog);
  }
  let_sets_replace(root);
  unfold_batch(root);
  unfold_blocks(root, catalog);
  unfold_rhs(root, problems);
  unfold_devices(root);
  choose_where_unnamed(root);
  resolve_paths(root, folder.string());
  ParsedConfig parsed;
  read_params(root, parsed.run, problems, "the config", catalog);
  problems.throw_if_any();
  RanksConfig& ranks = parsed.run.ranks;
  ranks.count = ranks.is_auto() ? 0 : std::stoi(ranks.asked);

  std::string& missing = parsed.missing;
  InputFiles& files = parsed.files;
  files.matrix = input_file(folder, root, "matrix", {}, missing);
  files.batch = batch_files(folder, root, missing);
  if (parsed.run.problem.units.empty())
    files.rhs = input_file(folder, root, "rhs", {"ones", "random", "A_times_ones"}, missing);
  files.x0 = input_file(folder, root, "x0", {"zero", "random"}, missing);
  files.solution = input_file(folder, root, "solution", {}, missing);
  files.partition =
      input_file(folder, root, "partition", {"auto", "rows", "grow", "metis"}, missing, "ranks");
  files.rows = input_file(folder, root, "rows", {}, missing, "output");
  take_held(root, parsed);
  return parsed;
}

std::vector<fs::path> InputFiles::all() const {
  std::vector<fs::path> files = batch;
  for (fs::path const* const file : {&matrix, &rhs, &x0, &solution, &partition, &rows})
    if (!file->empty()) files.push_back(*file);
  return files;
}

std::string problem_name(ProblemConfig const& problem) {
  if (!problem.batch.empty()) return "batch";
  if (problem.generator) return problem.generator.type();
  std::string const file = is_standard_input(problem.matrix) ? "standard-input" : problem.matrix;
  std::string name = fs::path(file).filename().string();
  for (char const* const ending : {".gz", ".xz", ".tar", ".tgz", ".mtx", ".npz", ".petsc"})
    if (name.size() > std::string_view(ending).size() && name.ends_with(ending))
      name.erase(name.size() - std::string_view(ending).size());
  return name;
}

std::string with_name(std::string directory, std::string const& name) {
  constexpr std::string_view key = "{name}";
  std::size_t const at = directory.find(key);
  return at == std::string::npos ? directory : directory.replace(at, key.size(), name);
}

void ParsedConfig::require_files() const {
  if (!missing.empty()) throw MatrixError(missing);
}

}  // namespace tcsolve
