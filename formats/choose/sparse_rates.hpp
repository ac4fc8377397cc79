// SPDX-License-Identifier: Apache-2.0
/// How an operator chooses among the ways of its products of sparse vectors: by the rates of a
/// table, as formats are chosen (formats/choose/cost_model.hpp).
#pragma once

#include <tcsolve/formats/choose/cost_model.hpp>
#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/operators/multiplies_sparse.hpp>

namespace tcsolve {

/// By those of its format in `table`; null: in the one that is shipped for the device, which the
/// first product that needs it reads. Of an operator without such products nothing.
template <class T>
void decide_by_rates(LinearOperator<T>& A, CostTable const* table) {
  auto* const able = dynamic_cast<MultipliesSparse<T>*>(&A);
  if (able == nullptr) return;
  if (table != nullptr)
    able->decide_by([rates = table->of(A.name()).sparse](Context const&) { return rates; });
  else
    able->decide_by([format = A.name()](Context const& ctx) {
      return CostTable::shipped(ctx).of(format).sparse;
    });
}

/// Lets sparse products of A take the dense product that is the quickest by `table` (null: by the
/// one that is shipped for the device), where that is quicker than they are:
/// CsrOperator::dense_by() with A in that format, or A itself where it is csr, and how sparse
/// products choose (decide_by_rates()). Cost: a plan (formats/choose/planner.hpp), a conversion,
/// its memory.
void dense_by_plan(Context&, CsrOperator<double>& A, CostTable const* table = nullptr);

}  // namespace tcsolve
