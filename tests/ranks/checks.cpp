// SPDX-License-Identifier: Apache-2.0
/// TCSOLVE_CHECK_RANKS=1: a rank that has other bits than the others ends all, and is named.
#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "tests/ranks/ranks.hpp"

namespace tcsolve::test {
namespace {

/// The check is asked for while it lives.
class Checked {
 public:
  Checked() { ::setenv("TCSOLVE_CHECK_RANKS", "1", 1); }
  ~Checked() { ::unsetenv("TCSOLVE_CHECK_RANKS"); }
};

/// Rank 1 hears the last bits of rank 0 wrong, once: in the call `at`, from 1, or some calls later
/// where a few numbers are gathered, as sums are. Calls in between are left out, since every other
/// one of a checked rank is the comparison.
class Fault {
 public:
  explicit Fault(int at) : at_(at) {}
  void operator()(int rank, std::int64_t count, double* all) {
    ++call_;
    bool const here = call_ >= at_ && (call_ - at_) % 2 == 0 && 0 < count && count < 4;
    if (rank != 1 || !here || std::exchange(done_, true)) return;
    for (std::int64_t k = 0; k < count; ++k) all[k] = std::nextafter(all[k], 1e300);
  }

 private:
  int at_, call_ = 0;
  bool done_ = false;
};

class HearsWrong final : public Ranks {
 public:
  HearsWrong(Ranks& all, int at) : all_(all), fault_(at) {}
  void fail(std::string const& why, std::string const& kind) noexcept override {
    all_.fail(why, kind);
  }

 private:
  int own_rank() const override { return all_.rank(); }
  int rank_count() const override { return all_.ranks(); }
  void gather_all(double const* mine, std::int64_t count, double* all) override {
    all_.gather(mine, count, all);
    fault_(all_.rank(), count, all);
  }
  void begin(std::span<Outgoing const> out, std::span<Incoming const> in) override {
    all_.begin_exchange(out, in);
  }
  void end() override { all_.end_exchange(); }

  Ranks& all_;
  Fault fault_;
};

std::vector<Record> solved(Ranks& ranks, Csr<double> const& a, std::vector<Index> const& rows) {
  Context ctx(Backend::host, {.threads = 1, .communicator = &ranks});
  LinearSolver solver(ctx, SolverOptions::from_yaml("solver: {type: cg, rtol: 1.0e-9}\n"
                                                    "preconditioner: {type: jacobi}\n"));
  solver.set_matrix(deal_rows(ctx, a, rows));
  auto const r = static_cast<std::size_t>(ranks.rank());
  std::vector<double> const b(static_cast<std::size_t>(rows[r + 1] - rows[r]), 1.0);
  std::vector<double> x(b.size());
  SolveReport report = solver.solve(b, std::span<double>(x));
  EXPECT_TRUE(report.converged()) << report.message;
  return report.history;
}

TEST(RanksChecked, HaveTheStepsOfThoseThatAreNot) {
  Csr<double> const a = generate(Poisson7Params{.n = 8, .coefficient = Coefficient::random});
  std::vector<Index> const rows = stretches(a.rows, 3, Deal::uneven);
  auto const norms = [&] {
    std::vector<double> out;
    run_threads(3, [&](Ranks& ranks) {
      auto const history = solved(ranks, a, rows);
      for (Record const& step : history)
        if (ranks.rank() == 0) out.push_back(step.norm);
    });
    return out;
  };
  std::vector<double> const plain = norms();
  Checked const checked;
  EXPECT_EQ(norms(), plain);
  EXPECT_GT(plain.size(), 10u);
}

TEST(RanksChecked, OneThatHearsOtherNumbersEndsAllByItsName) {
  Csr<double> const a = generate(Poisson7Params{.n = 8, .coefficient = Coefficient::random});
  std::vector<Index> const rows = stretches(a.rows, 3, Deal::uneven);
  Checked const checked;
  for (int const at : {40, 100, 160}) {
    SCOPED_TRACE(at);
    std::vector<std::string> said(3);
    run_threads(3, [&](Ranks& all) {
      HearsWrong ranks(all, at);
      said[static_cast<std::size_t>(all.rank())] =
          words_of<RankFailed>([&] { solved(ranks, a, rows); });
      barrier(all);  // nobody is left waiting
    });
    for (std::string const& words : said) {
      EXPECT_EQ(words.find("rank 1: of "), 0u) << words;
      EXPECT_NE(words.find("it has others than rank 0"), std::string::npos) << words;
      EXPECT_EQ(words, said[0]);
    }
  }
}

/// Ranks of a caller's own communicator, which keeps no hash: what the loop tells is compared.
class OwnSums final : public Communicator {
 public:
  OwnSums(Ranks& all, int at) : all_(all), fault_(at) {}
  int rank() const override { return all_.rank(); }
  int ranks() const override { return all_.ranks(); }
  void gather(double const* mine, std::int64_t count, double* all) override {
    all_.gather(mine, count, all);
    fault_(all_.rank(), count, all);
  }

 private:
  Ranks& all_;
  Fault fault_;
};

TEST(RanksChecked, ALoopThatTellsOtherNormsEndsAllByItsName) {
  Csr<double> const a = generate(Poisson7Params{.n = 5, .coefficient = Coefficient::random});
  Checked const checked;
  int found = 0;
  for (int at = 1; at <= 80; ++at) {
    std::vector<std::string> said(2);
    run_threads(2, [&](Ranks& all) {
      OwnSums ranks(all, at);
      Context ctx(Backend::host, {.threads = 1, .communicator = &ranks});
      auto const solver = make_solver("cg", {.rtol = 1e-9}, Execution::eager);
      solver->setup(ctx,
                    std::make_shared<CsrOperator<double>>(ctx, a));  // as many systems as ranks
      Column const b = Column::Constant(a.rows, 1.0 + all.rank());
      Column x = Column::Zero(a.rows);
      try {
        solve(*solver, b, x);
      } catch (Error const& e) { said[static_cast<std::size_t>(all.rank())] = e.what(); }
    });
    EXPECT_EQ(said[0], said[1]) << at;
    if (said[0].empty()) continue;
    ++found;
    EXPECT_EQ(said[0].find("rank 1 has another norm of step "), 0u) << said[0];
  }
  EXPECT_GT(found, 0);  // of a norm: bits of another sum change none
}

}  // namespace
}  // namespace tcsolve::test
