// SPDX-License-Identifier: Apache-2.0
/// Which methods a matrix asks for, by what can be seen of it, in the order in which they are
/// tried.
///
///     not square                     lsmr
///     symmetric, positive diagonal   cg with jacobi, on the host while fifty iterations halve the
///                                    residual; amg where A looks elliptic, of 20,000 rows and
///                                    more, on a device of 50,000, where jacobi goes on if it is
///                                    refused; ic; direct. Small systems begin with ic, but
///                                    with jacobi on the host where they are grids or graphs of a
///                                    thousand dominant rows at the most.
///                                    Where cg finds that it is indefinite, as `square`
///     square                         gmres, for large systems bicgstab, with ilu; a stronger ilu;
///                                    direct. Where rows are diagonally dominant, and for some
///                                    iterations on every device, bicgstab with jacobi before
///                                    these; then with amg, as above, of as many rows
///     singular                       after all of these, lsmr: A is structurally singular, or a
///                                    method broke down, converged falsely or found it singular
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <tcsolve/api/registries.hpp>
#include <tcsolve/core/context.hpp>
#include <tcsolve/distributed/distributed_matrix.hpp>
#include <tcsolve/formats/choose/cost_model.hpp>
#include <tcsolve/matrix/facts.hpp>

namespace tcsolve {

/// Of all rows, the same on every rank. Throws Unsupported where it is not square. Cost: the rows
/// of the halo are fetched, to look for symmetry.
MatrixFacts matrix_facts(Context&, DistributedMatrix const& a);

/// A method and a preconditioner as a config writes them.
struct Recipe {
  std::string solver;          ///< "{type: gmres, restart: 50}"
  std::string preconditioner;  ///< "{type: ilu, drop_tolerance: 0.01}"
  std::string reason;          ///< "the matrix is symmetric with a positive diagonal"
  bool definite = false;       ///< of use for symmetric positive definite systems alone
  int most_iterations = 1000;  ///< after which the next one is tried
  Patience patience = {};      ///< it is tried, too, where this one gains too little
  int window = 0;              ///< above 0: and after so many without a new best residual
  /// M is an incomplete factorisation, of rows matched and scaled; or a complete one, whose cost is
  /// known before it is made.
  bool incomplete = false, complete = false;
  /// For a square system that seems to be singular: what it ends in may be the x that comes nearest
  /// to b. Multiplies by A^T.
  bool least_squares = false;
  bool operator==(Recipe const&) const = default;
};

/// The block of a recipe's text by a registry of the package, with the keys that a solve stops by
/// where they are given. A thread keeps what it has read: the same few texts come with every
/// set-up.
Block read_text(RegistryBase const&, std::string const& text,
                std::optional<StoppingParams> const& keys = {});
/// "ilu {drop_tolerance: 0.01}" for "{type: ilu, drop_tolerance: 0.01}".
std::string brief(std::string const& text);

/// The solver's block with `baseline: rows`.
std::string by_rows(std::string solver);

/// Whether a device that has a complete factorisation of its own should try it before the host
/// makes incomplete factors: a large system whose factors may still fit.
bool direct_comes_first(MatrixFacts const&);

/// Seconds that another incomplete factorisation and its trial take the host about, `made` being
/// the entries of one that has failed: the next keeps as many at the least.
double seconds_of_incomplete(MatrixFacts const&, double made, Recipe const& next,
                             FactorRates const& = {});

/// Choices for a matrix. `direct_first`: complete factors, made by the device, come before
/// incomplete ones. `rates` are those of the Context's space. Cost: none.
std::vector<Recipe> recipes(MatrixFacts const&, bool on_device, bool direct_first = false,
                            FactorRates const& rates = {});
/// Those of them that several ranks have: a preconditioner of one rank is what each has inside
/// schwarz. Products with A^T and amg are left out, and so are complete factors of more rows than
/// one rank gathers. Where sums dominate, cg that begins with jacobi is the form with one sum.
/// slow_sums: of devices, by messages.
std::vector<Recipe> for_ranks(std::vector<Recipe> list, MatrixFacts const&, int ranks,
                              bool slow_sums);
/// Whether the Context's device sums over ranks by messages.
bool sums_by_messages(Context&);
/// Preconditioners for a method that has been chosen already, and methods for a preconditioner.
std::vector<Recipe> recipes_for(MatrixFacts const&, bool on_device, SolverNeeds const& needs,
                                FactorRates const& rates = {});
std::vector<Recipe> recipes_with(MatrixFacts const&, PreconditionerFactory const& M);

}  // namespace tcsolve
