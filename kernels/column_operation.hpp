// SPDX-License-Identifier: Apache-2.0
/// Fused operations (kernels/operation.hpp) on row-major blocks whose columns are independent: each
/// has scalars of its own, and a column that has stopped does not delay the others.
///
///     struct Op {
///       static constexpr char const* name = "pseudo_cg_update";
///       static constexpr int sums = 1;  // reductions of a column; omit for none
///       BlockShape shape;
///       ...                             // operands: blocks of this shape, scalars by column
///       struct Coefficients { double a; };
///       bool prepare(ColumnFrame, Coefficients&) const;  // false: the column stays as it is
///       void element(std::int64_t e, Coefficients const&, double* sum) const;
///       void finish(ColumnFrame, double const* sum) const;  // of a column; with sums only
///       void after(Frame) const;  // last of all, in a stopped loop too; with sums only
///     };
///
///           j = 0 1 2 .. w-1      neighbouring threads take neighbouring columns of a row, and
///     row 0 [  . . .    . ]       each keeps its column: its coefficients stay in registers and
///     row 1 [  . . .    . ]       memory is read in order, whatever w is
///
/// Element e = i ld + j is row i of column j. Sums are added in a fixed order, as there.
#pragma once

#include <tcsolve/kernels/operation.hpp>
#include <tcsolve/kernels/vector_ops.hpp>

namespace tcsolve {

/// n rows and w columns, the rows ld apart.
struct BlockShape {
  std::int64_t n;
  Index w;
  std::int64_t ld;
  template <class T>
  BlockShape(MultiView<T> const& v) : n(v.rows), w(v.cols), ld(v.ld) {}
};

/// A column as one of the threads that work on it sees it; `lead` of the loop's frame is set in one
/// thread of each column.
struct ColumnFrame {
  Frame loop;
  Index j;
};

namespace host {
/// Doubles of scratch for the sums of a column operation.
std::int64_t column_partials(Host&, BlockShape const&, int sums);
template <class V>
void execute_columns(Host&, LoopState*, V const&, double* partials);
}  // namespace host
namespace cuda {
std::int64_t column_partials(Device&, BlockShape const&, int sums);
template <class V>
void execute_columns(Device&, LoopState*, V const&, double* partials);
}  // namespace cuda

/// Runs or records an operation on all columns.
template <class V>
void submit_columns(Context& ctx, V const& op) {
  constexpr int sums = OpTraits<V>::sums;
  auto const count = ctx.visit([&](auto& on) { return column_partials(on, op.shape, sums); });
  auto scope = ctx.arena().scope();
  double* const partials = scope.take<double>(static_cast<std::size_t>(count));
  ctx.submit_op(op, [op, partials](Context& c) {
    LoopState* state = c.loop();
    c.visit([&](auto& on) { execute_columns(on, state, op, partials); });
  });
}

}  // namespace tcsolve
