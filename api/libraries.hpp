// SPDX-License-Identifier: Apache-2.0
/// Libraries of others that tcsolve works with where they are found, for those who list them.
#pragma once

#include <string>
#include <vector>

#include <tcsolve/backends.hpp>
#include <tcsolve/factors/cudss/cudss_library.hpp>
#include <tcsolve/graph/reorder/graph_partition.hpp>

namespace tcsolve {

struct OtherLibrary {
  std::string name;
  bool there;
  std::string text;  ///< its version where that is known, or why it is not there
};

/// METIS, which a build has or not, and in a build with CUDA cuDSS. Cost: the first call loads
/// cuDSS, up to a second.
inline std::vector<OtherLibrary> other_libraries() {
  std::vector<OtherLibrary> list;
  bool const metis = metis_built();
  list.push_back({"METIS", metis, metis ? "built with" : "built without"});
  if constexpr (has_cuda) {
    CudssLibrary const& library = cudss();
    list.push_back({"cuDSS", library.there, library.there ? library.version : library.problem});
  }
  return list;
}

}  // namespace tcsolve
