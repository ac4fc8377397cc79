// SPDX-License-Identifier: Apache-2.0
/// What a command line asks to be solved: a config, or a matrix without one.
#pragma once

#include <tcsolve/app/arguments.hpp>
#include <tcsolve/app/config/run_config.hpp>

#include <filesystem>

namespace tcsolve {

/// Whether a file is a matrix and no config: .yaml, .yml and .json name a config; else the first
/// bytes decide, and for text that they do not tell and what cannot be read the name (.mtx, ...). A
/// file of another program is taken for a matrix, which is then refused by the name of the program.
bool is_matrix(std::filesystem::path const& path);

/// The config in force. A file that is neither is a MatrixError that says so. A matrix takes the
/// place of a config that names it; where no key says which solver, solver and preconditioner are
/// auto. Throws ConfigError with all problems at once.
ParsedConfig read_run(Arguments const& arguments, Catalog const& catalog);

/// The config for `arguments.subject`, which is a matrix, and `arguments.rhs`; as read_run().
ParsedConfig matrix_run(Arguments const& arguments, Catalog const& catalog);

/// `text` as a YAML value that reads as this text, whatever characters it has.
std::string quoted_value(std::string const& text);

}  // namespace tcsolve
