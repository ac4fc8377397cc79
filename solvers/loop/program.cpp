// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/solvers/loop/program.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include <tcsolve/core/error.hpp>
#include <tcsolve/kernels/loop/parts.hpp>
#include <tcsolve/kernels/operation_facts.hpp>
#include <tcsolve/solvers/loop/fields.hpp>

namespace tcsolve {

// These have constructors, so their fields cannot be counted.
template <class F>
void each_pointer(OffsetsView const& v, F const& f) {
  f(v.data);
}
template <class T, class F>
void each_pointer(Elements<T> const& v, F const& f) {
  f(v.data);
}

namespace {

/// The declared facts of the operation of one command (kernels/operation_facts.hpp).
struct Facts {
  int position;            // in the list of operations
  std::uint32_t pointers;  // see Instruction
  std::int64_t n, rows;
  bool gathers, only_sums, spread, finishes;
  int sums;
  double cache_share;
  Index columns;
  void const* gathered;
  std::optional<DiagonalScaling> scaling;
  std::span<std::byte const> table;
  // Of operands that an instruction holds.
  int (*lanes)(std::byte const* operands, int teams, int threads);
  double const** (*input)(std::byte* operands);
  bool (*writes)(std::byte const* operands, void const* v);
};

template <class V>
std::uint32_t pointers_of(std::byte const* operands) {
  std::uint32_t words = 0;
  each_pointer(*reinterpret_cast<V const*>(operands), [&](auto const& pointer) {
    words |= 1u << (reinterpret_cast<std::byte const*>(&pointer) - operands) / 8;
  });
  return words;
}

template <class V>
Facts facts_of(int position, std::byte const* operands) {
  V const& op = *reinterpret_cast<V const*>(operands);
  using Of = OpFacts<V>;
  return {.position = position,
          .pointers = pointers_of<V>(operands),
          .n = op.n,
          .rows = rows_of_teams(op),
          .gathers = Of::gathers && Of::gathered(op) != nullptr,
          .only_sums = Of::only_sums,
          .spread = Of::spread,
          .finishes = OpTraits<V>::finishes,
          .sums = Of::sum_count(op),
          .cache_share = Of::cache_share,
          .columns = Of::columns(op),
          .gathered = Of::gathered(op),
          .scaling = Of::scaling(op),
          .table = Of::table(op),
          .lanes =
              [](std::byte const* here, int teams, int threads) {
                return Of::lanes(*reinterpret_cast<V const*>(here), teams, threads);
              },
          .input = [](std::byte* here) { return Of::input(*reinterpret_cast<V*>(here)); },
          .writes = [](std::byte const* here,
                       void const* v) { return Of::writes(*reinterpret_cast<V const*>(here), v); }};
}

template <class One, class... V>
constexpr int position_of(OpList<V...>) {
  int k = 0, at = -1;
  ((std::is_same_v<One, V> ? at = k++ : k++), ...);
  return at;
}

/// None for a command whose operation is not in the list.
template <class... V>
std::optional<Facts> find(OpList<V...>, Command const& command) {
  std::optional<Facts> facts;
  int k = 0;
  auto const look = [&]<class One>() {
    static_assert(sizeof(One) <= Instruction::max_operands);
    static_assert(std::is_trivially_copyable_v<One>);
    if (command.type == typeid(One)) facts = facts_of<One>(k, command.operands.data());
    ++k;
  };
  (look.template operator()<V>(), ...);
  return facts;
}

/// What an instruction does to the vectors of a team.
struct Effect {
  bool gathers, writes, exchanges;
  bool scatters;          // writes rows of other teams
  bool sends;             // what it gathers the product that follows gathers too
  std::int64_t elements;  // by which they are shared out; 0: as those before
  void const* gathered;
  bool (*may_write)(std::byte const* operands, void const* v);
};

/// Marks where a team has to wait. What is gathered must have been published since it was written,
/// by a barrier or by sums that happen to come in between; what others gather must not be written
/// before they have, of which any exchange makes sure. Where elements are shared out anew, all that
/// was done before is somebody else's.
void mark_barriers(std::vector<Instruction>& list, std::vector<Effect> const& effects,
                   bool repeats) {
  std::size_t const size = list.size();
  auto const moves = [](Effect const& e, std::int64_t from) {
    return e.elements != 0 && from != 0 && e.elements != from;
  };
  auto gather_follows = [&](std::size_t k, std::int64_t from) {  // before anything is written
    for (std::size_t j = 1; j <= size; ++j) {
      if (k + j >= size && !repeats) return false;
      Effect const& e = effects[(k + j) % size];
      if (e.gathers || moves(e, from)) return true;
      if (e.writes) return false;
    }
    return false;
  };
  bool unpublished = false;           // something was written since the last time
  bool touched = false;               // anything was done since the last exchange
  std::vector<void const*> gathered;  // since the last exchange
  std::int64_t elements = 0;          // by which rows are shared out now
  // A repeated list begins with the state that its end leaves: the second pass starts from it.
  for (int pass = repeats ? 0 : 1; pass < 2; ++pass)
    for (std::size_t k = 0; k < size; ++k) {
      Effect const& e = effects[k];
      bool const overwrites = e.writes && std::ranges::any_of(gathered, [&](void const* v) {
                                return e.may_write(list[k].operands, v);
                              });
      bool const anew = moves(e, elements);
      list[k].barrier = ((e.gathers || anew) && unpublished) || overwrites || (anew && touched);
      if (list[k].barrier) {
        unpublished = touched = false;
        gathered.clear();
      }
      if (e.elements != 0) elements = e.elements;
      touched = touched || e.elements != 0;
      if (e.gathers && !e.sends) gathered.push_back(e.gathered);
      unpublished = unpublished || e.writes;
      if (e.exchanges) list[k].publish = e.scatters || (unpublished && gather_follows(k, elements));
      if (e.exchanges || e.scatters) {  // by a sum, or a barrier of its own
        gathered.clear();
        touched = false;
      }
      if (list[k].publish) unpublished = false;
      if (e.scatters) unpublished = true;  // that the exchange has ended, of which a send asks
    }
}

/// The list of a recording and its effects; `why` names a command without a fused operation.
template <class List>
struct Translation {
  std::vector<Instruction> list;
  std::vector<Facts> facts;
  std::vector<std::string> names;
  std::vector<Effect> effects;
  std::vector<void const*> gathered;
  std::string why;

