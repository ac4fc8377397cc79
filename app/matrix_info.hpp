// SPDX-License-Identifier: Apache-2.0
/// `tcsolve info MATRIX`.
#pragma once

#include <tcsolve/app/registries.hpp>

#include <filesystem>
#include <string>

namespace tcsolve {

/// Size, entries, symmetry, diagonal, row lengths, norms, and the memory the matrix takes in each
/// registered format. Throws MatrixError, and MemoryError when it cannot be read into memory.
std::string matrix_info(std::filesystem::path const& file, Registries const&);

}  // namespace tcsolve
