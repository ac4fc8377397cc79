// SPDX-License-Identifier: Apache-2.0
/// ELLPACK (Grimes, Kincaid and Young 1979; on GPUs Bell and Garland 2009, section 4.2): every row
/// is as wide as the longest one. The worked example of docs/formats/adding-a-format.md.
///
///            cols 0 1 2 3                step 0     step 1
///     row 0  [ 5 . . 2 ]     columns   0 1 0 3    3 - 2 -      - padding: value -0, column 0
///     row 1  [ . 7 . . ]     values    5 7 1 9    2 - 4 -
///     row 2  [ 1 . 4 . ]
///     row 3  [ . . . 9 ]     entry j of row i lies at position j rows + i
///
/// Lanes of a warp hold neighbouring rows, so every load of values and columns is contiguous. A
/// padding adds nothing, whatever x is.
///
/// Bytes: rows x longest row x (sizeof(value) + 4).
#pragma once

#include <tcsolve/core/array.hpp>
#include <tcsolve/core/context.hpp>
#include <tcsolve/core/csr_view.hpp>
#include <tcsolve/core/half.hpp>

namespace tcsolve {

template <class S>
struct EllView {
  Index rows = 0, cols = 0;
  Offset entries = 0;
  Index width = 0;                 ///< entries of the longest row
  Index const* columns = nullptr;  // (width, rows)
  S const* values = nullptr;       // (width, rows)
  Space space = Space::host;
};

/// The arrays of a matrix, in one space.
template <class S>
struct EllArrays {
  EllView<S> view;
  Array<Index> columns;
  Array<S> values;
};

// The conversion (build.hpp), and the same pattern with new values, on each backend.
namespace host {
template <class S>
EllArrays<S> build_ell(Host&, Arena&, CsrView<S> const& a);
template <class S>
void refill_ell(Host&, Arena&, CsrView<S> const& a, EllArrays<S>&);
}  // namespace host
namespace cuda {
template <class S>
EllArrays<S> build_ell(Device&, Arena&, CsrView<S> const& a);
template <class S>
void refill_ell(Device&, Arena&, CsrView<S> const& a, EllArrays<S>&);
}  // namespace cuda

/// An ELL matrix that owns its arrays in a Context's space.
template <class S>
class Ell {
 public:
  /// From a canonical CSR matrix in the Context's space. Throws MatrixError where positions are
  /// more than two an entry and a million.
  Ell(Context&, CsrView<S> const& a);
  /// Values of the same pattern. Throws ShapeError where extents or the number of entries differ.
  void update_values(Context&, CsrView<S> const& a);

  EllView<S> view() const { return arrays_.view; }
  std::size_t bytes() const { return arrays_.columns.bytes() + arrays_.values.bytes(); }
  Offset stored() const { return static_cast<Offset>(arrays_.values.size()); }

 private:
  EllArrays<S> arrays_;
};

}  // namespace tcsolve
