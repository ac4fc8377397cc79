// SPDX-License-Identifier: Apache-2.0
/// Ranges of NVTX, in a domain of their own. The header looks for a profiler at the first call;
/// where there is none the domain is null, and no range is ever opened.
#include <nvtx3/nvToolsExt.h>

#include <tcsolve/core/ranges.hpp>

namespace tcsolve::cuda {

namespace {

struct Nvtx final : RangeListener {
  explicit Nvtx(nvtxDomainHandle_t to) : domain(to) {}
  void open(char const* name) override {
    nvtxEventAttributes_t event{};
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.messageType = NVTX_MESSAGE_TYPE_ASCII;
    event.message.ascii = name;
    nvtxDomainRangePushEx(domain, &event);
  }
  void close() noexcept override { nvtxDomainRangePop(domain); }
  nvtxDomainHandle_t domain;
};

}  // namespace

RangeListener* profiler() noexcept {
  static Nvtx nvtx(nvtxDomainCreateA("tcsolve"));
  return nvtx.domain != nullptr ? &nvtx : nullptr;
}

}  // namespace tcsolve::cuda
