// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/matrix/facts.hpp>

#include <tcsolve/core/error.hpp>
#include <tcsolve/matrix/symmetry.hpp>

namespace tcsolve {
namespace {

MatrixFacts on_host(CsrView<double> const& a, Pairs pairs) {
  Host host;
  Arena arena(Space::host);
  return host::matrix_facts(host, arena, a, pairs);
}

}  // namespace

std::string MatrixFacts::text() const {
  return cat(rows, " x ", cols, ", ", entries, " entries, ",
             !square()   ? "not square"
             : symmetric ? "symmetric"
                         : "nonsymmetric",
             !square()             ? ""
             : positive_diagonal() ? ", positive diagonal"
             : zero_diagonal > 0   ? ", zeros on the diagonal"
                                   : ", negative entries on the diagonal");
}

MatrixFacts matrix_facts(CsrView<double> const& a) { return on_host(a, Pairs::compare); }
MatrixFacts row_facts(CsrView<double> const& a) { return on_host(a, Pairs::leave); }

namespace {

MatrixFacts facts(Context& ctx, CsrView<double> const& a, Pairs pairs) {
  if (a.space != ctx.space()) return on_host(a, pairs);
  Context::Entry const entry(ctx);
  return ctx.visit([&](auto& on) { return matrix_facts(on, ctx.arena(), a, pairs); });
}

}  // namespace

MatrixFacts matrix_facts(Context& ctx, CsrView<double> const& a) {
  return facts(ctx, a, Pairs::compare);
}
MatrixFacts row_facts(Context& ctx, CsrView<double> const& a) {
  return facts(ctx, a, Pairs::leave);
}

bool is_symmetric(CsrView<double> const& a) {
  return a.rows == a.cols && matrix_facts(a).symmetric;
}

bool is_symmetric(Context& ctx, CsrView<double> const& a) {
  return a.rows == a.cols && matrix_facts(ctx, a).symmetric;
}

bool mirrors_bit_by_bit(Context& ctx, CsrView<double> const& a) {
  if (a.rows != a.cols) return false;
  Context::Entry const entry(ctx);
  return ctx.visit([&](auto& on) { return mirrors_bit_by_bit(on, ctx.arena(), a); });
}

}  // namespace tcsolve
