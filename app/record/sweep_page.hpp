// SPDX-License-Identifier: Apache-2.0
/// A sweep on one page: sweep.html, for a browser without a network.
#pragma once

#include <tcsolve/app/record/sweep_table.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace tcsolve {

/// Tables of speed-ups, accuracies, the performance profile and all runs, and plots of the same and
/// of the residuals. Where gnuplot is not on the path, or fails, the page says so and has the
/// tables alone. `title`: the name of the file; `status`: how far the sweep is; `directory`: that
/// of the sweep. Everything that a user can write is escaped.
std::string sweep_html(Sweep const&, std::vector<SweepRow> const&, std::string const& title,
                       std::string const& status, std::filesystem::path const& directory);

}  // namespace tcsolve
