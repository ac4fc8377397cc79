// SPDX-License-Identifier: Apache-2.0
/// An operator of the host for vectors that lie on a device: they travel there and back.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <tcsolve/core/context.hpp>
#include <tcsolve/operators/linear_operator.hpp>

namespace tcsolve {

/// y = M x with M of a host Context. For what waits for itself, as triangular solves of thousands
/// of levels do: a level costs a device a microsecond or more, and a processor core nanoseconds.
/// Cost: M's on the host, two copies of a vector, two waits for the device; not capturable. One
/// column at a time, by one thread at a time.
class OnHost final : public LinearOperator<double> {
 public:
  OnHost(std::shared_ptr<Context> host, OperatorPtr<double> M);

  void prepare(Context&, Op op) const override { M_->prepare(*host_, op); }
  Traits traits() const override;
  Cost cost(Index k) const override { return M_->cost(k); }
  std::string name() const override { return cat("on_host(", M_->name(), ")"); }

 private:
  void do_apply(Context&, double alpha, In<double> x, double beta, Out<double> y,
                Op op) const override;

  std::shared_ptr<Context> host_;
  OperatorPtr<double> M_;
  mutable std::vector<double> x_, y_;
};

}  // namespace tcsolve
