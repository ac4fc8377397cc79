// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/arguments.hpp>

#include <tcsolve/app/commands/documentation.hpp>
#include <tcsolve/app/config/run_input.hpp>
#include <tcsolve/configs/schema/diagnostics.hpp>
#include <tcsolve/configs/schema/number.hpp>
#include <tcsolve/configs/schema/suggest.hpp>
#include <tcsolve/core/error.hpp>
#include <tcsolve/version.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <sstream>
#include <tuple>

namespace tcsolve {
namespace {

std::string version_text() {
  return cat("tcsolve ", version::release, " (", version::revision, "; CUDA ", version::cuda,
             ", Kokkos ", version::kokkos, ", ", version::compiler, ", ", version::build_type, ")");
}

/// CLI::Range lets NaN through: it is neither below nor above.
std::string require_number(std::string const& text) {
  double v = 0;
  return parse_number(text, v) == Parsed::ok && std::isfinite(v) ? "" : text + " is not a number";
}

}  // namespace

namespace {

/// `text` with lines of at most `width` characters, broken at spaces; what is carried over from a
/// line of an option begins in column `indent`.
std::string folded(std::string const& text, std::size_t indent, std::size_t width) {
  std::string out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::string const margin(line.starts_with("  ") ? indent : 0, ' ');
    while (line.size() > width) {
      std::size_t const space = line.rfind(' ', width);
      std::size_t const first = line.find_first_not_of(' ', margin.size());
      if (space == std::string::npos || first == std::string::npos || space <= first) break;
      out += line.substr(0, space) + "\n";
      line = margin + line.substr(space + 1);
    }
    out += line + "\n";
  }
  return out;
}

/// What was probably meant by an option, its value or a word that is not known: "; did you mean
/// --version?".
std::string option_advice(CLI::App const& app, int argc, char const* const* argv) {
  std::vector<std::string> known;
  auto const add = [&](CLI::App const& of) {
    for (CLI::Option const* option : of.get_options())
      for (std::string const& name : option->get_lnames()) known.push_back(name);
  };
  add(app);
  for (CLI::App const* command : app.get_subcommands([](CLI::App const*) { return true; }))
    add(*command);
  for (int i = 1; i < argc; ++i) {
    std::string const given = argv[i];
    if (i == 1 && (given == "solve" || given == "run") && argc > 2)
      return "; write tcsolve " + shown(argv[2]) + ", without '" + given + "'";
    if (i == 1 && given == "help") return "; did you mean --help?";
    std::size_t const equals = given.find('='), dashes = given.find_first_not_of('-');
    bool const is_long = given.starts_with("--") || (given.starts_with("-") && given.size() > 3);
    if (!is_long || dashes == std::string::npos) continue;
    std::string const name = given.substr(dashes, equals - dashes);
    if (name == "backend") {
      std::string const value = equals != std::string::npos ? given.substr(equals + 1)
                                : i + 1 < argc              ? argv[i + 1]
                                                            : "";
      std::vector<std::string> const words{"auto", "host", "cuda"};
      std::string const near = nearest(value, words);
      if (!near.empty() && near != value) return "; did you mean " + near + "?";
    }
    if (given.starts_with("--") && std::find(known.begin(), known.end(), name) != known.end())
      continue;
    if (std::string const near = nearest(name, known); !near.empty())
      return "; did you mean --" + near + "?";
    if (std::string const path = key_path(name); !path.empty())
      return "; did you mean --set " + path + "=VALUE?";
  }
  return "";
}

/// The words of a command line, the last one first, as the parser takes them. A path after
/// --explain is not taken for the command of its name, as `sweep` is one.
std::vector<std::string> words_of(int argc, char const* const* argv) {
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i) {
    std::string const word = argv[i];
    if (!words.empty() && words.back() == "--explain" && !word.starts_with("-"))
      words.back() += "=" + word;
    else
      words.push_back(word);
  }
  std::ranges::reverse(words);
  return words;
}