  /// `shared_out`: the elements of each operation among the blocks, by their number; else each team
  /// has rows of its own.
  Translation(std::span<Command const> commands, bool shared_out) {
    bool held = false;  // a sum of this rank alone
    each_part(commands, [&](Command const& command) {
      if (!why.empty()) return;
      std::optional<Facts> const found = find(List{}, command);
      if (!found) {
        why = command.name;
        return;
      }
      if (found->sums > max_sums) {
        why = "more columns than sums fit an exchange";
        return;
      }
      bool const alone = command.alone && found->sums > 0;
      if (found->sums > 0 && held != found->spread) {
        why = cat("a sum of one rank alone before ", command.name);
        return;
      }
      if (alone && found->sums > 1) {
        why = cat(command.name, " of one rank alone");
        return;
      }
      if (found->sums > 0) held = alone;
      Instruction in{};
      in.op = found->position;
      in.lanes = 1;
      in.alone = alone;
      in.n = found->rows;
      in.pointers = found->pointers;
      std::memcpy(in.operands, command.operands.data(), command.operands.size());
      if (found->gathered != nullptr) gathered.push_back(found->gathered);
      bool const sends = found->spread && !found->finishes;
      effects.push_back({found->gathers, found->n > 0 && !found->only_sums && !sends,
                         found->sums > 0 && !alone, found->spread && !sends, sends,
                         shared_out ? in.n : 0, found->gathered, found->writes});
      list.push_back(in);
      facts.push_back(*found);
      names.push_back(command.name);
    });
    if (held && why.empty()) why = "a sum of one rank alone that nothing takes up";
  }

