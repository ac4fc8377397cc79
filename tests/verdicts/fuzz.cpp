// SPDX-License-Identifier: Apache-2.0
/// Random small systems with random nastiness: no outcome is expected, the invariants are.
#include <chrono>
#include <random>

#include <tests/verdicts/corpus.hpp>

namespace tcsolve::test {

namespace {

class Nasty {
 public:
  explicit Nasty(std::uint64_t seed) : random_(seed) {}

  bool chance(double p) { return std::uniform_real_distribution<>(0, 1)(random_) < p; }
  Index below(Index n) { return std::uniform_int_distribution<Index>(0, n - 1)(random_); }
  double number() {
    double v = std::normal_distribution<>()(random_);
    return chance(0.1) ? 0 : chance(0.05) ? std::ldexp(v, below(121) - 60) : v;
  }
  Column column(Index n) {
    Column v(n);
    for (double& e : v) e = number();
    return v;
  }
  Matrix full(Index rows, Index cols) {
    Matrix a(rows, cols);
    for (Index i = 0; i < a.size(); ++i) a.data()[i] = chance(0.5) ? number() : 0;
    return a;
  }
  Matrix symmetric(Index n) {
    Matrix a = full(n, n);
    return (a + a.transpose()) / 2;
  }
  Matrix square(Index n) {
    switch (below(8)) {
      case 0: return full(n, n);
      case 1: return symmetric(n);
      case 2: return full(n, n) + 4 * Matrix::Identity(n, n);
      case 3: return random_spd(n, below(14), random_());
      case 4: return (Matrix(symmetric(n)) + n * Matrix::Identity(n, n)).eval();
      case 5: return full(n, n) - full(n, n).transpose();
      case 6: return column(n) * column(n).transpose();
      default: return with_eigenvalues(column(n), random_());
    }
  }
  Problem problem(bool rectangular) {
    Index n = 1 + below(14), m = rectangular ? 1 + below(14) : n;
    Problem p;
    p.A = rectangular ? full(m, n) : square(n);
    if (chance(0.15)) p.A.row(below(m)).setZero();
    if (chance(0.15)) p.A.col(below(n)).setZero();
    if (chance(0.2)) p.A *= std::ldexp(1.0, below(1001) - 500);
    p.b = chance(0.4) ? Column(p.A * column(n)) : column(m);
    if (chance(0.2)) p.b *= std::ldexp(1.0, below(801) - 400);
    if (chance(0.3)) p.x0 = column(n);
    if (chance(0.2)) p.op = [a = p.A](Context&) { return callable(a); };
    if (chance(0.4)) {
      Matrix m_matrix = chance(0.5) ? square(n) : Matrix(column(n).cwiseAbs().asDiagonal());
      if (!rectangular && chance(0.3) && std::abs(p.A.diagonal().cwiseAbs().minCoeff()) > 0)
        m_matrix = p.A.diagonal().cwiseInverse().asDiagonal();
      p.M = [m_matrix](Context& ctx) { return matrix(ctx, m_matrix); };
    }
    p.finite = p.A.allFinite() && p.b.allFinite();
    return p;
  }
  StoppingParams stopping() {
    StoppingParams s;
    s.rtol = std::pow(10.0, -below(18));
    s.atol = chance(0.1) ? 1e-6 : 0;
    s.max_iters = chance(0.2) ? below(6) : 300;
    s.baseline = chance(0.2) ? Baseline::initial : Baseline::rhs;
    s.divtol = chance(0.2) ? 10 : 1e5;
    s.stagnation_window = chance(0.2) ? below(5) : -1;
    return s;
  }
  int restart() { return 1 + below(12); }

 private:
  std::mt19937_64 random_;
};

class Fuzz : public InEveryPlace {};

TEST_P(Fuzz, KeepsTheInvariants) {
  auto start = std::chrono::steady_clock::now();
  int systems = 400, done = 0;
  for (int seed = 0; seed < systems; ++seed) {
    if (std::chrono::steady_clock::now() - start > std::chrono::seconds(20)) break;
    Nasty nasty(static_cast<std::uint64_t>(seed));
    bool rectangular = nasty.chance(0.15);
    Problem p = nasty.problem(rectangular);
    StoppingParams stopping = nasty.stopping();
    int restart = nasty.restart();
    for (std::string const& method :
         methods(rectangular ? "lsmr"
                             : "cg chronopoulos_gear pipelined_cg bicgstab gmres gmres_left fgmres "
                               "minres lsmr")) {
      SCOPED_TRACE(cat("seed ", seed, ", ", method, ", ", p.A.rows(), " x ", p.A.cols(), ", rtol ",
                       stopping.rtol));
      Column x;
      SolveReport report = run(ctx(), p, x, method, stopping, execution(), restart);
      SCOPED_TRACE(report.message);
      expect_invariants(p, report, x, stopping);
      ++done;
    }
    if (HasFailure() && seed > 20) break;
  }
  RecordProperty("solves", done);
  EXPECT_GT(done, 200) << "so slow that the test says little";
}

TCSOLVE_IN_EVERY_PLACE(Fuzz);

}  // namespace

}  // namespace tcsolve::test
