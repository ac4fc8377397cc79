// SPDX-License-Identifier: Apache-2.0
/// All problems of a configuration, reported at once.
#pragma once

#include <tcsolve/configs/schema/node.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tcsolve {

/// Collects problems while a config is read; nothing is thrown until throw_if_any().
class Diagnostics {
 public:
  void add(Position at, std::string text);
  bool empty() const noexcept { return problems_.empty(); }
  std::size_t size() const noexcept { return problems_.size(); }
  /// One line `file:line:column: text` per problem, in the order of the file, arguments last; the
  /// first 100 and a count of the others.
  std::string text() const;
  /// Throws a ConfigError holding text() unless there is no problem.
  void throw_if_any() const;

 private:
  std::vector<std::pair<Position, std::string>> problems_;
};

/// `text` fit for one line of a message: control characters escaped, cut after 60 bytes.
std::string shown(std::string_view text);

/// The known name that `name` was probably meant to be (a third of its letters may be wrong, case
/// is ignored), "" when none is near. Cost: one edit distance per known name.
std::string nearest(std::string_view name, std::vector<std::string> const& known);

/// "a, b, c".
std::string joined(std::vector<std::string> const& words);

/// "; did you mean 'restart'?", or "; valid: a, b, c" when no known name is near.
std::string suggestion(std::string_view name, std::vector<std::string> const& known);

}  // namespace tcsolve
