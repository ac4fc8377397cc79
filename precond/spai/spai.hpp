// SPDX-License-Identifier: Apache-2.0
/// M, a sparse approximate inverse of any square A: column by column the m_j on a pattern for which
/// ||A m_j - e_j|| is least (Grote and Huckle 1997; Broeker and Grote 2002 for SPAI(0) and
/// SPAI(1)).
///
///     SPAI(0)  M diagonal:              m_jj = a_jj / ||a_j||^2
///     SPAI(1)  M on the pattern of A:   a dense least-squares problem for each column, by QR
///
/// A full column would be in the problem of every column that refers to it, with all its rows, and
/// its own problem would be as large as A. So a column of more than `most` entries is used for no
/// other column, and a column of M has at most `most` entries, those nearest to the diagonal (Grote
/// and Huckle bound the entries of a column too).
///
/// An application is one product. Over ranks each makes the columns of M with the numbers of its
/// rows, from the columns of A that these lead to, and M is that of one rank.
#pragma once

#include <tcsolve/configs/schema/field.hpp>
#include <tcsolve/formats/matrix_factory.hpp>
#include <tcsolve/matrix/csr.hpp>
#include <tcsolve/precond/from_factors.hpp>
#include <tcsolve/precond/over_ranks.hpp>

namespace tcsolve {

struct SpaiParams {
  int level = 1;
  Index most = 128;
  StoredReal values = StoredReal::f64;

  static constexpr auto schema() {
    using P = SpaiParams;
    return std::tuple{
        field(&P::level, "level", between(0, 1),
              "0: M is a diagonal; 1: the pattern of A with its diagonal, up to `most`"),
        field(&P::most, "most", between(1, 4096),
              "entries of a column of M, those nearest to the diagonal; a longer column "
              "of A is used for no other"),
        field(&P::values, "values", "type of the stored entries; sums are fp64")};
  }
};

/// M of a square host matrix. A column without entries has a zero column in M. Cost: level 0, a
/// pass; level 1, for each column the QR factorisation of a matrix of as many columns as it has
/// entries, at most `most`, and as many rows as these columns reach, on all threads.
Csr<double> spai(Context&, CsrView<double> const& a, int level, Index most = SpaiParams{}.most);

class SpaiFactory final : public FromFactors, public OverRanks {
 public:
  using Params = SpaiParams;
  explicit SpaiFactory(Params const& params = {}) : params_(params) {}
  std::unique_ptr<Preconditioner> build(Context&, System const&) const override;
  double bytes(Index rows, Offset entries) const override {
    double const kept = params_.level == 0 ? rows : static_cast<double>(entries);
    return kept * (4.0 + size_of(real(params_.values))) + 8.0 * rows;
  }
  MemoryNeed memory(Context&, System const&) const override;
  double least_seconds(Context&, System const&) const override;
  double most_bytes(Index rows, Offset entries) const override {
    return bytes(rows, entries + rows) + 24.0 * static_cast<double>(entries) + 28.0 * rows;
  }

 private:
  Params params_;
};

}  // namespace tcsolve
