// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/core/device_missing.hpp>
#include <tcsolve/core/device_speeds.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <type_traits>

#include <tcsolve/core/arena.hpp>
#include <tcsolve/core/faults.hpp>
#include <tcsolve/core/own_stream.hpp>

namespace tcsolve::cuda {

namespace {

std::string place(std::source_location const& where) {
  std::string file = where.file_name();
  return cat(file.substr(file.find_last_of('/') + 1), ":", where.line(), " in ",
             where.function_name());
}

constexpr char const* not_capturable =
    "a setup or a solve cannot be part of a captured graph: its driver looks at residuals on the "
    "host; solve outside of the capture";

std::string version_text(int v) { return cat(v / 1000, ".", v % 1000 / 10); }

}  // namespace

void check(cudaError_t code, std::source_location where) {
  if (code == cudaSuccess) {
    if (!faults::device_call_fails()) return;
    code = cudaErrorLaunchFailure;
  }
  cudaGetLastError();  // a failed call must not be reported a second time by the next one
  std::string text = cat("CUDA: ", cudaGetErrorName(code), " (", static_cast<int>(code), "), ",
                         cudaGetErrorString(code), "; ", place(where));
  if (code == cudaErrorMemoryAllocation) throw MemoryError(text);
  if (code >= cudaErrorStreamCaptureUnsupported && code <= cudaErrorStreamCaptureWrongThread)
    throw Unsupported(cat(text, "; ", not_capturable));
  throw DeviceError(text);
}

void check(cusparseStatus_t code, std::source_location where) {
  if (code == CUSPARSE_STATUS_SUCCESS) return;
  std::string text = cat("cuSPARSE: ", cuda::cusparse().GetErrorString(code), " (",
                         static_cast<int>(code), "); ", place(where));
  if (code == CUSPARSE_STATUS_ALLOC_FAILED || code == CUSPARSE_STATUS_INSUFFICIENT_RESOURCES)
    throw MemoryError(text);
  throw DeviceError(text);
}

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

/// For the length of a scope this thread may take memory and wait, though it or another thread is
/// capturing a stream of its own.
class BesideCaptures {
 public:
  BesideCaptures() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  ~BesideCaptures() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  BesideCaptures(BesideCaptures const&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

/// True where work in the stream is being captured.
bool captured(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  cudaError_t const code = cudaStreamIsCapturing(stream, &status);
  if (code == cudaSuccess) return status != cudaStreamCaptureStatusNone;
  cudaGetLastError();
  return code == cudaErrorStreamCaptureImplicit;  // the legacy stream beside a capture
}

/// A device's memory that is given back and taken again: cudaMalloc takes 30 us and more, whatever
/// the size, which is longer than most steps of a conversion. It keeps up to a 64th of the memory.
class Pool {
 public:
  explicit Pool(int ordinal) {
    Current const current(ordinal);
    cudaMemPoolProps props{};
    props.allocType = cudaMemAllocationTypePinned;
    props.location = {cudaMemLocationTypeDevice, ordinal};
    std::size_t available = 0, total = 0;
    check(cudaMemGetInfo(&available, &total));
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    if (cudaMemPoolCreate(&pool_, &props) != cudaSuccess) {  // a driver without pools
      cudaGetLastError();
      pool_ = nullptr;
      return;
    }
    auto keep = static_cast<std::uint64_t>(total / 64);
    cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &keep);
    // Memory that another stream has released and may still use is not waited for.
    int wait = 0;
    cudaMemPoolSetAttribute(pool_, cudaMemPoolReuseAllowInternalDependencies, &wait);
  }
  cudaStream_t stream() const { return stream_; }
  /// Memory that every stream may use. Waits for `stream`.
  cudaError_t take(void** p, std::size_t bytes, cudaStream_t stream) {
    if (pool_ == nullptr) return cudaMalloc(p, bytes);
    if (auto code = cudaMallocFromPoolAsync(p, bytes, pool_, stream); code != cudaSuccess)
      return code;
    return cudaStreamSynchronize(stream);
  }
  cudaError_t put(void* p, cudaStream_t stream) {
    return pool_ == nullptr ? cudaFree(p) : cudaFreeAsync(p, stream);
  }
  /// What is kept and not in use goes back to the device.
  cudaError_t trim() { return pool_ == nullptr ? cudaSuccess : cudaMemPoolTrimTo(pool_, 0); }
  std::size_t kept() const {
    std::uint64_t reserved = 0, used = 0;
    if (pool_ == nullptr) return 0;
    check(cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrReservedMemCurrent, &reserved));
    check(cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrUsedMemCurrent, &used));
    return reserved - used;
  }
  /// Most that was in use at once.
  std::size_t peak() const {
    std::uint64_t high = 0;
    if (pool_ != nullptr) check(cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrUsedMemHigh, &high));
    return high;
  }

 private:
  cudaMemPool_t pool_ = nullptr;
  cudaStream_t stream_ = nullptr;  // of memory that belongs to no Device
};

