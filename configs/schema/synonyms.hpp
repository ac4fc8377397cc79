// SPDX-License-Identifier: Apache-2.0
/// Names of keys and methods in other packages, for messages that suggest ours; none of them is
/// accepted in a config.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tcsolve::detail {

/// nearest() by letters alone, without the table of synonyms.
std::string edit_nearest(std::string_view name, std::vector<std::string> const& known);

/// The one of `known` that `name` means in other packages (`tol` is rtol, `gpu` is cuda), also
/// where `name` is one misspelt; "" when there is none.
std::string synonym(std::string_view name, std::vector<std::string> const& known);
/// The same without tolerance for misspelling.
std::string exact_synonym(std::string_view name, std::vector<std::string> const& known);

/// Where a key stands that was written in another block: "; 'rtol' belongs under 'solver:'". ""
/// when `name` is not a key of another block than `what`, the name of the block in messages.
std::string other_block(std::string_view name, std::string_view what);

/// What to use for a method that is not available: "; incomplete LU is not available, ...".
std::string replacement(std::string_view name, std::vector<std::string> const& known);

/// The unit of a key's number: "seconds"; "" when it has none.
std::string unit_of(std::string_view key);

}  // namespace tcsolve::detail
