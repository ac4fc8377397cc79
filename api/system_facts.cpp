// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/api/system_facts.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace tcsolve {
namespace {

std::string singular_system_advice(SolveReport const&) {
  return "A is singular: give its 'nullspace', if it is known, or take solver lsmr, which comes as "
         "near to b as an x can";
}

/// The same where such a method was the last that was tried.
std::string known_nullspace_advice(SolveReport const&) {
  return "A is singular: give its 'nullspace', if it is known";
}

/// norm(b - A x) that is asked for, where it does not depend on x0; infinite where it does.
double tolerance_asked(StoppingParams const& stopping, double rhs_norm) {
  if (stopping.baseline == Baseline::rows)
    return stopping.atol;  // what alone meets a row without entries
  return tolerance_of(stopping.baseline, stopping.rtol, stopping.atol, rhs_norm,
                      std::numeric_limits<double>::infinity());
}

bool ends_without_answer(SolveReport const& r) {
  switch (r.reason) {
    case Stop::stagnated:
    case Stop::precision_limit:
    case Stop::diverged:
    case Stop::breakdown:
    case Stop::false_convergence: return true;
    default: return false;
  }
}

}  // namespace

std::string lines_text(std::string const& kind, std::vector<Index> const& numbers) {
  constexpr std::size_t most = 5;
  std::string text = cat(kind, numbers.size() == 1 ? " " : "s ");
  std::size_t const shown = std::min(numbers.size(), most), others = numbers.size() - shown;
  for (std::size_t k = 0; k < shown; ++k) {
    bool const last = k + 1 == shown && others == 0;
    text += cat(k == 0 ? "" : last ? " and " : ", ", numbers[k] + 1);
  }
  return others == 0 ? text : cat(text, " and ", others, others == 1 ? " other" : " others");
}

SystemFacts::SystemFacts(CsrView<double> const& a, CancelFlag cancel) {
  if (a.rows != a.cols) return;
  n_ = a.rows;
  empty_ = empty_lines(a);
  rank_ = structural_rank(a, cancel);
}

std::string SystemFacts::text() const {
  if (!is_singular()) return "";
  std::string text;
  for (auto const& [kind, numbers] :
       {std::pair{"row", &empty_.rows}, std::pair{"column", &empty_.columns}})
    if (!numbers->empty()) text += cat(text.empty() ? "" : " and ", lines_text(kind, *numbers));
  std::size_t const lines = empty_.rows.size() + empty_.columns.size();
  if (lines > 0) text += lines == 1 ? " is empty" : " are empty";
  Index const most = n_ - static_cast<Index>(std::max(empty_.rows.size(), empty_.columns.size()));
  if (rank_ < most)
    text += cat(text.empty() ? "" : "; ", "its structural rank is ", rank_, " of ", n_);
  return "A is singular: " + text;
}

std::string SystemFacts::contradiction(double const* b) const {
  std::vector<Index> rows;
  for (Index const i : empty_.rows)
    if (!(b[i] == 0)) rows.push_back(i);
  if (rows.empty()) return "";
  bool const one = rows.size() == 1;
  return cat(lines_text("row", rows), " of A ", one ? "is" : "are",
             " empty and b is not zero there: no x satisfies ",
             one ? "this equation" : "these equations");
}

std::optional<SolveReport> SystemFacts::unsolvable(double const* b, StoppingParams const& stopping,
                                                   std::string const& solver) const {
  if (!has_empty_rows()) return std::nullopt;
  double left = 0, whole = 0;
  for (Index const i : empty_.rows) left = std::hypot(left, b[i]);
  for (Index i = 0; i < n_; ++i) whole = std::hypot(whole, b[i]);
  double const tolerance = tolerance_asked(stopping, whole);
  if (!std::isfinite(whole) || left <= tolerance) return std::nullopt;
  SolveReport report;
  report.reason = Stop::breakdown;
  report.cause = Cause::inconsistent;
  report.rhs_norm = whole;
  report.tolerance = tolerance;
  report.message = cat(solver, ": ", report.outcome(), " after 0 iterations; ", contradiction(b),
                       "; mend b or A, or take solver lsmr, which comes as near to b as an x can");
  return report;
}

std::string SystemFacts::closing(SolveReport const& last, std::vector<ChoiceReport> const& tried,
                                 bool minimised) const {
  auto const found_singular = [](ChoiceReport const& t) {
    return t.outcome.find("singular") != std::string::npos;
  };
  if (last.reason == Stop::least_squares && n_ > 0)
    return cat(last.message, "; ", is_singular() ? text() : "A seems to be singular",
               "; give its 'nullspace', if it is known");
  bool const singular = is_singular() || std::ranges::count_if(tried, found_singular) > 1;
  if (!singular || !ends_without_answer(last)) return last.message;
  std::string const solver = last.message.substr(0, last.message.find(':'));
  std::string const fact = text();
  return cat(message_of(last, solver, minimised ? known_nullspace_advice : singular_system_advice),
             fact.empty() ? "" : "; ", fact);
}

bool ends_as_if_singular(ChoiceReport const& told) {
  bool const of_another =
      told.outcome == "breakdown:inner_solver" || told.outcome == "false_convergence:nullspace";
  return !of_another && (told.outcome.starts_with(name(Stop::breakdown)) ||
                         told.outcome.starts_with(name(Stop::false_convergence)) ||
                         told.outcome.find("singular") != std::string::npos);
}

}  // namespace tcsolve
