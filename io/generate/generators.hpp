// SPDX-License-Identifier: Apache-2.0
/// Test problems of any size. A kind is a Params struct, generate_rows(params, rows) and
/// size_of(params).
///
///     auto a = generate(Poisson27Params{.n = 96, .coefficient = Coefficient::random});
///
/// The pattern never depends on the seed. `coefficient: constant` is one matrix for each size;
/// `random` draws the values from the seed and keeps the symmetry and the definiteness of the
/// constant one. `renumber: random` gives P A P^T, P drawn from the seed. The same parameters give
/// the same bits on every number of threads.
#pragma once

#include <tcsolve/configs/schema/field.hpp>
#include <tcsolve/core/parallel.hpp>
#include <tcsolve/io/row_builder.hpp>
#include <tcsolve/matrix/csr.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace tcsolve {

enum class Coefficient { constant, random };
enum class Renumber { none, random };

constexpr auto names(Coefficient) {
  return std::array{std::pair{Coefficient::constant, "constant"},
                    std::pair{Coefficient::random, "random"}};
}
constexpr auto names(Renumber) {
  return std::array{std::pair{Renumber::none, "none"}, std::pair{Renumber::random, "random"}};
}

namespace detail {

/// The keys of one kind, and those that all kinds have.
template <class P, class... Fields>
constexpr auto generator_schema(Fields... own) {
  return std::tuple{own...,
                    field(&P::coefficient, "coefficient",
                          "constant: one fixed matrix; random: values drawn from the seed"),
                    field(&P::renumber, "renumber",
                          "random: a symmetric permutation P A P^T drawn from the seed"),
                    field(&P::seed, "seed", "what random values and permutations are drawn from")};
}

}  // namespace detail

/// 7-point Laplacian on an n x n x n grid, zero Dirichlet values around it. Symmetric positive
/// definite M-matrix.   constant: 6 and -1.   random: edge weights w_ij = w_ji in [0.5, 1.5),
/// a_ij = -w_ij, a_ii = sum of the weights of all 6 edges, those across the border included.
struct Poisson7Params {
  Index n = 64;  ///< grid points along an edge of the cube; rows = n^3
  Coefficient coefficient = Coefficient::constant;
  Renumber renumber = Renumber::none;
  std::uint64_t seed = 4242;

  static constexpr auto schema() {
    using P = Poisson7Params;
    return detail::generator_schema<P>(
        field(&P::n, "n", between(1, 1290), "grid points along an edge of the cube; rows = n^3"));
  }
};

/// 27-point Laplacian: the same with all 26 neighbours.   constant: 26 and -1.
struct Poisson27Params {
  Index n = 64;
  Coefficient coefficient = Coefficient::constant;
  Renumber renumber = Renumber::none;
  std::uint64_t seed = 4242;

  static constexpr auto schema() {
    using P = Poisson27Params;
    return detail::generator_schema<P>(
        field(&P::n, "n", between(1, 1290), "grid points along an edge of the cube; rows = n^3"));
  }
};

/// 7-point -div(epsilon grad u), epsilon = diag(epsilon_x, epsilon_y, epsilon_z). Symmetric
/// positive definite M-matrix.   random: each epsilon times the edge weight of poisson7.
struct AnisotropicParams {
  Index n = 64;
  double epsilon_x = 1;
  double epsilon_y = 1;
  double epsilon_z = 1e-3;
  Coefficient coefficient = Coefficient::constant;
  Renumber renumber = Renumber::none;
  std::uint64_t seed = 4242;

  static constexpr auto schema() {
    using P = AnisotropicParams;
    return detail::generator_schema<P>(
        field(&P::n, "n", between(1, 1290), "grid points along an edge of the cube; rows = n^3"),
        field(&P::epsilon_x, "epsilon_x", between(1e-100, 1e100), "diffusion along x"),
        field(&P::epsilon_y, "epsilon_y", between(1e-100, 1e100), "diffusion along y"),
        field(&P::epsilon_z, "epsilon_z", between(1e-100, 1e100), "diffusion along z"));
  }
};