/// Created at the first call and never destroyed, since an Array that holds memory of the pool may
/// live as long as the process.
Pool& pool_of(int ordinal) {
  static std::mutex& mutex = *new std::mutex;
  static std::map<int, Pool>& pools = *new std::map<int, Pool>;
  std::lock_guard<std::mutex> const turn(mutex);
  auto found = pools.find(ordinal);
  if (found == pools.end()) found = pools.emplace(ordinal, ordinal).first;
  return found->second;
}

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
    if (Cusparse const& library = cuda::cusparse(); library.there) {
      check(library.Create(&cusparse));
      check(library.SetStream(cusparse, stream));
    }
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
  if (cusparse) cuda::cusparse().Destroy(cusparse);
  for (cudaEvent_t e : {order, released_})
    if (e) cudaEventDestroy(e);
  for (cudaStream_t s : {stream, side_stream, memory_stream})
    if (s) cudaStreamDestroy(s);
  scratch = {};
  cusparse = nullptr;
  order = released_ = nullptr;
  stream = side_stream = memory_stream = nullptr;
  cudaGetLastError();
}

std::string missing(Device const& on) {
  if (on.cusparse != nullptr) return "";
  return cat("cuSPARSE cannot be loaded, csr takes kernels of tcsolve's own (", cusparse().problem,
             ")");
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

void synchronize(Device& on) {
  Current const current(on);
  check(cudaStreamSynchronize(on.stream));
}

void lend(Device& on, Arena* arena) { on.lent = arena; }

void* stream(Device& on) { return on.stream; }

namespace {
cudaStream_t stream_of_caller(void* stream) {
  return stream == nullptr ? cudaStreamLegacy : static_cast<cudaStream_t>(stream);
}
}  // namespace

void wait_for(Device& on, void* of_caller) {
  Current const current(on);
  BesideCaptures const beside;
  cudaGetLastError();  // the caller's, not ours
  cudaStream_t const stream = stream_of_caller(of_caller);
  if (captured(on.stream)) return;  // what follows becomes part of that graph
  if (captured(stream))
    throw Unsupported(
        of_caller != nullptr
            ? cat("the caller's stream is being captured: ", not_capturable)
            : cat("a stream is being captured, beside which the default stream cannot be waited "
                  "for: ",
                  not_capturable, ", or name the stream of b and x in ContextOptions::stream"));
  check(cudaEventRecord(on.order, stream));
  check(cudaStreamWaitEvent(on.stream, on.order, 0));
}

OwnStream::OwnStream(int ordinal) : ordinal_(ordinal) {
  Current const current(ordinal_);
  BesideCaptures const beside;
  cudaStream_t made = nullptr;
  check(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking));
  stream_ = made;
}

OwnStream::~OwnStream() {
  Current const current(ordinal_);
  BesideCaptures const beside;
  if (cudaStreamDestroy(static_cast<cudaStream_t>(stream_)) != cudaSuccess) cudaGetLastError();
}

void OwnStream::synchronize() const {
  Current const current(ordinal_);
  BesideCaptures const beside;
  check(cudaStreamSynchronize(static_cast<cudaStream_t>(stream_)));
}

