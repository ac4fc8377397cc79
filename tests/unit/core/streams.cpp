// SPDX-License-Identifier: Apache-2.0
/// What a Context does to the caller's device and streams: it computes on its own device, whatever
/// is current, leaves that as it was, and its work begins after the caller's.
#include <thread>

#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/kernels/reductions.hpp>
#include <tcsolve/matrix/transfer.hpp>
#include <tcsolve/precond/jacobi/jacobi.hpp>
#include <tcsolve/solvers/cg/cg.hpp>

#include "tests/support/backend.hpp"

#ifdef TCSOLVE_TEST_CUDA
#include <cuda_runtime.h>
#endif

namespace tcsolve::test {
namespace {

class GpuStreams : public testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    if (!cuda::available(why)) GTEST_SKIP() << "no GPU to run on: " << why;
  }
};

Csr<double> scaled_identity(Index n, double value) {
  Csr<double> a;
  a.rows = a.cols = n;
  for (Index i = 0; i < n; ++i) {
    a.columns.push_back(i);
    a.values.push_back(value);
    a.offsets.push_back(a.entries());
  }
  return a;
}

constexpr Index n = 1 << 22;

/// Some milliseconds of work of this Context, after which v = value; returns at once.
void submit_long(Context& ctx, Out<double> v, Out<double> scratch, double value) {
  fill<double>(ctx, v, 0);
  for (int k = 0; k < 400; ++k) axpby<double, double>(ctx, 1.0, v, 0.0, scratch);
  fill<double>(ctx, v, value);
}

/// b is still being made in another stream when the caller asks for a product and a solve.
void expect_order(Context& caller, Context& ctx, bool through_default) {
  Vector<double> b(caller.space(), n), scratch(caller.space(), n), x(ctx.space(), n);
  auto A = std::make_shared<CsrOperator<double>>(ctx, scaled_identity(n, 2.0));
  Cg<double> solver({.stopping = {.rtol = 1e-12}});
  solver.setup(ctx, A);
  for (double value : {3.0, 5.0}) {
    submit_long(caller, b, scratch, value);
    if (through_default) cuda::let_wait(*caller.device(), nullptr);
    A->apply(ctx, b, x);
    EXPECT_EQ(to_host(ctx, x.view().data, ctx.space(), n), std::vector<double>(n, 2 * value));

    submit_long(caller, b, scratch, value);
    if (through_default) cuda::let_wait(*caller.device(), nullptr);
    fill<double>(ctx, x, 0);
    EXPECT_TRUE(solver.solve(b, x).converged());
    EXPECT_EQ(to_host(ctx, x.view().data, ctx.space(), n), std::vector<double>(n, value / 2));
  }
}

TEST_F(GpuStreams, WorkBeginsAfterTheDefaultStream) {
  Context caller(Backend::cuda), ctx(Backend::cuda);
  expect_order(caller, ctx, true);
}

TEST_F(GpuStreams, WorkBeginsAfterTheStreamThatIsNamed) {
  Context caller(Backend::cuda);
  Context ctx(Backend::cuda, {.stream = caller.stream()});
  expect_order(caller, ctx, false);
}

TEST_F(GpuStreams, WorkBeginsAfterAStreamThatIsWaitedFor) {
  Context caller(Backend::cuda), ctx(Backend::cuda);
  Vector<double> b(caller.space(), n), scratch(caller.space(), n), x(ctx.space(), n);
  submit_long(caller, b, scratch, 4.0);
  ctx.wait_for(caller.stream());
  axpby<double, double>(ctx, 3.0, b, 0.0, x.view());
  EXPECT_EQ(to_host(ctx, x.view().data, ctx.space(), n), std::vector<double>(n, 12.0));
}

TEST_F(GpuStreams, TheCallersStreamGoesOnAfterAProduct) {
  Context caller(Backend::cuda);
  Context ctx(Backend::cuda, {.stream = caller.stream()});
  Vector<double> x(ctx.space(), n), y(ctx.space(), n), scratch(ctx.space(), n),
      z(caller.space(), n);
  auto A = std::make_shared<CsrOperator<double>>(ctx, scaled_identity(n, 2.0));
  fill<double>(ctx, y, 0);
  ctx.synchronize();
  submit_long(ctx, x, scratch, 7.0);
  A->apply(ctx, x, y);
  axpby<double, double>(caller, 1.0, y, 0.0, z.view());  // not told of anything
  EXPECT_EQ(to_host(caller, z.view().data, caller.space(), n), std::vector<double>(n, 14.0));
}

/// Arrays that go while operations that read them are on their way, in memory that is taken at once
/// again, also by another Context.
TEST_F(GpuStreams, ArraysGoInTheOrderOfTheirContext) {
  Context ctx(Backend::cuda), other(Backend::cuda);
  Vector<double> y(ctx.space(), n), scratch(ctx.space(), n);
  for (int round = 1; round <= 10; ++round) {
    {
      Vector<double> x(ctx.space(), n);
      submit_long(ctx, x, scratch, round);
      axpby<double, double>(ctx, 1.0, x, 0.0, y.view());
    }
    Vector<double> next(ctx.space(), n), elsewhere(other.space(), n);
    fill<double>(other, elsewhere, -1);
    fill<double>(ctx, next, -2);
    EXPECT_EQ(to_host(ctx, y.view().data, ctx.space(), n), std::vector<double>(n, round));
    EXPECT_EQ(to_host(other, elsewhere.view().data, other.space(), n),
              std::vector<double>(n, -1.0));
  }
}

