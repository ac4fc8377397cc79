// SPDX-License-Identifier: Apache-2.0
/// What ELL says of itself (formats/format.hpp).
#include "ell/format.hpp"

#include <tcsolve/formats/format_factory.hpp>
#include <tcsolve/kernels/padding.hpp>

#include "ell/operator.hpp"

namespace tcsolve {
namespace {

double positions(Features const& f) { return double(f.rows) * double(f.longest); }

std::string refuses(Features const& f, PlanRequest const&) {
  return padding_pays(positions(f), f.entries) ? ""
                                               : "the longest row is far longer than the others";
}

/// Exact.
FormatLayout layout(Features const& f, Real values) {
  return {.stored = positions(f) * (size_of(values) + 4.0),
          .slots = positions(f),
          .walked = double(f.longest)};
}

/// Where all rows are equally long.
double estimate(Real values, double, double entries) { return entries * (size_of(values) + 4.0); }

}  // namespace

Format ell_format() {
  return {.name = "ell",
          .doc = "every row as wide as the longest; one pass with <x, A x>; no transpose",
          .can = {.dot = true},
          .refuses = refuses,
          .layout = layout,
          .estimate = estimate,
          .factory = factory_of<RoundingFactory<EllOperator>>(),
          .makers = makers_of<EllOperator>()};
}

}  // namespace tcsolve
