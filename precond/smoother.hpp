// SPDX-License-Identifier: Apache-2.0
/// A preconditioner inside another one: the M of a polynomial, the smoother of a level. A room
/// names no other room; it names an entry and gives its parameters in C++, or takes the block that
/// a config has:
///
///     auto factory = make_smoother("chebyshev", ChebyshevParams{.degree = 2});
///     auto factory = make_smoother("jacobi");                        // with its defaults
///     auto factory = make_smoother(params_.preconditioner);          // a Block
///
///     std::unique_ptr<Preconditioner> M = factory->build(ctx, system);
///     M->view()->apply(ctx, r, z);
///     M->update(ctx, system_of_new_values);
///
/// Parameters that a room gives to another one stand here, those of other entries in their rooms.
#pragma once

#include <memory>
#include <string_view>

#include <tcsolve/configs/schema/field.hpp>
#include <tcsolve/precond/register.hpp>

namespace tcsolve {

/// Of the entry `chebyshev` (precond/chebyshev/chebyshev.hpp).
struct ChebyshevParams {
  int degree = 4;
  double eig_ratio = 30;
  int lanczos_steps = 12;
  Block preconditioner{"jacobi"};
  static constexpr auto schema() {
    using P = ChebyshevParams;
    return std::tuple{
        field(&P::degree, "degree", between(1, 100), "degree of the polynomial: products with A"),
        field(&P::eig_ratio, "eig_ratio", above(1.0),
              "the polynomial covers [lambda_max / eig_ratio, lambda_max]"),
        field(&P::lanczos_steps, "lanczos_steps", between(2, 200),
              "Lanczos steps that estimate lambda_max"),
        field(&P::preconditioner, "preconditioner", block_of("preconditioner"),
              "inner preconditioner M; the polynomial is in M A")};
  }
};

/// The preconditioners of this floor, made at the first call; they live as long as the process.
PreconditionerRegistry const& floor_preconditioners();

/// The factory of an entry of this floor, with these parameters. Throws ConfigError (an unknown
/// name, values out of range), std::logic_error (parameters of another entry).
template <HasSchema P>
std::unique_ptr<PreconditionerFactory> make_smoother(std::string_view name, P const& params) {
  return floor_preconditioners().make(name, params);
}
/// The factory of a block, which may be a name alone: by the registry that has read it, or, where
/// no config has been read, by the preconditioners of this floor. Throws ConfigError with every
/// problem of the latter, std::logic_error for an empty block.
std::unique_ptr<PreconditionerFactory> make_smoother(Block const& block);

}  // namespace tcsolve
