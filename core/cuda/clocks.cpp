// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <tcsolve/core/cuda/device.hpp>

namespace tcsolve::cuda {

namespace {

/// What is used of libnvidia-ml, which comes with the driver and not with the toolkit: its types as
/// the NVML API Reference Manual has them.
struct Nvml {
  using Device = struct nvmlDevice_st*;
  enum Clock { multiprocessors = 1, memory = 2 };
  int (*initialise)() = nullptr;
  int (*find)(char const* bus, Device*) = nullptr;
  int (*clock)(Device, Clock, unsigned int* megahertz) = nullptr;
  bool there = false;
};

Nvml load() {
  Nvml nvml;
  void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nvml;
  auto const find = [&](auto& function, char const* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    return function != nullptr;
  };
  nvml.there = find(nvml.initialise, "nvmlInit_v2") &&
               find(nvml.find, "nvmlDeviceGetHandleByPciBusId_v2") &&
               find(nvml.clock, "nvmlDeviceGetClockInfo") && nvml.initialise() == 0;
  return nvml;
}

}  // namespace

Clocks clocks(Device& on) {
  static Nvml const nvml = load();
  char bus[32] = {};
  Nvml::Device device = nullptr;
  if (!nvml.there || cudaDeviceGetPCIBusId(bus, sizeof bus, on.ordinal) != cudaSuccess ||
      nvml.find(bus, &device) != 0)
    return {};
  auto const clock = [&](Nvml::Clock which) {
    unsigned int megahertz = 0;
    return nvml.clock(device, which, &megahertz) == 0 ? static_cast<int>(megahertz) : 0;
  };
  return {clock(Nvml::multiprocessors), clock(Nvml::memory)};
}

}  // namespace tcsolve::cuda
