// SPDX-License-Identifier: Apache-2.0
/// The caller's matrix as a solver keeps it: in the Context's space, copied or borrowed, in the
/// caller's order or in another.
#pragma once

#include <memory>

#include <tcsolve/core/arrays.hpp>
#include <tcsolve/matrix/reorder/permutation.hpp>
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

  /// The extents, and the entries where they were asked for.
  Csr<double> const& host() const { return host_; }
  Storage const& storage() const { return storage_; }
  Offset entries() const { return entries_; }

  /// P A P^T, which `moved` is, takes the place of A.
  void reorder(Context&, Storage moved, bool on_host);
  /// Operators have been made. `borrowed`: one of them uses the arrays of storage(), which stay;
  /// others go.
  void settle(Context&, bool borrowed);

  /// The values of `a`, which has the pattern of A, in the Context's space and in the order kept.
  /// They lie where the old ones did, in the caller's arrays where those are borrowed or nothing is
  /// kept. The first calls for a matrix in another order or of another space, two at most, make
  /// room; later ones take no memory.
  CsrView<double> update_values(Context&, CsrView<double> const& a, Permutation const* P);
  /// The same in new arrays: holders of storage() keep the old ones as they are.
  CsrView<double> renew(Context&, CsrView<double> const& a, Permutation const* P);

 private:
  CsrView<double> reordered_values(Context&, CsrView<double> const& a, Permutation const& P);
  void find_places(Context&, CsrView<double> const& a, Permutation const& P);

  Csr<double> host_;
  Offset entries_ = 0;
  Storage storage_;       // goes before host_, whose arrays it may borrow
  Array<Index> places_;   // entry k of P A P^T is entry places_[k] of A
  Array<double> staged_;  // values from another space
};

}  // namespace tcsolve
