// SPDX-License-Identifier: Apache-2.0
/// How many ranks solve a system soonest, where the config leaves that to the program.
///
///     us(1) = 20.6 rows / 10^6 + 2.13 entries / 10^6     an iteration of CG with Jacobi on an H200
///     us(k) = us(1) / k + 12                             two sums, a halo, the outer rows
///
/// Fitted to docs/results/two-gpus.md, where one and two GPUs were measured: within 20 % beyond the
/// second cache, up to a third too much below it. So more GPUs are to gain 4 us and 3 %: none of
/// those systems takes two where one is faster. More than two were not measured.
#pragma once

#include <string>

#include <tcsolve/app/config/problem.hpp>

namespace tcsolve {

struct RankChoice {
  int count = 1;
  std::string why;  ///< a line for the log
};

/// Of GPUs that reach each other's memory as many as pay; `most`: those that there are.
RankChoice ranks_on_devices(ProblemSize const&, int most);
/// On the host one: `threads` of it do what as many ranks would, and wait for no messages.
RankChoice ranks_on_host(int threads);

/// Decides for a config whose `ranks.count` is auto: ranks.count, and a line that says why. Looks
/// for GPUs in a process of its own, since one that has looked cannot hand them to its children.
void choose_ranks(ParsedConfig&);

}  // namespace tcsolve
