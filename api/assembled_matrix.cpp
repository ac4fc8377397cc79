// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/api/assembled_matrix.hpp>

namespace tcsolve {
namespace {

/// The places of entries of any space.
sparse::Assembly plan_of(Context& ctx, CooView entries) {
  if (entries.space == ctx.space() || entries.entries <= 0) {
    entries.space = ctx.space();
    return sparse::Assembly(ctx, entries);
  }
  auto const n = static_cast<std::size_t>(entries.entries);
  auto const here = [&](Index const* there) {
    Array<Index> copy(ctx.space(), n);
    copy_bytes(ctx, copy.data(), ctx.space(), there, entries.space, copy.bytes());
    return copy;
  };
  Array<Index> const i = here(entries.i), j = here(entries.j);
  entries.i = i.data(), entries.j = j.data(), entries.space = ctx.space();
  return sparse::Assembly(ctx, entries);
}

}  // namespace

AssembledMatrix::AssembledMatrix(Context& ctx, CooView const& entries)
    : ctx_(ctx), plan_(plan_of(ctx, entries)) {
  update(entries.values, entries.entries, entries.space);
}

void AssembledMatrix::update(double const* values, Offset entries, Space space) {
  if (entries != plan_.entries())
    throw ShapeError(
        cat("LinearSolver: ", entries, " values; there are ", plan_.entries(), " entries"));
  if (entries > 0 && values == nullptr) throw ShapeError("LinearSolver: the values are null");
  if (space != ctx_.space()) {
    staged_.resize(ctx_.space(), static_cast<std::size_t>(entries));
    copy_bytes(ctx_, staged_.data(), ctx_.space(), values, space, staged_.bytes());
    values = staged_.data();
  }
  Array<double>& next = values_[1 - now_];
  next.resize(ctx_.space(), static_cast<std::size_t>(plan_.pattern().entries));
  plan_.values(ctx_, values, next.data());
  now_ = 1 - now_;
}

}  // namespace tcsolve
