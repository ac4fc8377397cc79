// SPDX-License-Identifier: Apache-2.0
/// Products with diagonals of a matrix so long that the device takes its tiles in order, from a
/// counter (formats/dia/device.cu): every row once, the same bits each time, and the counter is as
/// it was when the next product begins.
#include <tcsolve/formats/dia/operator.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/matrix/transfer.hpp>

#include <cmath>

#include "tests/support/backend.hpp"

namespace tcsolve::test {
namespace {

/// x_i of a few bits: sums of whole numbers are exact in any order.
double element(Index i) { return double(i % 7) - 3; }

TEST(DiaInOrderGpu, EveryRowOnceAndTheSameBitsAgain) {
  std::string why;
  if (!cuda::available(why)) GTEST_SKIP() << "no GPU to run on: " << why;
  Context ctx(Backend::cuda);
  // 16 rounds of tiles of 512 rows, four blocks a multiprocessor; the last tile is not full.
  double const rows = 16.0 * 4 * 512 * cuda::facts(*ctx.device()).multiprocessors;
  int const n = static_cast<int>(std::ceil(std::cbrt(rows))) + 1;
  Csr<double> const a = generate(Poisson7Params{.n = n});
  DiaOperator<double> const A(ctx, CsrStorage<double>(ctx, a).view());
  std::vector<double> x(a.rows), expected(a.rows);
  for (Index i = 0; i < a.rows; ++i) x[i] = element(i);
  double sigma = 0;
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      expected[i] += a.values[k] * x[a.columns[k]];
    sigma += x[i] * expected[i];
  }
  There<double> in(ctx, x), out(ctx, std::vector<double>(x.size(), NAN)), dot(ctx, 0.0);
  for (int round = 0; round < 3; ++round) {
    SCOPED_TRACE(round);
    dot.set(NAN);
    A.apply_dot(ctx, in.in(), out.view(), dot.data());
    EXPECT_EQ(dot.get(), sigma);
    ASSERT_TRUE(out.all() == expected);
    A.apply(ctx, -1, in.in(), 2, out.view());  // 2 y - A x = y
    ASSERT_TRUE(out.all() == expected);
  }
}

}  // namespace
}  // namespace tcsolve::test
