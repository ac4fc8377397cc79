// SPDX-License-Identifier: Apache-2.0
/// Stencils on an n x n x n grid with zero Dirichlet values around it:
///
///     a_ij = -(w_ij + upwind_ij),   a_ii = sum_j w_ij + |v_x| + |v_y| + |v_z|
///
/// where j runs over all neighbours, those beyond the border included. w_ij is 1 (or epsilon),
/// times a random number in [0.5, 1.5) that belongs to the edge {i, j} if the coefficient is
/// random.
#include <tcsolve/io/generate/generate.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace tcsolve {
namespace {

using Triple = std::array<double, 3>;

struct Stencil {
  std::int64_t n = 0;
  int reach = 1;            // neighbours differ in at most so many coordinates: 1 or 3
  Triple epsilon{1, 1, 1};  // weight of an edge along x, y, z; used when reach is 1
  double velocity = 0;
  Coefficient coefficient = Coefficient::constant;
  std::uint64_t seed = 0;
};

/// A grid point, and a step to a neighbour.
struct Point {
  std::int64_t x, y, z;
};

/// A number for the edge from p along d, the same from both of its ends. Border points, at -1 and
/// n, have numbers too: the grid is padded by one.
double random_weight(Stencil const& s, Point p, Point d) {
  std::int64_t const m = s.n + 2;
  std::int64_t const from = (p.x + 1) + m * ((p.y + 1) + m * (p.z + 1));
  std::int64_t const to = from + d.x + m * (d.y + m * d.z);
  std::int64_t const sign = from < to ? 1 : -1;
  std::int64_t const direction = 13 + sign * (d.x + 3 * d.y + 9 * d.z);
  return 0.5 + uniform(s.seed, static_cast<std::uint64_t>(std::min(from, to) * 27 + direction));
}

double weight(Stencil const& s, Point p, Point d) {
  double const epsilon = s.reach > 1 ? 1.0 : s.epsilon[d.x ? 0 : d.y ? 1 : 2];
  return s.coefficient == Coefficient::constant ? epsilon : epsilon * random_weight(s, p, d);
}

/// f(step) for every neighbour of the stencil and for the point itself, in the order of their
/// numbers.
template <class F>
void for_each_step(Stencil const& s, F const& f) {
  for (std::int64_t z = -1; z <= 1; ++z)
    for (std::int64_t y = -1; y <= 1; ++y)
      for (std::int64_t x = -1; x <= 1; ++x)
        if (std::abs(x) + std::abs(y) + std::abs(z) <= s.reach) f(Point{x, y, z});
}

Triple velocity_at(Stencil const& s, Point p) {
  auto const centre = [&](std::int64_t i) {
    return (static_cast<double>(i) + 0.5) / static_cast<double>(s.n);
  };
  double const x = centre(p.x) - 0.5, y = centre(p.y) - 0.5, z = centre(p.z);
  return {s.velocity * (-4 * y), s.velocity * (4 * x), s.velocity * (1.0 + 0.5 * z)};
}

/// The neighbour that the flow comes from carries it.
double upwind(Triple const& v, Point d) {
  double const along = d.x ? v[0] : d.y ? v[1] : v[2];
  return d.x + d.y + d.z < 0 ? std::max(along, 0.0) : std::max(-along, 0.0);
}

double diagonal(Stencil const& s, Point p, Triple const& v) {
  double sum = 0;
  if (s.coefficient == Coefficient::constant)
    sum = s.reach > 1 ? 26.0 : 2 * (s.epsilon[0] + s.epsilon[1] + s.epsilon[2]);
  else
    for_each_step(s, [&](Point d) { sum += d.x || d.y || d.z ? weight(s, p, d) : 0.0; });
  return s.velocity == 0 ? sum : sum + std::fabs(v[0]) + std::fabs(v[1]) + std::fabs(v[2]);
}

Csr<double> build(Stencil const& s, Index all, RowRange rows, Workers const& workers) {
  std::int64_t const n = s.n;
  auto const outside = [n](std::int64_t i) { return i < 0 || i >= n; };
  return build_by_rows(rows, all, workers, [&](std::int64_t row, auto& emit) {
    Point const p{row % n, row / n % n, row / (n * n)};
    Triple const v = s.velocity != 0 ? velocity_at(s, p) : Triple{};
    for_each_step(s, [&](Point d) {
      if (outside(p.x + d.x) || outside(p.y + d.y) || outside(p.z + d.z)) return;
      double value = 0;
      if (emit.stores)
        value = d.x || d.y || d.z ? -(weight(s, p, d) + (s.velocity != 0 ? upwind(v, d) : 0.0))
                                  : diagonal(s, p, v);
      emit(row + d.x + n * (d.y + n * d.z), value);
    });
  });
}

template <class P>
Csr<double> stencil(char const* name, P const& p, RowRange rows, Workers const& workers,
                    Stencil s) {
  s.n = p.n;
  s.coefficient = p.coefficient;
  s.seed = p.seed;
  return detail::generated(name, p, rows, workers,
                           [&](Index all, RowRange some) { return build(s, all, some, workers); });
}

}  // namespace

Csr<double> generate_rows(Poisson7Params const& p, RowRange rows, Workers const& workers) {
  return stencil("poisson7", p, rows, workers, {});
}
Csr<double> generate_rows(Poisson27Params const& p, RowRange rows, Workers const& workers) {
  return stencil("poisson27", p, rows, workers, {.reach = 3});
}
Csr<double> generate_rows(AnisotropicParams const& p, RowRange rows, Workers const& workers) {
  return stencil("anisotropic", p, rows, workers,
                 {.epsilon = {p.epsilon_x, p.epsilon_y, p.epsilon_z}});
}
Csr<double> generate_rows(ConvdiffParams const& p, RowRange rows, Workers const& workers) {
  return stencil("convdiff", p, rows, workers, {.velocity = p.velocity});
}

}  // namespace tcsolve
