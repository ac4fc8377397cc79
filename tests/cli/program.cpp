// SPDX-License-Identifier: Apache-2.0
#include "tests/cli/program.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace tcsolve::cli {

std::string Outcome::verdict() const {
  std::string text = out;
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

fs::path source_dir() {
  char const* const given = std::getenv("TCSOLVE_SOURCE_DIR");
  return given ? given : TCSOLVE_SOURCE_DIR;
}

Outcome Program::calibrated(std::string const& file, std::string const& size) {
  Outcome o;
  for (int attempt = 0; attempt < 20; ++attempt) {
    o = tcsolve({"calibrate", file, "--backend", "host", "--size", size});
    if (o.code == 0) return o;
    EXPECT_EQ(o.code, 2);
    EXPECT_TRUE(has(o.err, "something else runs on this machine")) << o.err;
    EXPECT_FALSE(fs::exists(folder_ / file));
  }
  return o;
}

Arguments Program::command(Arguments arguments) {
  char const* const given = std::getenv("TCSOLVE_PROGRAM");
  arguments.insert(arguments.begin(), given ? given : TCSOLVE_PROGRAM);
  return arguments;
}

pid_t Program::start(Arguments const& command, int terminal) {
  std::vector<char*> argv;
  for (std::string const& a : command) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  std::string const out = folder_ / ".out", err = folder_ / ".err", folder = folder_.path();
  for (std::string const& old : {out, err}) fs::remove(old);  // nobody takes them for the new ones
  pid_t const process = ::fork();
  if (process != 0) return process;
  ::dup2(::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
  int const errors = ::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::dup2(terminal >= 0 ? terminal : errors, STDERR_FILENO);
  // Threads that sleep when they wait: tests run side by side.
  ::setenv("OMP_NUM_THREADS", "2", 1);
  ::setenv("OMP_WAIT_POLICY", "passive", 1);
  ::setenv("OMP_PROC_BIND", "false", 1);
  if (::chdir(folder.c_str()) == 0) ::execvp(argv[0], argv.data());
  ::_exit(127);
}

Outcome Program::wait(pid_t process) {
  int status = 0;
  ::waitpid(process, &status, 0);
  Outcome outcome;
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  outcome.out = read_text(folder_ / ".out");
  outcome.err = read_text(folder_ / ".err");
  return outcome;
}

Outcome Program::tcsolve(Arguments arguments) { return run(command(std::move(arguments))); }

Outcome Program::solve(std::string const& yaml, Arguments more) {
  write_text(folder_ / "my.yaml", yaml);
  more.insert(more.begin(), "my.yaml");
  return tcsolve(std::move(more));
}

nlohmann::json Program::result(fs::path const& directory) const {
  return nlohmann::json::parse(read_text(folder_ / directory / "result.json"), nullptr, false);
}

bool Program::tidy(fs::path const& directory) const {
  for (auto const& file : fs::directory_iterator(folder_ / directory))
    if (file.path().filename().string().find("tmp") != std::string::npos) return false;
  return true;
}

void write_beam(fs::path const& file) {
  constexpr int n = 6200, apart = 7919;  // without a common factor
  std::ostringstream text;
  text.precision(17);
  int entries = 0;
  for (int i = 0; i < n; ++i)
    for (int j = i; j <= i + 2 && j < n; ++j, ++entries) {
      int const row = i * apart % n, column = j * apart % n;
      double const value = j > i ? (j == i + 1 ? -4 : 1) : (i == 0 || i == n - 1 ? 5 : 6) + 1e-6;
      text << std::max(row, column) + 1 << " " << std::min(row, column) + 1 << " " << value << "\n";
    }
  write_text(file, "%%MatrixMarket matrix coordinate real symmetric\n" + std::to_string(n) + " " +
                       std::to_string(n) + " " + std::to_string(entries) + "\n" + text.str());
}

}  // namespace tcsolve::cli
