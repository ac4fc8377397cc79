// SPDX-License-Identifier: Apache-2.0
/// A run on one page: report.html, for a browser without a network.
#pragma once

#include <tcsolve/app/record/spy.hpp>
#include <tcsolve/core/context.hpp>
#include <tcsolve/formats/choose/planner.hpp>

#include <string>

namespace tcsolve {

/// What the page tells of a matrix that will be the solver's when the page is made.
struct MatrixPicture {
  SpyCounts spy;
  Plan plan;  ///< of all formats, in FP64, for the products that a plan assumes
};

/// Cost: a few passes over the entries. Throws MemoryError.
MatrixPicture picture_of(Context const& ctx, Csr<double> const& a);

/// The page: verdict, method, what `auto` tried, plot, residuals, seconds of each phase and part,
/// formats considered, the matrix, the config: every key of result.json but `schema`. `result`: the
/// text of result.json; `config`: that of the config in force; `plot`: SVG. Everything that a user
/// can write is escaped, and the page may load and run nothing.
std::string report_html(std::string const& result, std::string const& config,
                        std::string const& plot, MatrixPicture const& picture);

}  // namespace tcsolve
