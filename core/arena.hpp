// SPDX-License-Identifier: Apache-2.0
/// Workspace for the length of a brace pair:
///     auto scope = ctx.arena().scope();
///     Out<double> q = scope.vector<double>(n);     // returned at the closing brace
/// Memory comes in chunks that never move and are kept until the arena goes. An address that is to
/// be used after the closing brace (a recording, a captured graph) comes from an arena of its
/// owner, not from the Context's (Context::working_in).
#pragma once

#include <vector>

#include <tcsolve/core/array.hpp>

namespace tcsolve {

class Arena {
 public:
  explicit Arena(Space space) : space_(space) {}

  class Scope {
   public:
    explicit Scope(Arena& arena) : arena_(arena), chunk_(arena.chunk_), used_(arena.used_) {}
    ~Scope() { arena_.chunk_ = chunk_, arena_.used_ = used_; }
    Scope(Scope const&) = delete;
    Scope& operator=(Scope const&) = delete;

    template <class T>
    T* take(std::size_t n) {
      return static_cast<T*>(arena_.take(n * sizeof(T)));
    }
    template <class T>
    Out<T> vectors(Index n, Index k) {
      return {take<T>(static_cast<std::size_t>(n) * k), n, k, k, Layout::row_major, arena_.space_};
    }
    template <class T>
    Out<T> vector(Index n) {
      return vectors<T>(n, 1);
    }

   private:
    Arena& arena_;
    std::size_t chunk_, used_;
  };

  Scope scope() { return Scope(*this); }
  /// Chunks stay where they are as long as the arena lives, as its owner's addresses need it.
  void keep() {}

 private:
  void* take(std::size_t bytes);

  Space space_;
  std::vector<Array<std::byte>> chunks_;
  std::size_t chunk_ = 0;  // the chunk in use
  std::size_t used_ = 0;   // bytes of it given out
};

}  // namespace tcsolve
