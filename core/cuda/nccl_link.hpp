// SPDX-License-Identifier: Apache-2.0
/// Devices of ranks joined by NCCL, which is loaded (libnccl.so.2) where it is there. Its calls
/// stand in the stream of the device, so that a graph may hold them.
///
/// NVLink multicast is not used: NCCL_NVLS_ENABLE=0 is set before NCCL starts. A graph of a loop
/// takes NCCL's kernels without its events with NCCL_GRAPH_MIXING_SUPPORT=0 alone, which is set,
/// too.
///
/// Source: NCCL 2's C interface (nccl.h), of which the functions below are declared here.
#pragma once

#include <memory>
#include <string>

#include <tcsolve/core/cuda/rank_link.hpp>

namespace tcsolve::cuda {

/// Functions answer 0 where all is well.
struct NcclLibrary {
  struct Id {
    char bytes[128];
  };
  using Comm = void*;
  static constexpr int int8 = 0, float64 = 8;  ///< ncclDataType_t
  int (*get_unique_id)(Id*) = nullptr;
  int (*init_rank)(Comm*, int ranks, Id, int rank) = nullptr;
  int (*all_gather)(void const*, void*, std::size_t, int type, Comm, cudaStream_t) = nullptr;
  int (*send)(void const*, std::size_t, int type, int peer, Comm, cudaStream_t) = nullptr;
  int (*receive)(void*, std::size_t, int type, int peer, Comm, cudaStream_t) = nullptr;
  int (*group_start)() = nullptr;
  int (*group_end)() = nullptr;
  int (*abort)(Comm) = nullptr;
  int (*destroy)(Comm) = nullptr;
  char const* (*error_string)(int) = nullptr;
  std::string problem;  ///< why it is not there; empty: it is
};
NcclLibrary load_nccl(char const* file = "libnccl.so.2");

class NcclLink final : public RankLink {
 public:
  /// Throws Unsupported, on all ranks, where one has no NCCL, or two have one device.
  NcclLink(Device&, Communicator&);
  ~NcclLink() override;
  bool capturable() const override { return true; }
  void gather(int count) override;
  void begin_exchange(std::span<Communicator::Outgoing const>,
                      std::span<Communicator::Incoming const>) override;
  void end_exchange() override {}
  void look(double waited) noexcept override;
  void require() override;

 private:
  void check_nccl(int code, char const* call) const;

  Device& on_;
  NcclLibrary nccl_;
  NcclLibrary::Comm comm_ = nullptr;
  struct DestroyStream {
    void operator()(cudaStream_t s) const { cudaStreamDestroy(s); }
  };
  std::unique_ptr<CUstream_st, DestroyStream> aside_;
  bool given_up_ = false;
};

}  // namespace tcsolve::cuda
