// SPDX-License-Identifier: Apache-2.0
/// The arrays of an arranged matrix whose numbers are made anew
/// (factors/arrange/arranged_values.hpp).
#pragma once

#include <tcsolve/core/context.hpp>
#include <tcsolve/core/csr_view.hpp>

namespace tcsolve {

/// A diagonal entry smaller than this beside its row asks for a matching.
constexpr double small_pivot = 0.01;

/// What the scales of B follow from; nothing: they stay.
enum class ScaledBy { nothing, diagonal, largest };

/// b_k = r_i a[source_k] c_j for entry k of B in row i and column j; `scaling` says how r and c
/// follow from A.
struct ArrangedView {
  Index rows = 0;
  OffsetsView offsets;             // (rows + 1)
  Index const* columns = nullptr;  // (entries)
  OffsetsView source;              // (entries); null: source_k = k
  ScaledBy scaling = ScaledBy::nothing;
  double* values = nullptr;        // (entries)
  double* row_scale = nullptr;     // (rows)
  double* column_scale = nullptr;  // (rows)

  /// Where entry k comes from.
  TCSOLVE_HD Offset from(Offset k) const { return source.data == nullptr ? k : source[k]; }
};

namespace host {
void arrange_values(Host&, ArrangedView const&, double const* a);
}
namespace cuda {
void arrange_values(Device&, ArrangedView const&, double const* a);
}

}  // namespace tcsolve
