// SPDX-License-Identifier: Apache-2.0
/// Which unknowns of a matrix are strongly coupled, node by node, in the Context's space. A node is
/// `block` rows that follow each other: the unknowns of one point of a mesh.
///
///          0 1   2 3   4 5              nodes of 2 rows; N_IJ: the Frobenius norm of a block
///     0  [ x x | x . | . . ]
///     1  [ x x | x x | . . ]  node 0    N_01 counts three entries, N_02 none
///     2  [ x x | x x | x . ]
///     3  [ . x | x x | . x ]  node 1    node 1 is strong to 0, and to 2 unless theta N exceeds N_12
///
///     I and J are strongly coupled:  N_IJ > theta sqrt(N_II N_JJ)
///
/// after Vanek, Mandel and Brezina 1996, Algebraic multigrid by smoothed aggregation for second and
/// fourth order elliptic problems, section 4, for blocks. The test is one of ratios: a matrix times
/// a power of two has the same graph.
#pragma once

#include <tcsolve/core/context.hpp>
#include <tcsolve/sparse/owned_pattern.hpp>

namespace tcsolve {

struct StrengthGraph {
  sparse::OwnedPattern blocks;  ///< of the nodes, where one has several rows
  sparse::OwnedPattern strong;  ///< (nodes x nodes) J != I, strongly coupled to I
  Array<std::uint8_t> keep;  ///< (entries of A) 1 within a node and between strongly coupled ones
  bool keeps_all = false;    ///< there is no other entry
  Index weak = 0;            ///< nodes coupled to others, but to none strongly
};

/// Most rows of a node: of a coarser level as many as there are vectors.
constexpr Index most_node_rows = 16;

/// Of a, square, canonical, in the Context's space, its rows a multiple of `block` <=
/// most_node_rows. With theta = 0 every coupling other than 0 is strong. NaN is strong. Cost: three
/// passes over the matrix, where a node is a row one of them over its columns alone; memory: a byte
/// an entry of A, 4 an entry of the graph.
StrengthGraph strength_graph(Context&, CsrView<double> const& a, Index block, double theta);

/// Whether the strength graph of a keeps the entries that `keep` (entries) has, of a graph of a
/// matrix with its pattern; blocks: of that graph. Cost: two passes over the matrix.
bool same_couplings(Context&, CsrView<double> const& a, Index block, double theta,
                    PatternView const& blocks, std::uint8_t const* keep);

/// Which part of the places in the blocks of block x block that hold entries of rows `first` to
/// first + rows - 1 of a, whole nodes, is stored; 1 where there are none. Cost: a pass over their
/// pattern.
double share_of_places(Context&, CsrView<double> const& a, Index block, Index first, Index rows);

/// The size of node that the pattern suggests: the largest of 2 to 6 rows which divides the rows
/// and whose blocks are at least 80 % full; 1 where there is none. A size whose blocks are half
/// empty in the middle of many rows is not looked at elsewhere. Cost: at most five passes over the
/// pattern.
Index natural_node_size(Context&, CsrView<double> const& a);

}  // namespace tcsolve

namespace tcsolve {
namespace host {
StrengthGraph strength_graph(Host&, Arena&, CsrView<double> const& a, Index block, double theta,
                             double scale);
double share_of_places(Host&, Arena&, CsrView<double> const& a, Index block, Index first,
                       Index rows);
bool same_couplings(Host&, Arena&, CsrView<double> const& a, Index block, double theta,
                    double scale, PatternView const& blocks, std::uint8_t const* keep);
}  // namespace host
namespace cuda {
StrengthGraph strength_graph(Device&, Arena&, CsrView<double> const& a, Index block, double theta,
                             double scale);
double share_of_places(Device&, Arena&, CsrView<double> const& a, Index block, Index first,
                       Index rows);
bool same_couplings(Device&, Arena&, CsrView<double> const& a, Index block, double theta,
                    double scale, PatternView const& blocks, std::uint8_t const* keep);
}  // namespace cuda
}  // namespace tcsolve
