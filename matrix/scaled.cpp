// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/matrix/scaled.hpp>

namespace tcsolve {
namespace {

/// Throws what is to be said of the first entry that does not fit, if there is one.
template <class S>
void require_fit(Narrowed const& made, Beyond beyond) {
  if (made.fits) return;
  std::string const what =
      cat("row ", made.row + 1, ", column ", made.column + 1, ": ", made.value, " is ");
  std::string const format = cat(" the range of the ", 8 * sizeof(S), "-bit format");
  switch (beyond) {
    case Beyond::refuse_infinite:
      throw MatrixError(
          cat("CSR ", what, "beyond", format, "; scale the matrix or store it wider"));
    case Beyond::refuse:
      throw MatrixError(
          cat(what, "outside", format, "; use `scale: powers_of_two` or wider values"));
    case Beyond::scale: break;
  }
  throw MatrixError(cat(what, "outside", format,
                        " beside the other entries of its row and column: no scaling of rows and "
                        "columns holds them all; use wider values"));
}

template <class S, class T>
Narrowed narrowed(Context& ctx, CsrView<T> const& a, Beyond beyond, KeptDiagonal kept, S* to) {
  auto made =
      ctx.visit([&](auto& on) { return narrow_values<S>(on, ctx.arena(), a, beyond, kept, to); });
  require_fit<S>(made, beyond);
  return made;
}

std::vector<int> listed(Array<std::int32_t> const& exponents) {
  return {exponents.data(), exponents.data() + exponents.size()};
}

}  // namespace

template <class S>
ScaledCsr<S> scaled(Csr<double> const& a, Scaling scaling) {
  Host host;
  Arena arena(Space::host);
  std::vector<S> values(a.values.size());
  auto const made = host::narrow_values<S>(host, arena, a.view(), beyond(scaling),
                                           KeptDiagonal::stored, values.data());
  require_fit<S>(made, beyond(scaling));
  return {{a.rows, a.cols, a.offsets, a.columns, std::move(values)},
          made.shift,
          listed(made.row_exponents),
          listed(made.column_exponents)};
}

template <class S>
template <class T>
NarrowCsr<S>::NarrowCsr(Context& ctx, CsrView<T> const& a, Beyond beyond, KeptDiagonal kept)
    : values_(ctx.space(), static_cast<std::size_t>(a.entries)) {
  narrow(ctx, a, beyond, kept, values_.data());
}

template <class S>
template <class T>
NarrowCsr<S>::NarrowCsr(Context& ctx, CsrView<T> const& a, Beyond beyond, KeptDiagonal kept,
                        Arena::Scope& memory) {
  narrow(ctx, a, beyond, kept, memory.take<S>(static_cast<std::size_t>(a.entries)));
}

template <class S>
template <class T>
void NarrowCsr<S>::narrow(Context& ctx, CsrView<T> const& a, Beyond beyond, KeptDiagonal kept,
                          S* values) {
  auto here = std::make_shared<CsrStorage<T>>(ctx, a);
  CsrView<T> const& from = here->view();
  made_ = narrowed<S>(ctx, from, beyond, kept, values);
  view_ = {from.rows, from.cols, from.entries, from.offsets, from.columns, values, from.space};
  pattern_ = std::move(here);
}

template <class S>
double NarrowCsr<S>::unscaled_norm(Context& ctx) const {
  return ctx.visit([&](auto& on) {
    return norm_without_scales(on, ctx.arena(), view_, made_.shift, made_.row_exponents.data(),
                               made_.column_exponents.data());
  });
}

template <class S>
CsrStorage<S> NarrowCsr<S>::owned(Context& ctx) && {
  CsrArrays<S> arrays;
  auto const copied = [&]<class E>(Array<E>& to, void const* from, std::size_t n) {
    to = Array<E>(ctx.space(), n);
    copy_bytes(ctx, to.data(), ctx.space(), from, ctx.space(), n * sizeof(E));
  };
  std::size_t const offsets = std::size_t(view_.rows) + 1;
  auto const entries = static_cast<std::size_t>(view_.entries);
  if (view_.offsets.wide)
    copied(arrays.wide_offsets, view_.offsets.data, offsets);
  else
    copied(arrays.narrow_offsets, view_.offsets.data, offsets);
  copied(arrays.columns, view_.columns, entries);
  arrays.values = std::move(values_);
  return CsrStorage<S>(ctx, view_.rows, view_.cols, std::move(arrays));
}

template class NarrowCsr<float>;
template class NarrowCsr<half>;
template class NarrowCsr<bfloat16>;
#define TCSOLVE_INSTANTIATE(S, T)                                                      \
  template NarrowCsr<S>::NarrowCsr(Context&, CsrView<T> const&, Beyond, KeptDiagonal); \
  template NarrowCsr<S>::NarrowCsr(Context&, CsrView<T> const&, Beyond, KeptDiagonal,  \
                                   Arena::Scope&);
TCSOLVE_NARROWER(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE
template ScaledCsr<float> scaled<float>(Csr<double> const&, Scaling);
template ScaledCsr<half> scaled<half>(Csr<double> const&, Scaling);
template ScaledCsr<bfloat16> scaled<bfloat16>(Csr<double> const&, Scaling);

}  // namespace tcsolve
