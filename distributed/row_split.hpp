// SPDX-License-Identifier: Apache-2.0
/// The rows of a rank as two matrices: their entries in its own columns, and the others. Checked,
/// sorted and renumbered where they lie, by host and device alike.
///
///     given     columns 3 7 | 2 4 9     own columns [3, 6): two rows, each with one and two others
///     outer     entries   1 |   2   4   numbered by one scan of a set of them (RankedSet)
///     own       columns 0   |   1       column - 3
///     halo      2 7 9                   numbered by a set of columns
///     outer     columns   1 |   0   2   places in the halo
///
/// Entry p goes to place below(p) of `outer`, or to p - below(p) of `own`, with the set of outer
/// entries. Values are split by themselves, so that those of a caller on the host need not lie
/// beside his columns on a device; so are new ones.
#pragma once

#include <cstdint>
#include <vector>

#include <tcsolve/core/context.hpp>
#include <tcsolve/distributed/global_rows.hpp>
#include <tcsolve/matrix/csr.hpp>
#include <tcsolve/matrix/csr_arrays.hpp>

namespace tcsolve {

/// Where each given entry goes, and what is needed to measure rows, in one space.
struct EntryPlaces {
  Array<std::uint64_t> outer_words;  ///< the set of outer entries (kernels/ranked_set.hpp)
  Array<Offset> outer_members;
  Array<Offset> order;  ///< (entries) the given entry that comes at place p; empty: ascending rows
  Array<std::int32_t> narrow_offsets;  ///< as given, one of both
  Array<std::int64_t> wide_offsets;
  Index rows = 0;
  Offset entries = 0;
  Offset outer = 0;  ///< of the entries

  OffsetsView offsets() const {
    return narrow_offsets.size() > 0 ? OffsetsView(narrow_offsets.data())
                                     : OffsetsView(wide_offsets.data());
  }
};

/// All but the values.
struct RowSplit {
  CsrArrays<double> own;           ///< in the space of the backend
  std::vector<std::int64_t> halo;  ///< columns that are not own, ascending, each once
  std::vector<Index> outer_rows;   ///< rows with such entries, ascending
  Csr<double> outer;               ///< these rows; columns are places in `halo`
  EntryPlaces places;
};

/// Of values as they were given, beside those that are own.
struct SplitValues {
  std::vector<double> outer;
  double norm = 0;  ///< the largest sum_j |a_ij|; NaN where an entry is
};

namespace host {
RowSplit split_rows(Host&, Arena&, std::int64_t first_row, CsrView64 const& a,
                    std::int64_t first_column, Index own_columns);
SplitValues split_values(Host&, Arena&, EntryPlaces const&, double const* values,
                         Array<double>& own);
}  // namespace host
namespace cuda {
RowSplit split_rows(Device&, Arena&, std::int64_t first_row, CsrView64 const& a,
                    std::int64_t first_column, Index own_columns);
SplitValues split_values(Device&, Arena&, EntryPlaces const&, double const* values,
                         Array<double>& own);
}  // namespace cuda

/// The pattern of a, which lies in the Context's space; values may be null. Throws MatrixError, of
/// global row numbers: offsets that descend or do not end with the entries, columns out of range or
/// twice in a row. Cost: two passes over the entries, a sort of them where rows do not ascend; bits
/// for all columns of the matrix; two waits for a device.
RowSplit split_rows(Context&, std::int64_t first_row, CsrView64 const& a, std::int64_t first_column,
                    Index own_columns);
/// values (entries) in the Context's space; `own` is made where it does not fit. Cost: two passes,
/// one wait.
SplitValues split_values(Context&, EntryPlaces const&, double const* values, Array<double>& own);

}  // namespace tcsolve
