// SPDX-License-Identifier: Apache-2.0
/// A recording: the operations of a loop body with their operands, in order. The body of a solver
/// runs once in recording mode, where it cannot read a value on the host. The list that it leaves
/// is then called (eager) or captured into a graph that the device repeats.
#pragma once

#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <typeindex>
#include <vector>

namespace tcsolve {

class Arena;
class Context;

struct Command {
  std::string name;  ///< e.g. "axpby", "csr.apply"
  std::function<void(Context&)> call;
  bool capturable = true;               ///< false: waits for the host, so it cannot be in a graph
  bool alone = false;                   ///< its sums are those of a rank, not of all
  std::type_index type = typeid(void);  ///< of the operation, where `operands` holds one
  std::vector<std::byte> operands;      ///< the operation: how a persistent kernel runs it
  /// The commands that do the same one after another, where this one is several in a pass: an
  /// interpreter of operations runs them in its place.
  std::vector<Command> parts;
};

struct Recording {
  std::vector<Command> commands;
  /// The workspace that operands point to; it lives as long as the commands may run.
  std::shared_ptr<Arena> workspace;
  bool capturable() const {
    for (Command const& c : commands)
      if (!c.capturable) return false;
    return true;
  }
  /// Calls the commands in order, each in a range of its name.
  void run(Context&) const;
};

/// f(command) of each, or of its parts.
template <class Commands, class F>
void each_part(Commands& commands, F const& f) {
  for (auto& command : commands)
    if (command.parts.empty())
      f(command);
    else
      each_part(command.parts, f);
}

}  // namespace tcsolve
