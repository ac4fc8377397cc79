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

template <class V>
void execute_columns(Host&, LoopState* state, V const& op, double* partials) {
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
    std::int64_t const end = std::min(op.shape.n, (chunk + 1) * chunk_rows);
    for (std::int64_t i = chunk * chunk_rows; i < end; ++i)
      for (Index const j : going)
        op.element(i * op.shape.ld + j, c[static_cast<std::size_t>(j)], sum + j * sums);
  });
  if constexpr (sums > 0) {
    for (Index const j : going) {
      double total[sums] = {};
      for (std::int64_t chunk = 0; chunk < chunks; ++chunk)
        for (int k = 0; k < sums; ++k)
          total[k] += partials[static_cast<std::size_t>(chunk) * size + j * sums + k];
      op.finish({frame, j}, total);
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
