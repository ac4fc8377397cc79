// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/factors/make/joint_factors.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <tcsolve/factors/make/pivots.hpp>

namespace tcsolve {
namespace {

OffsetsView part(Array<std::int32_t> const& narrow, Array<std::int64_t> const& wide,
                 std::int64_t first) {
  return narrow.size() > 0 ? OffsetsView(narrow.data() + first) : OffsetsView(wide.data() + first);
}

}  // namespace

JointFactors::JointFactors(Context& ctx, std::shared_ptr<TriangularFactors> patterns)
    : rows_(patterns->lower.rows),
      on_host_(std::move(patterns)),
      lower_levels_(to_space(ctx, level_order(on_host_->lower, true))),
      upper_levels_(to_space(ctx, level_order(on_host_->upper, false))),
      shift_(on_host_->shift) {
  Csr<double>&L = on_host_->lower, &U = on_host_->upper;
  std::fill(L.values.begin(), L.values.end(), 0.0);
  std::fill(U.values.begin(), U.values.end(), 0.0);
  auto const n = static_cast<std::size_t>(rows_);
  Offset const entries = on_host_->entries();
  std::vector<Offset> offsets(3 * n + 1, 0);
  std::vector<Index> columns(static_cast<std::size_t>(entries));
  Offset at = 0;
  for (Index i = 0; i < rows_; ++i) {
    auto const left = L.row_columns(i), right = U.row_columns(i);
    std::copy(left.begin(), left.end(), columns.begin() + at);
    at += static_cast<Offset>(left.size());
    offsets[n + 1 + i] = at;
    offsets[2 * n + 1 + i] = at + 1;
    columns[at++] = i;
    std::copy(right.begin(), right.end(), columns.begin() + at);
    at += static_cast<Offset>(right.size());
    offsets[i + 1] = at;
  }
  if (entries <= std::numeric_limits<std::int32_t>::max()) {
    std::vector<std::int32_t> const narrow(offsets.begin(), offsets.end());
    narrow_ = to_space(ctx, narrow.data(), narrow.size());
  } else {
    wide_ = to_space(ctx, offsets.data(), offsets.size());
  }
  columns_ = to_space(ctx, columns.data(), columns.size());
  auto const row = [&](Index i) { return static_cast<std::size_t>(offsets[i + 1] - offsets[i]); };
  double squares = 0;
  for (Index i = 0; i < rows_; ++i) {
    longest_row_ = std::max(longest_row_, static_cast<Index>(row(i)));
    squares += static_cast<double>(row(i)) * static_cast<double>(row(i));
  }
  short_row_ = short_row_of(longest_row_, squares, entries);
  Offset of_long_rows = 0;
  for (Index i = 0; i < rows_; ++i)
    if (row(i) > static_cast<std::size_t>(short_row_)) of_long_rows += static_cast<Offset>(row(i));
  make_room(ctx, of_long_rows);
}

JointFactors::JointFactors(Context& ctx, LevelZero made)
    : rows_(made.rows),
      longest_row_(made.longest_row),
      short_row_(made.short_row),
      lower_levels_(std::move(made.lower_levels)),
      upper_levels_(std::move(made.upper_levels)),
      narrow_(std::move(made.narrow)),
      wide_(std::move(made.wide)),
      columns_(std::move(made.columns)) {
  make_room(ctx, made.of_long_rows);
}

std::shared_ptr<JointFactors> JointFactors::transposed(Context& ctx, JointFactors const& of) {
  sparse::Transpose plan(ctx, of.matrix());
  // A chain of dependences is as long from its other end.
  Index const levels = std::max({Index{1}, of.lower_levels_.levels, of.upper_levels_.levels});
  std::optional<LevelZero> patterns = level_zero(ctx, plan.pattern().view(), levels);
  if (!patterns) throw Error("internal: transposed factors have other levels");
  auto made = std::make_shared<JointFactors>(ctx, std::move(*patterns));
  made->source_.emplace(std::move(plan));
  made->transpose_again(ctx, of);
  return made;
}

void JointFactors::transpose_again(Context& ctx, JointFactors const& of) {
  source_->values(ctx, of.values(), values_.data());
  copy_bytes(ctx, inverse_pivots_.data(), ctx.space(), of.inverse_pivots(), ctx.space(),
             inverse_pivots_.bytes());
  replaced_ = of.replaced_;
  shift_ = of.shift_;
}

Index short_row_of(Index longest_row, double squares, Offset entries) {
  double const twice = 2 * squares / std::max(1.0, static_cast<double>(entries));
  return std::min(longest_row,
                  static_cast<Index>(std::min<double>(twice, JointArrays::most_of_each)));
}

/// For the numbers, and what a device makes them with.
void JointFactors::make_room(Context& ctx, Offset of_long_rows) {
  values_ = Array<double>(ctx.space(), columns_.size());
  inverse_pivots_ = Array<double>(ctx.space(), static_cast<std::size_t>(rows_));
  counters_ = Array<double>(ctx.space(), JointScratch::counter_bytes / sizeof(double));
  if (ctx.space() != Space::host)
    long_rows_ = Array<double>(ctx.space(), static_cast<std::size_t>(of_long_rows));
}

/// Of the joint rows, where they were not made of the host's.
TriangularFactors& JointFactors::patterns(Context& ctx) const {
  if (on_host_) return *on_host_;
  auto made = std::make_shared<TriangularFactors>();
  CsrView<double> const joint = matrix();
  std::vector<Offset> const offsets = offsets_to_host(ctx, joint);
  std::vector<Index> const columns = tcsolve::to_host(ctx, columns_);
  auto const n = static_cast<std::size_t>(rows_);
  for (Csr<double>* part : {&made->lower, &made->upper}) {
    part->rows = part->cols = rows_;
    part->offsets.assign(n + 1, 0);
    part->columns.reserve(columns.size() / 2);
  }
  for (Index i = 0; i < rows_; ++i) {
    for (Offset k = offsets[i]; k < offsets[i + 1]; ++k)
      if (Index const j = columns[k]; j != i)
        (j < i ? made->lower : made->upper).columns.push_back(j);
    made->lower.offsets[i + 1] = made->lower.entries();
    made->upper.offsets[i + 1] = made->upper.entries();
  }
  for (Csr<double>* part : {&made->lower, &made->upper})
    part->values.assign(part->columns.size(), 0.0);
  made->inverse_pivots.assign(n, 1.0);
  on_host_ = std::move(made);
  return *on_host_;
}

TriangularFactors const& JointFactors::pattern(Context& ctx) const { return patterns(ctx); }

PivotCounts JointFactors::run(Context& ctx, CsrView<double> const& B, PivotRule const& rule) {
  if (rows_ == 0) return {};
  return ctx.visit([&](auto& on) {
    return eliminate(on, arrays(), values_.data(), inverse_pivots_.data(), B, rule,
                     {counters_.data(), long_rows_.data()});
  });
}

JointArrays JointFactors::arrays() const {
  return {.rows = rows_,
          .longest_row = longest_row_,
          .short_row = short_row_,
          .entries = entries(),
          .begin = part(narrow_, wide_, 0),
          .diagonal = part(narrow_, wide_, rows_ + 1),
          .columns = columns_.data(),
          .row_of = lower_levels_.row_of.data(),
          .places = lower_levels_.places};
}

void JointFactors::factorise(Context& ctx, CsrView<double> const& B, double floor) {
  replaced_ = static_cast<Index>(run(ctx, B, {.floor = floor}).replaced);
  shift_ = 0;
}

void JointFactors::factorise_definite(Context& ctx, CsrView<double> const& B) {
  replaced_ = 0;
  bool positive = false;  // the diagonal, looked at where a pivot fails
  shift_ = with_shifts(shift_, [&](double shift) {
    ctx.cancel_flag().check();
    if (run(ctx, B, {.definite = true, .shift = shift}).failed == 0) return true;
    if (!std::exchange(positive, true)) positive_diagonal(tcsolve::to_host(ctx, B));
    return false;
  });
}

std::shared_ptr<TriangularFactors const> JointFactors::to_host(Context& ctx) const {
  TriangularFactors& to = patterns(ctx);
  constexpr std::size_t stretch = 1 << 16;  // numbers that travel at a time
  std::vector<double> numbers(std::min(stretch, values_.size()));
  std::size_t next = numbers.size(), travelled = 0;
  auto const take = [&](double* out, Offset count) {
    for (; count > 0; --count) {
      if (next == numbers.size()) {
        next = 0;
        copy_bytes(ctx, numbers.data(), Space::host, values_.data() + travelled, ctx.space(),
                   sizeof(double) * std::min(numbers.size(), values_.size() - travelled));
        travelled += numbers.size();
      }
      *out++ = numbers[next++];
    }
  };
  double diagonal = 0;
  for (Index i = 0; i < rows_; ++i) {
    Offset const left = to.lower.offsets[i], right = to.upper.offsets[i];
    take(to.lower.values.data() + left, to.lower.offsets[i + 1] - left);
    take(&diagonal, 1);
    take(to.upper.values.data() + right, to.upper.offsets[i + 1] - right);
  }
  to.inverse_pivots =
      tcsolve::to_host(ctx, inverse_pivots_.data(), ctx.space(), inverse_pivots_.size());
  to.replaced = replaced_;
  to.shift = shift_;
  return on_host_;
}

TriangleView<double> JointFactors::lower() const {
  TriangleView<double> v;
  v.rows = rows_;
  v.begin = part(narrow_, wide_, 0);
  v.end = part(narrow_, wide_, rows_ + 1);
  v.columns = columns_.data();
  v.values = values_.data();
  return v;
}

TriangleView<double> JointFactors::upper() const {
  TriangleView<double> v = lower();
  v.begin = part(narrow_, wide_, 2 * std::int64_t{rows_} + 1);
  v.end = part(narrow_, wide_, 1);
  return v;
}

CsrView<double> JointFactors::matrix() const {
  return {rows_,           rows_,          entries(),       part(narrow_, wide_, 0),
          columns_.data(), values_.data(), columns_.space()};
}

namespace host {

PivotCounts eliminate(Host&, JointArrays const& f, double* values, double* inverse_pivots,
                      CsrView<double> const& B, PivotRule const& rule, JointScratch const&) {
  PivotCounts counts;
  std::vector<Offset> place(static_cast<std::size_t>(f.rows), -1);  // of a column in the row
  for (Index p = 0; p < f.places; ++p) {
    Index const i = f.row_of[p];
    if (i < 0) continue;
    Offset const begin = f.begin[i], end = f.begin[i + 1], diagonal = f.diagonal[i];
    for (Offset e = begin; e < end; ++e) {
      place[f.columns[e]] = e;
      values[e] = 0;
    }
    double own = 0;
    for (Offset k = B.offsets[i]; k < B.offsets[i + 1]; ++k) {
      Offset const e = place[B.columns[k]];
      if (e < 0) continue;
      if (e == diagonal) own = B.values[k];
      values[e] = e == diagonal ? (1 + rule.shift) * B.values[k] : B.values[k];
    }
    for (Offset e = begin; e < diagonal; ++e) {
      Index const k = f.columns[e];
      double const v = values[e];  // (L D)_ik
      if (v != 0)
        for (Offset g = f.diagonal[k] + 1; g < f.begin[k + 1]; ++g)
          if (Offset const to = place[f.columns[g]]; to >= 0) values[to] -= v * values[g];
      values[e] = v * inverse_pivots[k];
    }
    double const pivot = values[diagonal];
    Index replaced = 0;
    if (rule.definite) {
      bool const fails = !(pivot > least_pivot * own);
      if (fails) return {.failed = 1};
      inverse_pivots[i] = 1 / pivot;
    } else {
      inverse_pivots[i] = inverse_pivot(pivot, rule.floor * row_size(B, i), replaced);
      counts.replaced += static_cast<unsigned>(replaced);
    }
    values[diagonal] = 0;
    for (Offset e = diagonal + 1; e < end; ++e) values[e] *= inverse_pivots[i];
    for (Offset e = begin; e < end; ++e) place[f.columns[e]] = -1;
  }
  return counts;
}

}  // namespace host
}  // namespace tcsolve
