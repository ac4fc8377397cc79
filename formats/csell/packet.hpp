// SPDX-License-Identifier: Apache-2.0
/// Neighbouring elements that one load or store moves.
#pragma once

namespace tcsolve {

template <class E, int count>
struct alignas(sizeof(E) * count) Packet {
  E e[count];
};

}  // namespace tcsolve
