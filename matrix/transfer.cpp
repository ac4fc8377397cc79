// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/matrix/transfer.hpp>

namespace tcsolve {

template <class S>
CsrStorage<S>::CsrStorage(Context& ctx, CsrView<S> const& a, Arrays arrays) : view_(a) {
  // Borrowed arrays are read only after the caller's work that writes them.
  Context::Entry const entry(ctx);
  if (a.space != ctx.space())
    copy(ctx, a);
  else if (arrays == Arrays::copied)
    duplicate(ctx, a);
}

template <class S>
CsrStorage<S>::CsrStorage(Context& ctx, Csr<S> a) : owned_(std::move(a)), view_(owned_.view()) {
  if (ctx.space() == Space::host) return;
  copy(ctx, owned_.view());
  owned_ = {};
}

template <class S>
CsrStorage<S>::CsrStorage(Context& ctx, Index rows, Index cols, CsrArrays<S> arrays)
    : narrow_offsets_(std::move(arrays.narrow_offsets)),
      columns_(std::move(arrays.columns)),
      wide_offsets_(std::move(arrays.wide_offsets)),
      values_(std::move(arrays.values)) {
  bool const wide = wide_offsets_.size() > 0;
  OffsetsView const offsets =
      wide ? OffsetsView(wide_offsets_.data()) : OffsetsView(narrow_offsets_.data());
  view_ = {
      rows,           cols,       static_cast<Offset>(columns_.size()), offsets, columns_.data(),
      values_.data(), ctx.space()};
}

template <class S>
void CsrStorage<S>::update_values(Context& ctx, CsrView<S> const& a) {
  if (a.entries == 0) return;
  Context::Entry const entry(ctx);
  if (own_values() != nullptr)
    copy_bytes(ctx, own_values(), ctx.space(), a.values, a.space, a.entries * sizeof(S));
  else if (a.space == ctx.space())
    view_ = a;
  else
    copy(ctx, a);
}

template <class S>
void CsrStorage<S>::update_values(Context& ctx, Csr<S> a) {
  if (ctx.space() != Space::host || own_values() != nullptr) return update_values(ctx, a.view());
  owned_ = std::move(a);
  view_ = owned_.view();
}

template <class S>
void CsrStorage<S>::copy(Context& ctx, CsrView<S> const& a) {
  if (a.space != Space::host)
    throw ShapeError("a matrix in device memory needs a Context on the device");
  std::size_t offsets = static_cast<std::size_t>(a.rows) + 1, entries = a.entries;
  if (a.entries <= std::numeric_limits<std::int32_t>::max()) {
    std::vector<std::int32_t> narrowed(offsets);
    for (std::size_t i = 0; i < offsets; ++i) narrowed[i] = static_cast<std::int32_t>(a.offsets[i]);
    narrow_offsets_ = to_space(ctx, narrowed.data(), offsets);
    view_.offsets = narrow_offsets_.data();
  } else {
    wide_offsets_ = to_space(ctx, static_cast<std::int64_t const*>(a.offsets.data), offsets);
    view_.offsets = wide_offsets_.data();
  }
  columns_ = to_space(ctx, a.columns, entries);
  values_ = to_space(ctx, a.values, entries);
  view_.columns = columns_.data();
  view_.values = values_.data();
  view_.space = ctx.space();
}

/// Copies a matrix of the Context's space to owned arrays in the same space.
template <class S>
void CsrStorage<S>::duplicate(Context& ctx, CsrView<S> const& a) {
  auto const own = [&]<class T>(Array<T>& array, T const* from, std::size_t n) {
    array.resize(ctx.space(), n);
    copy_bytes(ctx, array.data(), ctx.space(), from, a.space, n * sizeof(T));
    return array.data();
  };
  std::size_t const offsets = static_cast<std::size_t>(a.rows) + 1, entries = a.entries;
  if (a.offsets.wide)
    view_.offsets = own(wide_offsets_, static_cast<std::int64_t const*>(a.offsets.data), offsets);
  else
    view_.offsets = own(narrow_offsets_, static_cast<std::int32_t const*>(a.offsets.data), offsets);
  view_.columns = own(columns_, a.columns, entries);
  view_.values = own(values_, a.values, entries);
  view_.space = ctx.space();
}

template <class S>
std::vector<Offset> offsets_to_host(Context& ctx, CsrView<S> const& a) {
  std::size_t const n = static_cast<std::size_t>(a.rows) + 1;
  if (a.offsets.wide)
    return to_host(ctx, static_cast<std::int64_t const*>(a.offsets.data), a.space, n);
  auto const narrow = to_host(ctx, static_cast<std::int32_t const*>(a.offsets.data), a.space, n);
  return {narrow.begin(), narrow.end()};
}

template <class S>
Csr<S> to_host(Context& ctx, CsrView<S> const& a) {
  Csr<S> here;
  here.rows = a.rows;
  here.cols = a.cols;
  here.offsets = offsets_to_host(ctx, a);
  here.columns = to_host(ctx, a.columns, a.space, a.entries);
  here.values = to_host(ctx, a.values, a.space, a.entries);
  return here;
}

template class CsrStorage<double>;
template class CsrStorage<float>;
template class CsrStorage<half>;
template class CsrStorage<bfloat16>;
template Csr<double> to_host<double>(Context&, CsrView<double> const&);
template std::vector<Offset> offsets_to_host<double>(Context&, CsrView<double> const&);
template Csr<float> to_host<float>(Context&, CsrView<float> const&);
template std::vector<Offset> offsets_to_host<float>(Context&, CsrView<float> const&);
template Csr<half> to_host<half>(Context&, CsrView<half> const&);
template Csr<bfloat16> to_host<bfloat16>(Context&, CsrView<bfloat16> const&);
template std::vector<Offset> offsets_to_host<half>(Context&, CsrView<half> const&);
template std::vector<Offset> offsets_to_host<bfloat16>(Context&, CsrView<bfloat16> const&);

}  // namespace tcsolve
