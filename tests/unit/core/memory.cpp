// SPDX-License-Identifier: Apache-2.0
/// Owned memory, workspace and checked sizes.
#include <tcsolve/core/arena.hpp>
#include <tcsolve/core/array.hpp>

#include <cstdint>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

#include "tests/support/backend.hpp"

namespace tcsolve::test {
namespace {

template <class P>
class CoreMemory : public BackendTest<P> {};
TYPED_TEST_SUITE(CoreMemory, DoubleOnBoth, Label);

bool aligned(void const* p) { return reinterpret_cast<std::uintptr_t>(p) % 256 == 0; }

TYPED_TEST(CoreMemory, ArraysOwnAlignedMemory) {
  Space space = this->ctx().space();
  for (std::size_t n : {1, 3, 255, 1000}) {
    Array<double> a(space, n);
    EXPECT_TRUE(aligned(a.data()));
    EXPECT_EQ(a.size(), n);
    EXPECT_EQ(a.bytes(), 8 * n);
    EXPECT_EQ(a.space(), space);
    EXPECT_EQ(a.view().rows, static_cast<Index>(n));
    EXPECT_TRUE(a.view().is_vector());
    EXPECT_EQ(a.view().space, space);
  }
  Array<double> none(space, 0);
  EXPECT_EQ(none.data(), nullptr);
  EXPECT_EQ(none.view().size(), 0);
}

TYPED_TEST(CoreMemory, ArraysMoveAndNeverCopy) {
  static_assert(!std::is_copy_constructible_v<Array<double>> &&
                !std::is_copy_assignable_v<Array<double>>);
  static_assert(std::is_nothrow_move_constructible_v<Array<double>>);
  There<float> there(this->ctx(), {1, 2, 3});
  Array<float> a = to_space(this->ctx(), std::vector<float>{1, 2, 3}.data(), 3);
  float* p = a.data();
  Array<float> b(std::move(a));
  EXPECT_EQ(b.data(), p);
  EXPECT_EQ(a.data(), nullptr);
  EXPECT_EQ(a.size(), 0u);
  Array<float> c(this->ctx().space(), 7);  // its memory goes (leak checkers watch)
  c = std::move(b);
  EXPECT_EQ(c.data(), p);
  EXPECT_EQ(c.size(), 3u);
  EXPECT_EQ(b.size(), 0u);
  Array<float>& self = c;
  c = std::move(self);
  EXPECT_EQ(c.data(), p);
  EXPECT_EQ(to_host(this->ctx(), c), (std::vector<float>{1, 2, 3}));
  c = Array<float>();
  EXPECT_EQ(c.data(), nullptr);
}

TYPED_TEST(CoreMemory, MultiVectorIsRowMajor) {
  MultiVector<float> m(this->ctx().space(), 5, 3);
  Out<float> v = m;
  EXPECT_EQ(v.rows, 5);
  EXPECT_EQ(v.cols, 3);
  EXPECT_EQ(v.ld, 3);
  EXPECT_EQ(v.layout, Layout::row_major);
  EXPECT_EQ(v.offset(2, 1), 7);
  EXPECT_FALSE(v.is_vector());
  v.layout = Layout::col_major, v.ld = 6;
  EXPECT_EQ(v.offset(2, 1), 8);
  Vector<float> one(this->ctx().space(), 5);
  EXPECT_TRUE(one.view().is_vector());
  EXPECT_FALSE((MultiView<float>{nullptr, 5, 1, 2}).is_vector());
  EXPECT_TRUE((MultiView<float>{nullptr, 5, 1, 9, Layout::col_major}).is_vector());
}

TYPED_TEST(CoreMemory, LongColumnsDoNotOverflowAnOffset) {
  MultiView<float> v{nullptr, 2000000000, 64, 64};
  EXPECT_EQ(v.offset(1999999999, 63), 127999999999);
  EXPECT_EQ(v.size(), 128000000000);
  v.layout = Layout::col_major, v.ld = 2000000000;
  EXPECT_EQ(v.offset(1999999999, 63), 127999999999);
}

TYPED_TEST(CoreMemory, ArenaScopesNestAndReuse) {
  Arena& arena = this->ctx().arena();
  double *outer, *inner;
  {
    auto scope = arena.scope();
    outer = scope.take<double>(10);
    {
      auto nested = arena.scope();
      inner = nested.take<double>(10);
      EXPECT_GE(inner, outer + 10);
      EXPECT_TRUE(aligned(inner));
    }
    auto again = arena.scope();
    EXPECT_EQ(again.take<double>(10), inner) << "what the nested scope took is free again";
  }
  auto scope = arena.scope();
  EXPECT_EQ(scope.take<double>(1), outer);
}

TYPED_TEST(CoreMemory, ArenaAddressesStayWhenItGrows) {
  Context& ctx = this->ctx();
  auto scope = ctx.arena().scope();
  std::vector<Out<double>> taken;
  for (Index n : {100, 200000, 7, 300000, 131072, 131073, 1})  // chunks are 1 MiB, or the request
    taken.push_back(scope.vector<double>(n));
  for (std::size_t i = 0; i < taken.size(); ++i) {
    EXPECT_TRUE(aligned(taken[i].data));
    EXPECT_EQ(taken[i].space, ctx.space());
    std::vector<double> fill(taken[i].rows, double(i));
    copy_bytes(ctx, taken[i].data, ctx.space(), fill.data(), Space::host, fill.size() * 8);
  }
  {
    auto nested = ctx.arena().scope();
    double* big = nested.take<double>(1 << 20);
    std::vector<double> fill(1 << 20, -1.0);
    copy_bytes(ctx, big, ctx.space(), fill.data(), Space::host, fill.size() * 8);
  }
  for (std::size_t i = 0; i < taken.size(); ++i) {
    std::vector<double> now = to_host(ctx, taken[i].data, ctx.space(), taken[i].rows);
    EXPECT_EQ(now, std::vector<double>(taken[i].rows, double(i)))
        << "request " << i << " was overwritten";
  }
}

TYPED_TEST(CoreMemory, ArenaRepeatsTheSameAddresses) {  // a captured graph relies on it
  this->ctx().arena().keep();
  auto round = [&] {
    auto scope = this->ctx().arena().scope();
    std::vector<void*> p{scope.template take<double>(5), scope.template take<char>(3u << 20),
                         scope.template take<float>(77)};
    return p;
  };
  auto first = round();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(round(), first);
}

TYPED_TEST(CoreMemory, CopiesGoBothWaysAndAllowNothing) {
  Context& ctx = this->ctx();
  std::vector<double> values{1, 2, 3};
  Array<double> there = to_space(ctx, values.data(), 3);
  EXPECT_EQ(to_host(ctx, there), values);
  Array<double> other(ctx.space(), 3);
  copy_bytes(ctx, other.data(), ctx.space(), there.data(), ctx.space(), 24);
  EXPECT_EQ(to_host(ctx, other), values);
  copy_bytes(ctx, nullptr, ctx.space(), nullptr, Space::host, 0);
  EXPECT_TRUE(to_host(ctx, Array<double>()).empty());
}

TYPED_TEST(CoreMemory, AvailableMemoryIsSensible) {
  EXPECT_GT(this->ctx().available_memory(), std::size_t{1} << 20);
  EXPECT_LT(this->ctx().available_memory(), std::size_t{1} << 50);
}

TEST(CoreNarrow, RefusesWhatDoesNotFit) {
  EXPECT_EQ(narrow(0, "rows"), 0);
  EXPECT_EQ(narrow(2147483647, "rows"), 2147483647);
  for (std::int64_t i :
       {std::int64_t{-1}, std::int64_t{2147483648}, std::numeric_limits<std::int64_t>::max(),
        std::numeric_limits<std::int64_t>::min()}) {
    std::string text = message_of<SizeError>([&] { narrow(i, "rows of the matrix"); });
    EXPECT_NE(text.find(cat("rows of the matrix = ", i)), std::string::npos) << text;
    EXPECT_NE(text.find("2147483647"), std::string::npos) << text;
  }
}

TEST(CoreHostSpace, CannotReachDeviceMemory) {
  Context ctx(Backend::host);
  double a = 0, b = 0;
  std::string text =
      message_of<ShapeError>([&] { copy_bytes(ctx, &a, Space::cuda, &b, Space::host, 8); });
  EXPECT_NE(text.find("host Context"), std::string::npos) << text;
}

// Sizes about that from which pinned pieces are used, ends within a piece, and sources off their
// alignment; several Contexts upload at once, of which one has the pieces.
TEST(Uploads, ArriveWholeOnGpu) {
  if (std::string why; !cuda::available(why)) GTEST_SKIP() << why;
  std::vector<std::uint32_t> values((std::size_t{40} << 20) / 4);
  std::uint32_t next = 1;
  for (std::uint32_t& v : values) v = next = next * 1664525u + 1013904223u;
  auto const* const from = reinterpret_cast<std::byte const*>(values.data());
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      Context ctx(Backend::cuda);
      for (std::size_t const bytes :
           {std::size_t{1}, (std::size_t{12} << 20) - 1, std::size_t{12} << 20,
            (std::size_t{12} << 20) + 1, (std::size_t{33} << 20) + 3})
        for (std::size_t const off : {std::size_t{0}, std::size_t(1 + t)}) {
          Array<std::byte> there(ctx.space(), bytes);
          copy_bytes(ctx, there.data(), ctx.space(), from + off, Space::host, bytes);
          std::vector<std::byte> const back = to_host(ctx, there);
          EXPECT_EQ(std::memcmp(back.data(), from + off, bytes), 0) << bytes << " from " << off;
        }
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace tcsolve::test
