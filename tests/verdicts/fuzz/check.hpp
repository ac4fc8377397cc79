// SPDX-License-Identifier: Apache-2.0
/// An analyst who has the case and the files of its run, and believes neither the solver nor the
/// program.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/verdicts/fuzz/case.hpp"

namespace tcsolve::fuzz {

/// What is wrong with the results in `output` of a run that ended with `exit_code`, a sentence
/// each; empty: nothing.
std::vector<std::string> faults(Case const&, int exit_code, std::filesystem::path const& output);

/// The content of result.json without what the clock decides.
std::string timeless(std::filesystem::path const& result);

/// The keys of result.json that docs/02-verdicts.md (its text in `page`) does not name.
std::vector<std::string> undocumented(std::filesystem::path const& result, std::string const& page);

}  // namespace tcsolve::fuzz
