// SPDX-License-Identifier: Apache-2.0
/// What a preconditioner is made from.
#pragma once

#include <any>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <tcsolve/core/csr_view.hpp>
#include <tcsolve/matrix/host_matrix.hpp>
#include <tcsolve/operators/linear_operator.hpp>

namespace tcsolve {

/// Of a PreconditionerFactory and its copies, and of no other in a process.
using FactoryId = std::uint64_t;
FactoryId new_factory_id();

/// What memory() and least_seconds() found out about a matrix on their way to an answer, for the
/// build() of the same matrix that follows: orders, patterns, parts are made once. Each factory
/// keeps one thing, and takes it out again.
class SetupNotes {
 public:
  template <class T>
  std::shared_ptr<T> keep(FactoryId factory, T found) {
    auto kept = std::make_shared<T>(std::move(found));
    kept_[factory] = kept;
    return kept;
  }
  /// Null where nothing of that type was kept.
  template <class T>
  std::shared_ptr<T> look(FactoryId factory) const {
    auto const at = kept_.find(factory);
    auto const* const found =
        at == kept_.end() ? nullptr : std::any_cast<std::shared_ptr<T>>(&at->second);
    return found != nullptr ? *found : nullptr;
  }
  template <class T>
  std::shared_ptr<T> take(FactoryId factory) {
    auto found = look<T>(factory);
    if (found) kept_.erase(factory);
    return found;
  }

 private:
  std::map<FactoryId, std::any> kept_;
};

/// What is known of the unknowns of A besides its entries, in the order of its rows.
struct NodeFacts {
  int block = 0;                    ///< unknowns of a node, rows that follow each other; 0: unknown
  std::vector<double> coordinates;  ///< a point a node, with 2 or 3 numbers
  std::vector<std::vector<double>> near_nullspace;  ///< vectors that A nearly maps to zero

  bool empty() const { return block == 0 && coordinates.empty() && near_nullspace.empty(); }
  /// An order of single rows would separate what they tell.
  bool by_node() const { return block > 1 || !coordinates.empty(); }
};

/// The matrix in a Context's space and the operator that applies it; a matrix-free operator has no
/// `matrix`. What is null or empty is not known.
struct System {
  CsrView<double> matrix;
  OperatorPtr<double> A;
  std::shared_ptr<SetupNotes> notes = nullptr;
  /// The host's side of `matrix`, where several ask for it or its owner has it.
  std::shared_ptr<HostMatrix> host = nullptr;
  /// is_symmetric() of the matrix, where it has been found out (matrix/symmetry.hpp).
  std::optional<bool> symmetric = std::nullopt;
  std::shared_ptr<NodeFacts const> nodes = nullptr;
};

/// System::host, or `once` where there is none.
inline HostMatrix& host_side(System const& system, HostMatrix& once) {
  return system.host ? *system.host : once;
}

/// f(the matrix on the host). Without System::host it is copied from a device for this call alone.
template <class F>
auto with_host(Context& ctx, System const& system, F const& f) {
  HostMatrix once;
  return f(host_side(system, once).of(ctx, system.matrix));
}

}  // namespace tcsolve
