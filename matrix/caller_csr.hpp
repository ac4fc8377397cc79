// SPDX-License-Identifier: Apache-2.0
/// A CSR matrix of the caller's number types, and its copy in those that everything here works on.
///
///     CallerCsr const a{.rows = n, .cols = n, .entries = nnz,
///                    .offsets = ia, .columns = {ja, NumberKind::i64}, .values = {v, NumberKind::f32},
///                    .base = 1, .space = device_space(0, 0)};
///     solver.set_matrix(a);
///
/// Offsets and columns have 32 or 64 bits and count from `base`, 1 as in Fortran; values are FP64
/// or FP32. The copy is made where the arrays lie.
#pragma once

#include <cstddef>
#include <cstdint>

#include <tcsolve/core/context.hpp>
#include <tcsolve/matrix/csr.hpp>
#include <tcsolve/matrix/csr_arrays.hpp>

namespace tcsolve {

enum class NumberKind { i32, i64, f32, f64 };

/// An array of one of them.
struct NumbersView {
  void const* data = nullptr;
  NumberKind type = NumberKind::i32;

  NumbersView() = default;
  NumbersView(void const* p, NumberKind t) : data(p), type(t) {}
  NumbersView(std::int32_t const* p) : data(p), type(NumberKind::i32) {}
  NumbersView(std::int64_t const* p) : data(p), type(NumberKind::i64) {}
  NumbersView(float const* p) : data(p), type(NumberKind::f32) {}
  NumbersView(double const* p) : data(p), type(NumberKind::f64) {}
};

struct CallerCsr {
  std::int64_t rows = 0, cols = 0, entries = 0;
  NumbersView offsets;  ///< (rows + 1), i32 or i64
  NumbersView columns;  ///< (entries), i32 or i64
  NumbersView values;   ///< (entries), f32 or f64
  int base = 0;         ///< 0 or 1
  Space space = Space::host;

  /// Whether the arrays are used where they lie: columns of 32 bits from 0, FP64 values.
  bool plain() const {
    return columns.type == NumberKind::i32 && values.type == NumberKind::f64 && base == 0;
  }
  /// Of plain ones. Throws SizeError for extents beyond 32 bits.
  CsrView<double> view() const;
};

/// Throws ShapeError for types that are not those named, another base, negative extents, and arrays
/// that are null.
void require_types(CallerCsr const& a);

/// Of a host matrix. Throws as require_types() and require_indices(). Cost: a copy.
Csr<double> converted(CallerCsr const& a);
/// Of a matrix in the Context's device memory. Throws as require_types(), MatrixError with the
/// entry whose column does not lie in [base, cols + base); offsets are not checked. Cost: a pass
/// over the arrays, a wait.
CsrArrays<double> converted(Context&, CallerCsr const& a);

/// to_k <- from_k, k < n, in the Context's space; FP64 is rounded to FP32, and integers of 64 bits
/// have to fit those of 32.
void convert_numbers(Context&, NumbersView from, void* to, NumberKind type, std::int64_t n);
/// Whether the bytes of a and b, in the Context's space, are the same. Cost: a pass, a wait.
bool same_bytes(Context&, void const* a, void const* b, std::size_t bytes);

namespace host {
CsrArrays<double> convert_csr(Host&, Arena&, CallerCsr const& a, std::int64_t& wrong);
void convert_numbers(Host&, Arena&, NumbersView from, void* to, NumberKind type, std::int64_t n);
bool same_bytes(Host&, Arena&, void const* a, void const* b, std::size_t bytes);
}  // namespace host
namespace cuda {
CsrArrays<double> convert_csr(Device&, Arena&, CallerCsr const& a, std::int64_t& wrong);
void convert_numbers(Device&, Arena&, NumbersView from, void* to, NumberKind type, std::int64_t n);
bool same_bytes(Device&, Arena&, void const* a, void const* b, std::size_t bytes);
}  // namespace cuda

}  // namespace tcsolve
