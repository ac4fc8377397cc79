// SPDX-License-Identifier: Apache-2.0
/// Files of other programs that tcsolve does not read, by their first bytes or lines: what each is,
/// and the one command that converts it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tcsolve {

struct ForeignFile {
  std::string what;     ///< "a HYPRE matrix (HYPRE_IJMatrixPrint)"
  std::string convert;  ///< "convert it: `awk ... A.IJ > A.mtx`"
};

/// Enough of a file for the table.
inline constexpr std::size_t foreign_bytes = 4096;

/// What a file is that starts with these bytes and that no reader knows, where a matrix is asked
/// for; nothing for text that is not known. `file` is put into the command, quoted for a shell.
std::optional<ForeignFile> foreign_matrix(std::string_view start, std::string const& file);

/// The same where columns of numbers are asked for: those are no foreign file then.
std::optional<ForeignFile> foreign_columns(std::string_view start, std::string const& file);

}  // namespace tcsolve
