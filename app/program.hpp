// SPDX-License-Identifier: Apache-2.0
/// The program: arguments to exit code.
#pragma once

namespace tcsolve {

/// Does what the command line says. Nothing is thrown; every failure is a line on standard error
/// and an exit code (docs/02-verdicts.md).
int run_program(int argc, char const* const* argv) noexcept;

}  // namespace tcsolve
