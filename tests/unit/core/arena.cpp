// SPDX-License-Identifier: Apache-2.0
/// Workspace gives memory back: what grows from use to use does not pile up, what nobody holds is
/// counted as free and goes when it is asked to.
#include <tcsolve/core/faults.hpp>
#include <tcsolve/kernels/vector_ops.hpp>

#include "tests/support/backend.hpp"

namespace tcsolve::test {
namespace {

template <class P>
class CoreArena : public BackendTest<P> {
 protected:
  Arena& arena() { return this->ctx().arena(); }
};
TYPED_TEST_SUITE(CoreArena, DoubleOnBoth, Label);

constexpr std::size_t mib = std::size_t{1} << 20;

TYPED_TEST(CoreArena, GrowingRequestsDoNotPileUp) {
  std::size_t held = 0;
  for (std::size_t step = 0; step < 20; ++step) {  // a conversion of a matrix that grows
    auto scope = this->arena().scope();
    held = 0;
    for (int k = 0; k < 10; ++k) {
      scope.template take<std::byte>(mib + step * 4096);
      held += mib + step * 4096;
    }
    EXPECT_LE(this->arena().bytes(), 2 * held + 2 * mib) << "step " << step;
  }
  EXPECT_LE(this->arena().bytes(), 2 * held + 2 * mib);
}

TYPED_TEST(CoreArena, TheSameRequestsTakeNoMemoryAgain) {
  auto round = [&] {
    auto scope = this->arena().scope();
    for (std::size_t k = 1; k < 6; ++k) scope.template take<std::byte>(k * mib);
  };
  round();
  round();  // one chunk instead of five
  auto const before = memory_counters();
  for (int i = 0; i < 3; ++i) round();
  EXPECT_EQ(memory_counters().allocations, before.allocations);
  EXPECT_EQ(memory_counters().releases, before.releases);
}

TYPED_TEST(CoreArena, GivesBackWhatNobodyHolds) {
  EXPECT_EQ(this->arena().idle_bytes(), 0u);
  {
    auto scope = this->arena().scope();
    scope.template take<std::byte>(8 * mib);
    EXPECT_EQ(this->arena().idle_bytes(), 0u) << "a scope holds it";
    this->arena().trim();
    EXPECT_GE(this->arena().bytes(), 8 * mib) << "a scope holds it";
  }
  EXPECT_GE(this->arena().idle_bytes(), 8 * mib);
  this->arena().trim();
  EXPECT_EQ(this->arena().bytes(), 0u);
}

TYPED_TEST(CoreArena, KeepsAddressesThatAreCaptured) {
  this->arena().keep();
  std::vector<void*> first;
  for (int i = 0; i < 3; ++i) {
    auto scope = this->arena().scope();
    std::vector<void*> const taken{scope.template take<std::byte>(2 * mib),
                                   scope.template take<std::byte>(3 * mib)};
    if (i == 0) first = taken;
    EXPECT_EQ(taken, first);
  }
  EXPECT_EQ(this->arena().idle_bytes(), 0u);
  this->arena().trim();
  EXPECT_GE(this->arena().bytes(), 5 * mib);
}

TYPED_TEST(CoreArena, ASmallRequestNeedsNoRoomForTheLargestSoFar) {
  {
    auto scope = this->arena().scope();
    scope.template take<std::byte>(4 * mib);
    scope.template take<std::byte>(4 * mib);
  }
  auto scope = this->arena().scope();
  faults::fail_allocation_after(0);  // of all that was held at once
  EXPECT_NO_THROW(scope.template take<std::byte>(100));
  faults::fail_allocation_after(-1);
  EXPECT_EQ(this->arena().bytes(), mib);
}

TYPED_TEST(CoreArena, FreesInTheOrderOfTheContext) {
  // Chunks that go while operations that use them are still on their way.
  Context& ctx = this->ctx();
  constexpr Index n = 1 << 20;
  Vector<double> y(ctx.space(), n);
  for (int round = 0; round < 20; ++round) {
    {
      auto scope = ctx.arena().scope();
      Out<double> a = scope.template vector<double>(n), b = scope.template vector<double>(n);
      fill<double>(ctx, a, round);
      for (int k = 0; k < 10; ++k) axpby<double, double>(ctx, 1.0, a, 0.0, b);
      axpby<double, double>(ctx, 2.0, b, 0.0, y.view());
    }
    Vector<double> other(ctx.space(), n);  // may get what was just given back
    fill<double>(ctx, other, -1.0);
    EXPECT_EQ(to_host(ctx, y.view().data, ctx.space(), n), std::vector<double>(n, 2.0 * round));
  }
}

}  // namespace
}  // namespace tcsolve::test
