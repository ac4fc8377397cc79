// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace tcsolve {

/// configs/rates/NAME.yaml as it was when the library was built, which needs no files afterwards.
/// Throws std::logic_error when there is none. Written by CMake (cmake/shipped_rates.cpp.in).
std::string shipped_rates(std::string_view name);

}  // namespace tcsolve
