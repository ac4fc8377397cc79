// SPDX-License-Identifier: Apache-2.0
/// Plots by the program gnuplot, which is looked for on the path when one is asked for.
#pragma once

#include <tcsolve/solvers/report.hpp>

#include <string>

namespace tcsolve {

/// Throws ConfigError, with the package to install, when there is no gnuplot. `key` asked for it.
void require_gnuplot(std::string const& key);

bool has_gnuplot();

/// What gnuplot prints for `script`, which asks for SVG. Throws Error when gnuplot fails.
std::string drawn(std::string const& script);

/// Text between apostrophes, as a script takes it.
std::string gnuplot_text(std::string text);

/// The residual of each iteration, relative to norm(b), as SVG, with the tolerance, true residuals
/// where they were evaluated, and lines where another method of `auto` or a restart began. Of a
/// long history at most 2000 points are drawn, 200 true residuals
/// and 40 restarts. `method`: the title says it.
/// Throws Error when gnuplot fails.
std::string convergence_svg(SolveReport const& report, std::string const& method);

}  // namespace tcsolve
