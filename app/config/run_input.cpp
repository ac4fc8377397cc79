// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/config/run_input.hpp>

#include <tcsolve/configs/schema/yaml.hpp>
#include <tcsolve/core/error.hpp>
#include <tcsolve/io/files/file_advice.hpp>
#include <tcsolve/io/files/matrix_file.hpp>

#include <fstream>
#include <iostream>
#include <iterator>
#include <string_view>

namespace tcsolve {
namespace {

namespace fs = std::filesystem;
using Sets = std::vector<std::string>;

bool ends_in(std::string const& name, std::initializer_list<char const*> endings) {
  for (char const* const ending : endings)
    if (name.ends_with(ending)) return true;
  return false;
}

/// The files of a command line as a config has them.
ConfigNode named_files(Arguments const& arguments) {
  Position const at{std::make_shared<std::string const>("the command line"), 0, 0};
  auto const map = [&] {
    ConfigNode node;
    node.kind = ConfigNode::Kind::map;
    node.at = at;
    return node;
  };
  ConfigNode root = map(), problem = map();
  auto const add = [&](char const* key, std::string const& text) {
    ConfigNode value = ConfigNode::of_text(text);
    value.at = at;
    problem.entries.push_back({key, at, std::move(value)});
  };
  add("matrix", arguments.subject);
  if (!arguments.rhs.empty()) add("rhs", arguments.rhs);
  root.entries.push_back({"problem", at, std::move(problem)});
  return root;
}

bool is_config_name(std::string const& name) { return ends_in(name, {".yaml", ".yml", ".json"}); }

/// Throws for a file that is not there: a misspelt command, file or config.
void require_file(std::string const& subject) {
  std::error_code ignored;
  if (is_standard_input(subject) || fs::exists(subject, ignored)) return;
  std::string const command =
      nearest(subject, {"info", "init", "advise", "generate", "calibrate", "sweep"});
  if (!command.empty())
    throw ConfigError(
        cat(subject, ": there is no such file; did you mean the command '", command, "'?"));
  if (is_config_name(subject))
    throw ConfigError(cat(subject, ": there is no such file", file_advice(subject)));
  throw MatrixError(cat(subject, ": there is no such file", file_advice(subject)));
}

/// The tree of a file that is no matrix. What is no config either is said to be neither.
ConfigNode config_tree(std::string const& subject) {
  std::ifstream in(readable_file(subject), std::ios::binary);
  std::string const text{std::istreambuf_iterator<char>(in), {}};
  bool const is_config = is_config_name(subject) || text.find("problem") != std::string::npos ||
                         text.find("solver") != std::string::npos;
  try {
    ConfigNode root = parse_yaml(text, file_name(subject));
    if (is_config || root.kind == ConfigNode::Kind::map || root.kind == ConfigNode::Kind::null)
      return root;
  } catch (ConfigError const&) {
    if (is_config) throw;
  }
  throw MatrixError(
      cat(file_name(subject), ": neither a config nor a matrix that tcsolve reads: it starts with ",
          tcsolve::quoted(std::string_view(text).substr(0, text.find('\n'))),
          "; matrices are Matrix Market, Harwell- and Rutherford-Boeing, PETSc binary, "
          "MATLAB 5 to 7 and SciPy .npz files, configs are YAML"));
}

}  // namespace

ParsedConfig matrix_run(Arguments const& arguments, Catalog const& catalog) {
  return read_config(named_files(arguments), {}, arguments.sets, catalog);
}

std::string quoted_value(std::string const& text) {
  return to_yaml_inline(ConfigNode::of_text(text));
}

bool is_matrix(fs::path const& path) {
  std::string const name = path.string();
  if (is_config_name(name)) return false;
  try {
    if (file_type(path) != FileType::text) return true;
  } catch (MatrixError const&) {
    // Missing, or no regular file: what its name says decides how that is reported.
  }
  return ends_in(name, {".mtx", ".mtx.gz", ".mtx.xz", ".npz", ".petsc", ".tar.gz", ".tgz", ".tar",
                        ".mat", ".rb", ".rua", ".rsa", ".rra", ".psa", ".pua"});
}

ParsedConfig read_run(Arguments const& arguments, Catalog const& catalog) {
  std::string const& subject = arguments.subject;
  if (is_matrix(subject)) return matrix_run(arguments, catalog);
  require_file(subject);
  ConfigNode root = config_tree(subject);
  if (!arguments.rhs.empty())
    throw ConfigError(cat(arguments.rhs, ": a right-hand side follows a matrix, and ",
                          file_name(subject), " is a config; set problem.rhs"));
  if (ConfigNode const* const swept = root.find("sweep"))
    throw ConfigError(
        cat(swept->at.text(), ": 'sweep' is for many runs: tcsolve sweep ", shown(subject)));
  return read_config(std::move(root), fs::path(subject).parent_path(), arguments.sets, catalog);
}

}  // namespace tcsolve
