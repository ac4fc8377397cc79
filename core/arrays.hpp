// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tcsolve {

/// Whether a caller's arrays are copied, or used where they lie. Arrays in another space than the
/// Context's are copied in any case.
enum class Arrays { copied, borrowed };

}  // namespace tcsolve
