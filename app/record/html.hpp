// SPDX-License-Identifier: Apache-2.0
/// What the pages of the program share: one file, which may load and run nothing.
#pragma once

#include <string>

namespace tcsolve {

/// Text for HTML: & < > " ' as entities.
std::string html_text(std::string const& text);

/// Three digits.
std::string html_figure(double v);
/// Three digits in the unit that fits: "12.3 ms".
std::string html_seconds(double seconds);

/// An SVG document without its prologue, to stand within a page.
std::string inlined_svg(std::string const& svg);

/// The page up to its heading, which is `title`; its style sheet knows light and dark screens, and
/// the browser is told to load and run nothing.
std::string html_begin(std::string const& title);
char const* html_end();

}  // namespace tcsolve
