// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/sparse/sparse_vector.hpp>

#include <algorithm>
#include <numeric>

namespace tcsolve {
namespace {

void require_there(Context const& ctx, Space space) {
  if (space != ctx.space())
    throw ShapeError(cat("sparse vector: x lies on the ", name(space),
                         ", the Context computes on the ", name(ctx.space())));
}

}  // namespace

void require_side(int side) {
  if (side != 16 && side != 32 && side != 64)
    throw ShapeError(cat("sparse vector: tiles of ", side, "; there are 16, 32 and 64"));
}

template <class T>
SparseVector<T>::SparseVector(Context& ctx, Index rows, int side)
    : SparseVector(from_sorted(ctx, rows, nullptr, nullptr, 0, side)) {}

template <class T>
SparseVector<T> SparseVector<T>::from_entries(Context& ctx, Index rows,
                                              std::span<Index const> indices,
                                              std::span<T const> values, int side) {
  if (indices.size() != values.size())
    throw ShapeError(
        cat("sparse vector: ", indices.size(), " indices and ", values.size(), " values"));
  for (std::size_t k = 0; k < indices.size(); ++k)
    if (indices[k] < 0 || indices[k] >= rows)
      throw ShapeError(
          cat("sparse vector: entry ", k, " is element ", indices[k], ", outside [0, ", rows, ")"));
  std::vector<std::size_t> order(indices.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (!std::ranges::is_sorted(indices))
    std::ranges::stable_sort(order, {}, [&](std::size_t k) { return indices[k]; });
  std::vector<Index> at;
  std::vector<T> sum;
  for (std::size_t const k : order) {
    if (!at.empty() && at.back() == indices[k])
      sum.back() += values[k];
    else
      at.push_back(indices[k]), sum.push_back(values[k]);
  }
  Array<Index> const there = to_space(ctx, at.data(), at.size());
  Array<T> const sums = to_space(ctx, sum.data(), sum.size());
  return from_sorted(ctx, rows, there.data(), sums.data(), static_cast<Index>(at.size()), side);
}

template <class T>
SparseVector<T> SparseVector<T>::from_sorted(Context& ctx, Index rows, Index const* indices,
                                             T const* values, Index count, int side) {
  require_side(side);
  if (rows < 0) throw ShapeError(cat("sparse vector: ", rows, " elements"));
  Context::Entry const entry(ctx);
  auto arrays = ctx.visit([&](auto& on) {
    return sparse_from_sorted(on, ctx.arena(), rows, side, indices, values, count);
  });
  return SparseVector(std::move(arrays), count);
}

template <class T>
SparseVector<T> SparseVector<T>::from_dense(Context& ctx, In<T> x, int side) {
  require_side(side);
  require_there(ctx, x.space);
  Context::Entry const entry(ctx);
  return SparseVector(
      ctx.visit([&](auto& on) { return sparse_from_dense(on, ctx.arena(), side, x); }));
}

template <class T>
SparseVector<T> SparseVector<T>::from_bits(Context& ctx, Index rows, std::uint64_t const* words,
                                           int side) {
  require_side(side);
  Context::Entry const entry(ctx);
  return SparseVector(
      ctx.visit([&](auto& on) { return sparse_from_bits<T>(on, ctx.arena(), rows, side, words); }));
}

template <class T>
Index SparseVector<T>::entries(Context& ctx) const {
  Context::Entry const entry(ctx);
  counted_ = ctx.visit([&](auto& on) { return count_entries(on, ctx.arena(), view()); });
  return counted_;
}

template <class T>
std::pair<std::vector<Index>, std::vector<T>> SparseVector<T>::to_entries(Context& ctx) const {
  Context::Entry const entry(ctx);
  auto const count = static_cast<std::size_t>(entries(ctx));
  Array<Index> indices(ctx.space(), count);
  Array<T> values(ctx.space(), count);
  ctx.visit(
      [&](auto& on) { sparse_to_sorted(on, ctx.arena(), view(), indices.data(), values.data()); });
  return {to_host(ctx, indices), to_host(ctx, values)};
}

template <class T>
void SparseVector<T>::to_dense(Context& ctx, Out<T> x) const {
  require_there(ctx, x.space);
  if (x.rows != rows() || x.cols != 1)
    throw ShapeError(
        cat("sparse vector: it has ", rows(), " elements, x is ", x.rows, " x ", x.cols));
  Context::Entry const entry(ctx);
  ctx.visit([&](auto& on) { sparse_to_dense(on, ctx.arena(), view(), x); });
}

template <class T>
std::optional<In<T>> SparseVector<T>::as_dense() const {
  if (tiles() != view().tile_count()) return std::nullopt;
  return vector_view<T const>(view().values, rows(), arrays_.place.space());
}

template <class T>
Out<T> SparseVector<T>::make_dense(Context& ctx, bool keep) {
  Context::Entry const entry(ctx);
  std::int64_t const all = view().tile_count();
  auto const tiles = static_cast<std::size_t>(all);
  SparseVectorArrays<T>& to = arrays_;
  if (to.values.size() < tiles * view().side || (keep && tiles != std::size_t(view().tiles))) {
    Array<T> values(ctx.space(), tiles * static_cast<std::size_t>(view().side));
    if (keep) to_dense(ctx, vector_view(values.data(), rows(), ctx.space()));
    to.values = std::move(values);
    to.view.values = to.values.data();
  }
  if (to.list.size() < tiles) {
    to.list = Array<Index>(ctx.space(), tiles);
    to.there = Array<std::uint64_t>(ctx.space(), tiles);
    to.view.list = to.list.data(), to.view.there = to.there.data();
  }
  counted_ = -1;
  return vector_view(to.values.data(), rows(), ctx.space());
}

template <class T>
void SparseVector<T>::keep_nonzeros(Context& ctx, SparseVector const* mask, bool complement) {
  Context::Entry const entry(ctx);
  ctx.visit([&](auto& on) {
    sparse_keep_nonzeros(on, ctx.arena(), arrays_, mask != nullptr ? &mask->view() : nullptr,
                         complement);
  });
}

template <class T>
void SparseVector<T>::to_bits(Context& ctx, std::uint64_t* words) const {
  Context::Entry const entry(ctx);
  ctx.visit([&](auto& on) { sparse_to_bits(on, ctx.arena(), view(), words); });
}

template class SparseVector<double>;
template class SparseVector<float>;

}  // namespace tcsolve
