// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/solvers/loop/batch.hpp>

#include <algorithm>
#include <exception>
#include <mutex>

#include <tcsolve/kernels/host/parallel.hpp>
#include <tcsolve/loop_teams.hpp>

namespace tcsolve::host {

namespace {

/// A team's own copy of the program and of the scalars that it points to.
class Team {
 public:
  Team(BatchProgram const& program, TeamRows rows)
      : program_(program),
        list_(program.list),
        scalars_(program.kept.scalars.size() / 8),
        rows_(rows) {
    system_.first = rows.begin;
    system_.rows = rows.end - rows.begin;
    auto redirect = [&](void const* from, std::size_t bytes, void* to) {
      auto low = reinterpret_cast<std::uintptr_t>(from);
      for (Instruction& in : list_)
        for (int k = 0; k < Instruction::max_operands / 8; ++k) {
          auto& word = reinterpret_cast<std::uintptr_t*>(in.operands)[k];
          if (in.points(k) && word >= low && word < low + bytes)
            word = reinterpret_cast<std::uintptr_t>(to) + (word - low);
        }
    };
    redirect(program.kept.scalars.data(), program.kept.scalars.size(), scalars_.data());
    redirect(program.system, sizeof(SystemState), &system_);
  }

  SystemState const& solve(std::function<std::int32_t()> const& asked) {
    walk(program_.first, false);
    while (system_.running()) {
      walk(program_.begin, false);
      while (loop_.stop == 0) {
        if (loop_.iteration % 16 == 0) loop_.cancel = asked();
        walk(program_.step, true);
      }
      walk(program_.end, false);
    }
    return system_;
  }

 private:
  void walk(BatchProgram::Part part, bool looping) {
    for (int k = part.begin; k < part.end; ++k) {
      bool stopped = looping && loop_.stop != 0;
      pick<BatchOps>(list_[k].op, [&]<class V>() {
        TeamRun<V>::run(*reinterpret_cast<V const*>(list_[k].operands), Frame{&loop_, true, false},
                        stopped, rows_);
      });
    }
  }

  BatchProgram const& program_;
  std::vector<Instruction> list_;
  std::vector<double> scalars_;
  SystemState system_;
  LoopState loop_;
  TeamRows rows_;
};

}  // namespace

void run_batch(Host&, BatchProgram const& program, BatchExtents const& extents,
               SystemState* results, std::function<std::int32_t()> const& asked) {
  // An exception must not leave a parallel region: the first one is thrown behind it.
  std::exception_ptr failure;
  std::mutex guard;
  parallel(extents.count(), 2, [&](std::int64_t k) {
    try {
      Team team(program, {extents.starts[k], extents.starts[k + 1]});
      results[k] = team.solve(asked);
    } catch (...) {
      std::lock_guard<std::mutex> const one(guard);
      if (!failure) failure = std::current_exception();
    }
  });
  if (failure) std::rethrow_exception(failure);
}

}  // namespace tcsolve::host
