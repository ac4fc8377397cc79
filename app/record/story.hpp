// SPDX-License-Identifier: Apache-2.0
/// What `auto` did in several solves, told as one.
#pragma once

#include <tcsolve/solvers/report.hpp>

#include <vector>

namespace tcsolve {

/// Appends the choices of the solve that followed. A choice that was set up before stays the one
/// entry that it is, with the seconds of its set-up: `adds`: iterations and seconds are added to it
/// (another right-hand side), else they take the place of what stood there (the same solve again).
void continue_story(std::vector<ChoiceReport>& story, std::vector<ChoiceReport> const& next,
                    bool adds);

/// The choice that the last solve ended with; null where there was none to make.
ChoiceReport const* in_force(std::vector<ChoiceReport> const& story);

}  // namespace tcsolve
