// SPDX-License-Identifier: Apache-2.0
/// The features of a matrix, computed only as far as the decision needs them, cheapest first. A
/// feature that has not been computed takes the value most favourable to every format.
///
///     Survey seen(ctx, a, facts);                 // rows: what offsets and two columns a row say
///     if (!seen.knows(tiles_fact)) seen.look(ctx, a, tiles_fact);
///
/// A cost that is computed from the features of a survey is a lower bound, and exact where it does
/// not depend on what is not known (formats/choose/planner.hpp decides by that).
#pragma once

#include <string_view>
#include <variant>
#include <vector>

#include <tcsolve/core/context.hpp>
#include <tcsolve/core/csr_view.hpp>
#include <tcsolve/core/half.hpp>
#include <tcsolve/formats/features.hpp>

namespace tcsolve {

/// A canonical matrix in the Context's space, values of any type.
using AnyCsr = std::variant<CsrView<double>, CsrView<float>, CsrView<half>, CsrView<bfloat16>>;

/// Counts that take a pass of their own. Each function changes those counts alone.
struct Fact {
  char const* name;
  Fact const* after = nullptr;  ///< is looked at before
  /// Sets the counts as favourable as the known ones permit. False: counting would give the same.
  /// Called once the rows are known, and again once `after` is.
  bool (*expect)(Features&);
  /// Sets them to what the matrix has. One message to the host.
  void (*look)(Context&, AnyCsr const&, Features&);
  /// Sets them, not looked at, as unfavourable as they can be.
  void (*doubt)(Features&);
  /// Sets them as in an order of rows and columns in which columns lie near each other; null: they
  /// are the same in every order.
  void (*gather)(Features&) = nullptr;
};
using Facts = std::vector<Fact const*>;

/// Tiles and blocks of 8 x 8, which every format depends on: columns once, a merge of each eight
/// rows.
extern Fact const tiles_fact;

class Survey {
 public:
  /// Looks at the rows of a canonical matrix in the Context's space. Cost: 12 bytes a row and two
  /// sectors of columns, one message to the host. `facts`, cheapest first, may be looked at later;
  /// each follows its Fact::after in the list.
  template <class S>
  Survey(Context&, CsrView<S> const& a, Facts const& facts);
  /// All is known.
  explicit Survey(Features const& features) : features_(features) {}

  bool knows(Fact const&) const;
  bool knows(std::string_view fact) const;
  bool complete() const { return unknown_.empty(); }
  /// Looks at what is not known.
  template <class S>
  void look(Context&, CsrView<S> const& a, Fact const&);
  /// All facts.
  template <class S>
  void look(Context&, CsrView<S> const& a);

  /// What is not known as favourable as it can be.
  Features const& least() const { return features_; }
  /// The same as unfavourable.
  Features most() const;

 private:
  void learn(Fact const&);
  Features features_;
  Facts unknown_;
};

/// A = A^T, values and all: the matrix once, and a search for each entry above the diagonal.
template <class S>
bool mirrored(Context&, CsrView<S> const& a);

}  // namespace tcsolve
