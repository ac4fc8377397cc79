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

}  // namespace tcsolve
