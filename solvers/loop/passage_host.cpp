// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/loop_teams.hpp>
#include <tcsolve/solvers/loop/passage.hpp>

namespace tcsolve::host {

namespace {

template <template <class> class List>
void run_one(Instruction const& in, Real vectors, TeamRows rows) {
  LoopState nothing;
  Frame const frame{&nothing, true, false};
  auto const run = [&]<class V>() {
    TeamRun<V>::run(*reinterpret_cast<V const*>(in.operands), frame, false, rows);
  };
  if (vectors == Real::f64)
    pick<List<double>>(in.op, run);
  else
    pick<List<float>>(in.op, run);
}

}  // namespace

void run_passage(Host&, LoopProgram const& program, int blocks) {
  std::size_t const size = program.list.size();
  for (std::size_t begin = 0, end = 0; begin < size; begin = end) {
    for (end = begin + 1; end < size && program.list[end].barrier == 0;) ++end;
    for (int b = blocks - 1; b >= 0; --b)
      for (std::size_t k = begin; k < end; ++k) {
        Instruction const& in = program.list[k];
        if (in.begin(b) < in.end(b))
          run_one<PassageOps>(in, program.vectors, {in.begin(b), in.end(b)});
      }
  }
}

}  // namespace tcsolve::host
