// SPDX-License-Identifier: Apache-2.0
/// The caller's matrix as a solver keeps it: in the Context's space, copied or borrowed, in the
/// caller's order or in another.
#pragma once

#include <memory>

#include <tcsolve/core/arrays.hpp>
#include <tcsolve/graph/reorder/permutation.hpp>
#include <tcsolve/matrix/transfer.hpp>

namespace tcsolve {

/// A in CSR. It is empty before take(); settle() releases the arrays unless an operator borrows
/// them.
class StoredMatrix {
 public:
  using Storage = std::shared_ptr<CsrStorage<double>>;

  /// `on_host`: the entries are read on the host, wherever the Context computes.
  void take(Context&, CsrView<double> const& a, Arrays arrays, bool on_host);
  void take(Context&, Csr<double> a, bool on_host);
  /// Arrays of the Context's space, which their other holders leave as they are.
  void take(Context&, Storage a, bool on_host);

  /// The extents, and the entries if take() or reorder() had `on_host` (until settle()).
  Csr<double> const& host() const { return host_; }
  Storage const& storage() const { return storage_; }
  Offset entries() const { return entries_; }

  /// Replaces A by `moved`, which is P A P^T.
  void reorder(Context&, Storage moved, bool on_host);
  /// Called once the operators have been made; host() keeps only the extents afterwards.
  /// `borrowed`: an operator uses the arrays of storage(), so they are kept; else they are freed.
  /// Returns the entries of host() that nobody uses, without any where there are none.
  Csr<double> settle(Context&, bool borrowed);

  /// Returns the values of `a`, which has the pattern of A, in the Context's space and in the order
  /// kept. They overwrite the old values, or stay in the caller's arrays if those are borrowed or
  /// no storage is kept. For a reordered matrix or one from another space, at most the first two
  /// calls allocate; later calls allocate nothing.
  CsrView<double> update_values(Context&, CsrView<double> const& a, Permutation const* P);
  /// The same in new arrays: holders of storage() keep the old ones as they are.
  CsrView<double> renew(Context&, CsrView<double> const& a, Permutation const* P);

 private:
  CsrView<double> reordered_values(Context&, CsrView<double> const& a, Permutation const& P);
  void find_places(Context&, CsrView<double> const& a, Permutation const& P);

  Csr<double> host_;
  Offset entries_ = 0;
  Storage storage_;       // declared after host_, whose arrays it may borrow, so destroyed first
  Array<Index> places_;   // entry k of P A P^T is entry places_[k] of A
  Array<double> staged_;  // values from another space
};

}  // namespace tcsolve