/// Convection and diffusion, -Laplace u + v . grad u, first-order upwind, on the grid of poisson7:
/// a swirl v = velocity (-4 y, 4 x, 1 + z / 2), x and y from the axis of the cube, in cell units
/// (cell Peclet number up to 2 velocity). Nonsymmetric M-matrix.   random: diffusion weights of
/// poisson7.
struct ConvdiffParams {
  Index n = 64;
  double velocity = 1;
  Coefficient coefficient = Coefficient::constant;
  Renumber renumber = Renumber::none;
  std::uint64_t seed = 4242;

  static constexpr auto schema() {
    using P = ConvdiffParams;
    return detail::generator_schema<P>(
        field(&P::n, "n", between(1, 1290), "grid points along an edge of the cube; rows = n^3"),
        field(&P::velocity, "velocity", between(-1e6, 1e6),
              "factor of the swirl; cell Peclet number up to 2 velocity"));
  }
};

/// Linear elasticity on n x n x n nodes, trilinear hexahedra (Q1) of edge 1, Poisson ratio 0.3, 3
/// unknowns a node; the face x = 0 is clamped (its rows and columns are those of I). Symmetric
/// positive definite.   constant: Young's modulus 1.   random: in [0.5, 1.5) for each element.
struct ElasticityParams {
  Index n = 24;  ///< nodes along an edge; rows = 3 n^3
  Coefficient coefficient = Coefficient::constant;
  Renumber renumber = Renumber::none;
  std::uint64_t seed = 4242;

  static constexpr auto schema() {
    using P = ElasticityParams;
    return detail::generator_schema<P>(
        field(&P::n, "n", between(1, 894), "nodes along an edge of the cube; rows = 3 n^3"));
  }
};

/// R-MAT graph (Chakrabarti, Zhan, Faloutsos 2004; a, b, c = 0.57, 0.19, 0.19): a power law of row
/// lengths, vertices shuffled, values in (0, 1]. Of repeated edges the one with the least value
/// stays. Nonsymmetric; rows may be empty.   constant: one fixed draw of the values.
struct RmatParams {
  Index scale = 16;        ///< rows = 2^scale
  Index edge_factor = 16;  ///< edges drawn for each row
  Coefficient coefficient = Coefficient::constant;
  Renumber renumber = Renumber::none;
  std::uint64_t seed = 4242;

  static constexpr auto schema() {
    using P = RmatParams;
    return detail::generator_schema<P>(
        field(&P::scale, "scale", between(0, 30), "rows = 2^scale"),
        field(&P::edge_factor, "edge_factor", between(1, 100000), "edges drawn for each row"));
  }
};

/// Rows of 1 to 8 entries near the diagonal and, evenly spread, a few rows with entries everywhere;
/// values in (0, 1]. Nonsymmetric, perhaps singular.   constant: one fixed draw of the values.
struct LongrowsParams {
  Index n = 1'000'000;
  Index long_rows = 64;
  Index long_length = 200'000;  ///< entries of a long row, at most n
  Coefficient coefficient = Coefficient::constant;
  Renumber renumber = Renumber::none;
  std::uint64_t seed = 4242;

  std::string check() const {
    if (long_rows <= n) return "";
    return "'long_rows' = " + std::to_string(long_rows) +
           " is more than 'n' = " + std::to_string(n);
  }

  static constexpr auto schema() {
    using P = LongrowsParams;
    return detail::generator_schema<P>(field(&P::n, "n", at_least(1), "rows"),
                                       field(&P::long_rows, "long_rows", non_negative(),
                                             "rows with long_length entries, at most n"),
                                       field(&P::long_length, "long_length", at_least(1),
                                             "entries of a long row; n when that is less"));
  }
};

/// All entries with |i - j| <= half_bandwidth: a_ii = 2 half_bandwidth + 1, a_ij = a_ji in (-1, 0].
/// Symmetric positive definite, strictly diagonally dominant.   constant: one fixed draw of the
/// a_ij.
struct BandedParams {
  Index n = 1'000'000;
  Index half_bandwidth = 16;
  Coefficient coefficient = Coefficient::constant;
  Renumber renumber = Renumber::none;
  std::uint64_t seed = 4242;

