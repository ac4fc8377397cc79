// SPDX-License-Identifier: Apache-2.0
/// Approximate inverses whose entries several ranks have, each its rows: M = F_1 F_2 .., each
/// factor a matrix over ranks, so that an application is a product with each and a halo for each.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <tcsolve/comm/together.hpp>
#include <tcsolve/distributed/overlap.hpp>
#include <tcsolve/precond/from_factors.hpp>
#include <tcsolve/precond/over_ranks.hpp>

namespace tcsolve {

/// The matrix that a System of several ranks has rows of; null for one rank, or a rank alone.
DistributedMatrix const* matrix_of_ranks(Context const&, System const&);

/// The rank's rows of F_1, F_2, .., of the matrix that ranks have. What it throws in together()
/// reaches all of them.
using RankedFactors =
    std::function<std::vector<GlobalRows>(Context&, Ranks&, DistributedMatrix const&)>;

/// M, made anew for new values. Throws ShapeError where A is not square, what `make` throws.
std::unique_ptr<Preconditioner> from_ranked_rows(Context&, System const&, std::string name,
                                                 Real values, RankedFactors make);

/// f(), which asks nothing of other ranks, on each; what a matrix does not admit is a SetupError.
template <class F>
void admitted_on_each(Context& ctx, std::string const& name, F const& f) {
  together(ctx, [&] { admitted(name, [&] { alone(ctx, f); }); });
}

/// The rows of a matrix whose columns are places in `numbers`, with global ones.
GlobalRows with_global_columns(Csr<double> const& a, std::vector<std::int64_t> const& numbers);

}  // namespace tcsolve
