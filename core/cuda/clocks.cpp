// SPDX-License-Identifier: Apache-2.0
/// What NVML tells of a device: its clocks, its energy.
#include <dlfcn.h>

#include <limits>

#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/core/device_energy.hpp>

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
  int (*energy)(Device, unsigned long long* millijoules) = nullptr;  // null: too old a driver
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
  find(nvml.energy, "nvmlDeviceGetTotalEnergyConsumption");
  return nvml;
}

Nvml const& library() {
  static Nvml const nvml = load();
  return nvml;
}

/// Null where NVML does not know the device.
Nvml::Device device_of(Device& on) {
  Nvml const& nvml = library();
  char bus[32] = {};
  Nvml::Device device = nullptr;
  bool const known = nvml.there &&
                     cudaDeviceGetPCIBusId(bus, sizeof bus, on.ordinal) == cudaSuccess &&
                     nvml.find(bus, &device) == 0;
  return known ? device : nullptr;
}

}  // namespace

Clocks clocks(Device& on) {
  Nvml const& nvml = library();
  Nvml::Device const device = device_of(on);
  if (device == nullptr) return {};
  auto const clock = [&](Nvml::Clock which) {
    unsigned int megahertz = 0;
    return nvml.clock(device, which, &megahertz) == 0 ? static_cast<int>(megahertz) : 0;
  };
  return {clock(Nvml::multiprocessors), clock(Nvml::memory)};
}

double consumed_joules(Device& on) {
  Nvml const& nvml = library();
  Nvml::Device const device = device_of(on);
  unsigned long long millijoules = 0;
  bool const told =
      device != nullptr && nvml.energy != nullptr && nvml.energy(device, &millijoules) == 0;
  return told ? 1e-3 * static_cast<double>(millijoules) : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace tcsolve::cuda
