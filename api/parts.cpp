// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/api/parts.hpp>

namespace tcsolve {

SolverParts::SolverParts(SolverOptions const& options)
    : matrix_operator(make<OperatorRegistry>(options.matrix_operator)),
      preconditioner(make<PreconditionerRegistry>(options.preconditioner)),
      method(make<SolverRegistry>(options.solver)) {}

}  // namespace tcsolve
