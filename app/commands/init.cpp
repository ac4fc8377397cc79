// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/commands/init.hpp>

#include <tcsolve/api/recipes.hpp>
#include <tcsolve/app/config/run_input.hpp>
#include <tcsolve/core/error.hpp>
#include <tcsolve/core/host_memory.hpp>
#include <tcsolve/io/files/matrix_file.hpp>

#include <algorithm>

namespace tcsolve {
namespace {

/// A name in a comment: what would end its line, or not be seen, is a question mark.
std::string comment(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == 127) c = '?';
  return text;
}

/// `  key: value  # meaning` for each key; those in `given` are in force, the others comments.
std::string keys(std::vector<KeyDoc> const& docs, std::vector<std::string> const& given) {
  std::string text;
  for (KeyDoc const& doc : docs) {
    bool const in_force = std::find(given.begin(), given.end(), doc.key) != given.end();
    if (doc.key.find('.') != std::string::npos || doc.type == "block") continue;
    std::string line = cat("  ", in_force ? "" : "# ", doc.key, ": ", doc.default_value);
    if (line.size() < 32) line.append(32 - line.size(), ' ');
    text += cat(line, "  # ", doc.doc.substr(0, doc.doc.find(';')), "\n");
  }
  return text;
}

}  // namespace

std::string initial_config(Registries const& registries, std::filesystem::path const& file) {
  MatrixFileSize const size = matrix_file_size(file);
  require_memory(std::max(2 * size.csr_bytes, size.reading_bytes), 0, file_name(file));
  MatrixFacts const facts = matrix_facts(read_matrix(file).view());
  std::vector<Recipe> const list = recipes(facts, false);
  std::string in_turn;
  for (Recipe const& choice : list)
    in_turn += cat("#   solver: ", facts.uneven_rows() ? by_rows(choice.solver) : choice.solver,
                   "\n#   preconditioner: ", choice.preconditioner, "\n");
  return cat("# ", comment(file_name(file)), ": ", facts.text(), ".\n",  //
             "# What may stand here: tcsolve --explain, tcsolve --list\n\n",
             "problem:\n"
             "  matrix: ",
             quoted_value(file.string()), "  # relative to the folder of this file\n",
             "  rhs: A_times_ones  # b: a file, ones, random, or A (1, ..., 1)\n"
             "  x0: zero           # where the iteration begins: a file, zero or random\n\n",
             "# auto: since ", list.front().reason, ", on the host in turn\n", in_turn,
             "preconditioner:\n  type: auto  # tcsolve --list has the others\n\n"
             "solver:\n  type: auto\n",
             keys(registries.catalog.at("solver").keys_of("auto"), {"rtol", "max_iters"}),
             "\noutput:\n"
             "  directory: tcsolve-out\n"
             "  solution: true  # writes x.mtx\n");
}

}  // namespace tcsolve
