// SPDX-License-Identifier: Apache-2.0
#include "persistent_program.hpp"

#include <algorithm>
#include <cstring>
#include <typeindex>

namespace tcsolve::cuda::persistent {

namespace {

struct Facts {
  int position;
  bool gathers, only_sums, exchanges;
  std::size_t bytes;
};

template <class... V>
bool find(List<V...>, std::type_index type, Facts& facts) {
  int k = 0;
  bool found = false;
  (
      [&] {
        static_assert(sizeof(V) <= max_operands && std::is_trivially_copyable_v<V>);
        if (type == typeid(V)) {
          facts = {k, gathers<V>, only_sums<V>, exchanges<V>, sizeof(V)};
          found = true;
        }
        ++k;
      }(),
      ...);
  return found;
}

/// Threads that share a row: enough to use the block, no more than a row has entries.
int lanes_for(std::int64_t n, std::int64_t entries, int blocks) {
  std::int64_t rows = std::max<std::int64_t>(1, (n + blocks - 1) / blocks);
  std::int64_t length = n > 0 ? entries / n : 0;
  int lanes = 2;
  while (lanes < 32 && lanes < length && (lanes < 4 || lanes * rows < block_size)) lanes *= 2;
  return lanes;
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

}  // namespace

Assembly assemble(Recording const& body, int blocks) {
  Assembly out;
  auto refuse = [&](std::string why) {
    out.why = std::move(why);
    return out;
  };
  bool written = true;    // since the last barrier: a gather must wait
  bool gathered = false;  // since the last barrier: a write must wait
  void const* values = nullptr;
  for (Command const& command : body.commands) {
    Facts facts{};
    if (!find(Verbs<double>{}, command.type, facts)) return refuse(command.name);
    Instruction in{};
    in.verb = facts.position;
    std::memcpy(in.operands, command.operands.data(), facts.bytes);
    std::int64_t n;
    std::memcpy(&n, in.operands, sizeof n);  // the first operand of every verb
    if (n != 0 && out.n != 0 && n != out.n)
      return refuse(cat(command.name, " of ", n, " beside ", out.n, " elements"));
    out.n = std::max(out.n, n);
    if (command.type == typeid(CsrMultiply<double, double>)) {
      auto const& product = *reinterpret_cast<CsrMultiply<double, double> const*>(in.operands);
      in.lanes = lanes_for(n, product.a.entries, blocks);
      facts.exchanges = product.sigma != nullptr;
      if (values == nullptr) {
        values = product.a.values;
        out.matrix = static_cast<int>(out.program.size());
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
    out.program.push_back(in);
  }
  if (gathered && !out.program.empty()) out.program.front().barrier = 1;  // the list goes round
  return out;
}

}  // namespace tcsolve::cuda::persistent
