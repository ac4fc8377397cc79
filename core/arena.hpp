// SPDX-License-Identifier: Apache-2.0
/// Workspace for the length of a brace pair:
///     auto scope = ctx.arena().scope();
///     Out<double> q = scope.vector<double>(n);     // returned at the closing brace
/// Memory comes in chunks that never move while a scope is open. When the last one closes, several
/// chunks give way to one of their size, made when it is next asked for, so that workspace that
/// grows from use to use does not pile up. An address that is to be used after the closing brace (a
/// recording, a captured graph) comes from an arena of its owner (Context::working_in), whose
/// keep() forbids it.
#pragma once

#include <vector>

#include <tcsolve/core/array.hpp>

namespace tcsolve {

class Arena {
 public:
  explicit Arena(Space space) : space_(space) {}

  class Scope {
   public:
    explicit Scope(Arena& arena) : arena_(arena), chunk_(arena.chunk_), used_(arena.used_) {
      ++arena_.open_;
    }
    ~Scope() { arena_.close(chunk_, used_); }
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
  /// Chunks stay where they are from now on, as long as the Arena lives.
  void keep() { kept_ = true; }
  /// Gives its memory back, unless a scope is open or addresses are kept.
  void trim() noexcept;
  std::size_t bytes() const;                ///< that it holds
  std::size_t idle_bytes() const noexcept;  ///< that trim() would give back

 private:
  void* take(std::size_t bytes);
  void close(std::size_t chunk, std::size_t used) noexcept;

  Space space_;
  std::vector<Array<std::byte>> chunks_;
  std::size_t chunk_ = 0;   // the chunk in use
  std::size_t used_ = 0;    // bytes of it given out
  std::size_t wanted_ = 0;  // bytes of the next chunk at least: what scopes have held at once
  int open_ = 0;            // scopes
  bool kept_ = false;
};

}  // namespace tcsolve
