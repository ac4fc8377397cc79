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
