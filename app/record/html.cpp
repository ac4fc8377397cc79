// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/record/html.hpp>

#include <tcsolve/core/error.hpp>

#include <cstdio>

namespace tcsolve {
namespace {

// What the browser may do: show this page.
constexpr char const* head = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<style>
:root { --ink: #1c2733; --paper: #fff; --box: #f4f6f8; --line: #e3e7eb; --soft: #5b6876;
  --bar: #3a72b5; --good: #2e7d4f; --bad: #c23b22; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #d9e1e8; --paper: #14191f; --box: #1e262e; --line: #313b45; --soft: #93a1ae;
    --bar: #6f9bd0; --good: #58b37f; --bad: #e5705a; }
  .plot svg, .spy svg { filter: invert(.88) hue-rotate(180deg); }
}
body { font: 15px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 64rem; margin: 1.5rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 0 0 .5rem; }
section { margin: 1.6rem 0 0; break-inside: avoid; }
.verdict { border-left: .4rem solid; padding: .6rem .9rem; margin: 1rem 0; background: var(--box);
  overflow-wrap: anywhere; }
.good { border-color: var(--good); } .bad { border-color: var(--bad); }
.columns { columns: 22rem; column-gap: 2.5rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .2rem .6rem .2rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; }
td:first-child { white-space: nowrap; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.t { text-align: right; overflow-wrap: anywhere; }
td.l { white-space: normal !important; }
.bar { background: var(--bar); height: .7rem; display: block; min-width: 1px; }
pre { background: var(--box); padding: .8rem; overflow-x: auto; }
svg { max-width: 100%; height: auto; } .plot svg { width: 100%; }
.spy svg { width: 100%; max-width: 26rem; }
small { color: var(--soft); } p { margin: .4rem 0; overflow-wrap: anywhere; }
@media print { .columns { columns: 2; } }
</style>
)";

}  // namespace

std::string html_text(std::string const& text) {
  std::string out;
  for (char const c : text) switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  return out;
}

std::string html_figure(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", v);
  return text;
}

std::string html_seconds(double s) {
  if (s != 0 && s < 1e-3) return html_figure(1e6 * s) + " &micro;s";
  if (s != 0 && s < 1) return html_figure(1e3 * s) + " ms";
  return html_figure(s) + " s";
}

std::string inlined_svg(std::string const& svg) {
  std::size_t const start = svg.find("<svg");
  return start == std::string::npos ? "" : svg.substr(start);
}

std::string html_begin(std::string const& title) {
  std::string const name = html_text(title);
  return cat(head, "<title>tcsolve: ", name, "</title>\n</head>\n<body>\n<h1>", name, "</h1>\n");
}

char const* html_end() { return "</body>\n</html>\n"; }

}  // namespace tcsolve
