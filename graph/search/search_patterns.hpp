// SPDX-License-Identifier: Apache-2.0
/// The patterns that a search walks.
#pragma once

#include <tcsolve/core/context.hpp>
#include <tcsolve/sparse/owned_pattern.hpp>

namespace tcsolve {

struct SearchPatterns {
  bool symmetric = false;     ///< edges back are the edges themselves
  Offset longest = 0;         ///< row of what is searched; 0 where it is a transpose to be made
  sparse::OwnedPattern both;  ///< A + A^T, where that is asked for and is not A
};

namespace host {
SearchPatterns search_patterns(Host&, Arena&, PatternView const& a, bool both);
/// of[v], the component of vertex v in the graph of A + A^T, in the order of their least vertices;
/// returns how many there are.
Index number_components(Host&, Arena&, PatternView const& a, Index* of);
}  // namespace host
namespace cuda {
SearchPatterns search_patterns(Device&, Arena&, PatternView const& a, bool both);
Index number_components(Device&, Arena&, PatternView const& a, Index* of);
}  // namespace cuda

}  // namespace tcsolve
