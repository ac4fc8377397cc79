// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/io/files/petsc_scalars.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace tcsolve {
namespace {

std::uint32_t lower_half(double v) {
  return static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(v));
}
std::uint32_t upper_half(double v) {
  return static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(v) >> 32);
}

/// Whether both halves are numbers of float32 that a program would write as one complex number, the
/// lower one a short one.
bool is_pair(double v) {
  constexpr std::uint32_t unused = (1u << 12) - 1, rest_of_single = (1u << 29) - 1;
  constexpr int near = 20;  // binary orders
  std::uint32_t const low = lower_half(v), high = upper_half(v);
  if ((low & unused) != 0 || (low & rest_of_single) == 0) return false;
  float const re = std::bit_cast<float>(high), im = std::bit_cast<float>(low);
  if (!std::isnormal(im) || !(std::isnormal(re) || re == 0)) return false;
  return re == 0 || std::abs(std::ilogb(re) - std::ilogb(im)) <= near;
}

constexpr char const* pairs =
    "the values look like pairs of float32, complex numbers of a build in single precision";

}  // namespace

std::string complex_suspicion(std::span<double const> values) {
  std::size_t found = 0;
  for (double const v : values) {
    if (lower_half(v) == 0) continue;
    if (!is_pair(v)) return "";
    ++found;
  }
  return found >= 2 ? pairs : "";
}

std::string complex_suspicion(Csr<double> const& a) {
  constexpr std::uint64_t sign_below = std::uint64_t{1} << 31;
  if (a.rows == a.cols) {
    for (Index i = 0; i < a.rows; ++i)
      for (std::size_t k = 0; k < a.row_columns(i).size(); ++k) {
        Index const j = a.row_columns(i)[k];
        double const v = a.row_values(i)[k];
        if (j <= i || lower_half(v) == 0) continue;
        auto const other = a.row_columns(j);
        auto const at = std::lower_bound(other.begin(), other.end(), i);
        if (at == other.end() || *at != i) continue;
        double const w = a.row_values(j)[static_cast<std::size_t>(at - other.begin())];
        if ((std::bit_cast<std::uint64_t>(v) ^ std::bit_cast<std::uint64_t>(w)) == sign_below)
          return pairs;
      }
  }
  return complex_suspicion(std::span(a.values));
}

}  // namespace tcsolve
