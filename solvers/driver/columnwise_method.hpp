// SPDX-License-Identifier: Apache-2.0
/// A block method whose columns are independent: each ends by itself
/// (solvers/driver/column_runs.hpp).
#pragma once

#include <vector>

#include <tcsolve/solvers/driver/block_method.hpp>
#include <tcsolve/solvers/driver/column_runs.hpp>

namespace tcsolve {

template <class T>
class ColumnwiseMethod : public BlockMethod<T> {
 public:
  std::vector<ColumnEnd> column_ends(Context& ctx) const override {
    std::vector<ColumnEnd> ends;
    for (ColumnRun const& c : to_host(ctx, runs_))
      ends.push_back(
          {static_cast<Stop>(c.stop), static_cast<Cause>(c.cause), c.value, c.steps, c.measure2});
    return ends;
  }

 protected:
  ColumnRuns allocate_runs(Context& ctx) {
    Index const w = this->system().columns();
    runs_.resize(ctx.space(), static_cast<std::size_t>(w));
    numbers_.resize(ctx.space(), 3);
    double* const n = numbers_.data();
    return {w, runs_.data(), this->system().goal2.data(), n, n + 1, n + 2};
  }

 private:
  Array<ColumnRun> runs_;
  Array<double> numbers_;
};

}  // namespace tcsolve
