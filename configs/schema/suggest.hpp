// SPDX-License-Identifier: Apache-2.0
/// Suggestions beyond those for keys (diagnostics.hpp): names of files, paths of keys.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tcsolve {

/// nearest() of the names of files, where an ending such as .mtx, which many share, counts for no
/// letter: a third of those before it may be wrong, and not all.
std::string nearest_file(std::string_view name, std::vector<std::string> const& known);

/// The path of the key of a config that `name` is, or means in other packages: `tol` is
/// solver.rtol; "" when there is none.
std::string key_path(std::string_view name);

}  // namespace tcsolve
