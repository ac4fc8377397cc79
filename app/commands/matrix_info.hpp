// SPDX-License-Identifier: Apache-2.0
/// `tcsolve info MATRIX`.
#pragma once

#include <filesystem>
#include <string>

namespace tcsolve {

enum class InfoForm { facts, all, json };
/// What is told besides, where it is asked for.
struct InfoParts {
  bool graph = false, amg = false;
};

/// Size, entries, symmetry, diagonal, row lengths, norms, and the format that would be taken: with
/// the cost table in `calibration`, or, where that is empty, with the shipped ones. `all`: what
/// each format is expected to cost as well, and the models of formats for many columns; `json`: the
/// same figures, in bytes and seconds. `graph`: components, degrees and levels of the graph of
/// A + A^T, too; `amg`: the levels that multigrid makes of A. Throws MatrixError, ShapeError for
/// the graph of a matrix that is not square, ConfigError for the table, and MemoryError when the
/// matrix does not fit.
std::string matrix_info(std::filesystem::path const& file, std::string const& calibration,
                        InfoForm form = InfoForm::facts, InfoParts parts = {});

}  // namespace tcsolve
