// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/register.hpp>

#include <tcsolve/operators/composite.hpp>
#include <tcsolve/precond/amg/amg.hpp>
#include <tcsolve/precond/block_jacobi/block_jacobi.hpp>
#include <tcsolve/precond/chebyshev/chebyshev.hpp>
#include <tcsolve/precond/column_scaling/column_scaling.hpp>
#include <tcsolve/precond/direct/direct.hpp>
#include <tcsolve/precond/fsai/fsai.hpp>
#include <tcsolve/precond/ic/ic.hpp>
#include <tcsolve/precond/ilu/ilu.hpp>
#include <tcsolve/precond/jacobi/jacobi.hpp>
#include <tcsolve/precond/normal_ic/normal_ic.hpp>
#include <tcsolve/precond/schwarz/schwarz.hpp>
#include <tcsolve/precond/smoother.hpp>
#include <tcsolve/precond/spai/spai.hpp>

namespace tcsolve {

namespace {

class NoneFactory final : public PreconditionerFactory {
 public:
  using Params = NoParams;
  explicit NoneFactory(Params const&) {}
  std::unique_ptr<Preconditioner> build(Context& ctx, System const& system) const override {
    return std::make_unique<Remade>(ctx, system, [](Context&, System const& s) {
      return std::make_shared<Identity<double>>(s.A->cols());
    });
  }
  MemoryNeed memory(Context&, System const&) const override { return {}; }
  bool is_identity() const override { return true; }
  bool needs_matrix() const override { return false; }
};

}  // namespace

void register_preconditioners(PreconditionerRegistry& r) {
  r.add<NoneFactory>("none", "M = I");
  r.add<JacobiFactory>("jacobi", "M = D^-1, the inverse of the diagonal");
  r.add<BlockJacobiFactory>("block_jacobi", "M = B^-1, dense inverses of the diagonal blocks");
  r.add<IluFactory>("ilu", "M = (L U)^-1, incomplete: by level or by size; any square A");
  r.add<IcFactory>("ic", "M = (L D L^T)^-1, incomplete; A symmetric positive definite");
  r.add<FsaiFactory>("fsai",
                     "M = G^T G, a factorised sparse approximate inverse; A symmetric positive "
                     "definite");
  r.add<SpaiFactory>("spai", "M, the sparse approximate inverse nearest to A^-1; any square A");
  r.add<SchwarzFactory>("schwarz", "overlapping parts of the rows, each solved exactly");
  r.add<ColumnScalingFactory>("column_scaling",
                              "M = diag(1 / norm(a_j)), a_j the columns of A; for lsmr");
  r.add<NormalIcFactory>("normal_ic", "M = R^-1, R^T R an incomplete A^T A; for lsmr");
  r.add<DirectFactory>("direct", "M = A^-1 by a complete factorisation");
  r.add<ChebyshevFactory>("chebyshev",
                          "a polynomial in M A; A and the inner M symmetric positive definite");
  r.add<AmgFactory>(
      "amg",
      "a multigrid cycle, its levels by aggregation or classical coarsening; A symmetric "
      "positive definite");
}

namespace {

struct Floor {
  PreconditionerRegistry preconditioners{"preconditioner"};
  Catalog catalog;
  Floor() {
    register_preconditioners(preconditioners);
    catalog.add(preconditioners);
  }
};

Floor const& this_floor() {
  static Floor const floor;
  return floor;
}

}  // namespace

PreconditionerRegistry const& floor_preconditioners() { return this_floor().preconditioners; }

std::unique_ptr<PreconditionerFactory> make_smoother(Block const& block) {
  if (!block || block.registry() != nullptr) return make<PreconditionerRegistry>(block);
  Diagnostics problems;
  auto factory = floor_preconditioners().make(block.node(), problems, this_floor().catalog);
  problems.throw_if_any();
  return factory;
}

}  // namespace tcsolve
