// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/matrix/csr_batch.hpp>

#include <tcsolve/core/error.hpp>

namespace tcsolve {

namespace {

void append(CsrBatch& to, CsrView<double> const& a, double const* values) {
  if (a.rows != a.cols)
    throw ShapeError(cat("system ", to.count(), " of the batch is ", a.rows, " x ", a.cols,
                         "; a batch takes square systems"));
  Csr<double>& m = to.matrix;
  Index start = m.rows;
  m.rows = m.cols = narrow(std::int64_t{start} + a.rows, "rows of the batch");
  Offset entries = m.entries();
  for (Index i = 0; i < a.rows; ++i) m.offsets.push_back(entries + a.offsets[i + 1]);
  for (Offset e = 0; e < a.entries; ++e) m.columns.push_back(start + a.columns[e]);
  m.values.insert(m.values.end(), values, values + a.entries);
  to.starts.push_back(m.rows);
}

}  // namespace

CsrBatch batch_of(std::span<Csr<double> const> systems) {
  CsrBatch batch;
  for (Csr<double> const& a : systems) append(batch, a.view(), a.values.data());
  return batch;
}

CsrBatch batch_of(CsrView<double> const& pattern, std::span<double const> values) {
  std::size_t entries = static_cast<std::size_t>(pattern.entries);
  if (entries == 0 || values.size() % entries != 0)
    throw ShapeError(cat("a batch of one pattern: ", values.size(),
                         " values are no multiple of the ", entries, " entries of the pattern"));
  CsrBatch batch;
  for (std::size_t at = 0; at < values.size(); at += entries)
    append(batch, pattern, values.data() + at);
  return batch;
}

}  // namespace tcsolve
