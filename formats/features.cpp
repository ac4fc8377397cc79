// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/formats/features.hpp>

#include <tcsolve/core/half.hpp>
#include <tcsolve/formats/survey.hpp>

namespace tcsolve {

template <class S>
Features features(Context& ctx, CsrView<S> const& a) {
  Survey seen(ctx, a);
  seen.look(ctx, a);
  return seen.least();
}

template Features features(Context&, CsrView<double> const&);
template Features features(Context&, CsrView<float> const&);
template Features features(Context&, CsrView<half> const&);
template Features features(Context&, CsrView<bfloat16> const&);

}  // namespace tcsolve
