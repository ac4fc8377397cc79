// SPDX-License-Identifier: Apache-2.0
// Uses the installed headers and library the way a user's project does.
#include <iostream>

#include <tcsolve/core/types.hpp>
#include <tcsolve/version.hpp>

int main() {
  std::cout << "tcsolve " << tcsolve::version::release << ", rows up to "
            << tcsolve::narrow(2147483647, "rows") << "\n";
}
