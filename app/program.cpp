// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/program.hpp>

#include <tcsolve/app/arguments.hpp>
#include <tcsolve/app/commands/advise.hpp>
#include <tcsolve/app/commands/calibrate.hpp>
#include <tcsolve/app/commands/documentation.hpp>
#include <tcsolve/app/commands/generate.hpp>
#include <tcsolve/app/commands/init.hpp>
#include <tcsolve/app/commands/matrix_info.hpp>
#include <tcsolve/app/commands/sweep.hpp>
#include <tcsolve/app/config/registries.hpp>
#include <tcsolve/app/failure.hpp>
#include <tcsolve/app/run/signals.hpp>
#include <tcsolve/app/run/solve_run.hpp>
#include <tcsolve/configs/schema/print.hpp>
#include <tcsolve/core/error.hpp>
#include <tcsolve/io/atomic_file.hpp>
#include <tcsolve/version.hpp>

#include <iostream>
#include <string>

namespace tcsolve {
namespace {

void write_calibration(Arguments const& arguments) {
  { AtomicFile const probe(arguments.subject); }  // what cannot be written is not measured first
  Context ctx(arguments.backend);
  CostTable const table = calibrate(ctx, arguments.size, std::cout);
  write_file(arguments.subject,
             cat("# ", table.device, ", tcsolve ", version::revision, "\n", dump_yaml(table)));
  std::cout << "operator: {format: auto, calibration: " << arguments.subject << "}\n";
}

int dispatch(Arguments const& arguments) {
  Registries const registries;
  switch (arguments.command) {
    case Task::solve: return solve_run(arguments, registries);
    case Task::list: std::cout << list_text(registries); return 0;
    case Task::explain: std::cout << explain_text(registries, arguments.subject); return 0;
    case Task::info:
      std::cout << matrix_info(arguments.subject, arguments.calibration,
                               arguments.json                    ? InfoForm::json
                               : arguments.talk == Talk::verbose ? InfoForm::all
                                                                 : InfoForm::facts,
                               {.graph = arguments.graph, .amg = arguments.amg});
      return 0;
    case Task::generate:
      std::cout << generate_file(registries, arguments.subject, arguments.sets, arguments.file);
      return 0;
    case Task::init: std::cout << initial_config(registries, arguments.subject); return 0;
    case Task::advise: return advise(arguments, registries);
    case Task::calibrate: write_calibration(arguments); return 0;
    case Task::sweep: return sweep(arguments, registries);
    case Task::reference: write_reference(registries, arguments.subject); return 0;
    case Task::done: break;
  }
  return arguments.exit_code;
}

}  // namespace

int run_program(int argc, char const* const* argv) noexcept {
  return guarded([&] {
    file_size_limit_is_an_error();
    return dispatch(parse_arguments(argc, argv));
  });
}

}  // namespace tcsolve
