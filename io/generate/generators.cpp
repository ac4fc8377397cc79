// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/io/generate/generators.hpp>

#include <tcsolve/configs/schema/range.hpp>

#include <algorithm>

namespace tcsolve {
namespace {

/// Throws MatrixError for a parameter outside the range that the schema states.
template <class P>
void require_ranges(char const* generator, P const& p) {
  for_each_field(p, [&](auto const& field, auto const& value) {
    if constexpr (requires { field.constraint.contains(value); })
      if (!field.constraint.contains(value))
        throw MatrixError(cat(generator, ": '", field.key, "' = ", value, " is outside ",
                              range_text(field.constraint)));
  });
}

/// n^3 nodes times `per_node`, for an n of at most 2000.
Index cube(std::int64_t n, std::int64_t per_node = 1) {
  return narrow(per_node * n * n * n, "rows");
}

/// Throws when a matrix is beyond counting, before it is counted.
void require_countable(char const* generator, double entries) {
  if (entries > 1e15) throw SizeError(cat(generator, ": ", entries, " entries; at most 1e15"));
}

/// The size with the memory of the build: a renumbering holds the matrix twice, and two
/// permutations.
MatrixSize with_memory(MatrixSize size, Renumber renumber, std::int64_t extra_bytes = 0) {
  size.build_bytes =
      std::max(size.csr_bytes() + extra_bytes,
               renumber == Renumber::none ? std::int64_t{0}
                                          : 2 * size.csr_bytes() + 2 * 4 * std::int64_t{size.rows});
  return size;
}

/// A grid with neighbours across faces: 7 n^3 entries less the 6 n^2 beyond the border.
template <class P>
MatrixSize seven_point(char const* generator, P const& p) {
  require_ranges(generator, p);
  Index const rows = cube(p.n);
  Offset const n = p.n;
  return with_memory({rows, rows, 7 * n * n * n - 6 * n * n}, p.renumber);
}

}  // namespace

MatrixSize size_of(Poisson7Params const& p) { return seven_point("poisson7", p); }
MatrixSize size_of(ConvdiffParams const& p) { return seven_point("convdiff", p); }

MatrixSize size_of(AnisotropicParams const& p) { return seven_point("anisotropic", p); }

MatrixSize size_of(Poisson27Params const& p) {
  require_ranges("poisson27", p);
  Index const rows = cube(p.n);
  Offset const line = 3 * Offset{p.n} - 2;  // pairs of neighbours on a line of n points
  return with_memory({rows, rows, line * line * line}, p.renumber);
}

MatrixSize size_of(ElasticityParams const& p) {
  require_ranges("elasticity", p);
  Index const rows = cube(p.n, 3);
  Offset const n = p.n;
  Offset const line = 3 * n - 2, free_line = std::max<Offset>(0, 3 * (n - 1) - 2);
  return with_memory({rows, rows, 3 * n * n + 9 * free_line * line * line}, p.renumber);
}

MatrixSize size_of(RmatParams const& p) {
  require_ranges("rmat", p);
  Index const rows = Index{1} << p.scale;
  Offset const edges = Offset{rows} * p.edge_factor;
  return with_memory({rows, rows, edges, false}, p.renumber, 16 * edges + 4 * Offset{rows});
}

MatrixSize size_of(LongrowsParams const& p) {
  require_ranges("longrows", p);
  if (std::string const why = p.check(); !why.empty()) throw MatrixError(cat("longrows: ", why));
  Offset const length = std::min(p.long_length, p.n), rest = p.n - p.long_rows;
  require_countable("longrows", static_cast<double>(length) * p.long_rows);
  return with_memory({p.n, p.n, p.long_rows * length + 8 * rest, false}, p.renumber);
}

MatrixSize size_of(BandedParams const& p) {
  require_ranges("banded", p);
  Offset const n = p.n, h = std::min<Offset>(p.half_bandwidth, n - 1);
  require_countable("banded", static_cast<double>(n) * static_cast<double>(2 * h + 1));
  return with_memory({p.n, p.n, n * (2 * h + 1) - h * (h + 1)}, p.renumber);
}

std::span<GeneratorEntry const> generators() {
  static GeneratorEntry const all[] = {
      {"poisson7", "7-point Laplacian on a cube; symmetric positive definite", Poisson7Params{}},
      {"poisson27", "27-point Laplacian on a cube; symmetric positive definite", Poisson27Params{}},
      {"anisotropic", "7-point anisotropic diffusion; symmetric positive definite",
       AnisotropicParams{}},
      {"convdiff", "upwind convection-diffusion on a cube; nonsymmetric", ConvdiffParams{}},
      {"elasticity", "3-D Q1 linear elasticity, clamped face; symmetric positive definite",
       ElasticityParams{}},
      {"rmat", "R-MAT power-law graph; nonsymmetric, rows may be empty", RmatParams{}},
      {"longrows", "short rows and a few dense ones; nonsymmetric", LongrowsParams{}},
      {"banded", "dense band; symmetric positive definite", BandedParams{}},
  };
  return all;
}

}  // namespace tcsolve
