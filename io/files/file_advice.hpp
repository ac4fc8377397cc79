// SPDX-License-Identifier: Apache-2.0
/// What to say of a file that is not there.
#pragma once

#include <filesystem>
#include <string>

namespace tcsolve {

/// "; ~ is not expanded: write the whole path", or "; did you mean 'A.mtx'?" for the file beside
/// `path` that was probably meant; "" when there is neither. Looks at 10,000 names at most.
std::string file_advice(std::filesystem::path const& path);

}  // namespace tcsolve
