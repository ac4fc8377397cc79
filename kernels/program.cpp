// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/kernels/program.hpp>

#include <algorithm>
#include <cstring>
#include <typeindex>

#include <tcsolve/core/error.hpp>

namespace tcsolve {

namespace {

template <class V>
constexpr bool gathers = false;  // reads elements that other blocks own
template <class S, class T>
constexpr bool gathers<CsrMultiply<S, T>> = true;
template <class S, class T>
constexpr bool gathers<SellMultiply<S, T>> = true;
template <class S, class T>
constexpr bool gathers<SellMultiplyDot<S, T>> = true;
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
};

template <class... V>
bool find(VerbList<V...>, std::type_index type, Facts& facts) {
  int k = 0;
  bool found = false;
  (
      [&] {
        static_assert(sizeof(V) <= Instruction::max_operands && std::is_trivially_copyable_v<V>);
        if (type == typeid(V)) {
          facts = {k, gathers<V>, only_sums<V>, exchanges<V>, sizeof(V)};
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
  if (type == typeid(BlockMultiply<T>))
    return static_cast<BlockMultiply<T> const*>(operands)->x.data;
  return nullptr;
}

Instruction instruction(Command const& command, Facts const& facts) {
  Instruction in{};
  in.verb = facts.position;
  std::memcpy(in.operands, command.operands.data(), facts.bytes);
  return in;
}

}  // namespace

int lanes_for(std::int64_t rows, std::int64_t entries, int teams, int threads) {
  std::int64_t each = std::max<std::int64_t>(1, (rows + teams - 1) / teams);
  std::int64_t length = rows > 0 ? entries / rows : 0;
  int lanes = 2;
  while (lanes < 32 && lanes < length && (lanes < 4 || lanes * each < threads)) lanes *= 2;
  return lanes;
}

LoopProgram loop_program(Recording const& body, int blocks, int block) {
  LoopProgram out;
  auto refuse = [&](std::string why) {
    out.why = std::move(why);
    return out;
  };
  bool written = true;    // since the last barrier: a gather must wait
  bool gathered = false;  // since the last barrier: a write must wait
  void const* values = nullptr;
  for (Command const& command : body.commands) {
    Facts facts{};
    if (!find(LoopVerbs<double>{}, command.type, facts)) return refuse(command.name);
    Instruction in = instruction(command, facts);
    std::int64_t n;
    std::memcpy(&n, in.operands, sizeof n);  // the first operand of every verb
    if (n != 0 && out.n != 0 && n != out.n)
      return refuse(cat(command.name, " of ", n, " beside ", out.n, " elements"));
    out.n = std::max(out.n, n);
    if (command.type == typeid(CsrMultiply<double, double>)) {
      auto const& product = *reinterpret_cast<CsrMultiply<double, double> const*>(in.operands);
      in.lanes = lanes_for(n, product.a.entries, blocks, block);
      facts.exchanges = product.sigma != nullptr;
      if (values == nullptr) {
        values = product.a.values;
        out.matrix = static_cast<int>(out.list.size());
      }
      in.cache.capacity = product.a.values == values;  // which, the caller decides
    }
    if (command.type == typeid(RotateHessenberg) &&
        reinterpret_cast<RotateHessenberg const*>(in.operands)->H.m >= max_sums)
      return refuse("more columns than sums fit an exchange");
    if (void const* x = gathered_vector<double>(command.type, in.operands))
      out.gathered.push_back(x);
    in.barrier = n > 0 && ((facts.gathers && written) || (gathered && !facts.only_sums));
    if (in.barrier) written = gathered = false;
    if (facts.gathers) gathered = true;
    if (!facts.only_sums && n > 0) written = true;
    if (facts.exchanges) written = gathered = false;
    out.list.push_back(in);
  }
  if (gathered && !out.list.empty()) out.list.front().barrier = 1;  // the list goes round
  return out;
}

std::vector<Instruction> batch_program(Recording const& recording) {
  std::vector<Instruction> list;
  for (Command const& command : recording.commands) {
    Facts facts{};
    if (!find(BatchVerbs{}, command.type, facts))
      throw Unsupported(cat("a batch has no team that runs '", command.name, "'"));
    list.push_back(instruction(command, facts));
    if (command.type == typeid(RotateHessenberg) &&
        reinterpret_cast<RotateHessenberg const*>(list.back().operands)->H.m >= max_sums)
      throw Unsupported(cat("a batch takes gmres with a restart below ", max_sums));
  }
  return list;
}

}  // namespace tcsolve