TEST_F(GpuStreams, ArraysOutliveTheirContext) {
  auto ctx = std::make_unique<Context>(Backend::cuda);
  auto x = std::make_unique<Vector<double>>(ctx->space(), 1000);
  fill<double>(*ctx, *x, 3);
  ctx.reset();
  Context next(Backend::cuda);
  EXPECT_EQ(to_host(next, x->view().data, next.space(), 1000), std::vector<double>(1000, 3.0));
  x.reset();
}

// ---- two devices ----

class GpuTwoDevices : public testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    if (!cuda::available(why, 1)) GTEST_SKIP() << "no second GPU: " << why;
  }
};

double solve_on(Context& ctx, Index size) {
  auto A = std::make_shared<CsrOperator<double>>(ctx, scaled_identity(size, 4.0));
  auto M = std::make_shared<Jacobi<double>>(ctx, A->view());
  Cg<double> solver({.stopping = {.rtol = 1e-12}});
  solver.setup(ctx, A, M);
  std::vector<double> const b(size, 8.0);
  std::vector<double> x(size, 0.0);
  EXPECT_TRUE(solver.solve(vector_view<double const>(b.data(), size), vector_view(x.data(), size))
                  .converged());
  return x.back();
}

TEST_F(GpuTwoDevices, TwoContextsInOneThread) {
  Context first(Backend::cuda, {.device = 0}), second(Backend::cuda, {.device = 1});
  EXPECT_NE(first.space(), second.space());
  for (int round = 0; round < 3; ++round)
    for (Context* ctx : {&first, &second}) EXPECT_EQ(solve_on(*ctx, 5000), 2.0);
}

TEST_F(GpuTwoDevices, AContextFromAnotherThread) {
  Context ctx(Backend::cuda, {.device = 1});
  double answer = 0;
  std::thread([&] { answer = solve_on(ctx, 5000); }).join();
  EXPECT_EQ(answer, 2.0);
}

TEST_F(GpuTwoDevices, MemoryOfAnotherDeviceIsRefused) {
  Context first(Backend::cuda, {.device = 0}), second(Backend::cuda, {.device = 1});
  Vector<double> x(first.space(), 10), y(second.space(), 10);
  CsrOperator<double> A(second, scaled_identity(10, 2.0));
  std::string const text = message_of<ShapeError>([&] { A.apply(second, x, y); });
  EXPECT_NE(text.find("cuda:1"), std::string::npos) << text;
}

#ifdef TCSOLVE_TEST_CUDA

int current_device() {
  int ordinal = -1;
  EXPECT_EQ(cudaGetDevice(&ordinal), cudaSuccess);
  return ordinal;
}

TEST_F(GpuTwoDevices, TheCallersDeviceStaysCurrent) {
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  Context ctx(Backend::cuda, {.device = 1});
  EXPECT_EQ(current_device(), 0);
  EXPECT_EQ(solve_on(ctx, 5000), 2.0);
  EXPECT_EQ(current_device(), 0);
  Context first(Backend::cuda, {.device = 0});
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  EXPECT_EQ(solve_on(first, 5000), 2.0);
  EXPECT_EQ(current_device(), 1);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
}

/// A stream of the caller that is being captured; what was captured is thrown away.
class Capturing {
 public:
  explicit Capturing(unsigned int flags) {
    EXPECT_EQ(cudaStreamCreateWithFlags(&stream, flags), cudaSuccess);
    EXPECT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  }
  ~Capturing() {
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess) << "the capture was invalidated";
    if (graph != nullptr) cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
  }
  cudaStream_t stream = nullptr;
};

TEST_F(GpuStreams, ACapturedStreamIsRefusedWithTheReason) {
  Context warm(Backend::cuda);
  solve_on(warm, 1000);
  Capturing capturing(cudaStreamNonBlocking);
  Context ctx(Backend::cuda, {.stream = capturing.stream});
  std::string const text = message_of<Unsupported>([&] { solve_on(ctx, 1000); });
  EXPECT_NE(text.find("captured"), std::string::npos) << text;
}

/// A capture elsewhere in the thread is none of a Context's business, nor is it of memory's.
TEST_F(GpuStreams, ACaptureOfAnotherStreamIsLeftAlone) {
  Context ctx(Backend::cuda);
  EXPECT_EQ(solve_on(ctx, 1000), 2.0);
  Array<double> array(ctx.space(), 1000);
  Capturing capturing(cudaStreamNonBlocking);
  array = Array<double>(ctx.space(), 2000);
  array = {};
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(GpuStreams, AnOldErrorOfTheCallerIsNotOurs) {
  Context ctx(Backend::cuda);
  void* p = nullptr;
  EXPECT_NE(cudaMalloc(&p, std::size_t{1} << 60), cudaSuccess);  // left as the last error
  EXPECT_EQ(solve_on(ctx, 1000), 2.0);
}

#endif

}  // namespace
}  // namespace tcsolve::test