/// A command, as it is called in messages, and which of the program's options it uses beside its
/// own.
struct Command {
  Task task;
  char const* name;
  std::vector<std::string> options;
};

std::vector<Command> const& commands() {
  static std::vector<Command> const all{
      {Task::list, "--list", {"--list"}},
      {Task::explain, "--explain", {"--explain"}},
      {Task::reference, "--reference", {"--reference"}},
      {Task::info, "info", {}},
      {Task::init, "init", {}},
      {Task::generate, "generate", {"--set"}},
      {Task::advise,
       "advise",
       {"--backend", "--rtol", "--time-limit", "--quiet", "--verbose", "RHS"}},
      {Task::calibrate, "calibrate", {"--backend"}},
      {Task::sweep, "sweep", {"--set", "--backend", "--output", "--quiet", "--dry-run"}}};
  return all;
}

/// Says which option was given that the command does not use; "" where there is none.
std::string unused_option(CLI::App const& app, Task task) {
  auto const command = std::ranges::find(commands(), task, &Command::task);
  if (command == commands().end()) return "";  // a solve uses them all
  std::vector<std::string> const& used = command->options;
  for (CLI::Option const* option : app.get_options()) {
    std::string const name = option->get_name();
    if (option->count() == 0 || std::ranges::find(used, name) != used.end()) continue;
    std::string takes;
    for (std::string const& o : used)
      if (o != command->name && o.starts_with("--")) takes += (takes.empty() ? "" : ", ") + o;
    return cat("'", command->name, "' does not use ", name,
               takes.empty() ? "" : cat("; of the program's options it takes ", takes));
  }
  return "";
}

}  // namespace

