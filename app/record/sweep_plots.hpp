// SPDX-License-Identifier: Apache-2.0
/// The plots of a sweep, as SVG by gnuplot.
#pragma once

#include <tcsolve/app/record/sweep_table.hpp>

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace tcsolve {

/// What a plot shows residuals by.
enum class Along { iterations, seconds };

/// The residual of each setting of one problem, over that of x0, from history.csv of its runs below
/// `directory`; of a long history at most 500 points. Of many settings the first `most_curves`.
/// "" where no run has a history. Throws Error when gnuplot fails.
std::string history_svg(Sweep const&, std::vector<SweepRow> const&, std::size_t problem,
                        Along along, std::filesystem::path const& directory);
inline constexpr std::size_t most_curves = 12;

/// Of each problem a bar for each setting that is compared with another: times as fast. ""
/// where there is none.
std::string speedup_svg(Sweep const&, std::vector<SweepRow> const&);

/// Of each problem a point for each setting: the true residual over norm(b) where rtol was 0, or,
/// where no run had it, at the end of the run. "" where there is none.
std::string accuracy_svg(Sweep const&, std::vector<SweepRow> const&);

/// The performance profile: of each setting the share of problems within a factor of the best time.
/// "" where there are fewer than two settings, or nothing was solved.
std::string profile_svg(Sweep const&, std::vector<SweepRow> const&);

}  // namespace tcsolve
