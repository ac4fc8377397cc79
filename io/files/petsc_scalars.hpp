// SPDX-License-Identifier: Apache-2.0
/// A pair of float32, as complex builds of PETSc in single precision write, has the bytes of a
/// float64, and the file does not tell. The values give it away where imaginary parts are not 0:
///
///     -1 + 1i   bf800000 3f800000   as float64: -0.0078125 (1 + 2^-24.0..), 30 bits of mantissa
#pragma once

#include <tcsolve/matrix/csr.hpp>

#include <cstdint>
#include <span>
#include <string>

namespace tcsolve {

/// Why the values of `a` seem to be pairs of float32; "" where they do not. Either of
///
///  - a_ij and a_ji that differ in the sign of the lower half alone, as of a hermitian matrix,
///  - lower halves that are not 0, all of them numbers of float32 with 12 bits of mantissa at most
///    and of a size near that of the upper halves, and none the rest of a float32 (29 zeros).
///
/// One of 10^7 pairs of random float64 values looks like the latter, and two are asked for.
std::string complex_suspicion(Csr<double> const& a);

/// What is found of both in a part of the values.
struct ComplexSigns {
  bool mirrors = false;    ///< the former
  bool others = false;     ///< a value that is not like the latter
  std::int64_t pairs = 0;  ///< values that are
};
/// Of consecutive rows of a matrix, of which mirror images are found where both are here.
ComplexSigns complex_signs(Csr<double> const& rows, std::int64_t first_row, bool square);
std::string complex_suspicion(ComplexSigns const&);
std::string complex_suspicion(std::span<double const> values);

}  // namespace tcsolve
