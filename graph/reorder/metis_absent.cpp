// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/graph/reorder/graph_partition.hpp>

namespace tcsolve {

bool metis_built() { return false; }
bool metis_holds(Graph const&) { return false; }

void require_metis() {
  throw NotBuilt("metis",
                 "install METIS (Debian: libmetis-dev) and configure again, or take reorder: rcm");
}

std::vector<Index> partition(Graph const&, Index, CancelFlag) {
  require_metis();
  return {};
}

std::vector<Index> nested_dissection(Graph const&, CancelFlag) {
  require_metis();
  return {};
}

}  // namespace tcsolve
