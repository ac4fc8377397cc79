// SPDX-License-Identifier: Apache-2.0
/// What one rank throws all throw, as an exception of the same kind with its number.
///
///     together(ranks, [&] { check(my_rows); });     // a phase that asks nothing of others
///       rank 1    MatrixError("row 7 ..")
///       others    MatrixError("rank 1: row 7 ..")   // all are well, and may go on
///
///     or_fail(ctx, [&] { solve(); });               // ranks wait for each other in it
///       rank 1    SetupError("..")
///       others    SetupError("rank 1: ..")          // where they next wait; these ranks are done
#pragma once

#include <exception>
#include <string>
#include <typeinfo>

#include <tcsolve/comm/ranks.hpp>

namespace tcsolve {

/// Another rank threw `text`, of a kind (kind_of()): throws the same, RankFailed where the kind is
/// not known.
[[noreturn]] void rethrow_as(std::string const& kind, int rank, std::string const& text);
std::string kind_of(std::exception const&);
/// From here on E, which is made of a text, is known; those of core/error.hpp are.
template <class E>
bool know_kind();

/// f(), on every rank: it is done on all, or throws on all.
template <class F>
void together(Ranks& ranks, F const& f) {
  std::exception_ptr thrown;
  std::string said;  // a kind, a zero, a text; empty: all is well
  ranks.busy(true);
  try {
    f();
  } catch (std::exception const& e) {
    thrown = std::current_exception();
    said = kind_of(e) + '\0' + e.what();
  } catch (...) {
    thrown = std::current_exception();
    said = std::string(1, '\0') + "an unknown exception";
  }
  ranks.busy(false);
  if (!ranks.agree(thrown != nullptr)) return;
  std::vector<std::string> const all = gather(ranks, said);
  ranks.settle();
  if (thrown) std::rethrow_exception(thrown);
  int rank = 0;
  while (all[static_cast<std::size_t>(rank)].empty()) ++rank;
  std::string const& first = all[static_cast<std::size_t>(rank)];
  std::size_t const end = first.find('\0');
  rethrow_as(first.substr(0, end), rank, first.substr(end + 1));
}
/// The same of a Context's ranks; f() alone where there are no others.
template <class F>
void together(Context const& ctx, F const& f) {
  if (Ranks* const ranks = ranks_of(ctx); ranks != nullptr && ranks->ranks() > 1)
    together(*ranks, f);
  else
    f();
}

/// To be asked where something that f() threw is handled: whether every rank handles the same.
bool thrown_by_all(Context const& ctx);
/// f(): what it throws on this rank alone ends all of them (Ranks::fail()).
template <class F>
auto or_fail(Context const& ctx, F const& f) {
  Ranks* const ranks = ranks_of(ctx);
  if (ranks == nullptr || ranks->ranks() == 1) return f();
  ranks->was_settled();
  try {
    return f();
  } catch (std::exception const& e) {
    if (!ranks->was_settled()) ranks->fail(e.what(), kind_of(e));
    throw;
  } catch (...) {
    ranks->fail("an unknown exception");
    throw;
  }
}

/// Throws ConfigError on all ranks where they are not of one build, each of which says which it is:
/// what they send to each other need not be alike then. Every rank calls it.
void require_one_build(Ranks&, char const* revision);

namespace detail {
bool know_kind(std::string const& kind, void (*raise)(std::string const& text));
}
template <class E>
bool know_kind() {
  return detail::know_kind(typeid(E).name(), [](std::string const& text) { throw E(text); });
}

}  // namespace tcsolve
