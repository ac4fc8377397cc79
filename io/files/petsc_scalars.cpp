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

/// Of values one by one.
ComplexSigns signs_of(std::span<double const> values) {
  ComplexSigns signs;
  for (double const v : values) {
    if (lower_half(v) == 0) continue;
    if (!is_pair(v)) {
      signs.others = true;
      break;
    }
    ++signs.pairs;
  }
  return signs;
}

}  // namespace

std::string complex_suspicion(ComplexSigns const& signs) {
  return signs.mirrors || (!signs.others && signs.pairs >= 2) ? pairs : "";
}

std::string complex_suspicion(std::span<double const> values) {
  return complex_suspicion(signs_of(values));
}

ComplexSigns complex_signs(Csr<double> const& rows, std::int64_t first_row, bool square) {
  constexpr std::uint64_t sign_below = std::uint64_t{1} << 31;
  ComplexSigns signs = signs_of(rows.values);
  std::int64_t const end = square ? first_row + rows.rows : 0;
  for (Index row = 0; row < rows.rows && !signs.mirrors; ++row) {
    std::int64_t const i = first_row + row;
    for (std::size_t k = 0; k < rows.row_columns(row).size(); ++k) {
      Index const j = rows.row_columns(row)[k];
      double const v = rows.row_values(row)[k];
      if (j <= i || j >= end || lower_half(v) == 0) continue;
      auto const there = static_cast<Index>(j - first_row);
      auto const other = rows.row_columns(there);
      auto const at = std::lower_bound(other.begin(), other.end(), i);
      if (at == other.end() || *at != i) continue;
      double const w = rows.row_values(there)[static_cast<std::size_t>(at - other.begin())];
      if ((std::bit_cast<std::uint64_t>(v) ^ std::bit_cast<std::uint64_t>(w)) == sign_below)
        signs.mirrors = true;
    }
  }
  return signs;
}

std::string complex_suspicion(Csr<double> const& a) {
  return complex_suspicion(complex_signs(a, 0, a.rows == a.cols));
}

}  // namespace tcsolve
