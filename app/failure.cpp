// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/failure.hpp>

#include <tcsolve/core/error.hpp>
#include <tcsolve/precond/preconditioner.hpp>

#include <exception>
#include <new>

namespace tcsolve {

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
  } catch (Cancelled const& e) { return {"cancelled", 3, e.what()}; } catch (OutOfTime const& e) {
    return {"time_limit", 3, e.what()};
  } catch (MemoryError const& e) {
    return {"out_of_memory", 5, e.what()};
  } catch (std::bad_alloc const&) {
    return {"out_of_memory", 5,
            "out of memory; use a smaller problem, fewer Krylov vectors, or operator.values: fp32"};
  } catch (DeviceError const& e) {
    return {"device_error", 5, e.what()};
  } catch (NotBuilt const& e) { return {"not_built", 5, e.what()}; } catch (Error const& e) {
    return {"file_error", 2, e.what()};
  } catch (std::exception const& e) {
    return {"internal_error", 6, cat("internal error, please report it: ", e.what())};
  } catch (...) {
    return {"internal_error", 6, "internal error of unknown type, please report it"};
  }
}

}  // namespace tcsolve
