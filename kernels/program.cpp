// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/kernels/program.hpp>

#include <algorithm>
#include <cstring>
#include <typeindex>

#include <tcsolve/core/error.hpp>
#include <tcsolve/kernels/fields.hpp>

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

template <class V>
constexpr bool gathers = false;  // reads elements that other blocks own
template <class S, class T>
constexpr bool gathers<CsrMultiply<S, T>> = true;
template <class S, class T>
constexpr bool gathers<SellMultiply<S, T>> = true;
template <class S, class T>
constexpr bool gathers<SellMultiplyDot<S, T>> = true;
template <class S, class T>
constexpr bool gathers<DiaMultiply<S, T>> = true;
template <class S, class T>
constexpr bool gathers<DiaMultiplyDot<S, T>> = true;
template <class T>
constexpr bool gathers<BlockMultiply<T>> = true;

template <class V>
constexpr bool only_sums = false;  // writes nothing but its sums
template <class T>
constexpr bool only_sums<Dot<T>> = true;
template <class T>
constexpr bool only_sums<Dot2<T>> = true;
template <class T>
constexpr bool only_sums<Gram<T>> = true;

template <class V>
constexpr bool exchanges = VerbTraits<V>::sums > 0;
template <class T>
constexpr bool exchanges<Gram<T>> = true;

struct Facts {
  int position;
  bool gathers, only_sums, exchanges;
  std::size_t bytes;
  std::uint32_t pointers;  // see Instruction
};

template <class V>
std::uint32_t pointers_of(std::byte const* operands) {
  std::uint32_t words = 0;
  each_pointer(*reinterpret_cast<V const*>(operands), [&](auto const& pointer) {
    words |= 1u << (reinterpret_cast<std::byte const*>(&pointer) - operands) / 8;
  });
  return words;
}

template <class... V>
bool find(VerbList<V...>, Command const& command, Facts& facts) {
  int k = 0;
  bool found = false;
  (
      [&] {
        static_assert(sizeof(V) <= Instruction::max_operands && std::is_trivially_copyable_v<V>);
        if (command.type == typeid(V)) {
          facts = {k,
                   gathers<V>,
                   only_sums<V>,
                   exchanges<V>,
                   sizeof(V),
                   pointers_of<V>(command.operands.data())};
          found = true;
        }
        ++k;
      }(),
      ...);
  return found;
}

/// The vector that a gather reads; null for any other verb.
template <class T>
void const* gathered_vector(std::type_index type, void const* operands) {
  if (type == typeid(CsrMultiply<T, T>)) return static_cast<CsrMultiply<T, T> const*>(operands)->x;
  if (type == typeid(SellMultiply<T, T>))
    return static_cast<SellMultiply<T, T> const*>(operands)->x.data;
  if (type == typeid(SellMultiplyDot<T, T>))
    return static_cast<SellMultiplyDot<T, T> const*>(operands)->x;
  if (type == typeid(DiaMultiply<T, T>))
    return static_cast<DiaMultiply<T, T> const*>(operands)->x.data;
  if (type == typeid(DiaMultiplyDot<T, T>))
    return static_cast<DiaMultiplyDot<T, T> const*>(operands)->x;
  if (type == typeid(BlockMultiply<T>))
    return static_cast<BlockMultiply<T> const*>(operands)->x.data;
  return nullptr;
}

/// What an instruction does to the vectors of a team.
struct Effect {
  bool gathers, writes, exchanges;
};