void let_wait(Device& on, void* of_caller) noexcept {
  Current const current(on);
  BesideCaptures const beside;
  cudaStream_t const stream = stream_of_caller(of_caller);
  if (captured(on.stream)) return;
  if (captured(stream)) {  // no event can be waited for there: the host waits instead
    cudaStreamSynchronize(on.stream);
    cudaGetLastError();
    return;
  }
  if (cudaEventRecord(on.order, on.stream) != cudaSuccess ||
      cudaStreamWaitEvent(stream, on.order, 0) != cudaSuccess)
    cudaGetLastError();  // of a device that has met an error
}

void* allocate(Space space, std::size_t bytes) {
  Device* const on = Devices::all().at(home_of(space));
  Current const current(on != nullptr ? on->ordinal : ordinal_of(space));
  BesideCaptures const beside;
  int ordinal = 0;
  check(cudaGetDevice(&ordinal));
  Pool& pool = pool_of(ordinal);
  cudaStream_t const stream = on != nullptr ? on->memory_stream : pool.stream();
  void* p = nullptr;
  cudaError_t code = pool.take(&p, bytes, stream);
  if (code == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    if (on != nullptr && on->lent != nullptr) on->lent->trim();
    check(cudaStreamSynchronize(stream));  // what has been released is there by then
    check(pool.trim());
    code = pool.take(&p, bytes, stream);
  }
  if (code == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    std::size_t available = 0, total = 0;
    cudaMemGetInfo(&available, &total);
    throw MemoryError(
        cat("device memory: ", bytes, " bytes asked for, ", available, " of ", total, " are free"));
  }
  if (code != cudaSuccess) check(code);
  return p;
}

void release(Space space, void* p) noexcept {
  if (p == nullptr) return;
  BesideCaptures const beside;
  if (Device* const on = Devices::all().at(home_of(space))) {
    Current const current(*on);
    return on->give_back(p);
  }
  cudaPointerAttributes of{};
  if (cudaPointerGetAttributes(&of, p) == cudaSuccess) {
    Current const current(of.device);
    // What cudaFree does for memory of no pool. Work that cannot be waited for may still use it.
    if (cudaDeviceSynchronize() == cudaSuccess && cudaFree(p) == cudaSuccess) return;
  }
  cudaGetLastError();  // the device has met an error, or the process ends
}

namespace {

/// Pinned memory in pieces of one size, never given back: cudaFreeHost waits for the device.
class PinnedPieces {
 public:
  static constexpr std::size_t piece = 256, at_once = 64;
  static PinnedPieces& all() {
    static PinnedPieces& pieces = *new PinnedPieces;
    return pieces;
  }
  void* take() {
    std::lock_guard<std::mutex> const turn(mutex_);
    if (free_.empty()) {
      BesideCaptures const beside;
      void* p = nullptr;
      check(cudaHostAlloc(&p, piece * at_once, cudaHostAllocMapped | cudaHostAllocPortable));
      made_ += at_once;
      free_.reserve(made_);  // put() does not throw
      for (std::size_t k = 0; k < at_once; ++k)
        free_.push_back(static_cast<std::byte*>(p) + k * piece);
    }
    void* const p = free_.back();
    free_.pop_back();
    return p;
  }
  void put(void* p) noexcept {
    std::lock_guard<std::mutex> const turn(mutex_);
    free_.push_back(p);
  }

 private:
  std::mutex mutex_;
  std::vector<void*> free_;
  std::size_t made_ = 0;
};

}  // namespace

void* allocate_pinned(std::size_t bytes) {
  if (bytes > PinnedPieces::piece)
    throw MemoryError(
        cat("pinned memory: ", bytes, " bytes asked for, a piece has ", PinnedPieces::piece));
  return PinnedPieces::all().take();
}

void release_pinned(void* p) noexcept {
  if (p != nullptr) PinnedPieces::all().put(p);
}

namespace {
void copy_in(cudaStream_t stream, void* to, void const* from, std::size_t bytes) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream));
  check(cudaStreamSynchronize(stream));
}
}  // namespace

void copy(Device& on, void* to, void const* from, std::size_t bytes) {
  Current const current(on);
  copy_in(on.stream, to, from, bytes);
}

void copy_aside(Device& on, void* to, void const* from, std::size_t bytes) {
  Current const current(on);
  copy_in(on.side_stream, to, from, bytes);
}

}  // namespace tcsolve::cuda
