// SPDX-License-Identifier: Apache-2.0
/// Steps on the host (kernels/steps.hpp).
#pragma once

#include <tcsolve/kernels/host/convert.hpp>
#include <tcsolve/kernels/steps.hpp>

namespace tcsolve::host {

class Steps {
 public:
  explicit Steps(Converter& on) : on_(on) {}
  template <class F>
  void each(std::int64_t n, F const& f) const {
    on_.each(n, f);
  }
  template <class F>
  void each_warp(std::int64_t n, F const& f) const {
    on_.each_warp(n, f);
  }
  void scan(Index const* in, Index* out, std::int64_t n) const { on_.scan(in, out, n, Plus{}); }
  /// Stretches of a list, each of which appends what it keeps at once.
  template <int lanes, class F>
  void pick(StepList const& from, StepList const& to, F const& f, Index* clear = nullptr) const {
    constexpr std::int64_t stretch = 1024;
    std::int64_t const n = from.count != nullptr ? *from.count : from.most;
    parallel((n + stretch - 1) / stretch, 8, [&](std::int64_t s) {
      std::array<Index, stretch> kept;
      Index many = 0;
      for (std::int64_t i = s * stretch, end = std::min(n, i + stretch); i < end; ++i) {
        Index const v = from.items != nullptr ? from.items[i] : static_cast<Index>(i);
        if (f.end(v, f.part(v, 0, 1), 0, 1)) kept[static_cast<std::size_t>(many++)] = v;
      }
      if (many == 0 || to.items == nullptr) return;
      std::copy_n(kept.begin(), many, to.items + atomic_add(to.count, many));
    });
    if (clear != nullptr) *clear = 0;
  }
  template <class T>
  T value(T const* p) const {
    return *p;
  }

 private:
  Converter& on_;
};

template <class Body>
void cooperate(Converter& on, Body const& body) {
  body(Steps(on));
}
template <class Body>
void step_by_step(Converter& on, Body const& body) {
  cooperate(on, body);
}
template <class Body>
void in_one_block(Converter& on, Body const& body) {
  cooperate(on, body);
}
/// The host's thread is always there: true, as on a device whose kernel ran.
template <class Body>
bool cooperate_in_one_kernel(Converter& on, Body const& body) {
  cooperate(on, body);
  return true;
}

}  // namespace tcsolve::host