/// Marks where a team has to wait. What is gathered must have been published since it was written,
/// by a barrier or by sums that happen to come in between; what others gather must not be written
/// before they have, of which any exchange makes sure.
void mark_barriers(std::vector<Instruction>& list, std::vector<Effect> const& effects,
                   bool repeats) {
  std::size_t const size = list.size();
  auto gather_follows = [&](std::size_t k) {  // before anything is written
    for (std::size_t j = 1; j <= size; ++j) {
      if (k + j >= size && !repeats) return false;
      Effect const& e = effects[(k + j) % size];
      if (e.gathers) return true;
      if (e.writes) return false;
    }
    return false;
  };
  bool unpublished = false;  // something was written since the last time
  bool gathered = false;     // since the last exchange
  // What repeats itself meets what its last round has left: the second pass knows.
  for (int pass = repeats ? 0 : 1; pass < 2; ++pass)
    for (std::size_t k = 0; k < size; ++k) {
      Effect const& e = effects[k];
      list[k].barrier = (e.gathers && unpublished) || (gathered && e.writes);
      if (list[k].barrier) unpublished = gathered = false;
      gathered = gathered || e.gathers;
      unpublished = unpublished || e.writes;
      if (!e.exchanges) continue;
      gathered = false;
      list[k].publish = unpublished && gather_follows(k);
      if (list[k].publish) unpublished = false;
    }
}

/// The list of a recording and its effects; `why` names a command without a verb.
template <class Verbs>
struct Translation {
  std::vector<Instruction> list;
  std::vector<Effect> effects;
  std::vector<void const*> gathered;
  std::string why;

  explicit Translation(Recording const& recording) {
    for (Command const& command : recording.commands) {
      Facts facts{};
      if (!find(Verbs{}, command, facts)) {
        why = command.name;
        return;
      }
      Instruction in{};
      in.verb = facts.position;
      in.pointers = facts.pointers;
      std::memcpy(in.operands, command.operands.data(), facts.bytes);
      std::int64_t n;
      std::memcpy(&n, in.operands, sizeof n);  // the first operand of every verb
      if (command.type == typeid(CsrMultiply<double, double>))
        facts.exchanges =
            reinterpret_cast<CsrMultiply<double, double> const*>(in.operands)->sigma != nullptr;
      if (command.type == typeid(Gram<double>) &&
          Gram<double>::sums(reinterpret_cast<Gram<double> const*>(in.operands)->H.m - 1) >
              max_sums) {
        why = "more columns than sums fit an exchange";
        return;
      }
      if (void const* x = gathered_vector<double>(command.type, in.operands)) gathered.push_back(x);
      effects.push_back({facts.gathers, n > 0 && !facts.only_sums, facts.exchanges});
      list.push_back(in);
    }
  }
};

}  // namespace

int lanes_for(std::int64_t rows, std::int64_t entries, int teams, int threads) {
  std::int64_t each = std::max<std::int64_t>(1, (rows + teams - 1) / teams);
  std::int64_t length = rows > 0 ? entries / rows : 0;
  int lanes = 1;
  while (lanes < 32 && 4 * lanes < length) lanes *= 2;
  while (lanes < 32 && lanes < length && lanes * each < threads) lanes *= 2;
  return lanes;
}

LoopProgram loop_program(Recording const& body, int blocks, int block) {
  Translation<LoopVerbs<double>> made(body);
  LoopProgram out;
  out.why = made.why;
  void const* values = nullptr;
  for (std::size_t k = 0; k < made.list.size() && out.why.empty(); ++k) {
    Instruction& in = made.list[k];
    std::int64_t n;
    std::memcpy(&n, in.operands, sizeof n);
    if (n != 0 && out.n != 0 && n != out.n)
      out.why = cat(body.commands[k].name, " of ", n, " beside ", out.n, " elements");
    out.n = std::max(out.n, n);
    if (body.commands[k].type != typeid(CsrMultiply<double, double>)) continue;
    auto const& product = *reinterpret_cast<CsrMultiply<double, double> const*>(in.operands);
    in.lanes = lanes_for(n, product.a.entries, blocks, block);
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

BatchList batch_program(Recording const& recording, bool repeats) {
  Translation<BatchVerbs> made(recording);
  if (!made.why.empty()) throw Unsupported(cat("a batch has no team that runs this: ", made.why));
  mark_barriers(made.list, made.effects, repeats);
  return {std::move(made.list), std::move(made.gathered)};
}

}  // namespace tcsolve
