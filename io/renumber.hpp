// SPDX-License-Identifier: Apache-2.0
/// Symmetric renumbering, to take away the order that a generator or a mesh gives.
#pragma once

#include <tcsolve/formats/csr.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace tcsolve {

/// A permutation of 0 .. n-1 drawn from the seed (Fisher and Yates; Durstenfeld 1964). Cost: n
/// random accesses, serial.
std::vector<Index> random_permutation(Index n, std::uint64_t seed);

/// B = P A P^T for square A: b_{p(i) p(j)} = a_ij, where p(i) is the new number of i. Canonical if
/// A is. Throws ShapeError unless A is square and p has A.rows elements; p is a permutation. Cost:
/// one pass over A, which stays, and a sort of each row.
Csr<double> renumbered(Csr<double> const& a, std::span<Index const> p, int threads = 0);

}  // namespace tcsolve
