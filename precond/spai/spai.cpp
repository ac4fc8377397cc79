// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/spai/spai.hpp>

#include <Eigen/QR>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include <tcsolve/configs/schema/checked.hpp>
#include <tcsolve/core/left_behind.hpp>
#include <tcsolve/factors/each_row.hpp>
#include <tcsolve/factors/power_scale.hpp>
#include <tcsolve/matrix/pattern.hpp>
#include <tcsolve/precond/ranked_inverse.hpp>

namespace tcsolve {
namespace {

/// The rows of column j of M, which are the columns of A (given as rows of A^T) in its problem: j,
/// and the rows of column j of A but for those whose own column is longer than `most`. Where more
/// than `most` are left, those nearest to j, by their numbers.
template <class Number>
std::vector<Index> columns_for(Csr<double> const& At, Index j, int level, Index most,
                               Number const& number) {
  std::vector<Index> columns = {j};
  if (level > 0)
    for (Index const k : At.row_columns(j))
      if (k != j && At.offsets[k + 1] - At.offsets[k] <= most) columns.push_back(k);
  if (columns.size() > static_cast<std::size_t>(most)) {
    std::ranges::nth_element(columns, columns.begin() + most, {}, [&](Index k) {
      return std::pair{std::abs(number(k) - number(j)), k};
    });
    columns.resize(static_cast<std::size_t>(most));
  }
  return columns;
}

/// Some rows of M^T on the pattern of A^T with the diagonal, values to come.
template <class Number>
Csr<double> transposed_pattern(Csr<double> const& At, SomeRows rows, int level, Index most,
                               Number const& number) {
  Csr<double> Mt;
  Mt.rows = rows.end_of(At.rows) - rows.first;
  Mt.cols = At.rows;
  for (Index j = rows.first; j < rows.end_of(At.rows); ++j) {
    std::vector<Index> row = columns_for(At, j, level, most, number);
    std::ranges::sort(row);
    Mt.columns.insert(Mt.columns.end(), row.begin(), row.end());
    Mt.offsets.push_back(Mt.entries());
  }
  Mt.values.assign(Mt.columns.size(), 0.0);
  return Mt;
}

/// m_j: the columns J of A, given as rows of A^T, to the nearest of e_j. The problem is one of
/// entries times a power of two, of which the largest is near 1: squares of A's may overflow.
void nearest(Csr<double> const& At, Index j, std::span<Index const> J, double* m,
             CancelFlag cancel) {
  std::vector<Index> I;
  double largest = 0;
  for (Index const k : J) {
    auto const rows = At.row_columns(k);
    for (double const v : At.row_values(k)) largest = std::max(largest, std::abs(v));
    I.insert(I.end(), rows.begin(), rows.end());
  }
  std::ranges::sort(I);
  I.erase(std::unique(I.begin(), I.end()), I.end());
  double const scale = inverse_power(largest);
  Eigen::MatrixXd block = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(I.size()),
                                                static_cast<Eigen::Index>(J.size()));
  for (std::size_t c = 0; c < J.size(); ++c) {
    std::size_t r = 0;
    for (Offset k = At.offsets[J[c]]; k < At.offsets[J[c] + 1]; ++k) {
      while (I[r] < At.columns[k]) ++r;
      block(static_cast<Eigen::Index>(r), static_cast<Eigen::Index>(c)) = scale * At.values[k];
    }
  }
  Eigen::VectorXd e = Eigen::VectorXd::Zero(block.rows());
  auto const at = std::ranges::lower_bound(I, j);
  if (at == I.end() || *at != j) return;  // e_j is orthogonal to all of them: m_j = 0
  e[at - I.begin()] = 1;
  // |I| |J|^2 beyond which one factorisation takes tens of milliseconds.
  constexpr double quick = 2e7;
  double const work = static_cast<double>(block.size()) * static_cast<double>(block.cols());
  auto const solve = [](Eigen::MatrixXd const& A, Eigen::VectorXd const& b) -> Eigen::VectorXd {
    return A.colPivHouseholderQr().solve(b);
  };
  Eigen::VectorXd const y =
      work <= quick ? solve(block, e)
                    : leaving_behind(cancel, [=, A = std::move(block), b = std::move(e)] {
                        return solve(A, b);
                      });
  for (Eigen::Index c = 0; c < y.size(); ++c) m[c] = y[c] * scale;
}

/// Some rows of M^T; column j of A has the number number(j).
template <class Number>
Csr<double> transposed_inverse(Context& ctx, Csr<double> const& At, SomeRows rows, int level,
                               Index most, Number const& number) {
  CancelFlag const cancel = ctx.cancel_flag();
  cancel.check();
  Csr<double> Mt = transposed_pattern(At, rows, level, most, number);
  each_row(ctx, Mt.rows, 32, [&](Index r) {
    if (r % 4 == 0) cancel.check();
    nearest(At, rows.first + r, Mt.row_columns(r), Mt.values.data() + Mt.offsets[r], cancel);
  });
  return Mt;
}

/// M of all ranks: its columns are the rows of M^T, which go where their rows belong.
std::vector<GlobalRows> ranked_rows(Context& ctx, Ranks& ranks, DistributedMatrix const& a,
                                    SpaiParams const& p) {
  GlobalRows const At = transposed(ranks, rows_of(ctx, a), a.rows(), a.rows());
  Overlap const around = overlap(ranks, At, a.rows(), p.level);
  GlobalRows Mt;
  admitted_on_each(ctx, "spai", [&] {
    SomeRows const own{around.first, around.first + a.plan().own};
    auto const number = [&](Index k) { return around.numbers[static_cast<std::size_t>(k)]; };
    Mt = with_global_columns(transposed_inverse(ctx, around.a, own, p.level, p.most, number),
                             around.numbers);
  });
  return {transposed(ranks, Mt, a.rows(), a.rows())};
}

/// Multiplications of a QR factorisation for each column, at the least.
double least_work(CsrView<double> const& a, Index most) {
  std::vector<double> length(static_cast<std::size_t>(a.cols), 0.0);
  for (Offset k = 0; k < a.entries; ++k) ++length[a.columns[k]];
  double work = 0;
  for (double const n : length) work += n * std::pow(std::min<double>(n, most), 2) / 2;
  return work;
}

}  // namespace

