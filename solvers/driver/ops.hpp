// SPDX-License-Identifier: Apache-2.0
/// The fused operations of the driver and of what methods share.
#pragma once

#include <tcsolve/kernels/op_list.hpp>
#include <tcsolve/solvers/driver/begin_run.hpp>
#include <tcsolve/solvers/driver/best_iterate.hpp>
#include <tcsolve/solvers/driver/column_ops.hpp>
#include <tcsolve/solvers/driver/judge_ops.hpp>
#include <tcsolve/solvers/driver/monitor.hpp>
#include <tcsolve/solvers/driver/part_ops.hpp>
#include <tcsolve/solvers/driver/trial.hpp>

namespace tcsolve {

using DriverOps =
    OpList<OpenLoop, Observe, Raise, Advance<double>, Advance<float>, JudgeStart, JudgeZero,
           JudgeScale, JudgeCycle, JudgeTrial, JudgeVerdict, JudgeAccept, BatchCheck, BatchMeasure,
           TrialSums, WorstRows, KeepUnmet, TakeTrial, SplitParts, SumParts, TryColumn<double>,
           TryColumn<float>, BeginRun<double>, BeginRun<float>>;

}  // namespace tcsolve
