// SPDX-License-Identifier: Apache-2.0
/// Names on the time line of a profiler: each phase (plan, reorder, convert, preconditioner, setup,
/// solve, judge) and each operation opens a range that ends with the scope.
///
///     Range const range(ctx, "solve");
///     Range const range(ctx, [&] { return name() + ".apply"; });   // the text is made on demand
///
/// A Context on a device reports to NVTX where a profiler is attached to the process
/// (core/cuda/ranges.cpp). With no listener a range costs a branch.
#pragma once

#include <concepts>
#include <string>

namespace tcsolve {

class Context;

/// Told of ranges by the thread that computes, inner ones between the two calls of the outer one.
struct RangeListener {
  virtual ~RangeListener() = default;
  virtual void open(char const* name) = 0;
  virtual void close() noexcept = 0;
};

class [[nodiscard]] Range {
 public:
  Range(Context const& ctx, char const* name) : listener_(listener_of(ctx)) {
    if (listener_ != nullptr) listener_->open(name);
  }
  template <std::invocable F>
  Range(Context const& ctx, F const& name) : listener_(listener_of(ctx)) {
    if (listener_ != nullptr) listener_->open(std::string(name()).c_str());
  }
  ~Range() {
    if (listener_ != nullptr) listener_->close();
  }
  Range(Range const&) = delete;
  Range& operator=(Range const&) = delete;

 private:
  static RangeListener* listener_of(Context const&);  // in core/context.hpp
  RangeListener* listener_;
};

namespace cuda {
/// Passes ranges on to NVTX; null where no profiler is attached, and without CUDA.
RangeListener* profiler() noexcept;
}  // namespace cuda

}  // namespace tcsolve
