// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/record/profile.hpp>

#include <tcsolve/core/error.hpp>

#include <algorithm>
#include <string_view>

namespace tcsolve {
namespace {

/// A command that stands for the application of an operator, whose own range is inside.
bool is_transparent(std::string_view name) {
  return name == "apply" || name == "apply_dot" || name == "apply_gram" || name == "exact_residual";
}

/// Where the name of the operator ends in "csr.apply_dot", "csr.apply/csr_multiply"; npos in that
/// of an operation.
std::size_t end_of_operator(std::string_view name) {
  std::size_t const slash = name.find('/');
  std::string_view const first = name.substr(0, slash);
  for (char const* const call : {".apply", ".apply_dot", ".apply_gram", ".exact_residual"})
    if (first.ends_with(call)) return first.size() - std::string_view(call).size();
  return std::string_view::npos;
}

constexpr char first_of_application = '+';

}  // namespace

Profile::Profile(Context& ctx, std::vector<std::string> operators)
    : ctx_(ctx), next_(ctx.range_listener()), operators_(std::move(operators)) {
  if (ctx.device() != nullptr) clock_ = std::make_unique<cuda::StreamClock>(*ctx.device());
  ctx.listen(this);
}

Profile::~Profile() { ctx_.listen(next_); }

void Profile::restart() {
  drain();
  times_ = {};
}

PartTimes const& Profile::of(Part part) {
  drain();
  return times_[static_cast<std::size_t>(part)];
}

/// What belongs to a range that opens now.
auto Profile::frame_of(std::string name) -> Frame {
  bool const first = !name.empty() && name.front() == first_of_application;
  if (first) name.erase(0, 1);
  Frame frame{std::move(name), Part::outside, false, false, false};
  if (!stack_.empty()) {
    Frame const& around = stack_.back();
    frame.part = around.part;
    frame.in_cycle = around.in_cycle;
    frame.decided = around.decided;
  }
  if (frame.part == Part::outside) {
    if (frame.name.ends_with(".solve")) frame.part = Part::other;
    return frame;
  }
  if (frame.decided || is_transparent(frame.name)) return frame;
  if (frame.name.ends_with(".cycle")) {
    frame.in_cycle = true;
    return frame;
  }
  std::size_t const end = end_of_operator(frame.name);
  bool const is_operator = end != std::string::npos;
  bool const verifies =
      frame.name == "judge" || !frame.in_cycle || frame.part == Part::verification;
  if (verifies) {
    frame.part = Part::verification;
    frame.decided = is_operator;
  } else if (is_operator) {
    std::string const who = frame.name.substr(0, end);
    bool const is_A = std::ranges::any_of(
        operators_, [&](std::string const& name) { return who.find(name) != std::string::npos; });
    frame.part = is_A ? Part::products : Part::preconditioner;
    frame.decided = true;
  } else {
    frame.part = Part::updates;
    frame.decided = true;
  }
  bool const whole = frame.name.find('/') == std::string::npos;
  if (frame.decided && (whole || first)) ++times_[static_cast<std::size_t>(frame.part)].calls;
  return frame;
}

void Profile::open(char const* name) {
  tick();
  if (ctx_.recording()) {
    // Ranges of operators have a dot in their names, those of operations have none.
    if (std::string_view(name).find('.') == std::string_view::npos) hear_of_recorded(name);
    Part const part = stack_.empty() ? Part::outside : stack_.back().part;
    stack_.push_back({name, part, false, true, false});
  } else {
    stack_.push_back(frame_of(name));
  }
  if (next_ != nullptr) next_->open(name);
}

void Profile::close() noexcept {
  try {
    tick();
  } catch (...) {}  // of a device in error: who waits for its work next hears of it
  if (!stack_.empty()) stack_.pop_back();
  if (next_ != nullptr) next_->close();
}

/// "csr.apply/csr_multiply" for an operation of an operator, whose range is open while it is
/// recorded, with a sign where it is the first of the application.
void Profile::hear_of_recorded(char const* name) {
  for (Frame& frame : stack_) {
    if (end_of_operator(frame.name) == std::string::npos) continue;
    bool const first = !std::exchange(frame.counted, true);
    heard_.push_back(cat(first ? std::string(1, first_of_application) : "", frame.name, "/", name));
    return;
  }
  heard_.push_back(name);
}

/// Operations open a range as they are recorded, in the order of the list; what was heard before
/// these is of another list.
void Profile::recorded(Recording& list) {
  auto const is_operation = [](Command const& c) { return c.type != typeid(void); };
  std::ptrdiff_t count = 0;
  each_part(list.commands, [&](Command const& command) { count += is_operation(command); });
  if (count <= std::ssize(heard_)) {
    auto name = heard_.end() - count;
    each_part(list.commands, [&](Command& command) {
      if (is_operation(command)) command.name = *name++;
    });
  }
  heard_.clear();
}

/// The time since the last tick belongs to the innermost range.
void Profile::tick() {
  Part const part = stack_.empty() ? Part::outside : stack_.back().part;
  if (!clock_) {
    auto const now = std::chrono::steady_clock::now();
    if (std::exchange(running_, true))
      times_[static_cast<std::size_t>(part)].seconds +=
          std::chrono::duration<double>(now - last_).count();
    last_ = now;
    return;
  }
  constexpr std::size_t most_points = 4096;
  if (!clock_->mark()) return;
  if (std::exchange(running_, true)) pending_.push_back(part);
  if (pending_.size() >= most_points) drain();
}

void Profile::drain() {
  if (!clock_ || pending_.empty()) return;
  std::vector<double> const seconds = clock_->seconds();
  for (std::size_t k = 0; k < std::min(seconds.size(), pending_.size()); ++k)
    times_[static_cast<std::size_t>(pending_[k])].seconds += seconds[k];
  pending_.clear();
}

}  // namespace tcsolve
