// SPDX-License-Identifier: Apache-2.0
/// A Space says where memory lies: which device, and whose order it is released in.
#include <tcsolve/core/context.hpp>

#include "tests/support/backend.hpp"

namespace tcsolve::test {
namespace {

static_assert(Space::cuda != Space::host);
static_assert(device_space(0, 1) == device_space(0, 2), "whose Context it is does not matter");
static_assert(device_space(0, 1) != device_space(1, 1));
static_assert(device_space(3, 7) == Space::cuda && Space::cuda == device_space(0, 9));
static_assert(device_space(0, 1) != Space::host);
static_assert(!same_home(device_space(0, 1), device_space(0, 2)));
static_assert(ordinal_of(device_space(5, 1000)) == 5 && home_of(device_space(5, 1000)) == 1000);
static_assert(ordinal_of(Space::cuda) == -1 && home_of(Space::cuda) == 0);
static_assert(ordinal_of(device_space(254, 1)) == 254);

TEST(CoreSpaces, HaveNames) {
  EXPECT_EQ(name(Space::host), "host");
  EXPECT_EQ(name(Space::cuda), "cuda");
  EXPECT_EQ(name(device_space(0, 3)), "cuda");
  EXPECT_EQ(name(device_space(2, 3)), "cuda:2");
}

TEST(CoreSpaces, AnArrayIsMadeAnewOnlyWhereItDoesNotFit) {
  Array<double> a(Space::host, 10);
  double* const p = a.data();
  a.resize(Space::host, 10);
  EXPECT_EQ(a.data(), p);
  a.resize(Space::host, 11);
  EXPECT_EQ(a.size(), 11u);
  Vector<double> v(Space::host, 6, 2);
  double* const q = v.view().data;
  v.resize(Space::host, 12);
  EXPECT_EQ(v.view().data, q);
  EXPECT_EQ(v.rows(), 12);
  EXPECT_EQ(v.cols(), 1);
}

}  // namespace
}  // namespace tcsolve::test
