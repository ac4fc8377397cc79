// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/amg/cycle.hpp>

#include <algorithm>
#include <limits>
#include <utility>

#include <tcsolve/precond/amg/krylov_ops.hpp>
#include <tcsolve/precond/amg/ops.hpp>
#include <tcsolve/precond/spectrum.hpp>

namespace tcsolve {

// Saad's symbols: theta and delta are the centre and half width of the interval, sigma = theta /
// delta.
template <class T>
void CycleOf<T>::smooth(Context& ctx, StoredLevel<T> const& level, Update const& first, Out<T> r,
                        Correction& d, Out<T> x, bool from_zero) const {
  auto scope = ctx.arena().scope();
  Out<T> const z = level.S ? scope.template vectors<T>(r.rows, r.cols) : r;
  auto const step = [&](Update const& update, double keep, double gain, StepFrom from) {
    SmoothingStep<T> const by{x.size(), keep, gain, level.weights.data(), In<T>(z), In<T>(d.now),
                              d.next,   x,    from};
    if (update.A && !level.S) {
      update.A->apply_then(ctx, update.alpha, update.v, update.beta, r, by);
    } else {
      update.make(ctx, r);
      if (level.S) level.S->apply(ctx, r, z);
      submit(ctx, by);
    }
    std::swap(d.now, d.next);
  };
  bool const chebyshev = params_.smoother == AmgSmoother::chebyshev;
  double const high = spectrum_margin * level.lambda_max, low = high / params_.eig_ratio,
               theta = (high + low) / 2, delta = (high - low) / 2, sigma = theta / delta;
  double rho = 1 / sigma;
  step(first, 0, chebyshev ? 1 / theta : 1.0, from_zero ? StepFrom::zero : StepFrom::correction);
  for (int k = 1; k < params_.degree; ++k) {
    Update const update{level.A, -1, d.now, 1};  // r -= A d
    if (chebyshev) {
      double const next = 1 / (2 * sigma - rho);
      step(update, next * rho, 2 * next / delta, StepFrom::x);
      rho = next;
    } else {
      step(update, 0, 1, StepFrom::x);
    }
  }
}

template <class T>
void CycleOf<T>::cycle(Context& ctx, std::size_t l, Update const& first, Out<T> r, Out<T> x,
                       bool leaves_residual) const {
  StoredLevel<T> const& level = stored_.levels()[l];
  if (level.inverse) {
    first.make(ctx, r);
    return level.inverse->apply(ctx, r, x);
  }
  auto scope = ctx.arena().scope();
  Correction d{scope.template vectors<T>(r.rows, r.cols),
               scope.template vectors<T>(r.rows, r.cols)};
  smooth(ctx, level, first, r, d, x, true);
  if (level.P) {
    Index const m = level.P->cols();
    Out<T> const coarse = scope.template vectors<T>(m, r.cols),
                 e = scope.template vectors<T>(m, r.cols);
    level.A->apply(ctx, -1, d.now, 1, r);
    Update const restricted{level.R, 1, r, 0};
    bool const twice = params_.cycle != AmgCycleKind::v && stored_.levels()[l + 1].P;
    if (twice && by_krylov()) {
      restricted.make(ctx, coarse);
      krylov(ctx, l + 1, coarse, e);
    } else {
      cycle(ctx, l + 1, restricted, coarse, e, twice);
    }
    if (twice && !by_krylov()) {
      Out<T> const more = scope.template vectors<T>(m, r.cols);
      cycle(ctx, l + 1, {}, coarse, more);
      axpby<T, T>(ctx, 1.0, more, 1.0, e);
    }
    level.P->apply(ctx, level.gain, e, 0, d.now);
    smooth(ctx, level, {level.A, -1, d.now, 1}, r, d, x, false);
  }
  if (leaves_residual) level.A->apply(ctx, -1, d.now, 1, r);
}

// Notay's symbols where krylov_ops.hpp has them.
template <class T>
void CycleOf<T>::krylov(Context& ctx, std::size_t l, Out<T> f, Out<T> x) const {
  auto scope = ctx.arena().scope();
  auto const vectors = [&] { return scope.template vectors<T>(f.rows, f.cols); };
  Out<T> const r = vectors(), d = vectors(), v = vectors(), w = vectors();
  auto* const k = scope.template take<KrylovScalars>(static_cast<std::size_t>(f.cols));
  LinearOperator<T> const& A = *stored_.levels()[l].A;
  copy<T, T>(ctx, f, r);
  cycle(ctx, l, {}, r, x);  // c, where x is to be
  A.apply(ctx, x, v);
  submit_columns(ctx, KrylovFirst<T>{f, symmetric_ ? x.data : v.data, v.data, f.data, k});
  submit_columns(ctx, KrylovResidual<T>{f, v.data, f.data, r.data, k});
  cycle(ctx, l, {}, r, d);
  A.apply(ctx, d, w);
  submit_columns(ctx, KrylovSecond<T>{f, symmetric_ ? d.data : w.data, v.data, w.data, f.data, k});
  submit_columns(ctx, KrylovCombine<T>{f, d.data, x.data, k});
}

template <class T>
void CycleOf<T>::apply(Context& ctx, double alpha, In<double> x, double beta, Out<double> y) const {
  auto scope = ctx.arena().scope();
  Out<T> const r = scope.template vectors<T>(x.rows, x.cols);
  submit(ctx, ScaleRows<double, T>{r.size(), 1.0, stored_.scale(), x, 0.0, r});
  if constexpr (std::is_same_v<T, double>)
    if (alpha == 1 && beta == 0 && stored_.scale() == nullptr) return cycle(ctx, 0, {}, r, y);
  Out<T> const sum = scope.template vectors<T>(x.rows, x.cols);
  cycle(ctx, 0, {}, r, sum);
  submit(ctx, ScaleRows<T, double>{y.size(), alpha * stored_.factor(), stored_.scale(), In<T>(sum),
                                   beta, y});
}

template <class T>
CycleOf<T>::CycleOf(Context& ctx, AmgHierarchy const& made)
    : params_(made.params()), symmetric_(made.symmetric()), stored_(ctx, made) {}

template <class T>
Traits CycleOf<T>::traits() const {
  Traits all{.fixed = !by_krylov(), .isolates_nonfinite = false, .operations = true};
  StoredLevel<T> const& finest = stored_.levels().front();
  all.precision = (finest.inverse ? finest.inverse : finest.A)->traits().precision;
  for (StoredLevel<T> const& l : stored_.levels())
    for (OperatorPtr<T> const& part : {l.A, l.P, l.R, l.inverse, l.S}) {
      if (!part) continue;
      Traits const own = part->traits();
      all.fixed = all.fixed && own.fixed;
      all.capturable = all.capturable && own.capturable;
      all.operations = all.operations && own.operations;
    }
  return all;
}

template <class T>
int CycleOf<T>::visits(std::size_t level) const {
  bool const twice = params_.cycle != AmgCycleKind::v;
  std::size_t const last = stored_.levels().size() - 1;
  return twice && level > 0 ? 1 << std::min<std::size_t>(30, level - (level == last)) : 1;
}

template <class T>
Cost CycleOf<T>::cost(Index k) const {
  Cost sum{.stored_per_entry = 1};
  int const steps = 2 * params_.degree;
  for (std::size_t l = 0; l < stored_.levels().size(); ++l) {
    StoredLevel<T> const& level = stored_.levels()[l];
    double const times = visits(l), n = double(level.rows) * k;
    auto const add = [&](OperatorPtr<T> const& part, double factor) {
      if (!part) return;
      Cost const own = part->cost(k);
      sum.flops += times * factor * own.flops;
      sum.bytes += times * factor * own.bytes;
    };
    if (level.inverse) {
      add(level.inverse, 1);
      continue;
    }
    add(level.A, level.P ? steps : steps / 2 - 1), add(level.P, 1), add(level.R, 1);
    add(level.S, level.P ? steps : steps / 2);
    sum.flops += times * steps * 5 * n;
    sum.bytes += times * steps * 6 * sizeof(T) * n;
    if (!by_krylov() || l == 0 || !level.P) continue;
    add(level.A, 1);
    sum.flops += times * 9 * n;
    sum.bytes += times * 9 * sizeof(T) * n;
  }
  return sum;
}

template <class T>
double CycleOf<T>::advance(Context& ctx, double applications) const {
  StoredLevel<T> const& finest = stored_.levels().front();
  double const products = finest.inverse ? 0 : finest.P ? 2.0 * params_.degree : params_.degree - 1;
  if (products == 0) return std::numeric_limits<double>::infinity();
  return finest.A->advance(ctx, products * applications) / products;
}

template <class T>
std::uint64_t CycleOf<T>::revision() const {
  StoredLevel<T> const& finest = stored_.levels().front();
  return renewals_ + (finest.A ? finest.A->revision() : 0);
}

template <class T>
bool CycleOf<T>::renew(Context& ctx, AmgHierarchy const& made) {
  ++renewals_;  // operations hold lambda_max and the factor by value
  return stored_.renew(ctx, made);
}

template class CycleOf<double>;
template class CycleOf<float>;

namespace {

using AnyCycle = std::variant<CycleOf<double>, CycleOf<float>>;

AnyCycle made_of(Context& ctx, AmgHierarchy const& hierarchy) {
  if (types_of(ctx, hierarchy.params()).vectors == Real::f64)
    return AnyCycle(std::in_place_type<CycleOf<double>>, ctx, hierarchy);
  return AnyCycle(std::in_place_type<CycleOf<float>>, ctx, hierarchy);
}

}  // namespace

AmgCycle::AmgCycle(Context& ctx, std::shared_ptr<AmgHierarchy const> hierarchy)
    : LinearOperator<double>(hierarchy->levels().front().rows, hierarchy->levels().front().rows),
      hierarchy_(std::move(hierarchy)),
      cycle_(made_of(ctx, *hierarchy_)) {}

bool AmgCycle::renew(Context& ctx) {
  return std::visit([&](auto& c) { return c.renew(ctx, *hierarchy_); }, cycle_);
}

std::vector<AmgInPlace> AmgCycle::in_place() const {
  return std::visit([](auto const& c) { return c.stored().in_place(); }, cycle_);
}

HierarchyFacts AmgCycle::hierarchy_facts() const {
  return std::visit([&](auto const& c) { return c.stored().facts(*hierarchy_); }, cycle_);
}

void AmgCycle::time_levels(Context& ctx, HierarchyFacts& facts) const {
  std::vector<double> const times =
      std::visit([&](auto const& c) { return c.stored().product_times(ctx); }, cycle_);
  for (std::size_t l = 0; l < times.size(); ++l) facts.levels[l].product = times[l];
}

Traits AmgCycle::traits() const {
  return std::visit([](auto const& c) { return c.traits(); }, cycle_);
}
Cost AmgCycle::cost(Index k) const {
  return std::visit([&](auto const& c) { return c.cost(k); }, cycle_);
}
std::string AmgCycle::details() const {
  return cat(hierarchy_->summary(), "; ",
             std::visit([](auto const& c) { return c.stored().summary(); }, cycle_));
}
double AmgCycle::advance(Context& ctx, double applications) const {
  return std::visit([&](auto const& c) { return c.advance(ctx, applications); }, cycle_);
}
std::uint64_t AmgCycle::revision() const {
  return std::visit([](auto const& c) { return c.revision(); }, cycle_);
}
std::vector<Real> AmgCycle::values() const {
  std::vector<Real> all;
  std::visit(
      [&](auto const& c) {
        for (auto const& l : c.stored().levels()) all.push_back(l.values);
      },
      cycle_);
  return all;
}
bool AmgCycle::is_narrow() const {
  return std::ranges::any_of(values(), [](Real r) { return size_of(r) == 2; });
}
void AmgCycle::do_apply(Context& ctx, double alpha, In<double> x, double beta, Out<double> y,
                        Op) const {
  std::visit([&](auto const& c) { c.apply(ctx, alpha, x, beta, y); }, cycle_);
}

}  // namespace tcsolve
