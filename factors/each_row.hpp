// SPDX-License-Identifier: Apache-2.0
/// The rows of a matrix on all threads of the host.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <tcsolve/core/context.hpp>
#include <tcsolve/kernels/host/parallel.hpp>

namespace tcsolve {

/// f(i) for i in [0, rows), `stretch` rows at a time. Throws Cancelled between two stretches.
template <class F>
void each_row(Context& ctx, Index rows, std::int64_t stretch, F const& f) {
  CancelFlag const cancel = ctx.cancel_flag();
  host::Visit const visit(ctx.threads());
  host::parallel((rows + stretch - 1) / stretch, 2, [&](std::int64_t s) {
    cancel.check();
    auto const end = static_cast<Index>(std::min<std::int64_t>(rows, (s + 1) * stretch));
    for (auto i = static_cast<Index>(s * stretch); i < end; ++i) f(i);
  });
}

/// Work arrays of the threads that share a loop, as many as work at once; they go with it.
template <class Scratch>
class ScratchPool {
 public:
  /// Lends one for its lifetime.
  class Loan {
   public:
    Loan(ScratchPool& pool, std::unique_ptr<Scratch> lent) : pool_(pool), lent_(std::move(lent)) {}
    ~Loan() {
      std::lock_guard const one(pool_.guard_);
      pool_.idle_.push_back(std::move(lent_));
    }
    Loan(Loan const&) = delete;
    Loan& operator=(Loan const&) = delete;
    Scratch& operator*() const { return *lent_; }

   private:
    ScratchPool& pool_;
    std::unique_ptr<Scratch> lent_;
  };
  /// One that has come back, or make().
  template <class Make>
  Loan take(Make const& make) {
    std::unique_ptr<Scratch> lent;
    {
      std::lock_guard const one(guard_);
      idle_.reserve(++taken_);
      if (!idle_.empty()) {
        lent = std::move(idle_.back());
        idle_.pop_back();
      }
    }
    if (!lent) lent = std::make_unique<Scratch>(make());
    return {*this, std::move(lent)};
  }

 private:
  std::mutex guard_;
  std::vector<std::unique_ptr<Scratch>> idle_;
  std::size_t taken_ = 0;
};

/// f(i, scratch) for i in [0, rows), the rows of a stretch one after the other with a Scratch that
/// make() made. What a stretch leaves in it, the next one finds. Throws Cancelled between two rows.
template <class Make, class F>
void each_row_with(Context& ctx, Index rows, std::int64_t stretch, Make const& make, F const& f) {
  CancelFlag const cancel = ctx.cancel_flag();
  ScratchPool<decltype(make())> pool;
  host::Visit const visit(ctx.threads());
  host::parallel((rows + stretch - 1) / stretch, 2, [&](std::int64_t s) {
    auto const scratch = pool.take(make);
    auto const end = static_cast<Index>(std::min<std::int64_t>(rows, (s + 1) * stretch));
    for (auto i = static_cast<Index>(s * stretch); i < end; ++i) {
      cancel.check();
      f(i, *scratch);
    }
  });
}

}  // namespace tcsolve
