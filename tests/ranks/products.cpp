// SPDX-License-Identifier: Apache-2.0
/// A matrix over ranks against the same matrix in one piece: products, transposes, residuals,
/// norms, new values; and input that ranks refuse together.
#include <tcsolve/distributed/overlap.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/io/generate/renumber.hpp>
#include <tcsolve/kernels/blocks.hpp>
#include <tcsolve/matrix/csr.hpp>

#include <tests/ranks/ranks.hpp>
#include <tests/support/matrices.hpp>

namespace tcsolve::test {
namespace {

/// Sparse and irregular, with a dense row and a dense column, so that halos touch every rank.
Matrix irregular(Index rows, Index cols, std::uint64_t seed) {
  Matrix a = Matrix::Zero(rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j)
      if (uniform(seed, static_cast<std::uint64_t>(i) * 1000 + j) > 0.8 || i == rows / 3 ||
          j == cols / 2)
        a(i, j) = uniform(seed + 1, static_cast<std::uint64_t>(i) * 1000 + j);
  return a;
}

struct Shape {
  int ranks;
  Deal deal;
};
void PrintTo(Shape const& s, std::ostream* out) { *out << s.ranks; }

class Dealt : public testing::TestWithParam<Shape> {
 protected:
  int ranks() const { return GetParam().ranks; }
  std::vector<Index> starts(Index n) const { return stretches(n, ranks(), GetParam().deal); }
};
std::string label_of(testing::TestParamInfo<Shape> const& info) {
  constexpr char const* deals[] = {"even", "uneven", "some_empty"};
  return cat(info.param.ranks, "_", deals[int(info.param.deal)]);
}
INSTANTIATE_TEST_SUITE_P(ranks, Dealt,
                         testing::Values(Shape{1, Deal::even}, Shape{2, Deal::even},
                                         Shape{3, Deal::uneven}, Shape{4, Deal::some_empty},
                                         Shape{4, Deal::even}),
                         label_of);

void expect_near(Column const& parts, Column const& whole, double size) {
  ASSERT_EQ(parts.size(), whole.size());
  EXPECT_LE((parts - whole).cwiseAbs().maxCoeff(), 1e-14 * size);
}

using Part = std::span<double>;
Part part(Column& v, std::vector<Index> const& starts, int r) {
  return {v.data() + starts[r], static_cast<std::size_t>(starts[r + 1] - starts[r])};
}
Out<double> view(Part p) { return vector_view(p.data(), static_cast<Index>(p.size())); }

/// P A P^T, P the orders of all ranks side by side.
Matrix in_order(Matrix const& A, std::vector<Permutation> const& orders,
                std::vector<Index> const& at) {
  std::vector<Index> old;
  for (std::size_t r = 0; r < orders.size(); ++r)
    for (Index const i : orders[r].old_numbers()) old.push_back(at[r] + i);
  Matrix out(A.rows(), A.cols());
  for (Index i = 0; i < A.rows(); ++i)
    for (Index j = 0; j < A.cols(); ++j) out(i, j) = A(old[i], old[j]);
  return out;
}

/// Twice, so that the second order is one of rows that have an order; new values come as those of
/// the entries that were given, whose columns descend.
TEST_P(Dealt, RanksHaveOrdersOfTheirOwn) {
  constexpr Index n = 60;
  Matrix const A = irregular(n, n, 7), B = irregular(n, n, 7) * 3;
  auto const at = starts(n);
  std::vector<Permutation> orders[2];
  for (int k : {0, 1})
    for (int r = 0; r < ranks(); ++r)
      orders[k].push_back(k == 0 && r == 1 ? Permutation::identity(at[r + 1] - at[r])
                                           : random_permutation(at[r + 1] - at[r], 10 * k + r));
  Matrix const there = in_order(in_order(A, orders[0], at), orders[1], at);
  on_ranks(ranks(), [&](Context& ctx, int r) {
    DistributedMatrix dealt(ctx, at[r], Rows64(csr(A), at[r], at[r + 1]).reversed().view());
    double const norm = dealt.norm_inf();
    dealt.reorder(ctx, orders[0][r]);
    dealt.reorder(ctx, orders[1][r]);
    GlobalRows const rows = rows_of(ctx, dealt);
    Rows64 const expected(csr(there), at[r], at[r + 1]);
    EXPECT_EQ(rows.columns, expected.columns);
    EXPECT_EQ(rows.values, expected.values);
    EXPECT_EQ(dealt.norm_inf(), norm);
    EXPECT_TRUE(std::ranges::is_sorted(dealt.plan().numbers));
    for (int again = 0; again < 2; ++again) {
      Rows64 const values = Rows64(csr(B), at[r], at[r + 1]).reversed();
      dealt.update_values(ctx, values.values.data(), static_cast<Offset>(values.values.size()));
      std::vector<double> tripled = expected.values;
      for (double& v : tripled) v *= 3;
      EXPECT_EQ(rows_of(ctx, dealt).values, tripled);
    }
    // Back to the numbers that were given, with these values.
    dealt.reorder(ctx, orders[1][r].inverse());
    dealt.reorder(ctx, orders[0][r].inverse());
    EXPECT_EQ(dealt.order().size(), 0);
    EXPECT_EQ(rows_of(ctx, dealt).values, Rows64(csr(B), at[r], at[r + 1]).values);
    dealt.update_values(ctx, Rows64(csr(A), at[r], at[r + 1]).reversed().values.data(),
                        static_cast<Offset>(rows.values.size()));
    EXPECT_EQ(rows_of(ctx, dealt).values, Rows64(csr(A), at[r], at[r + 1]).values);
    EXPECT_THROW(dealt.reorder(ctx, Permutation::identity(n + 1)), ShapeError);
  });
}

TEST_P(Dealt, ProductsAndTransposesAreThoseOfTheWhole) {
  for (auto const& [rows, cols] : {std::pair<Index, Index>{60, 60}, {70, 45}}) {
    Matrix const A = irregular(rows, cols, 7);
    auto const of_rows = starts(rows), of_cols = starts(cols);
    Column x = random_column(cols, 1), y = random_column(rows, 2), s = random_column(rows, 3),
           t = random_column(cols, 4);
    Column const y0 = y, t0 = t;
    on_ranks(ranks(), [&](Context& ctx, int r) {
      auto const op = operator_of(ctx, deal_rows(ctx, csr(A), of_rows, of_cols));
      EXPECT_DOUBLE_EQ(op->norm_estimate(), A.cwiseAbs().rowwise().sum().maxCoeff());
      op->apply(ctx, -0.5, view(part(x, of_cols, r)), 2.0, view(part(y, of_rows, r)));
      op->apply(ctx, 3.0, view(part(s, of_rows, r)), -1.0, view(part(t, of_cols, r)),
                Op::transpose);
    });
    expect_near(y, 2 * y0 - 0.5 * A * x, 20);
    expect_near(t, 3 * A.transpose() * s - t0, 60);
  }
}

TEST_P(Dealt, BlocksOfColumnsInBothLayouts) {
  Index const n = 40, k = 3;
  Matrix const A = irregular(n, n, 9);
  auto const at = starts(n);
  Matrix const X = random_matrix(n, k, 5);
  for (Layout layout : {Layout::row_major, Layout::col_major}) {
    Matrix Y = Matrix::Zero(n, k), Z = Y;
    on_ranks(ranks(), [&](Context& ctx, int r) {
      auto const op = operator_of(ctx, deal_rows(ctx, csr(A), at));
      Index const m = at[r + 1] - at[r];
      std::vector<double> x(m * k), y(m * k), z(m * k);
      MultiView<double> v{x.data(), m, k, layout == Layout::row_major ? k : m, layout, Space::host};
      MultiView<double> w = v, u = v;
      w.data = y.data(), u.data = z.data();
      for (Index i = 0; i < m; ++i)
        for (Index j = 0; j < k; ++j) x[v.offset(i, j)] = X(at[r] + i, j);
      op->apply(ctx, v, w);
      op->apply(ctx, 1.0, v, 0.0, u, Op::transpose);
      for (Index i = 0; i < m; ++i)
        for (Index j = 0; j < k; ++j)
          Y(at[r] + i, j) = y[v.offset(i, j)], Z(at[r] + i, j) = z[v.offset(i, j)];
    });
    EXPECT_LE((Y - A * X).cwiseAbs().maxCoeff(), 1e-13);
    EXPECT_LE((Z - A.transpose() * X).cwiseAbs().maxCoeff(), 1e-13);
  }
}

TEST_P(Dealt, InnerProductsAndGramMatricesAreOfAllRows) {
  Index const n = 50, k = 2;
  Matrix const A = irregular(n, n, 11), X = random_matrix(n, k, 6);
  Column x = random_column(n, 8), y = Column::Zero(n);
  auto const at = starts(n);
  Matrix const G = X.transpose() * A * X;
  double const expected = x.dot(A * x);
  std::vector<std::vector<double>> sums(
      ranks());  // of each rank: the inner product, then the matrix
  on_ranks(ranks(), [&](Context& ctx, int r) {
    auto const op = operator_of(ctx, deal_rows(ctx, csr(A), at));
    double sigma = 0;
    op->apply_dot(ctx, view(part(x, at, r)), view(part(y, at, r)), &sigma);
    EXPECT_NEAR(sigma, expected, 1e-12);
    Index const m = at[r + 1] - at[r];
    std::vector<double> in(m * k), out(m * k), g(k * k);
    for (Index i = 0; i < m * k; ++i) in[i] = X(at[r] + i / k, i % k);
    auto const block = [&](std::vector<double>& v) {
      return Out<double>{v.data(), m, k, k, Layout::row_major, Space::host};
    };
    op->apply_gram(ctx, block(in), block(out), g.data());
    for (Index i = 0; i < k * k; ++i) EXPECT_NEAR(g[i], G(i / k, i % k), 1e-12);
    sums[r] = {sigma};
    sums[r].insert(sums[r].end(), g.begin(), g.end());
  });
  for (auto const& of_rank : sums) EXPECT_TRUE(same_bits(of_rank, sums.front()));
}

/// Rows that cancel, partly across ranks: a sum in FP64 would have no digit of them right.
TEST_P(Dealt, TheResidualThatDecidesIsExact) {
  Index const n = 48;
  Matrix A = irregular(n, n, 13);
  A.row(5) *= 1e18;
  A(5, n - 1) = 1e18;
  Column x = Column::Ones(n), b = random_column(n, 4), r = Column::Zero(n), size = r, weight = r;
  b[5] = A.row(5).sum() + 1e-3;
  auto const at = starts(n);
  Exact const exact = exact_residual(A, b, x);
  on_ranks(ranks(), [&](Context& ctx, int rank) {
    auto const op = operator_of(ctx, deal_rows(ctx, csr(A), at));
    ASSERT_TRUE(op->sums_exactly());
    op->exact_residual(ctx, view(part(b, at, rank)), view(part(x, at, rank)),
                       view(part(r, at, rank)),
                       {part(size, at, rank).data(), part(weight, at, rank).data()});
  });
  Context one(Backend::host, {.threads = 1});
  Column r1(n), size1(n), weight1(n);
  matrix(one, A)->exact_residual(one, vector_view(b.data(), n), vector_view(x.data(), n),
                                 vector_view(r1.data(), n), {size1.data(), weight1.data()});
  for (Index i = 0; i < n; ++i) {
    if (i != 5)
      EXPECT_NEAR(r[i], double(exact[i]), 0x1p-52 * std::abs(double(exact[i])) + 1e-25) << i;
    EXPECT_NEAR(size[i], size1[i], 1e-14 * size1[i]);
    EXPECT_NEAR(weight[i], weight1[i], 1e-14 * weight1[i]);
  }
  EXPECT_NEAR(r[5], r1[5], 1e-10 * std::abs(r1[5]));
}

/// In the order in which entries were given, ascending or not.
TEST_P(Dealt, NewValuesAreTaken) {
  Index const n = 40;
  Matrix const A = irregular(n, n, 15), B = 2 * A.array().exp().matrix().cwiseProduct(
                                                    (A.array() != 0).cast<double>().matrix());
  auto const at = starts(n);
  for (bool const descends : {false, true}) {
    SCOPED_TRACE(descends);
    Column x = random_column(n, 1), y = Column::Zero(n), z = Column::Zero(n);
    on_ranks(ranks(), [&](Context& ctx, int r) {
      Rows64 const given(csr(A), at[r], at[r + 1]), fresh(csr(B), at[r], at[r + 1]);
      Rows64 const old = descends ? given.reversed() : given,
                   rows = descends ? fresh.reversed() : fresh;
      auto const a = std::make_shared<DistributedMatrix>(ctx, at[r], old.view());
      EXPECT_EQ(a->entries(), csr(A).entries());
      auto const outer = std::make_shared<OuterPart>(ctx, a);
      std::shared_ptr<CsrOperator<double>> own;
      alone(ctx, [&] { own = std::make_shared<CsrOperator<double>>(ctx, to_host(ctx, a->own())); });
      DistributedOperator const op(own, outer);
      a->update_values(ctx, rows.values.data(), static_cast<Offset>(rows.values.size()));
      alone(ctx, [&] { own->update_values(ctx, a->own()); });
      outer->update_values(ctx);
      op.apply(ctx, view(part(x, at, r)), view(part(y, at, r)));
      op.apply(ctx, 1.0, view(part(x, at, r)), 0.0, view(part(z, at, r)), Op::transpose);
      EXPECT_DOUBLE_EQ(op.norm_estimate(), B.cwiseAbs().rowwise().sum().maxCoeff());
    });
    expect_near(y, B * x, 100);
    expect_near(z, B.transpose() * x, 100);
  }
}

/// A loop that is one kernel makes what comes from others first, and each block adds it to its own
/// rows: the bits of the operation that does both at once, whatever the blocks are.
TEST_P(Dealt, PartsJoinedByBlocksAreTheElements) {
  Index const n = 300;
  Matrix const A = irregular(n, n, 19);
  auto const at = starts(n);
  on_ranks(ranks(), [&](Context& ctx, int r) {
    auto const a = std::make_shared<DistributedMatrix const>(deal_rows(ctx, csr(A), at));
    OuterPart const outer(ctx, a);
    OuterRows const& rows = outer.rows();
    Index const own = at[r + 1] - at[r];
    EXPECT_EQ(rows.size, own);
    Column const x = random_column(own, 2), y0 = random_column(own, 3),
                 h = random_column(std::max(1, a->plan().halo()), 4);
    Column at_once = y0, joined = y0, plain = y0;
    double const mine = 7;
    double sum = 0, sum_of_parts = 0, sigma = 0;
    auto const op = [&](Column& y) {
      return AddOuterRowsDot{rows.a.rows + 1, 0.3,      rows,  {h.data()},
                             x.data(),        y.data(), &mine, &sigma};
    };
    AddOuterRows<double> const add{
        rows.a.rows, 0.3, rows, {h.data()}, vector_view(plain.data(), own, Space::host)};
    Arrived::Coefficients came{};
    op(at_once).h.open(came);
    for (std::int64_t e = 0; e <= rows.a.rows; ++e) op(at_once).element(e, came, &sum);
    for (std::int64_t e = 0; e < rows.a.rows; ++e) add.element(e, came, nullptr);
    EXPECT_EQ(at_once, plain);
    for (int const each : {32, 64, 160, 320}) {
      SCOPED_TRACE(each);
      joined = y0, sum_of_parts = 0;
      for (std::int64_t e = 0; e <= rows.a.rows; ++e) op(joined).part(e, came, &sum_of_parts);
      EXPECT_EQ(joined, y0) << "not before all are made";
      for (std::int64_t begin = 0; begin < own; begin += each) {
        std::int64_t const end = std::min<std::int64_t>(begin + each, own);
        std::int64_t const first = rows.first_part(begin), beyond = rows.first_part(end);
        for (std::int64_t k = first; k < beyond; ++k)
          EXPECT_TRUE(rows.rows[k] >= begin && rows.rows[k] < end) << "of another block";
        constexpr int threads = 3;
        for (int t = 0; t < threads; ++t) op(joined).join(first + t, beyond, threads);
      }
      EXPECT_EQ(joined, at_once);
      EXPECT_EQ(sum_of_parts, sum);
    }
  });
}

/// The rows of a rank and of its halo, with their columns among these.
TEST_P(Dealt, ALayerOfOverlapHasTheNeighboursRows) {
  Index const n = 30;
  Matrix const A = irregular(n, n, 17);
  auto const at = starts(n);
  on_ranks(ranks(), [&](Context& ctx, int r) {
    DistributedMatrix const a = deal_rows(ctx, csr(A), at);
    std::vector<std::int64_t> numbers;
    for (Index i = at[r]; i < at[r + 1]; ++i) numbers.push_back(i);
    numbers.insert(numbers.end(), a.plan().numbers.begin(), a.plan().numbers.end());
    auto const m = static_cast<Index>(numbers.size());
    Matrix expected(m, m);
    for (Index i = 0; i < m; ++i)
      for (Index j = 0; j < m; ++j) expected(i, j) = A(numbers[i], numbers[j]);
    EXPECT_EQ(with_halo_rows(ctx, a), csr(expected));
  });
}

// ---- what is refused, on all ranks alike ----

std::vector<std::string> refused(int ranks, std::function<void(Context&, int)> const& f) {
  std::vector<std::string> said(static_cast<std::size_t>(ranks));
  on_ranks(ranks, [&](Context& ctx, int r) {
    try {
      f(ctx, r);
      ADD_FAILURE() << "rank " << r << " has thrown nothing";
    } catch (MatrixError const& e) { said[static_cast<std::size_t>(r)] = e.what(); }
    EXPECT_EQ(gather(all_ranks(ctx), 1.0).size(), static_cast<std::size_t>(ranks));  // all is well
  });
  return said;
}

TEST(RanksRefuse, RowsThatAreMissingOrOverlap) {
  Csr<double> const a = csr(laplace(10));
  auto const dealt = [&](Index first, Index end) {
    return [=, &a](Context& ctx, int r) {
      Rows64 const rows = r == 0 ? Rows64(a, 0, 5) : Rows64(a, first, end);
      DistributedMatrix(ctx, r == 0 ? 0 : first, rows.view());
    };
  };
  for (std::string const& said : refused(2, dealt(6, 10)))
    EXPECT_EQ(said, "row 5 of the matrix belong to no rank: rank 1 begins with row 6");
  for (std::string const& said : refused(2, dealt(3, 10)))
    EXPECT_NE(said.find("rows 3 to 4 of the matrix belong to rank 1 and to one before it"),
              std::string::npos)
        << said;
  for (std::string const& said : refused(2, dealt(5, 9)))
    EXPECT_NE(said.find("the matrix is 9 x 10"), std::string::npos) << said;
}

TEST(RanksRefuse, ColumnsThatAreNotThereOrTwice) {
  auto const with = [](std::int64_t column) {
    return [=](Context& ctx, int r) {
      std::vector<Offset> const offsets{0, 2};
      std::vector<std::int64_t> const columns{r == 1 ? column : 0, 1};
      std::vector<double> const values{1, 2};
      DistributedMatrix(ctx, r, {1, 2, 2, offsets.data(), columns.data(), values.data()});
    };
  };
  auto said = refused(2, with(2));
  EXPECT_EQ(said[1], "row 1 has column 2, outside [0, 2)");
  EXPECT_EQ(said[0], "rank 1: row 1 has column 2, outside [0, 2)");
  said = refused(2, with(1));
  EXPECT_EQ(said[0], "rank 1: row 1 has column 1 twice");
}

TEST(RanksRefuse, ExtentsThatDiffer) {
  auto const said = refused(2, [](Context& ctx, int r) {
    std::vector<Offset> const offsets{0, 1};
    std::vector<std::int64_t> const columns{0};
    std::vector<double> const values{1};
    DistributedMatrix(ctx, r, {1, 2 + r, 1, offsets.data(), columns.data(), values.data()});
  });
  EXPECT_EQ(said[0], "the matrix has 2 columns on rank 0 and 3 on rank 1");
  EXPECT_EQ(said[1], said[0]);
}

}  // namespace
}  // namespace tcsolve::test
