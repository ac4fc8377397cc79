// SPDX-License-Identifier: Apache-2.0
/// `tcsolve init MATRIX`.
#pragma once

#include <tcsolve/app/config/registries.hpp>

#include <filesystem>
#include <string>

namespace tcsolve {

/// A config for the matrix in `file`, with solver and preconditioner auto, what that comes to for
/// this matrix (api/recipes.hpp) and every key of the solver as comments. It names the file as
/// given: relative to the working directory, where the config is meant to be put. Throws
/// MatrixError, and MemoryError when the matrix does not fit.
std::string initial_config(Registries const&, std::filesystem::path const& file);

}  // namespace tcsolve
