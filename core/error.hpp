// SPDX-License-Identifier: Apache-2.0
/// Errors are exceptions; outcomes of a solve are data (solvers/report.hpp). A message
/// states both quantities that disagree and, where there is one, the remedy.
#pragma once

#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>

namespace tcsolve {

/// All arguments written one after another.
template <class... Args>
std::string cat(Args const&... args) {
  std::ostringstream out;
  out.precision(17);
  (out << ... << args);
  return out.str();
}

/// Base of everything tcsolve throws on purpose.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A problem in the configuration or on the command line (exit code 1). The message holds one line
/// per problem, each `file:line:column: text`.
struct ConfigError : Error {
  using Error::Error;
};

/// A problem in input data: a matrix or vector, on file or in memory (exit code 2).
struct MatrixError : Error {
  using Error::Error;
};

/// Extents or spaces of operands that do not go together.
struct ShapeError : Error {
  using Error::Error;
};

/// A quantity that does not fit its type, e.g. more than 2^31 - 1 rows.
struct SizeError : MatrixError {
  using MatrixError::MatrixError;
};

/// An operation that this object does not offer, e.g. "callable: transpose".
struct Unsupported : Error {
  using Error::Error;
};

/// A part that this build does not contain: a backend, an optional package. `remedy` says how to
/// get it.
struct NotBuilt : Error {
  explicit NotBuilt(std::string const& what,
                    std::string const& remedy =
                        "configure with the CUDA toolkit (12.4 or newer) on the path, or use "
                        "backend: host")
      : Error(what + ": this tcsolve was built without it; " + remedy) {}
};

/// A failing device call, or no usable device (exit code 5).
struct DeviceError : Error {
  using Error::Error;
};

/// Memory that is not there, found before or while it was asked for (exit code 5).
struct MemoryError : Error {
  using Error::Error;
};

/// A computation without an outcome of its own, a reader, a generator or a set-up, that ended
/// because Context::cancel() was called (exit code 3). Nothing of it is kept.
struct Cancelled : Error {
  Cancelled() : Error("cancelled before the solve") {}
};

/// A Context, or a solver on it, that is at work for another thread, or for the caller of the
/// callback that asks (Context::Entry, Context::Call). What is at work goes on.
struct BusyError : Error {
  using Error::Error;
};

/// A set-up that did not end in the time it was given (Context::setting_up()).
struct OutOfTime : Error {
  OutOfTime() : Error("the time was up before it was set up") {}
};

}  // namespace tcsolve
