// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tcsolve/configs/registry.hpp>
#include <tcsolve/precond/preconditioner.hpp>

namespace tcsolve {

using PreconditionerRegistry = Registry<PreconditionerFactory>;
void register_preconditioners(PreconditionerRegistry&);

}  // namespace tcsolve
