// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include <tcsolve/factors/each_row.hpp>
#include <tcsolve/kernels/host/parallel.hpp>
#include <tcsolve/precond/fsai/dense.hpp>
#include <tcsolve/precond/fsai/rows.hpp>

namespace tcsolve::host {
namespace {

constexpr std::int64_t stretch = 64;  // rows that a thread takes at a time

template <class F>
void each_row(Index rows, F const& f) {
  parallel((rows + stretch - 1) / stretch, 2, [&](std::int64_t s) {
    auto const end = static_cast<Index>(std::min<std::int64_t>(rows, (s + 1) * stretch));
    for (auto i = static_cast<Index>(s * stretch); i < end; ++i) f(i);
  });
}

}  // namespace

Index fsai_rows(Host&, Arena&, CancelFlag cancel, CsrView<double> const& a,
                CsrView<double> const& pattern, Index, double* values) {
  std::atomic<Index> bad = pattern.rows;
  struct Work {
    std::vector<double> block, y;
  };
  ScratchPool<Work> pool;
  each_row(pattern.rows, [&](Index i) {
    if (i % 8 == 0) cancel.check();
    auto const lent = pool.take([] { return Work{}; });
    auto& [block, y] = *lent;
    Offset const begin = pattern.offsets[i];
    std::span const P(pattern.columns + begin,
                      static_cast<std::size_t>(pattern.offsets[i + 1] - begin));
    gather(a, P, block);
    y.resize(P.size());
    if (!solve_for_last(block, y, cancel)) {
      for (Index first = bad; i < first && !bad.compare_exchange_weak(first, i);) {}
      return;
    }
    double const scale = 1 / std::sqrt(y.back());
    for (std::size_t k = 0; k < y.size(); ++k) values[begin + k] = y[k] * scale;
  });
  return bad < pattern.rows ? bad.load() : -1;
}

void transposed_values(Host&, CsrView<double> const& pattern, CsrView<double> const& transposed,
                       double const* values, double* to) {
  each_row(transposed.rows, [&](Index j) {
    for (Offset e = transposed.offsets[j]; e < transposed.offsets[j + 1]; ++e) {
      Index const i = transposed.columns[e];
      Index const* const first = pattern.columns + pattern.offsets[i];
      Index const* const last = pattern.columns + pattern.offsets[i + 1];
      to[e] = values[pattern.offsets[i] + (std::lower_bound(first, last, j) - first)];
    }
  });
}

}  // namespace tcsolve::host
