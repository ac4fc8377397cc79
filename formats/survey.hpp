// SPDX-License-Identifier: Apache-2.0
/// The features of a matrix, looked at as far as somebody needs them: cheapest first, and what has
/// not been looked at is as favourable to every format as it can be.
///
///     Survey seen(ctx, a);                        // rows: what offsets and two columns a row say
///     if (!seen.knows(Fact::tiles)) seen.look(ctx, a, Fact::tiles);
///
/// A cost that is computed from the features of a survey is a lower bound, and exact where it does
/// not depend on what is not known (operators/planner.hpp decides by that).
#pragma once

#include <tcsolve/formats/features.hpp>

namespace tcsolve {

/// What takes a pass of its own.
enum class Fact {
  diagonals,  ///< columns once
  symmetry,   ///< the matrix once, and a search for each entry above the diagonal; needs diagonals
  dense,      ///< dense blocks: a sample of a large matrix, four times
  tiles       ///< with blocks of 8 x 8: columns once, a merge of each eight rows
};

class Survey {
 public:
  /// Looks at the rows of a canonical matrix in the Context's space. Cost: 12 bytes a row and two
  /// sectors of columns, one message to the host.
  template <class S>
  Survey(Context&, CsrView<S> const& a);
  /// All is known.
  explicit Survey(Features const& features) : features_(features) {}

  bool knows(Fact fact) const { return (unknown_ & bit(fact)) == 0; }
  bool complete() const { return unknown_ == 0; }
  /// Looks at what is not known, at diagonals before symmetry. One message to the host.
  template <class S>
  void look(Context&, CsrView<S> const& a, Fact);
  /// All facts.
  template <class S>
  void look(Context&, CsrView<S> const& a);

  /// What is not known as favourable as it can be: tiles and blocks full, diagonals as many as the
  /// longest row has entries, A = A^T.
  Features const& least() const { return features_; }
  /// The same as unfavourable: an entry a tile and a block, every diagonal, A != A^T.
  Features most() const;

 private:
  static constexpr unsigned bit(Fact fact) { return 1u << static_cast<unsigned>(fact); }
  void learn(Fact fact) { unknown_ &= ~bit(fact); }
  bool few_diagonals() const;
  Features features_;
  unsigned unknown_ = 0;
};

}  // namespace tcsolve
