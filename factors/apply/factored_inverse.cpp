// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/factors/apply/factored_inverse.hpp>

#include <algorithm>
#include <type_traits>
#include <utility>

#include <tcsolve/matrix/narrow.hpp>
#include <tcsolve/operators/column.hpp>

namespace tcsolve {
namespace {

/// The ends of rows that follow one another.
OffsetsView following(OffsetsView const& begin) {
  return begin.wide ? OffsetsView(static_cast<std::int64_t const*>(begin.data) + 1)
                    : OffsetsView(static_cast<std::int32_t const*>(begin.data) + 1);
}

/// What is solved first where D is made of blocks, L y = P R x and with it w = D^-1 y: the unknowns
/// w stand behind y, a level after those of their block.
///
///     [  L        ] [ y ]   [ P R x ]
///     [ -D^-1   I ] [ w ] = [   0   ]
Csr<double> first_triangle(TriangularFactors const& factors) {
  Index const n = factors.lower.rows;
  Csr<double> const& blocks = factors.pivot_blocks;
  Csr<double> t = factors.lower;
  t.rows = t.cols = narrow(2 * std::int64_t{n}, "rows of two triangles");
  Offset const behind = t.entries();
  t.columns.insert(t.columns.end(), blocks.columns.begin(), blocks.columns.end());
  for (double const v : blocks.values) t.values.push_back(-v);
  for (Index i = 0; i < n; ++i) t.offsets.push_back(behind + blocks.offsets[i + 1]);
  return t;
}

/// v for the rows of that triangle: `behind` for those of w.
template <class T>
std::vector<T> for_first(std::vector<T> v, Index rows, T behind) {
  v.resize(static_cast<std::size_t>(rows), behind);
  return v;
}

template <class T>
void replace(Context& ctx, Array<T>& to, std::vector<T> const& from) {
  if (to.size() != from.size()) to = Array<T>(ctx.space(), from.size());
  copy_bytes(ctx, to.data(), ctx.space(), from.data(), Space::host, from.size() * sizeof(T));
}

}  // namespace

template <class S>
FactoredInverse<S>::FactoredInverse(Context& ctx, Host factors, TwoSided sides,
                                    ReachOnDevice reaches)
    : LinearOperator<double>(factors->lower.rows, factors->lower.rows),
      factors_(std::move(factors)),
      reaches_(reaches) {
  store(ctx);
  arrange(ctx, std::move(sides));
  replace(ctx, inverse_pivots_, factors_->inverse_pivots);
}

template <class S>
FactoredInverse<S>::FactoredInverse(Context& ctx, Joint factors, TwoSided sides,
                                    ReachOnDevice reaches)
    : LinearOperator<double>(factors->rows(), factors->rows()),
      joint_(std::move(factors)),
      reaches_(reaches) {
  if (ctx.space() == Space::host) {
    lower_.order = to_host(ctx, joint_->lower_levels());
    upper_.order = to_host(ctx, joint_->upper_levels());
  }
  share(ctx);
  arrange(ctx, std::move(sides));
}

template <class S>
FactoredInverse<S>::~FactoredInverse() = default;

template <class S>
void FactoredInverse<S>::update(Context& ctx, Host factors, TwoSided sides) {
  factors_ = std::move(factors);
  store(ctx);
  scale(ctx, std::move(sides));
  replace(ctx, inverse_pivots_, factors_->inverse_pivots);
  if (transposed_) transposed_->update(ctx, transposed(*factors_), sides_.transposed());
}

template <class S>
void FactoredInverse<S>::update(Context& ctx, Joint factors, TwoSided sides) {
  joint_ = std::move(factors);
  share(ctx);
  scale(ctx, std::move(sides));
  if (!transposed_) return;
  joint_transposed_->transpose_again(ctx, *joint_);
  transposed_->update(ctx, joint_transposed_, sides_.transposed());
}

/// Triangles that were made on the host, or their new values.
template <class S>
void FactoredInverse<S>::store(Context& ctx) {
  bool const blocks = factors_->pivot_blocks.rows > 0;
  Csr<double> const with_blocks = blocks ? first_triangle(*factors_) : Csr<double>();
  Csr<double> const &first = blocks ? with_blocks : factors_->lower, &second = factors_->upper;
  if (!lower_.storage) {
    lower_.order = level_order(first, true);
    upper_.order = level_order(second, false);
  }
  // The host solves with the factors themselves. On a device the arrays stay, for recordings.
  bool const shared = std::is_same_v<S, double> && !blocks && ctx.space() == Space::host;
  Arrays const arrays = shared ? Arrays::borrowed : Arrays::copied;
  store(ctx, lower_, first, arrays);
  store(ctx, upper_, second, arrays);
}

template <class S>
void FactoredInverse<S>::store(Context& ctx, Part& part, Csr<double> const& triangle,
                               Arrays arrays) {
  auto const give = [&](auto const& values) {
    if (part.storage && arrays == Arrays::copied)
      part.storage->update_values(ctx, values.view());
    else
      part.storage.emplace(ctx, values.view(), arrays);
  };
  if constexpr (std::is_same_v<S, double>)
    give(triangle);
  else
    give(converted<S>(triangle));
  CsrView<S> const& a = part.storage->view();
  part.view.rows = a.rows;
  part.view.begin = a.offsets;
  part.view.end = following(a.offsets);
  part.view.columns = a.columns;
  part.view.values = a.values;
}

/// The triangles of the joint factors, their values rounded to S.
template <class S>
void FactoredInverse<S>::share(Context& ctx) {
  S const* values;
  if constexpr (std::is_same_v<S, double>) {
    values = joint_->values();
  } else {
    if (values_.size() == 0)
      values_ = Array<S>(ctx.space(), static_cast<std::size_t>(joint_->entries()));
    Narrowed const rounded = ctx.visit([&](auto& on) {
      return narrow_values(on, ctx.arena(), joint_->matrix(), Beyond::refuse_infinite,
                           KeptDiagonal::stored, values_.data());
    });
    if (!rounded.fits)
      throw MatrixError(cat("an entry of the factors, ", rounded.value,
                            ", is beyond the range of the type that they are stored in"));
    values = values_.data();
  }
  auto const place = [&](Part& part, TriangleView<double> const& v, LevelSchedule const& levels) {
    part.levels = levels.levels;
    part.view.row_of = levels.row_of.data();
    part.view.places = levels.places;
    part.view.rows = v.rows;
    part.view.begin = v.begin;
    part.view.end = v.end;
    part.view.columns = v.columns;
    part.view.values = values;
  };
  place(lower_, joint_->lower(), joint_->lower_levels());
  place(upper_, joint_->upper(), joint_->upper_levels());
}

/// The permutations and scales around the triangles, and the vectors between them.
template <class S>
void FactoredInverse<S>::arrange(Context& ctx, TwoSided sides) {
  Offset const entries =
      joint_ ? joint_->entries() : factors_->lower.entries() + factors_->upper.entries();
  for (Part* part : {&lower_, &upper_}) {
    if (!joint_) {
      std::vector<Index> const& row_of = part->order.row_of;
      replace(ctx, part->row_of, row_of);
      part->levels = part->order.levels();
      part->view.row_of = part->row_of.data();
      part->view.places = static_cast<Index>(row_of.size());
    }
    part->view.mean_row = static_cast<Index>(entries / 2 / std::max<Index>(1, rows()));
  }
  Index const first = lower_.view.rows;
  replace(ctx, from_, for_first(sides.row, first, Index{0}));
  replace(ctx, to_, sides.column);
  scale(ctx, std::move(sides));
  y_ = Array<double>(ctx.space(), static_cast<std::size_t>(first));
  z_ = Array<double>(ctx.space(), static_cast<std::size_t>(rows()));
  clean_ = false;
  ctx.visit([&]<class On>(On& on) {
    if constexpr (OnDevice<On>) {
      tickets_ = Array<unsigned>(ctx.space(), 2);
      clean(on);
    }
  });
  make_reach(ctx);
}

/// Of triangles whose unknowns are those of M alone.
template <class S>
void FactoredInverse<S>::make_reach(Context& ctx) {
  bool const worth = levels() >= ReachSearch::worth_levels && lower_.view.rows == rows();
  if (ctx.space() == Space::host || reaches_ == ReachOnDevice::never || !worth) return;
  Offset const entries =
      joint_ ? (joint_->entries() - rows()) / 2 : factors_->lower.entries();  // about
  Array<Index> lower_starts, upper_starts;
  auto const graph = [&](Part const& part, LevelSchedule const* levels, Array<Index>& starts) {
    if (levels == nullptr)
      starts = to_space(ctx, part.order.starts.data(), part.order.starts.size());
    TriangleView<S> const& t = part.view;
    return TriangleGraph{.rows = t.rows,
                         .begin = t.begin,
                         .end = t.end,
                         .columns = t.columns,
                         .row_of = t.row_of,
                         .starts = levels != nullptr ? levels->starts.data() : starts.data(),
                         .places = t.places,
                         .levels = part.levels,
                         .entries = entries};
  };
  reach_ = ReachSearch::of(
      ctx, graph(lower_, joint_ ? &joint_->lower_levels() : nullptr, lower_starts),
      graph(upper_, joint_ ? &joint_->upper_levels() : nullptr, upper_starts), from_.data());
}

/// At first, and where an application did not come to its end: its second launch leaves what the
/// next one needs.
template <class S>
template <class On>
void FactoredInverse<S>::clean(On& on) const {
  if (clean_) return;
  reset_tickets(on, tickets_.data());
  prepare_scratch(on, y_.data(), static_cast<std::int64_t>(y_.size()));
  prepare_scratch(on, z_.data(), static_cast<std::int64_t>(z_.size()));
  clean_ = true;
}

template <class S>
void FactoredInverse<S>::scale(Context& ctx, TwoSided sides) {
  sides_ = std::move(sides);
  replace(ctx, row_scale_, for_first(sides_.row_scale, lower_.view.rows, 0.0));
  replace(ctx, column_scale_, sides_.column_scale);
}

template <class S>
void FactoredInverse<S>::prepare(Context& ctx, Op op) const {
  if (op == Op::none) return;
  std::call_once(transposed_once_, [&] {
    if (joint_) joint_transposed_ = JointFactors::transposed(ctx, *joint_);
    transposed_ =
        joint_ ? std::make_unique<FactoredInverse>(ctx, joint_transposed_, sides_.transposed())
               : std::make_unique<FactoredInverse>(ctx, transposed(*factors_), sides_.transposed());
  });
}

template <class S>
Traits FactoredInverse<S>::traits() const {
  return {.precision = {real_of<S>, Real::f64, Real::f64},
          .transpose = true,
          .isolates_nonfinite = false};
}

template <class S>
Cost FactoredInverse<S>::cost(Index k) const {
  double const n = rows();
  double const entries = joint_ ? static_cast<double>(joint_->entries()) - n
                                : static_cast<double>(factors_->entries()) - n;
  return {2 * (entries + n) * k, (entries * (sizeof(S) + 4.0) + 72 * n + 16 * n) * k, 1};
}

template <class S>
void FactoredInverse<S>::do_apply(Context& ctx, double alpha, In<double> x, double beta,
                                  Out<double> y, Op op) const {
  if (op == Op::transpose) {
    prepare(ctx, op);
    return transposed_->apply(ctx, alpha, x, beta, y);
  }
  // The unknowns of several columns, which lie beside each other.
  Index const most = width_of(std::min(x.cols, TriangleSolve::most_columns));
  auto const first = static_cast<std::size_t>(lower_.view.rows);
  auto scope = ctx.arena().scope();
  std::size_t const unknowns = (first + static_cast<std::size_t>(rows())) * most;
  double* const shared = x.cols > 1 ? scope.template take<double>(unknowns) : nullptr;
  unsigned* const tickets = x.cols > 1 ? scope.template take<unsigned>(2) : nullptr;
  ctx.submit("factored_inverse", [this, alpha, x, beta, y, shared, tickets](Context& c) {
    if (c.space() == Space::host && Frame{c.loop()}.stopped()) return;
    for (Index j = 0; j < x.cols; j += TriangleSolve::most_columns) {
      Index const count = std::min(x.cols - j, TriangleSolve::most_columns);
      auto const few = [&](auto v) {
        v.data += v.offset(0, j), v.cols = count;
        return v;
      };
      if (count == 1)
        solve_column(c, alpha, few(x), beta, few(y));
      else if (sparse_columns(c, few(x)))
        for (Index k = 0; k < count; ++k)
          solve_column(c, alpha, column(few(x), k), beta, column(few(y), k));
      else
        solve_columns(c, alpha, few(x), beta, few(y), shared, tickets);
    }
  });
}

/// The two solves of M x, whose unknowns are y and z.
template <class S>
auto FactoredInverse<S>::solves(double alpha, In<double> x, double beta, Out<double> y, Index width,
                                double* unknowns) const -> Solves {
  double const* const pivots = joint_ ? joint_->inverse_pivots() : inverse_pivots_.data();
  bool const by_rows_x = x.layout == Layout::row_major, by_rows_y = y.layout == Layout::row_major;
  std::int64_t const own = lower_.view.rows - rows();  // unknowns of L alone
  return {{.columns = x.cols,
           .width = width,
           .source = x.data,
           .stride = by_rows_x ? x.ld : 1,
           .source_column = by_rows_x ? 1 : x.ld,
           .from = from_.data(),
           .scale = row_scale_.data()},
          {.columns = x.cols,
           .width = width,
           .source = unknowns + own * width,  // y, or w
           .stride = width,
           .source_column = 1,
           .scale = pivots,
           .to = to_.data(),
           .factor = column_scale_.data(),
           .alpha = alpha,
           .beta = beta,
           .out = y.data,
           .out_stride = by_rows_y ? y.ld : 1,
           .out_column = by_rows_y ? 1 : y.ld}};
}

template <class S>
void FactoredInverse<S>::solve_column(Context& ctx, double alpha, In<double> x, double beta,
                                      Out<double> y) const {
  Solves at = solves(alpha, x, beta, y, 1, y_.data());
  at.down.loop = at.up.loop = ctx.loop();
  double* const between = y_.data() + (lower_.view.rows - rows());
  ctx.visit([&]<class On>(On& on) {
    if constexpr (OnDevice<On>) {
      unsigned* const t = tickets_.data();
      clean(on);
      clean_ = false;
      // The second solve leaves those unknowns alone that it does not begin with.
      if (between != y_.data()) prepare_scratch(on, y_.data(), lower_.view.rows);
      TriangleMask lower, upper;
      if (reach_) {
        reach_->find(on, ctx.arena(), at.down.source, at.down.stride);
        lower = reach_->lower(), upper = reach_->upper();
      }
      solve_triangle(on, lower_.view, at.down, {y_.data(), z_.data(), rows(), false, t, t + 1},
                     lower);
      solve_triangle(on, upper_.view, at.up, {z_.data(), between, rows(), true, t + 1, t}, upper);
      clean_ = true;
    } else {
      if (sparse_.solve(on, {lower_.view, upper_.view, upper_.order, at.down, at.up, rows()},
                        z_.data()))
        return;
      solve_triangle(on, lower_.view, lower_.order, at.down, y_.data());
      solve_triangle(on, upper_.view, upper_.order, at.up, z_.data());
    }
  });
}

/// Whether each of several columns has few entries, so that one after another is quicker.
template <class S>
bool FactoredInverse<S>::sparse_columns(Context& ctx, In<double> x) const {
  if (ctx.space() != Space::host) return false;
  for (Index k = 0; k < x.cols; ++k)
    if (!SparseSolves<S>::few_entries(solves(1, column(x, k), 0, {}, 1, y_.data()).down, rows()))
      return false;
  return true;
}

/// Two to sixteen columns; the unknowns of both triangles in one piece of workspace.
template <class S>
void FactoredInverse<S>::solve_columns(Context& ctx, double alpha, In<double> x, double beta,
                                       Out<double> y, double* unknowns, unsigned* tickets) const {
  Index const width = width_of(x.cols);
  Solves at = solves(alpha, x, beta, y, width, unknowns);
  at.down.loop = at.up.loop = ctx.loop();
  std::int64_t const first = std::int64_t{lower_.view.rows} * width;
  ctx.visit([&]<class On>(On& on) {
    if constexpr (OnDevice<On>) {
      reset_tickets(on, tickets);
      prepare_scratch(on, unknowns, first + std::int64_t{rows()} * width);
      solve_triangles(on, lower_.view, at.down, unknowns, tickets);
      solve_triangles(on, upper_.view, at.up, unknowns + first, tickets + 1);
    } else {
      solve_triangle(on, lower_.view, lower_.order, at.down, unknowns);
      solve_triangle(on, upper_.view, upper_.order, at.up, unknowns + first);
    }
  });
}

template class FactoredInverse<double>;
template class FactoredInverse<float>;
template class FactoredInverse<half>;

}  // namespace tcsolve
