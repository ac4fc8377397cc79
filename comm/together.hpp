// SPDX-License-Identifier: Apache-2.0
/// Phases that every rank ends in the same way: all are done, or all throw.
///
///     together(ranks, [&] { check(my_rows); });     // rank 1 throws MatrixError("row 7 ..")
///       rank 1    MatrixError("row 7 ..")
///       others    MatrixError("rank 1: row 7 ..")
///
/// The ranks are well afterwards, and may go on. What is thrown between two of them, where others
/// wait meanwhile, ends them by Ranks::fail() instead.
#pragma once

#include <exception>
#include <string>
#include <typeinfo>

#include <tcsolve/comm/ranks.hpp>

namespace tcsolve {

/// The name of the type of what is being handled, as rethrow_as() takes it; "" of a foreign one.
std::string kind_of(std::exception const&);
/// Throws an exception of that kind, or RankFailed where it is none of the core's.
[[noreturn]] void rethrow_as(std::string const& kind, int rank, std::string const& text);

/// f(), which asks nothing of other ranks. `Also` are types that are thrown as they are, beside
/// those of core/error.hpp; each is made of a text.
template <class... Also, class F>
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
    said = std::string("\0an unknown exception", 21);
  }
  ranks.busy(false);
  if (!ranks.agree(thrown != nullptr)) return;
  std::vector<std::string> const all = gather(ranks, said);
  ranks.settle();
  if (thrown) std::rethrow_exception(thrown);
  for (std::size_t r = 0; r < all.size(); ++r) {
    if (all[r].empty()) continue;
    std::size_t const end = all[r].find('\0');
    std::string const kind = all[r].substr(0, end), text = all[r].substr(end + 1);
    int const rank = static_cast<int>(r);
    ((kind == typeid(Also).name() ? throw Also(cat("rank ", rank, ": ", text)) : void()), ...);
    rethrow_as(kind, rank, text);
  }
}
/// The same of a Context's ranks; f() alone where there are no others.
template <class... Also, class F>
void together(Context const& ctx, F const& f) {
  if (Ranks* const ranks = ranks_of(ctx); ranks != nullptr && ranks->ranks() > 1)
    together<Also...>(*ranks, f);
  else
    f();
}

/// f(), which asks other ranks: what it throws by itself ends them all (Ranks::fail()), unless every
/// rank throws it.
template <class F>
auto or_fail(Context const& ctx, F const& f) {
  Ranks* const ranks = ranks_of(ctx);
  if (ranks == nullptr || ranks->ranks() == 1) return f();
  ranks->was_settled();
  try {
    return f();
  } catch (std::exception const& e) {
    if (!ranks->was_settled()) ranks->fail(e.what());
    throw;
  } catch (...) {
    ranks->fail("an unknown exception");
    throw;
  }
}

}  // namespace tcsolve