Arguments parse_arguments(int argc, char const* const* argv) {
  Arguments parsed;
  std::string config, matrix, explained, backend, output, reference, table;
  std::string solver, preconditioner, rtol, time_limit;
  bool list = false, quiet = false, verbose = false;

  CLI::App app("Solves sparse linear systems with iterative methods, on the GPU or on the host.");
  app.name("tcsolve");
  app.set_version_flag("-V,--version", version_text(),
                       "print the version and what it was built with");
  auto* const config_option =
      app.add_option("CONFIG", config,
                     "the run, as a YAML file; or a matrix, for a run without one; -: from stdin");
  app.add_option("RHS", parsed.rhs, "the right-hand side, where a matrix was given");
  auto* const solver_option = app.add_option("--solver,--ksp", solver, "sets solver.type, e.g. cg");
  auto* const preconditioner_option = app.add_option(
      "--preconditioner,--pc,--precond", preconditioner, "sets preconditioner.type, e.g. jacobi");
  auto* const rtol_option =
      app.add_option("--rtol,--tol", rtol, "sets solver.rtol, the relative tolerance, e.g. 1e-8");
  auto* const time_option = app.add_option(
      "--time-limit", time_limit,
      "seconds that the whole run may take, reading and set-up included; sets time_limit");
  app.add_option("-s,--set", parsed.sets,
                 "key.path=value: override a key of the config; repeatable")
      ->allow_extra_args(false);
  std::string ranks;
  auto* const ranks_option =
      app.add_option("--ranks", ranks,
                     "processes of this host that solve together, each with some of the rows, or "
                     "auto: as many as pay; sets ranks.count (mpirun -n N starts them by itself)")
          ->check(CLI::Range(1, 64) | CLI::IsMember({"auto"}));
  app.add_option("--backend", backend, "where to compute")
      ->check(CLI::IsMember({"auto", "host", "cuda"}));
  auto* const output_option = app.add_option("-o,--output", output, "directory for the results");
  app.add_option("--repeat", parsed.repeat,
                 "solve N times from the same start, after a warm-up; tells median and spread")
      ->check(CLI::Range(1, 1'000'000));
  app.add_flag("--profile", parsed.profile,
               "time the parts of the solve: products, preconditioner, updates, verification");
  auto* const quiet_flag = app.add_flag("-q,--quiet", quiet, "print the verdict and warnings only");
  app.add_flag("-v,--verbose", verbose, "print details as well")->excludes(quiet_flag);
  app.add_flag(
      "--dry-run", parsed.dry_run,
      "check the config, print it with its defaults and the memory it needs; solve nothing");
  auto* const list_flag =
      app.add_flag("--list", list, "list formats, solvers, preconditioners and generators");
  auto* const explain_option =
      app.add_option("--explain", explained,
                     "keys of a block, e.g. solver.gmres or output; without a path, of the config")
          ->expected(0, 1);
  auto* const reference_option =
      app.add_option("--reference", reference, "write the tables of all keys as DIR/*.md");
  auto* const info = app.add_subcommand(
      "info", "facts about a matrix: size, symmetry, rows, what each format costs");
  info->add_option("MATRIX", matrix, "matrix file")->required();
  info->add_option("--calibration", parsed.calibration,
                   "cost table to decide by; without it: those of the H200 and of the host");
  info->add_flag("--json", parsed.json, "as JSON");
  info->add_flag("--graph", parsed.graph,
                 "components, degrees and levels of the graph of A + A^T as well");
  info->add_flag("--amg", parsed.amg,
                 "the levels that multigrid makes of it, on the host with its defaults");
  info->add_flag("-v,--verbose", verbose, "what each format would cost, and models of formats");
  auto* const generate = app.add_subcommand(
      "generate", "write a matrix, e.g. `generate poisson7 --set n=64 -o A.mtx`");
  generate->fallthrough();  // --set may follow
  generate->add_option("GENERATOR", matrix, "its name; --explain generator lists them")->required();
  generate->add_option("-o,--file", parsed.file, "the .mtx file that is written")->required();
  auto* const init = app.add_subcommand(
      "init", "print a config for a matrix, with the method that the matrix asks for");
  init->add_option("MATRIX", matrix, "matrix file")->required();
  auto* const advice = app.add_subcommand(
      "advise", "try the methods that a matrix admits, and rank them by time and memory");
  advice->fallthrough();  // --backend, --rtol, --time-limit may follow
  advice->add_option("MATRIX", matrix, "matrix file")->required();
  advice->add_option("RHS", parsed.rhs, "the right-hand side; without it, A (1, ..., 1)");
  advice->add_flag("--json", parsed.json, "as JSON");
  advice->add_flag("--all", parsed.all, "run every method to its end, however slow");
  auto* const calibration = app.add_subcommand(
      "calibrate", "time the formats here, for `operator: {format: auto, calibration: FILE}`");
  calibration->fallthrough();  // --backend may follow
  calibration->add_option("FILE", table, "where the cost table goes")->required();
  calibration
      ->add_option("--size", parsed.size,
                   "rows of the largest matrices: 1 is 900,000 on a device, 250,000 on the host")
      ->check(require_number, "NUMBER")
      ->check(CLI::Range(1e-4, 10.0));
  auto* const sweeping = app.add_subcommand(
      "sweep",
      "run a grid of matrices and keys, with warm-up and repeats; tables and plots on one page");
  sweeping->fallthrough();  // --set, --backend, --output, --dry-run may follow
  sweeping->add_option("SWEEP", table, "a config with a block 'sweep'; --explain sweep")
      ->required();
  constexpr std::size_t options_width = 28;
  app.get_formatter()->column_width(options_width);
  app.footer(
      "Exit codes: 0 converged; 1 usage or config; 2 input data; 3 not converged (iterations, "
      "time,\n"
      "cancelled); 4 diverged, breakdown, stagnation or false convergence; 5 device or memory;\n"
      "6 internal. A file called like a command, e.g. `info`, is given as ./info.");

  auto usage_error = [&](std::string const& text) {
    std::cerr << "tcsolve: " << text << "\nSee tcsolve --help.\n";
    parsed.command = Task::done;
    parsed.exit_code = 1;
    return parsed;
  };
  try {
    app.parse(words_of(argc, argv));
  } catch (CLI::CallForHelp const&) {
    std::cout << folded(app.help(), options_width, terminal_width());
    return parsed;
  } catch (CLI::Success const& e) {
    app.exit(e);
    return parsed;
  } catch (CLI::ParseError const& e) {
    return usage_error(e.what() + option_advice(app, argc, argv));
  }
  if ((config == "solve" || config == "run") && !parsed.rhs.empty() &&
      !std::filesystem::exists(config))
    return usage_error("'" + config + "' is no command; write tcsolve " + shown(parsed.rhs));
  if (config == "help" && !std::filesystem::exists(config)) {
    std::cout << folded(app.help(), options_width, terminal_width());
    return parsed;
  }

  int const asked = (list_flag->count() > 0) + (explain_option->count() > 0) +
                    (reference_option->count() > 0) + info->parsed() + init->parsed() +
                    advice->parsed() + generate->parsed() + calibration->parsed() +
                    sweeping->parsed() + (config_option->count() > 0);
  if (asked == 0)
    return usage_error(
        "give a CONFIG, or a matrix, --list, --explain, info, init, advise, generate, calibrate or "
        "sweep");
  if (asked > 1)
    return usage_error(
        "CONFIG, --list, --explain, --reference, info, init, advise, generate, calibrate and sweep "
        "exclude each other");
  if (info->parsed()) {
    parsed.command = Task::info;
    parsed.subject = matrix;
  } else if (advice->parsed()) {
    parsed.command = Task::advise;
    parsed.subject = matrix;
    for (auto const& [name, text, value] :
         {std::tuple{"--rtol", &rtol, &parsed.rtol},
          std::tuple{"--time-limit", &time_limit, &parsed.time_limit}}) {
      if (text->empty()) continue;
      if (std::string const wrong = require_number(*text); !wrong.empty())
        return usage_error(cat(name, ": ", wrong));
      *value = std::stod(*text);
    }
    if (parsed.time_limit && !(*parsed.time_limit > 0))
      return usage_error("--time-limit: the seconds are to be above 0");
  } else if (init->parsed()) {
    parsed.command = Task::init;
    parsed.subject = matrix;
  } else if (generate->parsed()) {
    parsed.command = Task::generate;
    parsed.subject = matrix;
  } else if (calibration->parsed()) {
    parsed.command = Task::calibrate;
    parsed.subject = table;
  } else if (sweeping->parsed()) {
    parsed.command = Task::sweep;
    parsed.subject = table;
  } else if (list) {
    parsed.command = Task::list;
  } else if (explain_option->count() > 0) {
    parsed.command = Task::explain;
    parsed.subject = explained;
  } else if (reference_option->count() > 0) {
    parsed.command = Task::reference;
    parsed.subject = reference;
  } else {
    parsed.command = Task::solve;
    parsed.subject = config;
  }
  if (std::string const unused = unused_option(app, parsed.command); !unused.empty())
    return usage_error(unused);
  if (backend == "host") parsed.backend = Backend::host;
  if (backend == "cuda") parsed.backend = Backend::cuda;
  if (!backend.empty()) parsed.sets.push_back("backend=" + backend);
  if (solver_option->count() > 0) parsed.sets.push_back("solver.type=" + quoted_value(solver));
  if (preconditioner_option->count() > 0)
    parsed.sets.push_back("preconditioner.type=" + quoted_value(preconditioner));
  if (rtol_option->count() > 0) parsed.sets.push_back("solver.rtol=" + rtol);
  if (time_option->count() > 0) parsed.sets.push_back("time_limit=" + time_limit);
  if (ranks_option->count() > 0) parsed.sets.push_back(cat("ranks.count=", ranks));
  if (output_option->count() > 0) parsed.sets.push_back("output.directory=" + quoted_value(output));
  parsed.talk = quiet ? Talk::quiet : verbose ? Talk::verbose : Talk::normal;
  return parsed;
}

}  // namespace tcsolve
