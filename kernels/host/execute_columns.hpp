// SPDX-License-Identifier: Apache-2.0
/// Runs any column operation (kernels/column_operation.hpp) on the host: rows in chunks, whose sums
/// are added in order. Included by the files that instantiate them:
///
///     template struct ExecutesColumns<PseudoCgOps>;
#pragma once

#include <algorithm>
#include <tuple>
#include <vector>

#include <tcsolve/kernels/column_operation.hpp>
#include <tcsolve/kernels/host/parallel.hpp>
#include <tcsolve/kernels/op_list.hpp>

namespace tcsolve::host {

constexpr std::int64_t chunk_rows = 512;
/// Rows that stay in the first-level cache while the columns go by, one after the other.
constexpr std::int64_t strip_rows = 32;

template <class V>
void execute_columns(Host& on, LoopState* state, V const& op, double* partials) {
  constexpr int sums = OpTraits<V>::sums;
  using Coefficients = typename V::Coefficients;
  Frame const frame{state, true};
  auto const w = static_cast<std::size_t>(op.shape.w);
  std::vector<Coefficients> c(w);
  std::vector<Index> going;
  for (Index j = 0; j < op.shape.w && !frame.stopped(); ++j)
    if (op.prepare({frame, j}, c[static_cast<std::size_t>(j)])) going.push_back(j);
  std::int64_t const chunks = (op.shape.n + chunk_rows - 1) / chunk_rows;
  std::size_t const size = w * sums;
  parallel(going.empty() ? 0 : chunks, 2, [&](std::int64_t chunk) {
    double* const sum = partials + static_cast<std::size_t>(chunk) * size;
    std::fill_n(sum, size, 0.0);
    V const own = op;  // what an element writes cannot be the operands
    std::int64_t const end = std::min(op.shape.n, (chunk + 1) * chunk_rows);
    for (std::int64_t first = chunk * chunk_rows; first < end; first += strip_rows) {
      std::int64_t const last = std::min(end, first + strip_rows);
      for (Index const j : going) {
        Coefficients const of_column = c[static_cast<std::size_t>(j)];
        double here[sums > 0 ? sums : 1];
        for (int k = 0; k < sums; ++k) here[k] = sum[j * sums + k];
        for (std::int64_t i = first; i < last; ++i)
          own.element(i * own.shape.ld + j, of_column, here);
        for (int k = 0; k < sums; ++k) sum[j * sums + k] = here[k];
      }
    }
  });
  if constexpr (sums > 0) {
    if (!going.empty()) {
      std::vector<double> total(size);
      end_sums<Add>(on, partials, chunks, static_cast<std::int64_t>(size), total.data());
      for (Index const j : going) op.finish({frame, j}, total.data() + j * sums);
    }
    if constexpr (OpTraits<V>::afters) op.after(frame);
  }
}

/// Instantiates execute_columns() for each operation of a list.
template <class List>
struct ExecutesColumns;
template <class... V>
struct ExecutesColumns<OpList<V...>> {
  static constexpr std::tuple<void (*)(Host&, LoopState*, V const&, double*)...> all{
      &execute_columns<V>...};
};

}  // namespace tcsolve::host
