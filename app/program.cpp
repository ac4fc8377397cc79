// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/program.hpp>

#include <tcsolve/app/arguments.hpp>
#include <tcsolve/app/calibrate.hpp>
#include <tcsolve/app/documentation.hpp>
#include <tcsolve/app/matrix_info.hpp>
#include <tcsolve/app/registries.hpp>
#include <tcsolve/app/solve_run.hpp>
#include <tcsolve/configs/schema/print.hpp>
#include <tcsolve/core/error.hpp>
#include <tcsolve/io/atomic_file.hpp>
#include <tcsolve/version.hpp>

#include <exception>
#include <iostream>
#include <new>
#include <string>

namespace tcsolve {
namespace {

void write_calibration(Arguments const& arguments) {
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
    case Task::info: std::cout << matrix_info(arguments.subject, arguments.calibration); return 0;
    case Task::calibrate: write_calibration(arguments); return 0;
    case Task::reference: write_reference(registries, arguments.subject); return 0;
    case Task::done: break;
  }
  return arguments.exit_code;
}

int fail(char const* text, int code) noexcept {
  std::cout.flush();
  std::cerr << "tcsolve: " << text << "\n";
  return code;
}

}  // namespace

int run_program(int argc, char const* const* argv) noexcept {
  try {
    Arguments const arguments = parse_arguments(argc, argv);
    return dispatch(arguments);
  } catch (ConfigError const& e) {
    std::cout.flush();
    std::cerr << e.what() << "\n";  // one line per problem, each with its place
    return 1;
  } catch (Unsupported const& e) { return fail(e.what(), 1); } catch (MatrixError const& e) {
    return fail(e.what(), 2);
  } catch (ShapeError const& e) { return fail(e.what(), 2); } catch (MemoryError const& e) {
    return fail(e.what(), 5);
  } catch (DeviceError const& e) { return fail(e.what(), 5); } catch (NotBuilt const& e) {
    return fail(e.what(), 5);
  } catch (std::bad_alloc const&) {
    return fail(
        "out of memory; use a smaller problem, fewer Krylov vectors, or operator.values: fp32", 5);
  } catch (Error const& e) {
    return fail(e.what(), 2);  // files that cannot be read or written
  } catch (std::exception const& e) {
    return fail((std::string("internal error, please report it: ") + e.what()).c_str(), 6);
  } catch (...) { return fail("internal error of unknown type, please report it", 6); }
}

}  // namespace tcsolve
