// SPDX-License-Identifier: Apache-2.0
/// `tcsolve info MATRIX`.
#pragma once

#include <filesystem>
#include <string>

namespace tcsolve {

/// Size, entries, symmetry, diagonal, row lengths, norms, and what each format is expected to cost:
/// with the cost table in `calibration`, or, where that is empty, with the shipped ones. As a text,
/// or as JSON with the same figures, in bytes and seconds. Throws MatrixError, ConfigError for the
/// table, and MemoryError when the matrix does not fit.
std::string matrix_info(std::filesystem::path const& file, std::string const& calibration,
                        bool json = false);

}  // namespace tcsolve
