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
template <class View>
constexpr bool gathers<ExactResidual<View>> = true;

template <class V>
constexpr bool only_sums = false;  // writes nothing but its sums
template <class T>
constexpr bool only_sums<Dot<T>> = true;
template <class T>
constexpr bool only_sums<Dot2<T>> = true;
template <class T>
constexpr bool only_sums<Gram<T>> = true;

template <class V>
constexpr int sums_of(V const&) {
  return VerbTraits<V>::sums;
}
template <class T>
int sums_of(Gram<T> const& gram) {
  return Gram<T>::sums(gram.H.m - 1);
}
template <class S, class T>
int sums_of(CsrMultiply<S, T> const& product) {
  return product.sigma != nullptr ? 1 : 0;
}

struct Facts {
  int position;
  bool gathers, only_sums;
  int sums;
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
                   sums_of(*reinterpret_cast<V const*>(command.operands.data())),
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
  if (type == typeid(ExactResidual<CsrView<double>>))
    return static_cast<ExactResidual<CsrView<double>> const*>(operands)->v.x;
  return nullptr;
}

/// The matrix of a product by diagonals; null for any other verb.
template <class T>
DiaView<T> const* diagonals_of(std::type_index type, void const* operands) {
  if (type == typeid(DiaMultiply<T, T>)) return &static_cast<DiaMultiply<T, T> const*>(operands)->a;
  if (type == typeid(DiaMultiplyDot<T, T>))
    return &static_cast<DiaMultiplyDot<T, T> const*>(operands)->a;
  return nullptr;
}

/// Of a product with a block of vectors; 1 for any other verb.
template <class T>
Index columns_of(std::type_index type, void const* operands) {
  if (type == typeid(SellMultiply<T, T>))
    return static_cast<SellMultiply<T, T> const*>(operands)->y.cols;
  if (type == typeid(DiaMultiply<T, T>))
    return static_cast<DiaMultiply<T, T> const*>(operands)->y.cols;
  return 1;
}

/// Threads that share a row by diagonals, eight at a time: as long as few of the threads have a row
/// (two of them where half have one: 10.4 instead of 9.8 us a step of CG, 33k rows).
int dia_lanes(std::int64_t rows, DiaView<double> const& a, int teams, int threads) {
  std::int64_t const each = (rows + teams - 1) / teams;
  int lanes = 1;
  while (lanes < 32 && 4 * lanes * each < threads && 16 * lanes < a.count + 8) lanes *= 2;
  return lanes;
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

/// The place where a product without a sum keeps its x, one column of adjacent entries; null for
/// any other verb.
template <class T>
T const** plain_x(std::type_index type, void* operands) {
  auto const block = [](Elements<T const>& x) {
    return x.cols == 1 && x.row_stride == 1 ? &x.data : nullptr;
  };
  if (type == typeid(CsrMultiply<T, T>)) {
    auto& product = *static_cast<CsrMultiply<T, T>*>(operands);
    return product.sigma == nullptr ? &product.x : nullptr;
  }
  if (type == typeid(SellMultiply<T, T>))
    return block(static_cast<SellMultiply<T, T>*>(operands)->x);
  if (type == typeid(DiaMultiply<T, T>)) return block(static_cast<DiaMultiply<T, T>*>(operands)->x);
  return nullptr;
}

/// The list of a recording and its effects; `why` names a command without a verb.
template <class Verbs>
struct Translation {
  std::vector<Instruction> list;
  std::vector<Command const*> commands;  // of the recording
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
      in.lanes = 1;
      in.pointers = facts.pointers;
      std::memcpy(in.operands, command.operands.data(), facts.bytes);
      std::int64_t n;
      std::memcpy(&n, in.operands, sizeof n);  // the first operand of every verb
      if (facts.sums > max_sums) {
        why = "more columns than sums fit an exchange";
        return;
      }
      if (void const* x = gathered_vector<double>(command.type, in.operands)) gathered.push_back(x);
      effects.push_back({facts.gathers, n > 0 && !facts.only_sums, facts.sums > 0});
      list.push_back(in);
      commands.push_back(&command);
    }
  }

  /// z = D x, y = A z: the product reads x through D (loop_program).
  void fold_diagonals(std::span<double* const> own) {
    for (std::size_t k = 0; k + 1 < list.size(); ++k) {
      if (commands[k]->type != typeid(Multiply<double>)) continue;
      auto const& scaling = *reinterpret_cast<Multiply<double> const*>(list[k].operands);
      double const** x = plain_x<double>(commands[k + 1]->type, list[k + 1].operands);
      bool const folds = x != nullptr && *x == scaling.y.data && scaling.beta == 0 &&
                         uses({list[k + 1]}, scaling.x.data) == 0 &&  // it is no y
                         scaling.x.cols == 1 && scaling.x.row_stride == 1 &&
                         std::find(own.begin(), own.end(), *x) != own.end() && uses(list, *x) == 2;
      if (!folds) continue;
      list[k + 1].through = {scaling.d, scaling.alpha};
      std::replace(gathered.begin(), gathered.end(), static_cast<void const*>(*x),
                   static_cast<void const*>(scaling.x.data));
      *x = scaling.x.data;
      auto const at = static_cast<std::ptrdiff_t>(k);
      list.erase(list.begin() + at);
      effects.erase(effects.begin() + at);
      commands.erase(commands.begin() + at);
    }
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

int lanes_for(std::int64_t rows, std::int64_t entries, int teams, int threads) {
  std::int64_t each = std::max<std::int64_t>(1, (rows + teams - 1) / teams);
  std::int64_t length = rows > 0 ? entries / rows : 0;
  int lanes = 1;
  while (lanes < 32 && 4 * lanes < length) lanes *= 2;
  while (lanes < 32 && lanes < length && lanes * each < threads) lanes *= 2;
  return lanes;
}

LoopProgram loop_program(Recording const& body, int blocks, int block,
                         std::span<double* const> own) {
  Translation<LoopVerbs<double>> made(body);
  if (made.why.empty()) made.fold_diagonals(own);
  LoopProgram out;
  out.why = made.why;
  void const* values = nullptr;
  for (std::size_t k = 0; k < made.list.size() && out.why.empty(); ++k) {
    Instruction& in = made.list[k];
    std::int64_t n;
    std::memcpy(&n, in.operands, sizeof n);
    if (columns_of<double>(made.commands[k]->type, in.operands) != 1)
      out.why = cat(made.commands[k]->name, " of several vectors");
    if (n != 0 && out.n != 0 && n != out.n)
      out.why = cat(made.commands[k]->name, " of ", n, " beside ", out.n, " elements");
    out.n = std::max(out.n, n);
    if (DiaView<double> const* a = diagonals_of<double>(made.commands[k]->type, in.operands)) {
      in.lanes = dia_lanes(n, *a, blocks, block);
      if (out.list_of_diagonals.empty())
        out.list_of_diagonals =
            std::as_bytes(std::span(a->diagonals, static_cast<std::size_t>(a->count)));
    }
    if (made.commands[k]->type != typeid(CsrMultiply<double, double>)) continue;
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
