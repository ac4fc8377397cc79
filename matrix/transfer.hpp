// SPDX-License-Identifier: Apache-2.0
/// Whole matrices between the host and the Context's space.
#pragma once

#include <tcsolve/core/arrays.hpp>
#include <tcsolve/core/context.hpp>
#include <tcsolve/matrix/csr.hpp>
#include <tcsolve/matrix/csr_arrays.hpp>

namespace tcsolve {

/// A CSR matrix that owns its arrays in a Context's space, or borrows them.
template <class S>
class CsrStorage {
 public:
  /// Borrows `a`, which must then outlive the storage, or copies it; the arrays are not checked. A
  /// matrix in another space is always copied: a device copy of a host matrix has 32-bit offsets if
  /// the entries fit. Throws ShapeError for a device matrix in a Context on the host.
  CsrStorage(Context&, CsrView<S> const& a, Arrays arrays = Arrays::borrowed);
  CsrStorage(Context&, Csr<S> a);
  /// Owns arrays that a kernel has made in the Context's space.
  CsrStorage(Context&, Index rows, Index cols, CsrArrays<S> arrays);
  /// Copies the values of `a`, which has the same pattern, into the owned values. A storage that
  /// borrows drops its arrays and borrows `a` if `a` lies in the Context's space, else copies `a`.
  void update_values(Context&, CsrView<S> const& a);
  void update_values(Context&, Csr<S> a);
  CsrView<S> const& view() const { return view_; }
  /// The owned values (entries); null if the values are borrowed.
  S* own_values() { return owned_.values.empty() ? values_.data() : owned_.values.data(); }

 private:
  void copy(Context&, CsrView<S> const& a);
  void duplicate(Context&, CsrView<S> const& a);
  Csr<S> owned_;
  Array<std::int32_t> narrow_offsets_, columns_;
  Array<std::int64_t> wide_offsets_;
  Array<S> values_;
  CsrView<S> view_;
};

/// Row offsets of a matrix in either space.
template <class S>
std::vector<Offset> offsets_to_host(Context&, CsrView<S> const& a);
/// A host copy of a matrix in either space.
template <class S>
Csr<S> to_host(Context&, CsrView<S> const& a);

}  // namespace tcsolve
