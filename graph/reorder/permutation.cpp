// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/graph/reorder/permutation.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

#include <tcsolve/core/parallel.hpp>
#include <tcsolve/graph/reorder/renumber.hpp>

namespace tcsolve {

Permutation::Permutation(std::vector<Index> old_numbers) : old_(std::move(old_numbers)) {
  Index const n = narrow(static_cast<std::int64_t>(old_.size()), "elements of a permutation");
  new_.assign(old_.size(), -1);
  for (Index i = 0; i < n; ++i) {
    Index const old = old_[i];
    if (old < 0 || old >= n)
      throw MatrixError(
          cat("permutation: element ", i, " = ", old, " is outside [0, ", n, "), its length"));
    if (new_[old] >= 0)
      throw MatrixError(cat("permutation: elements ", new_[old], " and ", i, " are both ", old,
                            "; every number below ", n, " must occur once"));
    new_[old] = i;
  }
}

Permutation Permutation::identity(Index n) {
  std::vector<Index> numbers(static_cast<std::size_t>(n));
  std::iota(numbers.begin(), numbers.end(), Index{0});
  return Permutation(std::move(numbers));
}

bool Permutation::is_identity() const { return std::is_sorted(old_.begin(), old_.end()); }

Permutation Permutation::inverse() const {
  Permutation other;
  other.old_ = new_;
  other.new_ = old_;
  return other;
}

template <class T>
Csr<T> permuted(CsrView<T> const& a, Permutation const& P, int threads) {
  if (a.rows != a.cols || a.rows != P.size() || a.space != Space::host)
    throw ShapeError(cat("permuted: the matrix is ", a.rows, " x ", a.cols, " on the ",
                         name(a.space), ", the permutation has ", P.size(),
                         " elements; needed is a square matrix on the host, of as many rows"));
  std::span<Index const> const old_numbers = P.old_numbers(), new_numbers = P.new_numbers();
  Csr<T> b;
  b.rows = b.cols = a.rows;
  b.offsets.reserve(static_cast<std::size_t>(a.rows) + 1);
  for (Index const old : old_numbers)
    b.offsets.push_back(b.offsets.back() + a.offsets[old + 1] - a.offsets[old]);
  b.columns.resize(static_cast<std::size_t>(a.entries));
  b.values.resize(static_cast<std::size_t>(a.entries));
  parallel_ranges(thread_count(threads), a.rows, 4096, [&](std::int64_t begin, std::int64_t end) {
    std::vector<std::pair<Index, T>> row;
    for (std::int64_t i = begin; i < end; ++i) {
      Index const old = old_numbers[i];
      row.clear();
      for (Offset k = a.offsets[old]; k < a.offsets[old + 1]; ++k)
        row.emplace_back(new_numbers[a.columns[k]], a.values[k]);
      std::sort(row.begin(), row.end(),
                [](auto const& p, auto const& q) { return p.first < q.first; });
      Offset at = b.offsets[i];
      for (auto const& [column, value] : row) {
        b.columns[at] = column;
        b.values[at++] = value;
      }
    }
  });
  return b;
}

template <class T>
CsrStorage<T> permuted(Context& ctx, CsrView<T> const& a, Permutation const& P) {
  if (a.rows != a.cols || a.rows != P.size() || a.space != ctx.space())
    throw ShapeError(cat("permuted: the matrix is ", a.rows, " x ", a.cols, " on the ",
                         name(a.space), ", the permutation has ", P.size(),
                         " elements; needed is a square matrix on the ", name(ctx.space()),
                         ", of as many rows"));
  if (a.space == Space::host) return {ctx, permuted(a, P)};
  auto const old_numbers = to_space(ctx, P.old_numbers().data(), P.old_numbers().size());
  auto const new_numbers = to_space(ctx, P.new_numbers().data(), P.new_numbers().size());
  Arena arena(ctx.space());  // in one piece, and given back
  arena.scope().take<std::byte>(static_cast<std::size_t>(4 * a.entries) +
                                static_cast<std::size_t>(a.rows) * 32 + (1 << 20));
  CsrArrays<T> made = ctx.visit(
      [&](auto& on) { return permute(on, arena, a, old_numbers.data(), new_numbers.data()); });
  ctx.synchronize();  // the numbers go
  return {ctx, a.rows, a.cols, std::move(made)};
}

template CsrStorage<double> permuted(Context&, CsrView<double> const&, Permutation const&);
template Csr<double> permuted(CsrView<double> const&, Permutation const&, int);
template Csr<float> permuted(CsrView<float> const&, Permutation const&, int);
template Csr<half> permuted(CsrView<half> const&, Permutation const&, int);
template Csr<bfloat16> permuted(CsrView<bfloat16> const&, Permutation const&, int);

}  // namespace tcsolve
