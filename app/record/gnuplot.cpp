// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/record/gnuplot.hpp>

#include <tcsolve/core/error.hpp>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

extern char** environ;

namespace tcsolve {
namespace {

constexpr std::size_t most_points = 2000;
constexpr char const* program = "gnuplot";

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

/// A file without a name, for a stream of the child: no pipe can be full.
File unnamed(std::string_view text = "") {
  File file(std::tmpfile());
  if (!file || std::fwrite(text.data(), 1, text.size(), file.get()) < text.size() ||
      std::fflush(file.get()) != 0)
    throw Error(cat("a temporary file for gnuplot cannot be written: ", std::strerror(errno)));
  std::rewind(file.get());
  return file;
}

std::string content(File const& file) {
  std::string text;
  std::rewind(file.get());
  char part[4096];
  for (std::size_t n; (n = std::fread(part, 1, sizeof part, file.get())) > 0;) text.append(part, n);
  return text;
}

std::string number(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", v);
  return text;
}

/// "iteration residual" lines of what a logarithmic axis can show.
class Points {
 public:
  explicit Points(double scale) : scale_(scale) {}
  void add(Index iteration, double residual) {
    double const relative = residual / scale_;
    if (relative > 0 && std::isfinite(relative))
      text_ += cat(iteration, " ", number(relative), "\n");
  }
  bool empty() const { return text_.empty(); }
  /// As a data block of gnuplot.
  std::string block(std::string const& name) const {
    return cat("$", name, " << END\n", text_, "END\n");
  }

 private:
  double scale_;
  std::string text_;
};

Points residuals(SolveReport const& report, double scale) {
  Points points(scale);
  points.add(0, report.initial_residual);
  auto const& history = report.history;
  std::size_t const stride =
      std::max<std::size_t>(1, (history.size() + most_points - 1) / most_points);
  for (std::size_t i = 0; i < history.size(); ++i)
    if (i % stride == 0 || i + 1 == history.size())
      points.add(history[i].iteration, history[i].norm);
  return points;
}

/// The last of them is that of the x that is returned.
Points true_residuals(SolveReport const& report, double scale) {
  Points points(scale);
  std::vector<Record> known;
  for (Record const& r : report.history)
    if (!std::isnan(r.true_residual) && r.iteration != report.iterations) known.push_back(r);
  constexpr std::size_t most = 200;
  std::size_t const stride = (known.size() + most - 1) / most;
  for (std::size_t i = 0; i < known.size(); i += stride)
    points.add(known[i].iteration, known[i].true_residual);
  points.add(report.iterations, report.true_residual);
  return points;
}

/// An upright line before the first iteration of another method, thinner ones at restarts.
std::string marks(SolveReport const& report) {
  constexpr std::ptrdiff_t most_restarts = 40;
  auto const restarts = std::ranges::count(report.history, Mark::restart, &Record::mark);
  std::string text;
  for (Record const& r : report.history) {
    bool const method = r.mark == Mark::method;
    if (!method && (r.mark != Mark::restart || restarts > most_restarts)) continue;
    text += cat("set arrow from ", r.iteration - 1, ", graph 0 to ", r.iteration - 1,
                ", graph 1 nohead back ",
                method ? "lw 1.5 lc rgb '#8a5a00'" : "lw 1 dt 3 lc rgb '#bbbbbb'", "\n");
    if (method)
      text += cat("set label 'another method' at ", r.iteration - 1,
                  ", graph 0.97 offset 0.5,0 font ',11' tc rgb '#8a5a00'\n");
  }
  return text;
}

bool on_path(std::string const& name) {
  char const* const path = std::getenv("PATH");
  std::string_view rest = path ? path : "/usr/bin:/bin";
  for (;;) {
    std::string_view const folder = rest.substr(0, rest.find(':'));
    if (::access((std::string(folder.empty() ? "." : folder) + "/" + name).c_str(), X_OK) == 0)
      return true;
    if (folder.size() == rest.size()) return false;
    rest.remove_prefix(folder.size() + 1);
  }
}

}  // namespace

bool has_gnuplot() { return on_path(program); }

std::string drawn(std::string const& script) {
  File const in = unnamed(script), out = unnamed(), err = unnamed();
  posix_spawn_file_actions_t streams;
  posix_spawn_file_actions_init(&streams);
  posix_spawn_file_actions_adddup2(&streams, fileno(in.get()), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&streams, fileno(out.get()), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&streams, fileno(err.get()), STDERR_FILENO);
  // --default-settings: whatever the user's .gnuplot says.
  char const* const arguments[] = {program, "--default-settings", nullptr};
  pid_t child = 0;
  int const failed = ::posix_spawnp(&child, program, &streams, nullptr,
                                    const_cast<char* const*>(arguments), environ);
  posix_spawn_file_actions_destroy(&streams);
  if (failed != 0) throw Error(cat("gnuplot cannot be started: ", std::strerror(failed)));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  std::string svg = content(out);
  if (status != 0 || svg.find("</svg>") == std::string::npos)
    throw Error(cat("gnuplot failed: ", content(err).substr(0, 400)));
  return svg;
}

std::string gnuplot_text(std::string text) {
  for (std::size_t at = 0; (at = text.find('\'', at)) != std::string::npos; at += 2)
    text.insert(at, 1, '\'');
  return "'" + text + "'";
}

void require_gnuplot(std::string const& key) {
  if (!has_gnuplot())
    throw ConfigError(cat("'", key,
                          "': the program gnuplot, which draws it, is not on the path; "
                          "install it (Debian: gnuplot-nox) or leave the key out"));
}

std::string convergence_svg(SolveReport const& report, std::string const& method) {
  double const scale = report.rhs_norm > 0 ? report.rhs_norm : 1;
  Points const history = residuals(report, scale), exact = true_residuals(report, scale);
  double const tolerance = report.tolerance / scale;
  std::string script =
      cat("set terminal svg size 960,440 font 'sans-serif,14' background rgb 'white'\n"
          "set xlabel 'iteration'\n"
          "set ylabel '",
          report.rhs_norm > 0 ? "residual / norm(b)" : "residual", "'\nset title ",
          gnuplot_text(cat(method, ": ", report.outcome())),
          " noenhanced\nset format y '10^{%L}'\nset grid\n"
          "set key outside bottom center horizontal\nset xrange [0:*]\n");
  if (history.empty())
    return drawn(script +
                 "set label 'no residual above zero' at graph 0.5,0.5 center\n"
                 "unset format\nplot [0:1][0:1] NaN notitle\n");
  script += cat("set logscale y\n", marks(report), history.block("history"), exact.block("exact"),
                "plot $history with lines lw 2 lc rgb '#1f5fa8' title 'residual of the iteration'");
  if (tolerance > 0 && std::isfinite(tolerance))
    script +=
        cat(", ", number(tolerance), " with lines dt 2 lw 1.5 lc rgb '#666666' title 'tolerance'");
  if (!exact.empty())
    script += ", $exact with points pt 7 ps 0.5 lc rgb '#c23b22' title 'true residual'";
  return drawn(script + "\n");
}

}  // namespace tcsolve
