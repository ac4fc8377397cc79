// SPDX-License-Identifier: Apache-2.0
/// bench_precisions [REPETITIONS = 7] [NAMES = all]: from a matrix where the Context has it (on a
/// device: in its memory) to an x whose true residual is 1e-10 of b, in FP64 and in lower
/// precision: choice of a format, scaling, conversion, estimates, preconditioner and recording are
/// all in it. Jacobi, random coefficients, random b; milliseconds, medians, every verdict
/// `converged` or named.
///
///   set-up   LinearSolver's making and set_matrix(), the process being warm
///   solve    the first one
///   gain     FP64's set-up and solve over this one's
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include <tcsolve/api/linear_solver.hpp>
#include <tcsolve/core/error.hpp>
#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/version.hpp>

using namespace tcsolve;

namespace {

struct Median {
  double setup, solve;
  SolveReport report;
};

Median run(Context& ctx, CsrView<double> const& a, std::string const& yaml, int repetitions) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> values(-1, 1);
  std::vector<double> given(static_cast<std::size_t>(a.rows));
  for (double& v : given) v = values(random);
  Array<double> const b = to_space(ctx, given.data(), given.size());
  std::vector<double> setups, solves;
  Median out{};
  for (int k = 0; k <= repetitions; ++k) {
    auto const now = [&] {
      ctx.synchronize();
      return std::chrono::steady_clock::now();
    };
    auto const ms = [](auto from, auto to) {
      return std::chrono::duration<double, std::milli>(to - from).count();
    };
    Array<double> x(ctx.space(), given.size());
    SolveCall call;
    call.zero_guess = true;
    auto const start = now();
    LinearSolver solver = LinearSolver::from_yaml(ctx, a, yaml);
    auto const ready = now();
    out.report = solver.solve(b.view(), x.view(), call);
    auto const end = now();
    if (k == 0) continue;
    setups.push_back(ms(start, ready)), solves.push_back(ms(ready, end));
  }
  auto const median = [](std::vector<double>& v) {
    std::ranges::sort(v);
    return v[v.size() / 2];
  };
  out.setup = median(setups), out.solve = median(solves);
  return out;
}

struct Case {
  std::string name, method;
  Csr<double> (*make)();
};

}  // namespace

int main(int count, char** words) try {
  bool const brief = std::getenv("TCSOLVE_BENCH_SHORT") != nullptr;
  int const repetitions = count > 1 ? std::max(1, std::atoi(words[1])) : brief ? 1 : 7;
  std::string const names = count > 2 ? words[2] : brief ? "poisson27_20" : "all";
  std::string const wanted = names == "all" ? "" : cat(",", names, ",");
  constexpr auto random = Coefficient::random;
  std::vector<Case> const cases{
      {"poisson27_20", "cg",
       [] { return generate(Poisson27Params{.n = 20, .coefficient = random}); }},
      {"poisson27_32", "cg",
       [] { return generate(Poisson27Params{.n = 32, .coefficient = random}); }},
      {"poisson27_64", "cg",
       [] { return generate(Poisson27Params{.n = 64, .coefficient = random}); }},
      {"poisson27_96", "cg",
       [] { return generate(Poisson27Params{.n = 96, .coefficient = random}); }},
      {"poisson27_128", "cg",
       [] { return generate(Poisson27Params{.n = 128, .coefficient = random}); }},
      {"poisson7_100", "cg",
       [] { return generate(Poisson7Params{.n = 100, .coefficient = random}); }},
      {"poisson7_160", "cg",
       [] { return generate(Poisson7Params{.n = 160, .coefficient = random}); }},
      {"elasticity_36", "cg",
       [] { return generate(ElasticityParams{.n = 36, .coefficient = random}); }},
      {"elasticity_56", "cg",
       [] { return generate(ElasticityParams{.n = 56, .coefficient = random}); }},
      {"convdiff_96", "bicgstab",
       [] { return generate(ConvdiffParams{.n = 96, .coefficient = random}); }},
      {"convdiff_128", "bicgstab",
       [] { return generate(ConvdiffParams{.n = 128, .coefficient = random}); }},
      {"convdiff_96", "gmres, restart: 30",
       [] { return generate(ConvdiffParams{.n = 96, .coefficient = random}); }}};
  struct Kind {
    std::string name, vectors, values, precision;
  };
  std::vector<Kind> const kinds{{"fp64", "", "", "fp64"},
                                {"fp32", ", vectors: fp32", ", values: fp32", "fp64"},
                                {"fp16", ", vectors: fp32", ", values: fp16", "fp64"},
                                {"auto", "", "", "auto"}};
  Context ctx;
  std::cout << "{\"device\": \"" << ctx.device_name() << "\", \"revision\": \"" << version::revision
            << "\", \"repetitions\": " << repetitions << "}\n"
            << "matrix | method | precision | set-up, ms | solve, ms | iterations | gain\n"
               "---|---|---|---|---|---|---\n";
  for (Case const& c : cases) {
    if (!wanted.empty() && wanted.find("," + c.name + ",") == std::string::npos) continue;
    CsrStorage<double> const a(ctx, c.make().view());
    double first = 0;
    for (Kind const& k : kinds) {
      Median const m = run(ctx, a.view(),
                           cat("precision: ", k.precision, "\nsolver: {type: ", c.method, k.vectors,
                               ", rtol: 1.0e-10, max_iters: 20000}\npreconditioner: {type: "
                               "jacobi}\noperator: {format: auto",
                               k.values, "}\n"),
                           repetitions);
      if (k.name == "fp64") first = m.setup + m.solve;
      std::cout << c.name << " | " << c.method << " | " << k.name << " | " << m.setup << " | "
                << m.solve << " | " << m.report.iterations << " | ";
      if (m.report.outcome() == "converged")
        std::cout << first / (m.setup + m.solve) << std::endl;
      else
        std::cout << m.report.outcome() << std::endl;
    }
  }
} catch (std::exception const& e) {
  std::cerr << e.what() << "\n";
  return 1;
}
