// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/matrix/caller_csr.hpp>

#include <span>
#include <type_traits>
#include <vector>

namespace tcsolve {
namespace {

constexpr bool is_integer(NumberKind t) { return t == NumberKind::i32 || t == NumberKind::i64; }

template <class Offset_, class Column, class Value>
Csr<double> converted_as(CallerCsr const& a) {
  auto const rows = static_cast<std::size_t>(a.rows), entries = static_cast<std::size_t>(a.entries);
  std::span const offsets(static_cast<Offset_ const*>(a.offsets.data), rows + 1);
  std::span const columns(static_cast<Column const*>(a.columns.data), entries);
  std::span const values(static_cast<Value const*>(a.values.data), entries);
  if constexpr (std::is_same_v<Value, double>)
    return csr_from(offsets, columns, values, a.cols, a.base);
  else
    return csr_from(offsets, columns, std::vector<double>(values.begin(), values.end()), a.cols,
                    a.base);
}

template <class Offset_, class Column>
Csr<double> converted_values(CallerCsr const& a) {
  return a.values.type == NumberKind::f64 ? converted_as<Offset_, Column, double>(a)
                                          : converted_as<Offset_, Column, float>(a);
}

template <class Offset_>
Csr<double> converted_columns(CallerCsr const& a) {
  return a.columns.type == NumberKind::i64 ? converted_values<Offset_, std::int64_t>(a)
                                           : converted_values<Offset_, std::int32_t>(a);
}

}  // namespace

CsrView<double> CallerCsr::view() const {
  CsrView<double> a;
  a.rows = narrow(rows, "rows"), a.cols = narrow(cols, "cols"), a.entries = entries;
  a.offsets = offsets.type == NumberKind::i64
                  ? OffsetsView(static_cast<std::int64_t const*>(offsets.data))
                  : OffsetsView(static_cast<std::int32_t const*>(offsets.data));
  a.columns = static_cast<Index const*>(columns.data);
  a.values = static_cast<double const*>(values.data);
  a.space = space;
  return a;
}

void require_types(CallerCsr const& a) {
  auto const require = [](bool holds, auto const&... text) {
    if (!holds) throw ShapeError(cat("CSR: ", text...));
  };
  narrow(a.rows, "rows"), narrow(a.cols, "cols");
  require(a.rows >= 0 && a.cols >= 0 && a.entries >= 0, a.rows, " x ", a.cols, ", ", a.entries,
          " entries");
  require(a.base == 0 || a.base == 1, "base = ", a.base, "; it is 0 or 1");
  require(is_integer(a.offsets.type), "offsets are integers");
  require(is_integer(a.columns.type), "columns are integers");
  require(!is_integer(a.values.type), "values are FP64 or FP32");
  require(a.offsets.data != nullptr, "offsets are null");
  require(a.entries == 0 || a.columns.data != nullptr, "columns are null");
  require(a.entries == 0 || a.values.data != nullptr, "values are null");
}

Csr<double> converted(CallerCsr const& a) {
  require_types(a);
  return a.offsets.type == NumberKind::i64 ? converted_columns<std::int64_t>(a)
                                           : converted_columns<std::int32_t>(a);
}

CsrArrays<double> converted(Context& ctx, CallerCsr const& a) {
  require_types(a);
  std::int64_t wrong = 0;
  auto made = ctx.visit([&](auto& on) { return convert_csr(on, ctx.arena(), a, wrong); });
  if (wrong < a.entries)
    throw MatrixError(cat("CSR: the column of entry ", wrong + 1, " is not one of the matrix, ",
                          a.base, " to ", a.cols - 1 + a.base));
  return made;
}

void convert_numbers(Context& ctx, NumbersView from, void* to, NumberKind type, std::int64_t n) {
  ctx.visit([&](auto& on) { convert_numbers(on, ctx.arena(), from, to, type, n); });
}

bool same_bytes(Context& ctx, void const* a, void const* b, std::size_t bytes) {
  return ctx.visit([&](auto& on) { return same_bytes(on, ctx.arena(), a, b, bytes); });
}

}  // namespace tcsolve
