// SPDX-License-Identifier: Apache-2.0
/// How much dynamic shared memory a kernel may have is an attribute of the kernel, not of a launch:
/// all Contexts of a process share it, and another one's size might come between one that a launch
/// sets and the launch. So it is set here alone (scripts/check-layers), and to one size for each
/// kernel.
#pragma once

#include <cstddef>

#include <tcsolve/core/cuda/device.hpp>

namespace tcsolve::cuda {

/// Sets the attribute. For a kernel whose size is the same in all calls, or guarded by a mutex from
/// here to the launch.
template <class Kernel>
void set_shared(Kernel* kernel, int bytes) {
  check(cudaFuncSetAttribute(reinterpret_cast<void const*>(kernel),
                             cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
}

/// Before a launch with `bytes`: beyond 48 KB, which a kernel has without asking, it may have as
/// much as a block of the device can have. For kernels without static shared memory.
template <class Kernel>
void allow_shared(Device const& on, Kernel* kernel, std::size_t bytes) {
  constexpr std::size_t unasked = 48 << 10;
  if (bytes > unasked) set_shared(kernel, static_cast<int>(on.properties.sharedMemPerBlockOptin));
}

}  // namespace tcsolve::cuda
