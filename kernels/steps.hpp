// SPDX-License-Identifier: Apache-2.0
/// A loop whose steps decide about the next ones, as the levels of a graph search do. It is one
/// function template over `steps`, so that host and device run the same text; what a step has
/// written, all that follow read:
///
///     steps.each(n, f)         f(i) for 0 <= i < n, in any order
///     steps.each_warp(n, f)    f(warp, i): 32 lanes in step with each other (kernels/convert.hpp)
///     steps.scan(in, out, n)   out_i = in_0 + ... + in_{i-1}, Index
///     steps.pick<lanes>(from, to, f, clear)
///                              f of each number v of a list, by so many lanes each (one on the
///                              host); those for which f.end is true go to `to`, in any order
///     steps.value(p)           *p as the steps before have left it: the same to all
///
///     struct Body {
///       template <class Steps>
///       TCSOLVE_HD void operator()(Steps const& steps) const {
///         for (Index left = steps.value(count); left > 0; left = steps.value(count))
///           steps.each(left, Halve{...});
///       }
///     };
///     cooperate(on, Body{...});
///
/// On the host (kernels/host/steps.hpp) the caller's thread runs the body, each step is a loop. On
/// a device (kernels/cuda/steps.cuh) every thread of one cooperative kernel runs it, and a step
/// ends with a barrier of the grid: 1.0 us on an H100, where a launch takes 2.8. Where no such
/// kernel can run - the device has no cooperative launches, or other Contexts compute on it and a
/// grid might wait for theirs - the host runs the body, each step is a kernel, and value() a copy.
///
/// step_by_step(on, body) makes each step a kernel in any case: for steps of so many elements that
/// they need all the threads that a multiprocessor can have, where a block of 1024 is half of them.
///
/// in_one_block(on, body) gives it to one block of 1024 threads, whose barrier takes a tenth of
/// that: for steps of a few thousand elements, and inside a captured graph, since nothing waits.
/// What value() has read the next step may then write: all threads of the block have it.
///
/// pick() knows how long its list is on the device alone, so that steps over shrinking lists are
/// launched one behind the other and nobody looks. Its f is
///
///     part(v, lane, lanes)        unsigned: what this lane finds out, 0 where nothing
///     end(v, most, lane, lanes)   by every lane, with the largest of their parts
///
/// The list that it appends to must be empty, and f must not care for the order of one. Counts are
/// emptied by steps that do not use them: *clear = 0, unless it is null.
///
/// Arguments of a step must be the same in every thread: they come from the body's members and from
/// value().
#pragma once

#include <tcsolve/kernels/convert.hpp>

namespace tcsolve {

/// Numbers in memory: *count of them, at most `most`; without memory 0, ..., most - 1; without a
/// count `most`. As what pick() appends to, none of both: nothing is kept.
struct StepList {
  Index* items = nullptr;
  Index* count = nullptr;
  Index most = 0;
};

}  // namespace tcsolve

#if defined(__CUDACC__)
/// A body is compiled for both sides, and each instance calls what one side has.
#define TCSOLVE_EITHER_SIDE _Pragma("nv_exec_check_disable")
#else
#define TCSOLVE_EITHER_SIDE
#endif
