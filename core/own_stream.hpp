// SPDX-License-Identifier: Apache-2.0
/// A stream for work that may be left behind (core/left_behind.hpp).
#pragma once

namespace tcsolve::cuda {

/// A stream that no Device has, for work that its caller may leave behind: neither waits for the
/// other but by synchronize().
class OwnStream {
 public:
  explicit OwnStream(int ordinal);
  ~OwnStream();  ///< what it holds runs to its end
  OwnStream(OwnStream const&) = delete;
  OwnStream& operator=(OwnStream const&) = delete;
  void* get() const { return stream_; }  ///< a cudaStream_t
  /// Waits for what it holds. Throws DeviceError where that has failed.
  void synchronize() const;

 private:
  int ordinal_;
  void* stream_ = nullptr;
};

}  // namespace tcsolve::cuda
