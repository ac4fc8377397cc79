// SPDX-License-Identifier: Apache-2.0
/// Small operations of a recording that follow each other as one kernel: a launch each takes longer
/// than what they do, e.g. on the coarse levels of a hierarchy.
///
///     recording  a b [c d e f g] h          c to g: products, element by element, few elements
///     graph      a b  passage    h
///
/// The blocks of a cooperative kernel share out the elements of each operation and wait for each
/// other where one reads what others have written, as in a persistent loop (persistent.hpp). Such
/// an exchange takes 1 to 1.5 us where a launch in a graph takes 2 to 2.5, and operations on
/// elements of one block follow each other without one. Rows are added up as launches add them up:
/// the bits are the same.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <tcsolve/core/context.hpp>
#include <tcsolve/solvers/loop/program.hpp>

namespace tcsolve {

/// Operations of a passage, at least: its kernel begins with a launch and a copy of its list, which
/// take as long as three of them. Each has small_elements at most.
constexpr std::size_t passage_commands = 6;

/// The recording with its passages as one command each. What cannot be one on this Context stays as
/// it is. Operands are pointed to, as in the recording.
Recording with_passages(Context&, Recording const&);

namespace host {
/// One block after the other, `blocks` of them, does what lies between two places where they wait:
/// the last one first, so that what does not wait where it has to shows.
void run_passage(Host&, LoopProgram const&, int blocks);
}  // namespace host

namespace cuda {
class Passage;
/// Null, and why, where it cannot be one kernel.
std::shared_ptr<Passage> make_passage(Device&, std::span<Command const>, std::string& why);
/// Does nothing where `state` (null: there is none) says stop. May be captured.
void launch(Device&, Passage&, LoopState const* state);
}  // namespace cuda

}  // namespace tcsolve