  static constexpr auto schema() {
    using P = BandedParams;
    return detail::generator_schema<P>(field(&P::n, "n", at_least(1), "rows"),
                                       field(&P::half_bandwidth, "half_bandwidth", non_negative(),
                                             "entries have |i - j| of at most this"));
  }
};

/// What a matrix will take, known before it is generated.
struct MatrixSize {
  Index rows = 0;
  Index cols = 0;
  Offset entries = 0;
  bool exact = true;             ///< false: `entries` is an upper bound
  std::int64_t build_bytes = 0;  ///< memory at the peak of generate()

  /// 8 (rows + 1) + 12 entries.
  std::int64_t csr_bytes() const { return 8 * (std::int64_t{rows} + 1) + 12 * entries; }
};

/// Throw SizeError beyond 2^31 - 1 rows, and MatrixError on a parameter out of its range.
MatrixSize size_of(Poisson7Params const&);
MatrixSize size_of(Poisson27Params const&);
MatrixSize size_of(AnisotropicParams const&);
MatrixSize size_of(ConvdiffParams const&);
MatrixSize size_of(ElasticityParams const&);
MatrixSize size_of(RmatParams const&);
MatrixSize size_of(LongrowsParams const&);
MatrixSize size_of(BandedParams const&);

/// Whether some rows of it can be made without the others: R-MAT draws edges, and a renumbered
/// matrix has its rows from all over.
template <class P>
constexpr bool has_rows_apart(P const& p) {
  return p.renumber == Renumber::none && !std::is_same_v<P, RmatParams>;
}

/// Some rows of the canonical matrix, with its columns, bit for bit. Throw as size_of does,
/// ShapeError for rows that it has not, Unsupported for some of them unless has_rows_apart(), and
/// MemoryError when their part of build_bytes exceeds 80 % of the memory available. Throws
/// Cancelled where the workers are told to stop. Cost: each entry is computed once; a renumbering
/// sorts every row.
Csr<double> generate_rows(Poisson7Params const&, RowRange, Workers const& workers = {});
Csr<double> generate_rows(Poisson27Params const&, RowRange, Workers const& workers = {});
Csr<double> generate_rows(AnisotropicParams const&, RowRange, Workers const& workers = {});
Csr<double> generate_rows(ConvdiffParams const&, RowRange, Workers const& workers = {});
Csr<double> generate_rows(ElasticityParams const&, RowRange, Workers const& workers = {});
Csr<double> generate_rows(RmatParams const&, RowRange, Workers const& workers = {});
Csr<double> generate_rows(LongrowsParams const&, RowRange, Workers const& workers = {});
Csr<double> generate_rows(BandedParams const&, RowRange, Workers const& workers = {});

/// The whole of it.
template <class P>
Csr<double> generate(P const& params, Workers const& workers = {}) {
  return generate_rows(params, {0, size_of(params).rows}, workers);
}

/// Any one of the kinds, with its parameters.
using GeneratorParams =
    std::variant<Poisson7Params, Poisson27Params, AnisotropicParams, ConvdiffParams,
                 ElasticityParams, RmatParams, LongrowsParams, BandedParams>;

inline MatrixSize size_of(GeneratorParams const& params) {
  return std::visit([](auto const& p) { return size_of(p); }, params);
}
inline bool has_rows_apart(GeneratorParams const& params) {
  return std::visit([](auto const& p) { return has_rows_apart(p); }, params);
}
inline Csr<double> generate_rows(GeneratorParams const& params, RowRange rows,
                                 Workers const& workers = {}) {
  return std::visit([&](auto const& p) { return generate_rows(p, rows, workers); }, params);
}

/// A kind of problem as a list or a registry shows it.
struct GeneratorEntry {
  std::string_view name;     ///< "poisson7", the `type` in a config
  std::string_view summary;  ///< one line
  GeneratorParams defaults;  ///< which alternative is meant, with default values
};

/// All kinds.
std::span<GeneratorEntry const> generators();

}  // namespace tcsolve
