// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/api/stored_matrix.hpp>

#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include <tcsolve/kernels/vector_ops.hpp>

namespace tcsolve {
namespace {

using Storage = StoredMatrix::Storage;

Csr<double> extents_of(Index rows, Index cols) {
  Csr<double> a;
  a.rows = rows;
  a.cols = cols;
  return a;
}

template <class T>
Array<T> copy_of(Context& ctx, void const* from, Space space, std::size_t n) {
  Array<T> copy(ctx.space(), n);
  copy_bytes(ctx, copy.data(), ctx.space(), from, space, n * sizeof(T));
  return copy;
}

/// A copy in the Context's space.
Storage copied(Context& ctx, CsrView<double> const& a) {
  if (a.space != ctx.space()) return std::make_shared<CsrStorage<double>>(ctx, a);
  if (a.space == Space::host) return std::make_shared<CsrStorage<double>>(ctx, to_host(ctx, a));
  CsrArrays<double> arrays;
  std::size_t const offsets = static_cast<std::size_t>(a.rows) + 1;
  auto const entries = static_cast<std::size_t>(a.entries);
  if (a.offsets.wide)
    arrays.wide_offsets = copy_of<std::int64_t>(ctx, a.offsets.data, a.space, offsets);
  else
    arrays.narrow_offsets = copy_of<std::int32_t>(ctx, a.offsets.data, a.space, offsets);
  arrays.columns = copy_of<Index>(ctx, a.columns, a.space, entries);
  arrays.values = copy_of<double>(ctx, a.values, a.space, entries);
  return std::make_shared<CsrStorage<double>>(ctx, a.rows, a.cols, std::move(arrays));
}

Storage reordered(Context& ctx, CsrView<double> const& a, Permutation const& P) {
  CsrStorage<double> const here(ctx, a);
  return std::make_shared<CsrStorage<double>>(permuted(ctx, here.view(), P));
}

}  // namespace

void StoredMatrix::take(Context& ctx, CsrView<double> const& a, Arrays arrays, bool on_host) {
  bool const stays_on_host = on_host || ctx.space() == Space::host;
  if (arrays == Arrays::copied && a.space == Space::host && stays_on_host)
    return take(ctx, to_host(ctx, a), on_host);
  entries_ = a.entries;
  host_ = on_host ? to_host(ctx, a) : extents_of(a.rows, a.cols);
  storage_ =
      arrays == Arrays::copied ? copied(ctx, a) : std::make_shared<CsrStorage<double>>(ctx, a);
}

void StoredMatrix::take(Context& ctx, Csr<double> a, bool on_host) {
  entries_ = a.entries();
  host_ = extents_of(a.rows, a.cols);
  if (on_host) {
    host_ = std::move(a);
    storage_ = std::make_shared<CsrStorage<double>>(ctx, host_.view());
  } else {
    storage_ = std::make_shared<CsrStorage<double>>(ctx, std::move(a));
  }
}

void StoredMatrix::take(Context& ctx, Storage a, bool on_host) {
  entries_ = a->view().entries;
  host_ = on_host ? to_host(ctx, a->view()) : extents_of(a->view().rows, a->view().cols);
  storage_ = std::move(a);
}

void StoredMatrix::reorder(Context& ctx, Storage moved, bool on_host) {
  storage_ = std::move(moved);
  host_ = on_host ? to_host(ctx, storage_->view()) : extents_of(host_.rows, host_.cols);
}

Csr<double> StoredMatrix::settle(Context& ctx, bool borrowed) {
  // Operators borrow these arrays: moving host_ into the storage keeps their addresses.
  bool const in_host = !host_.values.empty() && storage_->view().values == host_.values.data();
  Csr<double> here = std::exchange(host_, extents_of(host_.rows, host_.cols));
  if (!borrowed)
    storage_.reset();
  else if (in_host)
    storage_ = std::make_shared<CsrStorage<double>>(ctx, std::exchange(here, {}));
  return here;
}

CsrView<double> StoredMatrix::update_values(Context& ctx, CsrView<double> const& a,
                                            Permutation const* P) {
  if (P != nullptr) return reordered_values(ctx, a, *P);
  if (!storage_ && a.space == ctx.space()) return a;
  if (!storage_)
    storage_ = copied(ctx, a);
  else
    storage_->update_values(ctx, a);
  return storage_->view();
}

CsrView<double> StoredMatrix::renew(Context& ctx, CsrView<double> const& a, Permutation const* P) {
  storage_ = P != nullptr ? reordered(ctx, a, *P) : copied(ctx, a);
  return storage_->view();
}

CsrView<double> StoredMatrix::reordered_values(Context& ctx, CsrView<double> const& a,
                                               Permutation const& P) {
  bool const numbered = a.entries <= std::numeric_limits<Index>::max();
  if (!storage_ || !numbered) return renew(ctx, a, &P);
  if (a.entries == 0) return storage_->view();
  if (places_.size() == 0) find_places(ctx, a, P);
  double const* values = a.values;
  if (a.space != ctx.space()) {
    staged_.resize(ctx.space(), static_cast<std::size_t>(a.entries));
    copy_bytes(ctx, staged_.data(), ctx.space(), a.values, a.space, staged_.bytes());
    values = staged_.data();
  }
  auto const n = static_cast<Index>(a.entries);
  permute<double>(ctx, places_.data(), vector_view(values, n, ctx.space()),
                  vector_view(storage_->own_values(), n, ctx.space()));
  return storage_->view();
}

/// Permutes a matrix of A's pattern whose values are the entry numbers 0, 1, ...: its values are
/// then places_.
void StoredMatrix::find_places(Context& ctx, CsrView<double> const& a, Permutation const& P) {
  CsrStorage<double> const here(ctx, a);
  auto const entries = static_cast<std::size_t>(a.entries);
  std::vector<double> numbers(entries);
  std::iota(numbers.begin(), numbers.end(), 0.0);
  Array<double> const there = to_space(ctx, numbers.data(), entries);
  CsrView<double> numbered = here.view();
  numbered.values = there.data();
  CsrStorage<double> const moved = permuted(ctx, numbered, P);
  numbers = to_host(ctx, moved.view().values, ctx.space(), entries);
  std::vector<Index> const places(numbers.begin(), numbers.end());
  places_ = to_space(ctx, places.data(), entries);
}

}  // namespace tcsolve
