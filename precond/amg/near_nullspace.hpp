// SPDX-License-Identifier: Apache-2.0
/// Vectors that A nearly maps to zero, which the coarse levels have to represent (Vanek, Mandel and
/// Brezina 1996, Algebraic multigrid by smoothed aggregation for second and fourth order elliptic
/// problems, section 2). Of a matrix whose nodes have `block` unknowns:
///
///     constant       block vectors, each 1 in one unknown of every node: translations
///     learned        what a first hierarchy leaves, besides (precond/amg/learn.hpp)
///     files          of the caller's, in the place of translations
///     coordinates    the rigid body modes of a solid with these nodes, x from their mean:
///
///                    two dimensions, unknowns u v:      1 0 -y
///                                                       0 1  x
///                    three, u v w:                      1 0 0   0  z -y
///                                                       0 1 0  -z  0  x
///                                                       0 0 1   y -x  0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <tcsolve/configs/schema/field.hpp>
#include <tcsolve/precond/system.hpp>

namespace tcsolve {

struct NodePoints;   // precond/amg/node_points.hpp
struct PointsFrame;  // precond/amg/node_points.hpp

struct NearNullspaceParams {
  int block = 0;
  std::string coordinates;
  std::vector<std::string> files;
  bool keep = false;
  int learn = 0;
  /// The same from C++: a point after the other. Null: as the keys say.
  std::shared_ptr<std::vector<double> const> points = nullptr;

  static constexpr auto schema() {
    using P = NearNullspaceParams;
    return std::tuple{
        field(&P::block, "block", between(0, 8),
              "unknowns of a node, rows that follow each other; 0: found from the pattern"),
        field(&P::coordinates, "coordinates", any(),
              "file with the coordinates of the nodes, a point a row (relative to the working "
              "directory): rigid body modes of a solid, "
              "with 2 or 3 unknowns a node and as many coordinates"),
        field(&P::files, "files",
              "each with one vector or several columns that A nearly maps to zero, in the place of "
              "translations (relative to the working directory); for nodes of one unknown, "
              "coarsening is then by aggregation"),
        field(&P::keep, "keep",
              "also those vectors of files or of the program, and rotations, that A does not "
              "map to nearly zero, |A z| beyond half of |A| |z| in sums; else they are left out, "
              "which is told"),
        field(&P::learn, "learn", between(0, 8),
              "vectors more, learned from A: what ten cycles of a first hierarchy leave of random "
              "ones. The set-up takes two to three times as long, and levels have more rows")};
  }
};

struct NearNullspace {
  Array<double> vectors;  ///< (rows x count), by rows, in the Context's space
  Index count = 1, block = 1;
  bool given = false;  ///< vectors of the caller's, which classical coarsening does not represent
  std::vector<double> ratios;  ///< cancellation() of each vector
};

/// Of system.matrix, without learned ones (precond/amg/learn.hpp); what the keys leave open, as
/// system.nodes says. Vectors of the caller's that A does not map to nearly zero are left out,
/// unless they are to be kept, and where none is left translations take their place; rotations
/// likewise, beside which there are translations. A warning names each. Throws SetupError where the
/// block does not divide the rows, or coordinates or vectors are too few, too many, of another
/// dimension or not finite; what read_columns_file() throws.
NearNullspace near_nullspace(Context&, System const&, NearNullspaceParams const&);

/// ||A z||_1 / || |A| |z| ||_1 of each column z of B (rows x count): 0 where A maps it to zero, 1
/// where nothing cancels. Of 65521 rows at the most, evenly spread, those without couplings left
/// out. Cost: a pass over these for
/// eight columns, a wait each.
std::vector<double> cancellation(Context&, CsrView<double> const& a, double const* B, Index count);

}  // namespace tcsolve

namespace tcsolve {
namespace host {
void translations(Host&, Arena&, Index rows, Index block, double* B);
void rigid_body_modes(Host&, Arena&, NodePoints const&, PointsFrame const&, double* B);
}  // namespace host
namespace cuda {
void translations(Device&, Arena&, Index rows, Index block, double* B);
void rigid_body_modes(Device&, Arena&, NodePoints const&, PointsFrame const&, double* B);
}  // namespace cuda
}  // namespace tcsolve
