// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/record/progress.hpp>

#include <tcsolve/core/error.hpp>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <ostream>
#include <utility>

namespace tcsolve {
namespace {

constexpr auto refresh = std::chrono::milliseconds(100);

/// The first of 1, 2, 5, 10, 20, 50, ... beyond i.
Index next_mark(Index i) {
  for (std::int64_t decade = 1;; decade *= 10)
    for (int const factor : {1, 2, 5})
      if (factor * decade > i)
        return static_cast<Index>(
            std::min<std::int64_t>(factor * decade, std::numeric_limits<Index>::max()));
}

/// Of the terminal that standard error is; 80 where it does not say.
std::size_t columns() {
  constexpr std::size_t usual = 80, least = 20;
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return usual;
  return std::max<std::size_t>(least, size.ws_col);
}

}  // namespace

bool rewrites_lines() {
  char const* const terminal = std::getenv("TERM");
  return isatty(STDERR_FILENO) == 1 && (terminal == nullptr || std::string(terminal) != "dumb");
}

std::string ProgressDisplay::line(IterationEvent const& event) const {
  char text[160];
  double const rate = event.seconds > 0 ? event.iteration / event.seconds : 0;
  std::snprintf(text, sizeof text, "%s: iteration %d  residual %.3e  target %.3e  %.3g it/s",
                std::string(event.solver).c_str(), event.iteration, event.norm, event.tolerance,
                rate);
  std::string out = text;
  if (options_.time_limit > 0 && std::isfinite(options_.time_limit)) {
    std::snprintf(text, sizeof text, "  %.0f s left",
                  std::max(0.0, options_.time_limit - event.seconds));
    out += text;
  }
  return out;
}

void ProgressDisplay::on(IterationEvent const& event) {
  if (options_.talk == Talk::quiet) return;
  if (event.depth > 1) return;  // a solve within the one that was asked for
  bool const another = event.solver != solver_ || event.iteration < last_;
  last_ = event.iteration;
  if (another) {  // of `auto`, or the next column: it counts from 1
    solver_ = event.solver;
    next_ = 1;
    if (!options_.terminal && !unshown_.empty()) out_ << std::exchange(unshown_, "") << "\n";
  }
  if (options_.terminal) {
    auto const now = std::chrono::steady_clock::now();
    if (now - shown_ < refresh) return;
    shown_ = now;
    rewrite(line(event));
  } else if (event.iteration < next_) {
    unshown_ = line(event);
  } else {
    unshown_.clear();
    out_ << line(event) << "\n" << std::flush;
    std::int64_t const step = options_.every;
    next_ = step > 0 ? static_cast<Index>(std::min<std::int64_t>(
                           (event.iteration / step + 1) * step, std::numeric_limits<Index>::max()))
                     : next_mark(event.iteration);
  }
}

void ProgressDisplay::on(PhaseEvent const& event) {
  constexpr double long_phase = 1;  // seconds
  if (options_.talk == Talk::quiet) return;
  if (!event.ended) {
    if (options_.terminal) rewrite(cat(event.name, " ..."));
    return;
  }
  erase();
  if (event.seconds < long_phase) return;
  char text[32];
  std::snprintf(text, sizeof text, ": %.1f s\n", event.seconds);
  out_ << event.name << text << std::flush;
}

void ProgressDisplay::on(LogEvent const& event) {
  bool const shown = event.severity == Severity::detail    ? options_.talk == Talk::verbose
                     : event.severity == Severity::warning ? true
                                                           : options_.talk != Talk::quiet;
  if (!shown) return;
  erase();
  out_ << (event.severity == Severity::warning ? "warning: " : "") << event.text << "\n"
       << std::flush;
}

void ProgressDisplay::clear() {
  if (!unshown_.empty()) out_ << std::exchange(unshown_, "") << "\n" << std::flush;
  erase();
}

void ProgressDisplay::rewrite(std::string text) {
  if (text.size() >= columns()) text.resize(columns() - 1);  // a longer line would not go back
  std::size_t const width = text.size();
  if (width < width_) text += std::string(width_ - width, ' ');
  width_ = width;
  out_ << '\r' << text << std::flush;
}

void ProgressDisplay::erase() {
  if (width_ > 0) out_ << '\r' << std::string(width_, ' ') << '\r' << std::flush;
  width_ = 0;
}

}  // namespace tcsolve