  /// z = D x, y = A z: the product reads x through D (loop_program).
  void fold_diagonals(std::span<void* const> own) {
    for (std::size_t k = 0; k + 1 < list.size(); ++k) {
      if (!facts[k].scaling) continue;
      DiagonalScaling const scaling = *facts[k].scaling;
      double const** const z = facts[k + 1].input(list[k + 1].operands);
      bool const folds = z != nullptr && *z == scaling.y &&
                         uses({list[k + 1]}, scaling.x) == 0 &&  // x is not the product's y
                         std::find(own.begin(), own.end(), *z) != own.end() && uses(list, *z) == 2;
      if (!folds) continue;
      list[k + 1].through = scaling.D;
      effects[k + 1].gathered = scaling.x;
      std::replace(gathered.begin(), gathered.end(), static_cast<void const*>(*z),
                   static_cast<void const*>(scaling.x));
      *z = scaling.x;
      erase(k);
    }
  }

 private:
  void erase(std::size_t k) {
    auto const at = static_cast<std::ptrdiff_t>(k);
    list.erase(list.begin() + at);
    facts.erase(facts.begin() + at);
    names.erase(names.begin() + at);
    effects.erase(effects.begin() + at);
  }
};

}  // namespace

int uses(std::vector<Instruction> const& list, void const* v) {
  int count = 0;
  for (Instruction const& in : list)
    for (int w = 0; w < Instruction::max_operands / 8; ++w)
      count += in.points(w) && reinterpret_cast<void* const*>(in.operands)[w] == v;
  return count;
}

namespace {

template <class T>
LoopProgram program_of(Recording const& body, int blocks, int block, std::span<void* const> own) {
  Translation<LoopOps<T>> made(body.commands, true);
  if (made.why.empty() && std::is_same_v<T, double>) made.fold_diagonals(own);
  LoopProgram out;
  out.vectors = real_of<T>;
  out.why = made.why;
  void const* values = nullptr;
  for (std::size_t k = 0; k < made.list.size() && out.why.empty(); ++k) {
    Instruction& in = made.list[k];
    Facts const& facts = made.facts[k];
    if (facts.columns != 1) out.why = cat(made.names[k], " of several vectors");
    in.each = ((in.n + blocks - 1) / blocks + 31) / 32 * 32;
    out.n = std::max(out.n, in.n);
    out.sums = std::max(out.sums, facts.sums);
    in.lanes = facts.lanes(in.operands, blocks, block);
    if (out.table.empty()) out.table = facts.table;
    if (in.op != position_of<CsrMultiply<T, T>>(LoopOps<T>{})) continue;
    auto const& product = *reinterpret_cast<CsrMultiply<T, T> const*>(in.operands);
    if (values == nullptr) {
      values = product.a.values;
      out.matrix = static_cast<int>(k);
    }
    in.cache.capacity = product.a.values == values;  // which, the caller decides
  }
  mark_barriers(made.list, made.effects, true);
  out.list = std::move(made.list);
  out.gathered = std::move(made.gathered);
  return out;
}

}  // namespace

LoopProgram loop_program(Recording const& body, int blocks, int block, std::span<void* const> own) {
  LoopProgram of_doubles = program_of<double>(body, blocks, block, own);
  if (of_doubles.why.empty()) return of_doubles;
  LoopProgram of_floats = program_of<float>(body, blocks, block, own);
  return of_floats.why.empty() ? of_floats : of_doubles;
}

double cache_share(Recording const& body) {
  double least = std::numeric_limits<double>::infinity();
  each_part(body.commands, [&](Command const& command) {
    for (auto const& found : {find(LoopOps<double>{}, command), find(LoopOps<float>{}, command)})
      if (found && found->n > 0 && !found->spread) least = std::min(least, found->cache_share);
  });
  return least;
}

BatchList batch_program(Recording const& recording, bool repeats) {
  Translation<BatchOps> made(recording.commands, false);
  if (!made.why.empty()) throw Unsupported(cat("a batch has no team that runs this: ", made.why));
  mark_barriers(made.list, made.effects, repeats);
  return {std::move(made.list), std::move(made.gathered)};
}

}  // namespace tcsolve