Csr<double> spai(Context& ctx, CsrView<double> const& a, int level, Index most) {
  require_square(Pattern(a));
  auto const number = [](Index k) { return k; };
  return transpose(transposed_inverse(ctx, transpose(a), {}, level, most, number).view());
}

std::unique_ptr<Preconditioner> SpaiFactory::build(Context& ctx, System const& system) const {
  Params const p = checked(params_, "spai");
  if (matrix_of_ranks(ctx, system) != nullptr)
    return from_ranked_rows(ctx, system, "spai", real(p.values),
                            [p](Context& c, Ranks& ranks, DistributedMatrix const& a) {
                              return ranked_rows(c, ranks, a, p);
                            });
  auto const make = [p](Context& c, CsrView<double> const& a) {
    return std::vector<Csr<double>>{spai(c, a, p.level, p.most)};
  };
  return from_entries(ctx, system, "spai", real(p.values), {make, {}});
}

double SpaiFactory::least_seconds(Context& ctx, System const& system) const {
  if (params_.level == 0) return 0;
  return on_host(ctx, system, "spai", [&](CsrView<double> const& a) {
    return least_work(a, params_.most) * 0.2e-9 / ctx.threads();
  });
}

MemoryNeed SpaiFactory::memory(Context& ctx, System const& system) const {
  return on_host(ctx, system, "spai", [&](CsrView<double> const& a) {
    double entries = a.rows, dense = 0;
    if (params_.level > 0) {
      std::vector<Offset> length(static_cast<std::size_t>(a.cols)), kept(length.size());
      for (Offset k = 0; k < a.entries; ++k) ++length[a.columns[k]];
      for (Index i = 0; i < a.rows; ++i)
        if (length[i] <= params_.most)
          for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
            kept[a.columns[k]] += a.columns[k] != i;
      for (Offset const n : kept)
        entries += static_cast<double>(std::min<Offset>(n, params_.most - 1));
      // The problem of a long column and its QR have all of its rows.
      auto const full = std::ranges::count_if(length, [&](Offset n) { return n > params_.most; });
      if (full > 0)
        dense = 16.0 * static_cast<double>(params_.most) *
                static_cast<double>(*std::ranges::max_element(length)) *
                static_cast<double>(std::min<std::ptrdiff_t>(full, ctx.threads()));
    }
    MemoryNeed need = stored_need(ctx, a.rows, entries, real(params_.values));
    need.passing = 12 * (static_cast<double>(a.entries) + entries) + 16.0 * a.rows + dense;
    return need;
  });
}

}  // namespace tcsolve
