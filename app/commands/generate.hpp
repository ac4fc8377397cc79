// SPDX-License-Identifier: Apache-2.0
/// `tcsolve generate GENERATOR -o FILE`.
#pragma once

#include <tcsolve/app/config/registries.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace tcsolve {

/// Writes the matrix of a generator, whose keys the sets give (`n=64`), as Matrix Market, and
/// returns a line that says what was written. Throws ConfigError for an unknown generator, for keys
/// that it has not and for a file that is not called .mtx, MemoryError when the matrix does not fit
/// and Error when it cannot be written.
std::string generate_file(Registries const&, std::string const& generator,
                          std::vector<std::string> const& sets, std::filesystem::path const& file);

}  // namespace tcsolve
