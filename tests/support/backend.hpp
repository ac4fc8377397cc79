// SPDX-License-Identifier: Apache-2.0
/// Typed test parameters: a backend and a value type. The backend is in the name of every typed
/// suite ("KernelsBasic/cuda_f32"), so --gtest_filter='*cuda*' selects the GPU runs. Without a
/// usable GPU they skip and say why.
#pragma once

#include <tcsolve/core/context.hpp>
#include <tcsolve/core/half.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace tcsolve::test {

struct HostBackend {
  static constexpr Backend backend = Backend::host;
  static constexpr char const* name = "host";
};
struct CudaBackend {
  static constexpr Backend backend = Backend::cuda;
  static constexpr char const* name = "cuda";
};

template <class T>
constexpr char const* type_name = std::is_same_v<T, double>  ? "f64"
                                  : std::is_same_v<T, float> ? "f32"
                                  : std::is_same_v<T, half>  ? "f16"
                                                             : "bf16";

/// One parameter of a typed suite: where it computes, and the type of the vectors.
template <class B, class V>
struct On {
  using Where = B;
  using Value = V;
  static std::string label() { return std::string(B::name) + "_" + type_name<V>; }
};

/// P<HostBackend, V>... and P<CudaBackend, V>..., without the latter where a build has no device.
#if TCSOLVE_TEST_DEVICE
template <template <class, class> class P, class... V>
using on_backends = ::testing::Types<P<HostBackend, V>..., P<CudaBackend, V>...>;
#else
template <template <class, class> class P, class... V>
using on_backends = ::testing::Types<P<HostBackend, V>...>;
#endif

template <class... V>
using on_both = on_backends<On, V...>;
using DoubleOnBoth = on_both<double>;
using RealsOnBoth = on_both<double, float>;

/// The third argument of TYPED_TEST_SUITE.
struct Label {
  template <class P>
  static std::string GetName(int) {
    return P::label();
  }
};

/// The same as a list, for suites whose parameter is a value.
inline std::vector<Backend> backends() {
#if TCSOLVE_TEST_DEVICE
  return {Backend::host, Backend::cuda};
#else
  return {Backend::host};
#endif
}

/// The name of a backend in the name of a test.
constexpr char const* label(Backend backend) {
  return backend == Backend::host ? HostBackend::name : CudaBackend::name;
}

/// Opens a Context on the backend, or skips the test: for SetUp().
inline void open_context(Backend backend, std::unique_ptr<Context>& ctx) {
  std::string why;
  if (backend == Backend::cuda && !cuda::available(why))
    GTEST_SKIP() << "no GPU to run on: " << why;
  ctx = std::make_unique<Context>(backend);
}

/// Opens the Context that P asks for, once a test.
template <class P>
class BackendTest : public ::testing::Test {
 public:
  using T = typename P::Value;

 protected:
  void SetUp() override { open_context(P::Where::backend, ctx_); }
  Context& ctx() { return *ctx_; }

 private:
  std::unique_ptr<Context> ctx_;
};

/// Values of a trivially copyable type in the Context's space: a scalar, a LoopState, a vector.
template <class T>
class There {
 public:
  There(Context& ctx, std::vector<T> const& values)
      : ctx_(ctx), data_(to_space(ctx, values.data(), values.size())) {}
  There(Context& ctx, T const& value) : There(ctx, std::vector<T>(1, value)) {}
  T* data() { return data_.data(); }
  T get(std::size_t i = 0) { return to_host(ctx_, data_)[i]; }
  std::vector<T> all() { return to_host(ctx_, data_); }
  void set(T const& value) {
    copy_bytes(ctx_, data_.data(), ctx_.space(), &value, Space::host, sizeof value);
  }
  Out<T> view() { return data_.view(); }
  In<T> in() { return data_.view(); }

 private:
  Context& ctx_;
  Array<T> data_;
};

/// Runs f, expects an E, and returns its text.
template <class E, class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (E const& e) { return e.what(); } catch (std::exception const& e) {
    ADD_FAILURE() << "another exception: " << e.what();
    return "";
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

}  // namespace tcsolve::test
