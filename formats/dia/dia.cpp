// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/formats/dia/dia.hpp>

#include <tcsolve/matrix/same_pattern.hpp>

namespace tcsolve {

template <class S>
Dia<S>::Dia(Context& ctx, CsrView<S> const& a, DiaTuning const& tuning)
    : arrays_(ctx.visit([&](auto& on) { return build_dia(on, ctx.arena(), a, tuning); })) {}

template <class S>
void Dia<S>::update_values(Context& ctx, CsrView<S> const& a) {
  require_extents("dia", view(), a);
  ctx.visit([&](auto& on) { refill_dia(on, ctx.arena(), a, arrays_); });
}

template <class S>
Csr<S> Dia<S>::to_csr(Context& ctx) const {
  auto const offsets = to_host(ctx, arrays_.offsets);
  auto const values = to_host(ctx, arrays_.values);
  auto const upper = to_host(ctx, arrays_.upper);
  Index const rows = view().rows, cols = view().cols, distinct = arrays_.view.distinct;
  Offset const length = dia_length(rows);
  Csr<S> a;
  a.rows = rows, a.cols = cols;
  for (Index i = 0; i < rows; ++i) {
    for (Index d = 0; d < distinct; ++d) {
      Index const j = i + offsets[d];
      if (j < 0 || j >= cols) continue;
      S const v = d < arrays_.stored ? values[d * length + i]
                  : upper.empty()    ? values[(distinct - 1 - d) * length + j]
                                     : upper[(d - arrays_.stored) * length + i];
      if (is_padding(v)) continue;
      a.columns.push_back(j);
      a.values.push_back(v);
    }
    a.offsets.push_back(a.entries());
  }
  return a;
}

template class Dia<double>;
template class Dia<float>;
template class Dia<half>;
template class Dia<bfloat16>;

}  // namespace tcsolve
