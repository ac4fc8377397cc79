// SPDX-License-Identifier: Apache-2.0
/// The numbers of B = P R A C Q^T (factors/arrange/arrangement.hpp), made where the Context
/// computes from an A that lies there, bit for bit those of Arrangement::update(): new values of A
/// reach factors that are made there without passing the host.
#pragma once

#include <tcsolve/core/array.hpp>
#include <tcsolve/core/context.hpp>
#include <tcsolve/factors/arrange/arranged_view.hpp>
#include <tcsolve/factors/arrange/arrangement.hpp>
#include <tcsolve/matrix/transfer.hpp>

namespace tcsolve {

class ArrangedValues {
 public:
  /// Of an arrangement without nodes; the numbers are those that it has.
  ArrangedValues(Context&, Arrangement const&);
  /// Of one that moves nothing, made of `a` where it lies, in the Context's space; the numbers are
  /// made by update().
  ArrangedValues(Context&, CsrView<double> const& a, ScaledBy scaling);
  /// Of `a`, in the Context's space, on the pattern of the arrangement's matrix. The scales in
  /// `sides` follow. Cost: two passes over the entries, the scales to the host.
  void update(Context&, CsrView<double> const& a, TwoSided& sides);
  /// B.
  CsrView<double> const& matrix() const { return B_.view(); }

 private:
  ScaledBy scaling_;
  CsrStorage<double> B_;
  Array<std::int32_t> narrow_source_;
  Array<std::int64_t> wide_source_;  // where entries need it
  Array<double> row_scale_, column_scale_;
};

}  // namespace tcsolve
