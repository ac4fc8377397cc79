// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/solvers/loop/passage.hpp>

#include <utility>

namespace tcsolve {
namespace {

constexpr int host_blocks = 4;

/// The passage as a command; none where it cannot be one.
std::function<void(Context&)> command_of(Context& ctx, std::span<Command const> commands) {
  return ctx.visit([&]<class On>(On& on) -> std::function<void(Context&)> {
    if constexpr (OnDevice<On>) {
      std::string why;
      std::shared_ptr<cuda::Passage> const made = make_passage(on, commands, why);
      if (!made) return {};
      return [made](Context& c) {
        c.visit([&]<class There>(There& there) {
          if constexpr (OnDevice<There>) launch(there, *made, c.loop());
        });
      };
    } else {
      auto const program =
          std::make_shared<LoopProgram const>(passage_program(commands, host_blocks, 1));
      if (!program->why.empty()) return {};
      return [program](Context& c) {
        if (c.loop() != nullptr && c.loop()->stop != 0) return;
        c.visit([&]<class There>(There& there) {
          if constexpr (!OnDevice<There>) run_passage(there, *program, host_blocks);
        });
      };
    }
  });
}

}  // namespace

Recording with_passages(Context& ctx, Recording const& whole) {
  Recording out;
  out.workspace = whole.workspace;
  auto const& all = whole.commands;
  std::size_t next = 0;
  auto const copy_until = [&](std::size_t end) {
    out.commands.insert(out.commands.end(), all.begin() + static_cast<std::ptrdiff_t>(next),
                        all.begin() + static_cast<std::ptrdiff_t>(end));
    next = end;
  };
  for (Stretch const& s : passages(whole, small_elements, passage_commands)) {
    copy_until(s.begin);
    if (auto call = command_of(ctx, std::span(all).subspan(s.begin, s.end - s.begin))) {
      out.commands.push_back({"passage", std::move(call), true, false, typeid(void), {}});
      next = s.end;
    }
  }
  copy_until(all.size());
  return out;
}

}  // namespace tcsolve
