// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/core/cuda/captures.hpp>
#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/core/cuda/pool.hpp>
#include <tcsolve/core/cuda/rank_link.hpp>
#include <tcsolve/core/device_speeds.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <type_traits>

#include <tcsolve/core/arena.hpp>

namespace tcsolve::cuda {

namespace {

std::string version_text(int v) { return cat(v / 1000, ".", v % 1000 / 10); }

}  // namespace

Current::Current(Device const& on) : Current(on.ordinal) {}
Current::Current(int ordinal) {
  int now = -1;
  if (ordinal < 0 || cudaGetDevice(&now) != cudaSuccess || now == ordinal) return;
  if (cudaSetDevice(ordinal) == cudaSuccess) before_ = now;
}
Current::~Current() {
  if (before_ >= 0) cudaSetDevice(before_);
}

namespace {

/// All Devices of the process. None is ever taken apart, see open().
class Devices {
 public:
  static Devices& all() {
    static Devices& devices = *new Devices;
    return devices;
  }
  /// Null where the number is none's.
  Device* at(std::uint32_t home) {
    std::lock_guard<std::mutex> const turn(mutex_);
    return home == 0 || home > made_.size() ? nullptr : made_[home - 1];
  }
  Device* take(int ordinal) {
    if (Device* found = take_idle(ordinal)) return found;
    std::uint32_t home = 0;
    {
      std::lock_guard<std::mutex> const turn(mutex_);
      made_.push_back(nullptr);
      idle_.reserve(made_.size());  // put() does not throw
      home = static_cast<std::uint32_t>(made_.size());
    }
    auto made = std::make_unique<Device>(ordinal, home);
    std::lock_guard<std::mutex> const turn(mutex_);
    return made_[home - 1] = made.release();
  }
  void put(Device* device) noexcept {
    std::lock_guard<std::mutex> const turn(mutex_);
    idle_.push_back(device);
  }
  std::ptrdiff_t in_use(int ordinal) {
    auto const here = [=](Device const* d) { return d != nullptr && d->ordinal == ordinal; };
    std::lock_guard<std::mutex> const turn(mutex_);
    return std::count_if(made_.begin(), made_.end(), here) -
           std::count_if(idle_.begin(), idle_.end(), here);
  }

 private:
  Device* take_idle(int ordinal) {
    std::lock_guard<std::mutex> const turn(mutex_);
    for (auto i = idle_.begin(); i != idle_.end(); ++i)
      if (Device* found = *i; found->ordinal == ordinal) {
        idle_.erase(i);
        return found;
      }
    return nullptr;
  }
  std::mutex mutex_;
  std::vector<Device*> made_, idle_;
};

/// A Context is done with its Device. One that has met an error is not used again.
void leave(Device* on) noexcept {
  Current const current(*on);
  BesideCaptures const beside;
  on->lent = nullptr;
  if (cudaStreamSynchronize(on->stream) == cudaSuccess)
    Devices::all().put(on);
  else
    cudaGetLastError();
}

}  // namespace

namespace {

/// 0 where the driver does not know it.
int attribute(cudaDeviceAttr which, int ordinal) {
  int value = 0;
  if (cudaDeviceGetAttribute(&value, which, ordinal) == cudaSuccess) return value;
  cudaGetLastError();
  return 0;
}

}  // namespace

Device::Device(int which, std::uint32_t number) : ordinal(which), home(number) {
  Current const current(ordinal);
  BesideCaptures const beside;
  try {
    check(cudaGetDeviceProperties(&properties, ordinal));
    if (properties.major < 8)
      throw DeviceError(cat(properties.name, " has compute capability ", properties.major, ".",
                            properties.minor, "; tcsolve needs 8.0 or newer: use backend: host"));
    max_blocks = 8 * properties.multiProcessorCount;
    single_to_double = attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio, ordinal);
    for (cudaStream_t* s : {&stream, &side_stream, &memory_stream})
      check(cudaStreamCreateWithFlags(s, cudaStreamNonBlocking));
    for (cudaEvent_t* e : {&order, &released_})
      check(cudaEventCreateWithFlags(e, cudaEventDisableTiming));
    // From the pool: cudaMalloc may wait for what others run.
    auto take = [&](auto*& p, std::size_t n) {
      void* memory = nullptr;
      check(pool_of(ordinal).take(&memory, n * sizeof *p, memory_stream));
      p = static_cast<std::remove_reference_t<decltype(p)>>(memory);
    };
    take(scratch.partials, static_cast<std::size_t>(max_sums) * max_blocks);
    take(scratch.ticket, 2);
    check(cudaMemsetAsync(scratch.ticket, 0, 2 * sizeof(unsigned int), stream));
    scratch.next = scratch.ticket + 1;
  } catch (...) {
    close();
    throw;
  }
}

Device::~Device() { close(); }

/// Of a Device that could not be made.
void Device::close() noexcept {
  for (void* p : {static_cast<void*>(scratch.partials), static_cast<void*>(scratch.ticket)})
    if (p != nullptr) cudaFree(p);
  for (cudaEvent_t e : {order, released_})
    if (e) cudaEventDestroy(e);
  for (cudaStream_t s : {stream, side_stream, memory_stream})
    if (s) cudaStreamDestroy(s);
  scratch = {};
  order = released_ = nullptr;
  stream = side_stream = memory_stream = nullptr;
  cudaGetLastError();
}

