// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/core/cuda/nccl_link.hpp>

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <tcsolve/core/cuda/captures.hpp>

namespace tcsolve::cuda {

NcclLibrary load_nccl(char const* file) {
  static std::once_flag said;  // what NCCL reads when it starts
  std::call_once(said, [] {
    setenv("NCCL_NVLS_ENABLE", "0", 1);
    setenv("NCCL_GRAPH_MIXING_SUPPORT", "0", 1);
  });
  NcclLibrary library;
  void* const handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    char const* const why = dlerror();
    library.problem = why != nullptr ? why : file;
    return library;
  }
  auto const find = [&]<class F>(F& function, char const* name) {
    function = reinterpret_cast<F>(dlsym(handle, name));
    if (function == nullptr && library.problem.empty())
      library.problem = cat("the NCCL that was found has no ", name);
  };
  find(library.get_unique_id, "ncclGetUniqueId");
  find(library.init_rank, "ncclCommInitRank");
  find(library.all_gather, "ncclAllGather");
  find(library.send, "ncclSend");
  find(library.receive, "ncclRecv");
  find(library.group_start, "ncclGroupStart");
  find(library.group_end, "ncclGroupEnd");
  find(library.abort, "ncclCommAbort");
  find(library.destroy, "ncclCommDestroy");
  find(library.error_string, "ncclGetErrorString");
  return library;
}

NcclLink::NcclLink(Device& on, Communicator& all) : RankLink(all, DeviceTransport::nccl), on_(on) {
  Current const current(on);
  BesideCaptures const beside;
  NcclLibrary::Id id{};
  on_all(all, [&] {
    nccl_ = load_nccl();
    if (!nccl_.problem.empty()) throw Unsupported(nccl_.problem);
    if (all.rank() == 0) check_nccl(nccl_.get_unique_id(&id), "ncclGetUniqueId");
    make_room(on);
    cudaStream_t aside = nullptr;
    check(cudaStreamCreateWithFlags(&aside, cudaStreamNonBlocking));
    aside_.reset(aside);
  });
  require_own_devices(exchange(all, card_of(on)));  // which NCCL would find out on these alone
  static_assert(sizeof id % sizeof(double) == 0);
  constexpr std::size_t words = sizeof id / sizeof(double);
  std::array<double, words> mine;
  std::vector<double> ids(words * static_cast<std::size_t>(all.ranks()));
  std::memcpy(mine.data(), &id, sizeof id);
  all.gather(mine.data(), words, ids.data());
  std::memcpy(&id, ids.data(), sizeof id);
  try {
    on_all(all, [&] {
      check_nccl(nccl_.init_rank(&comm_, all.ranks(), id, all.rank()), "ncclCommInitRank");
    });
  } catch (...) {
    if (comm_ != nullptr) nccl_.abort(comm_);
    throw;
  }
}

NcclLink::~NcclLink() {
  Current const current(on_);
  BesideCaptures const beside;
  cudaStreamSynchronize(aside_.get());  // what it writes goes after this
  aside_.reset();
  if (comm_ == nullptr) return;
  // Destroying waits for the other ranks' calls, which do not come any more where one has failed.
  (ranks.broken() ? nccl_.abort : nccl_.destroy)(comm_);
  cudaGetLastError();
}

void NcclLink::check_nccl(int code, char const* call) const {
  if (code == 0) return;
  throw DeviceError(cat(call, ": ", nccl_.error_string(code)));
}

void NcclLink::gather(int count) {
  SumsApart const at = apart();
  check_nccl(nccl_.all_gather(at.mine, const_cast<double*>(at.all),
                              static_cast<std::size_t>(SumsApart::head + count),
                              NcclLibrary::float64, comm_, on_.stream),
             "ncclAllGather");
}

void NcclLink::begin_exchange(std::span<Communicator::Outgoing const> out,
                              std::span<Communicator::Incoming const> in) {
  check_nccl(nccl_.group_start(), "ncclGroupStart");
  for (auto const& message : out)
    check_nccl(
        nccl_.send(message.data, message.bytes, NcclLibrary::int8, message.to, comm_, on_.stream),
        "ncclSend");
  for (auto const& message : in)
    check_nccl(nccl_.receive(message.data, message.bytes, NcclLibrary::int8, message.from, comm_,
                             on_.stream),
               "ncclRecv");
  check_nccl(nccl_.group_end(), "ncclGroupEnd");
}

/// NCCL's kernels wait without an end; an abort ends them. It then waits for all graphs that have
/// its kernels in them to be destroyed, which this thread does, but not before it goes on. A loop
/// that is a graph has nobody but its sums to end it: they are lost, as often as it is looked,
/// since what was on its way may still come.
void NcclLink::look(double waited) noexcept {
  if (!given_up_) {
    if (comm_ == nullptr || (!ranks.broken() && waited < ranks.patience())) return;
    given_up_ = true;
    try {
      std::thread([abort = nccl_.abort, comm = comm_] { abort(comm); }).detach();
    } catch (std::system_error const&) { nccl_.abort(comm_); }
    comm_ = nullptr;
  }
  lose_sums(aside_.get());
}

void NcclLink::require() {
  if (given_up_) ranks.lost();
}

}  // namespace tcsolve::cuda
