// SPDX-License-Identifier: Apache-2.0
/// Linear elasticity on hexahedra with trilinear shape functions N_a (Hughes 1987, sec. 3.5
/// to 3.10):
///
///     K_(a i)(b j) = integral of  lambda N_a,i N_b,j + mu N_a,j N_b,i + mu delta_ij sum_d N_a,d
///     N_b,d
///
/// a, b in 0 .. 7: corner bits x + 2 y + 4 z; i, j: displacement x, y, z; 2 x 2 x 2 Gauss points.
#include <tcsolve/io/generate/generate.hpp>

#include <array>
#include <cmath>

namespace tcsolve {
namespace {

constexpr int corners = 8;
constexpr int unknowns = 3 * corners;
using ElementMatrix = std::array<std::array<double, unknowns>, unknowns>;
using Gradients = std::array<std::array<double, 3>, corners>;

constexpr int bit(int corner, int axis) { return (corner >> axis) & 1; }

/// Gradients of the 8 shape functions of the unit cube at a point.
Gradients gradients(std::array<double, 3> const& point) {
  Gradients g;
  for (int a = 0; a < corners; ++a)
    for (int d = 0; d < 3; ++d) {
      double product = 1;
      for (int e = 0; e < 3; ++e) {
        double const at = point[static_cast<std::size_t>(e)];
        product *= e == d ? (bit(a, e) ? 1.0 : -1.0) : (bit(a, e) ? at : 1 - at);
      }
      g[static_cast<std::size_t>(a)][static_cast<std::size_t>(d)] = product;
    }
  return g;
}

/// The element stiffness for Young's modulus 1, exactly symmetric.
ElementMatrix stiffness() {
  constexpr double nu = 0.3;
  constexpr double lambda = nu / ((1 + nu) * (1 - 2 * nu)), mu = 1 / (2 * (1 + nu));
  double const gauss = 0.5 / std::sqrt(3.0);
  std::array<double, 2> const abscissa{0.5 - gauss, 0.5 + gauss};
  constexpr double weight = 0.125;
  ElementMatrix k{};
  for (int q = 0; q < 8; ++q) {
    Gradients const g = gradients({abscissa[static_cast<std::size_t>(bit(q, 0))],
                                   abscissa[static_cast<std::size_t>(bit(q, 1))],
                                   abscissa[static_cast<std::size_t>(bit(q, 2))]});
    for (std::size_t a = 0; a < corners; ++a)
      for (std::size_t b = 0; b < corners; ++b) {
        double dot = 0;
        for (std::size_t d = 0; d < 3; ++d) dot += g[a][d] * g[b][d];
        for (std::size_t i = 0; i < 3; ++i)
          for (std::size_t j = 0; j < 3; ++j)
            k[3 * a + i][3 * b + j] += weight * (lambda * g[a][i] * g[b][j] +
                                                 mu * g[a][j] * g[b][i] + (i == j ? mu * dot : 0));
      }
  }
  for (std::size_t i = 0; i < unknowns; ++i)
    for (std::size_t j = 0; j < i; ++j) k[i][j] = k[j][i] = 0.5 * (k[i][j] + k[j][i]);
  return k;
}

struct Node {
  std::int64_t x, y, z;
};

struct Body {
  ElasticityParams params;
  ElementMatrix k = stiffness();

  std::int64_t n() const { return params.n; }
  /// Young's modulus of the element whose lowest corner is e.
  double modulus(Node e) const {
    if (params.coefficient == Coefficient::constant) return 1;
    auto const m = n() - 1;
    return 0.5 + uniform(params.seed, static_cast<std::uint64_t>(e.x + m * (e.y + m * e.z)));
  }
  bool is_element(Node e) const {
    auto const inside = [&](std::int64_t i) { return 0 <= i && i < n() - 1; };
    return inside(e.x) && inside(e.y) && inside(e.z);
  }

  /// Row i of the 3 x 3 block that couples node p with node p + d: the sum over the elements that
  /// hold both, in ascending order, so that both halves of the matrix round alike.
  std::array<double, 3> coupling(Node p, Node d, std::size_t i) const {
    std::array<double, 3> sum{};
    for (std::int64_t z = -1; z <= 0; ++z)
      for (std::int64_t y = -1; y <= 0; ++y)
        for (std::int64_t x = -1; x <= 0; ++x) {
          Node const element{p.x + x, p.y + y, p.z + z};
          Node const other{d.x - x, d.y - y, d.z - z};  // corner bits of p + d in the element
          auto const is_bit = [](std::int64_t v) { return v == 0 || v == 1; };
          if (!is_element(element) || !is_bit(other.x) || !is_bit(other.y) || !is_bit(other.z))
            continue;
          auto const a = static_cast<std::size_t>(-x - 2 * y - 4 * z);
          auto const b = static_cast<std::size_t>(other.x + 2 * other.y + 4 * other.z);
          double const young = modulus(element);
          for (std::size_t j = 0; j < 3; ++j) sum[j] += young * k[3 * a + i][3 * b + j];
        }
    return sum;
  }

  template <class Emit>
  void row(std::int64_t r, Emit& emit) const {
    std::int64_t const node = r / 3;
    Node const p{node % n(), node / n() % n(), node / (n() * n())};
    if (p.x == 0) return emit(r, 1.0);  // clamped
    for (std::int64_t z = -1; z <= 1; ++z)
      for (std::int64_t y = -1; y <= 1; ++y)
        for (std::int64_t x = -1; x <= 1; ++x) {
          Node const q{p.x + x, p.y + y, p.z + z};
          if (q.x < 1 || q.y < 0 || q.z < 0 || q.x >= n() || q.y >= n() || q.z >= n()) continue;
          std::array<double, 3> block{};
          if (emit.stores) block = coupling(p, {x, y, z}, static_cast<std::size_t>(r % 3));
          std::int64_t const column = 3 * (q.x + n() * (q.y + n() * q.z));
          for (std::size_t j = 0; j < 3; ++j) emit(column + static_cast<std::int64_t>(j), block[j]);
        }
  }
};

}  // namespace

Csr<double> generate_rows(ElasticityParams const& p, RowRange rows, Workers const& workers) {
  return detail::generated("elasticity", p, rows, workers, [&](Index all, RowRange some) {
    Body const body{p};
    return build_by_rows(some, all, workers,
                         [&](std::int64_t r, auto& emit) { body.row(r, emit); });
  });
}

}  // namespace tcsolve
