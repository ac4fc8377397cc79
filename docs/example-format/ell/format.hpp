// SPDX-License-Identifier: Apache-2.0
/// A format of the library has a line in formats/register.cpp instead.
#pragma once

#include <tcsolve/formats/format.hpp>

namespace tcsolve {
Format ell_format();
}
