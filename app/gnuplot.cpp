// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/gnuplot.hpp>

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

/// What gnuplot prints for `script`.
std::string run(std::string const& script) {
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

std::string number(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", v);
  return text;
}

/// "iteration residual" lines of what a logarithmic axis can show.
std::string points(SolveReport const& report, double scale) {
  std::string text;
  auto const add = [&](Index iteration, double residual) {
    double const relative = residual / scale;
    if (relative > 0 && std::isfinite(relative))
      text += cat(iteration, " ", number(relative), "\n");
  };
  add(0, report.initial_residual);
  auto const& history = report.history;
  std::size_t const stride =
      std::max<std::size_t>(1, (history.size() + most_points - 1) / most_points);
  for (std::size_t i = 0; i < history.size(); ++i)
    if (i % stride == 0 || i + 1 == history.size()) add(history[i].iteration, history[i].norm);
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

void require_gnuplot(std::string const& key) {
  if (!on_path(program))
    throw ConfigError(cat("'", key,
                          "': the program gnuplot, which draws it, is not on the path; "
                          "install it (Debian: gnuplot-nox) or leave the key out"));
}

std::string convergence_svg(SolveReport const& report, std::string const& solver) {
  double const scale = report.rhs_norm > 0 ? report.rhs_norm : 1;
  std::string const data = points(report, scale);
  double const tolerance = report.tolerance / scale, residual = report.true_residual / scale;
  std::string script =
      cat("set terminal svg size 800,440 font 'sans-serif,14' background rgb 'white'\n"
          "set xlabel 'iteration'\n"
          "set ylabel '",
          report.rhs_norm > 0 ? "residual / norm(b)" : "residual",
          "'\n"
          "set title '",
          solver, ": ", report.outcome(), "' noenhanced\nset format y '10^{%L}'\nset grid\n",
          "set key top right\nset xrange [0:*]\n");
  if (data.empty())
    return run(script +
               "set label 'no residual above zero' at graph 0.5,0.5 center\n"
               "unset format\nplot [0:1][0:1] NaN notitle\n");
  script += cat("set logscale y\n$history << END\n", data, "END\n");
  script += "plot $history with lines lw 2 lc rgb '#1f5fa8' title 'residual of the iteration'";
  if (tolerance > 0 && std::isfinite(tolerance))
    script +=
        cat(", ", number(tolerance), " with lines dt 2 lw 1.5 lc rgb '#666666' title 'tolerance'");
  if (residual > 0 && std::isfinite(residual))
    script +=
        cat(", '-' with points pt 7 ps 0.8 lc rgb '#c23b22' title 'true residual at the end'\n",
            report.iterations, " ", number(residual), "\ne");
  return run(script + "\n");
}

}  // namespace tcsolve
