// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/formats/format.hpp>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <tcsolve/configs/schema/diagnostics.hpp>
#include <tcsolve/core/error.hpp>

namespace tcsolve {

FormatList const& formats() {
  struct Shipped {
    FormatList list;
    Shipped() { register_formats(list); }
  };
  // Never taken apart: a conversion beside a solve may outlive main().
  static Shipped const& shipped = *new Shipped;
  return shipped.list;
}

FormatList& FormatList::add(Format format) {
  if (find(format.name) != nullptr)
    throw std::logic_error("two formats are called '" + format.name + "'");
  bool const made =
      std::apply([](auto const&... each) { return (bool(each.make) && ...); }, format.makers);
  if (!made || !format.layout || !format.estimate || !format.factory.enlist || !format.factory.with)
    throw std::logic_error("the descriptor of format '" + format.name +
                           "' lacks its layout, its estimate, its factory or a maker");
  formats_.push_back(std::move(format));
  return *this;
}

std::vector<std::string> FormatList::names() const {
  std::vector<std::string> all;
  for (Format const& format : formats_) all.push_back(format.name);
  return all;
}

Format const* FormatList::find(std::string_view name) const {
  auto const at = std::ranges::find(formats_, name, &Format::name);
  return at == formats_.end() ? nullptr : &*at;
}

Format const& FormatList::at(std::string_view name) const {
  if (Format const* const format = find(name)) return *format;
  throw Unsupported(cat("no format is called '", shown(name), "'", suggestion(name, names())));
}

Format const& FormatList::source() const {
  auto const at = std::ranges::find(formats_, false, &Format::converted);
  if (at == formats_.end()) throw std::logic_error("a list of formats without csr");
  return *at;
}

Facts FormatList::facts() const {
  Facts all;
  for (Format const& format : formats_)
    for (Fact const* fact : format.facts)
      if (std::ranges::find(all, fact) == all.end()) all.push_back(fact);
  all.push_back(&tiles_fact);
  return all;
}

std::string why_not(Format const& format, Features const& f, PlanRequest const& request) {
  if (!format.converted) return "";
  if (request.transpose && !format.can.transpose) return "no transpose";
  std::string const reason = format.refuses ? format.refuses(f, request) : "";
  if (!reason.empty()) return reason;
  FormatLayout const layout = format.layout(f, request.values);
  double const csr = request.among->source().layout(f, request.values).stored;
  if (layout.stored + csr + layout.scratch > request.memory) return "too little memory";
  return "";
}

}  // namespace tcsolve
