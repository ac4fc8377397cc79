// SPDX-License-Identifier: Apache-2.0
/// Features of a matrix that decide which formats can store it and at what cost: counts that a pass
/// or two take, from which the bytes of each format follow without making it. Counts that one
/// format alone needs are its own (FormatCounts).
///
/// Drawn with tiles of 2 x 4 instead of 8 x 8:
///
///     cols   0 1 2 3 | 4 5 6 7 | 8 9 10 11
///     row 0  * *     |         |              3 tiles, where two rows read x from one line of a
///     row 1    * *   |     *   |   *          cache; of them 1 block, with 4 entries; the two
///                                             others have so few that bitBSR sets them aside
#pragma once

#include <map>
#include <memory>
#include <typeindex>

#include <tcsolve/core/types.hpp>

namespace tcsolve {

/// Counts that one format alone needs, found by their type: a struct of the format's, comparable,
/// whose default says that nothing was counted.
class FormatCounts {
 public:
  FormatCounts() = default;
  FormatCounts(FormatCounts const& other);
  FormatCounts(FormatCounts&&) = default;
  FormatCounts& operator=(FormatCounts other) noexcept;
  ~FormatCounts() = default;

  /// Counts{} where none were set.
  template <class Counts>
  Counts const& get() const {
    static Counts const none{};
    auto const at = held_.find(typeid(Counts));
    return at == held_.end() ? none : static_cast<Held<Counts> const&>(*at->second).counts;
  }
  template <class Counts>
  void set(Counts const& counts) {
    held_[typeid(Counts)] = std::make_unique<Held<Counts>>(counts);
  }
  /// What is not set equals its default.
  bool operator==(FormatCounts const& other) const;

 private:
  struct Any {
    virtual ~Any() = default;
    virtual std::unique_ptr<Any> copy() const = 0;
    /// Null stands for the default.
    virtual bool equals(Any const* other) const = 0;
  };
  template <class Counts>
  struct Held final : Any {
    explicit Held(Counts const& c) : counts(c) {}
    std::unique_ptr<Any> copy() const override { return std::make_unique<Held>(counts); }
    bool equals(Any const* other) const override {
      return counts == (other ? static_cast<Held const*>(other)->counts : Counts{});
    }
    Counts counts;
  };
  std::map<std::type_index, std::unique_ptr<Any>> held_;
};

struct Features {
  Index rows = 0, cols = 0;
  Offset entries = 0;
  Offset short_rows[5] = {};               ///< rows of 0, 1, 2, 3 and 4 entries
  Offset long_rows = 0, long_entries = 0;  ///< rows of more than 256 entries
  Offset longest = 0;                      ///< entries of the longest row
  Offset medium_slots = 0;   ///< of rows of 5 to 256 entries, each filled up to a multiple of 4
  Offset medium_wide = 0;    ///< of these, in groups of 8 rows whose columns span 65536 or more
  Offset slices_stored = 0;  ///< slices of 32 rows, each as wide as its longest row
  Offset slices_wide = 0;    ///< of these, in slices whose columns span 65536 or more
  Offset tiles = 0;          ///< 8 x 8 tiles that hold an entry of a row of at most 256 entries
  Offset blocks = 0, block_entries = 0;  ///< tiles of more than two entries, and what they hold
  FormatCounts own;                      ///< what formats count for themselves

  bool operator==(Features const&) const = default;
};

}  // namespace tcsolve