void Device::give_back(void* p) noexcept {
  std::lock_guard<std::mutex> const turn(releasing_);
  if (capturing_ || captured(stream)) {
    try {
      withheld_.push_back(p);
    } catch (...) {}  // no room to remember it: lost
    return;
  }
  free_in_order(p);
  free_withheld();
}

void Device::free_withheld() noexcept {
  for (void* p : withheld_) free_in_order(p);
  withheld_.clear();
}

void Device::free_in_order(void* p) noexcept {
  bool const ordered = cudaEventRecord(released_, stream) == cudaSuccess &&
                       cudaStreamWaitEvent(memory_stream, released_, 0) == cudaSuccess;
  // Work that cannot be waited for may still use it. The error has been, or will be, reported by
  // the call that it belongs to.
  if (!ordered || pool_of(ordinal).put(p, memory_stream) != cudaSuccess) cudaGetLastError();
}

Capture::Capture(Device& on) : on_(on) {
  std::lock_guard<std::mutex> const turn(on_.releasing_);
  on_.capturing_ = true;
}

Capture::~Capture() {
  std::lock_guard<std::mutex> const turn(on_.releasing_);
  on_.capturing_ = false;
  on_.free_withheld();
}

bool available(std::string& why, int ordinal) {
  int count = 0;
  cudaError_t code = cudaGetDeviceCount(&count);
  if (code != cudaSuccess) {
    cudaGetLastError();
    int driver = 0;  // 0: none is installed
    if (cudaDriverGetVersion(&driver) != cudaSuccess) cudaGetLastError();
    if (code == cudaErrorInsufficientDriver)
      why = driver == 0 ? "no NVIDIA driver"
                        : cat("the NVIDIA driver is of CUDA ", driver / 1000, ".",
                              driver % 1000 / 10, ", older than the CUDA of this build");
    else if (code == cudaErrorNoDevice)
      why = "no NVIDIA GPU";
    else
      why = cat("no usable NVIDIA GPU: ", cudaGetErrorString(code));
    return false;
  }
  if (count == 0) {
    why = "no NVIDIA GPU";
    return false;
  }
  if (ordinal < 0 || ordinal >= count) {
    why = cat("device ", ordinal, " does not exist; this machine has 0 to ", count - 1);
    return false;
  }
  int major = 0;
  code = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, ordinal);
  if (code != cudaSuccess) {
    cudaGetLastError();
    why = cat("device ", ordinal, " cannot be asked: ", cudaGetErrorString(code));
    return false;
  }
  if (major < 8) why = cat("device ", ordinal, " is older than compute capability 8.0");
  return major >= 8;
}

std::shared_ptr<Device> open(int ordinal) {
  std::string why;
  if (!available(why, ordinal))
    throw DeviceError(cat("backend: cuda cannot be used: ", why, "; use backend: host"));
  std::shared_ptr<Device> const on(Devices::all().take(ordinal), leave);
  Current const current(*on);
  BesideCaptures const beside;
  check(cudaStreamSynchronize(on->stream));  // reports an earlier error of the device
  return on;
}

Facts facts(Device& on) {
  int driver = 0, runtime = 0;
  check(cudaDriverGetVersion(&driver));
  check(cudaRuntimeGetVersion(&runtime));
  return {on.properties.name,
          version_text(driver),
          version_text(runtime),
          10 * on.properties.major + on.properties.minor,
          on.properties.multiProcessorCount,
          on.properties.totalGlobalMem,
          static_cast<std::size_t>(on.properties.l2CacheSize)};
}

Speeds speeds(Device& on) {
  // A driver takes a millisecond to tell its clocks, and every set-up wants them.
  static std::mutex mutex;
  static std::map<int, Speeds> known;
  std::lock_guard const lock(mutex);
  if (auto const at = known.find(on.ordinal); at != known.end()) return at->second;
  // Two transfers a clock of so many bits; clocks in kHz.
  double const transfers = 2e3 * attribute(cudaDevAttrMemoryClockRate, on.ordinal);
  Speeds const told{transfers * attribute(cudaDevAttrGlobalMemoryBusWidth, on.ordinal) / 8,
                    1e3 * attribute(cudaDevAttrClockRate, on.ordinal), on.single_to_double};
  return known[on.ordinal] = told;
}

bool shared(Device const& on) { return Devices::all().in_use(on.ordinal) > 1; }

Space space(Device const& on) { return on.space(); }

std::size_t free_memory(Device& on) {
  Current const current(on);
  std::size_t available = 0, total = 0;
  check(cudaMemGetInfo(&available, &total));
  return available + pool_of(on.ordinal).kept();
}

std::size_t peak_memory(Device& on) { return pool_of(on.ordinal).peak(); }

void lend(Device& on, Arena* arena) { on.lent = arena; }

void* stream(Device& on) { return on.stream; }

Device* device_at(std::uint32_t home) { return Devices::all().at(home); }

}  // namespace tcsolve::cuda
