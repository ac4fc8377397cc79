// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/preconditioner.hpp>

namespace tcsolve {

OperatorPtr<double> build_within_memory(Context& ctx, PreconditionerFactory const& factory,
                                        System const& system, std::string const& name) {
  if (factory.needs_matrix() && !factory.is_identity()) {
    double const most = factory.most_bytes(system.matrix.rows, system.matrix.entries);
    if (!fits(ctx, {.host = most, .space = most})) {
      MemoryNeed need = factory.memory(ctx, system);
      if (system.matrix.space != Space::host)  // a copy that it is made from
        need.passing +=
            12.0 * static_cast<double>(system.matrix.entries) + 8.0 * system.matrix.rows;
      require_memory(ctx, need, cat("the preconditioner '", name, "'"));
    }
  }
  return factory.build(ctx, system);
}

}  // namespace tcsolve
