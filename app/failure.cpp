// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/failure.hpp>

#include <tcsolve/comm/ranks.hpp>
#include <tcsolve/core/error.hpp>
#include <tcsolve/precond/preconditioner.hpp>

#include <exception>
#include <iostream>
#include <new>

namespace tcsolve {
namespace {

/// What can be done about memory that ran out, unless `text` says so itself.
std::string with_advice(std::string const& text) {
  if (text.find("values: fp32") != std::string::npos) return text;
  return text + "; take a smaller problem, fewer Krylov vectors, or operator.values: fp32";
}

/// Says on standard error what kept the program from its answer.
int said(Failure const& failure) {
  std::cout.flush();
  std::cerr << "tcsolve: " << failure.message << "\n";
  return failure.exit_code;
}

/// What was printed is there, or the answer is an error.
int flushed(int exit_code) {
  std::cout.flush();
  if (std::cout || exit_code != 0) return exit_code;
  throw Error("standard output cannot be written");
}

}  // namespace

int guarded(std::function<int()> const& f) noexcept {
  try {
    return flushed(f());
  } catch (ConfigError const& e) {
    std::cout.flush();
    std::cerr << e.what() << "\n";  // one line per problem, each with its place
    return 1;
  } catch (...) { return said(current_failure()); }
}

Failure current_failure() {
  try {
    throw;
  } catch (ConfigError const& e) {
    return {"config_error", 1, e.what()};
  } catch (Unsupported const& e) {
    return {"config_error", 1, e.what()};
  } catch (MatrixError const& e) {
    return {"input_error", 2, e.what()};
  } catch (ShapeError const& e) {
    return {"input_error", 2, e.what()};
  } catch (SetupError const& e) {
    return {"setup_failed", 4, e.what()};
  } catch (Cancelled const& e) { return {"cancelled", 3, e.what()}; } catch (OutOfTime const&) {
    return {"time_limit", 3, "the time was up before the solve; raise time_limit"};
  } catch (MemoryError const& e) {
    return {"out_of_memory", 5, with_advice(e.what())};
  } catch (std::bad_alloc const&) {
    return {"out_of_memory", 5, with_advice("out of memory")};
  } catch (DeviceError const& e) {
    return {"device_error", 5, e.what()};
  } catch (RankFailed const& e) { return {"rank_failed", 5, e.what()}; } catch (NotBuilt const& e) {
    return {"not_built", 5, e.what()};
  } catch (Error const& e) { return {"file_error", 2, e.what()}; } catch (std::exception const& e) {
    return {"internal_error", 6, cat("internal error, please report it: ", e.what())};
  } catch (...) {
    return {"internal_error", 6, "internal error of unknown type, please report it"};
  }
}

}  // namespace tcsolve
