// SPDX-License-Identifier: Apache-2.0
/// bench_level_zero [REPETITIONS = 11] [FILE...]: what IC(0), of nonsymmetric matrices ILU(0), in
/// the order of the matrix needs before its numbers, and its whole set-up, of a matrix that lies on
/// a device: by the host's loops and without the host. Patterns, schedules and numbers are compared
/// before they are timed.
///
///   schedules   patterns of both factors, their levels three times, as the set-up by the host's
///               loops asks for them; on the device all of factors/make/level_zero.hpp
///   set-up      the operator M; by the host's loops with the copy of A that it begins with
///   quicker     which of both the set-up takes by its rates
///
/// Milliseconds, medians. Files are those given, else grids.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>

#include <tcsolve/core/timed.hpp>
#include <tcsolve/factors/factorisation.hpp>
#include <tcsolve/formats/choose/cost_model.hpp>
#include <tcsolve/io/files/matrix_file.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/matrix/transfer.hpp>

#include "measure.hpp"

using namespace tcsolve;

namespace {

double median(Context& ctx, int repetitions, std::function<void()> const& f) {
  f();
  std::vector<double> ms;
  for (int i = 0; i < repetitions; ++i) {
    ctx.synchronize();
    auto const start = std::chrono::steady_clock::now();
    f();
    ctx.synchronize();
    ms.push_back(1e3 * seconds_since(start));
  }
  std::nth_element(ms.begin(), ms.begin() + ms.size() / 2, ms.end());
  return ms[ms.size() / 2];
}

bool same_order(Context& ctx, LevelSchedule const& got, LevelOrder const& wanted) {
  LevelOrder const here = to_host(ctx, got);
  return here.row_of == wanted.row_of && here.starts == wanted.starts;
}

bool close(std::vector<double> const& x, std::vector<double> const& y) {
  for (std::size_t k = 0; k < x.size(); ++k)
    if (!(std::abs(x[k] - y[k]) <= 1e-10 * std::max(1.0, std::abs(y[k])))) return false;
  return x.size() == y.size();
}

void measure(Context& ctx, std::string const& name, Csr<double> const& a, int repetitions) {
  CsrStorage<double> const A(ctx, a.view());
  bool const symmetric = summarize(a).asymmetry < 1e-10;
  FactorRecipe const recipe{
      .name = symmetric ? "ic" : "ilu",
      .symmetric = symmetric,
      .pivot_floor = 1e-6,
      .arrangement = {UseMatching::off, FactorScaling::diagonal, FactorOrder::none},
      .solves = TriangularSolves::exact};
  auto plan = plan_there(ctx, A.view(), recipe);
  if (!plan) {
    std::cout << name << " | " << a.entries() << " | too many levels | | | | |" << std::endl;
    return;
  }
  TriangularFactors const patterns = fill_pattern(a, 0);
  LevelZero const& made = plan->there->pattern;
  bool const quicker = quicker_on_device(CostTable::shipped(ctx).factors, *plan->there);
  Index const levels = made.lower_levels.levels;
  bool right = same_order(ctx, made.lower_levels, level_order(patterns.lower, true)) &&
               same_order(ctx, made.upper_levels, level_order(patterns.upper, false));
  auto const by_host = [&] {
    Csr<double> const here = to_host(ctx, A.view());
    return std::make_unique<Factorisation>(ctx, plan_factors(ctx, here.view(), recipe), recipe);
  };
  auto const without = [&] {
    return std::make_unique<Factorisation>(ctx, *plan_there(ctx, A.view(), recipe), recipe);
  };
  auto const got = without()->factors(ctx), wanted = by_host()->factors(ctx);
  right = right && got->lower.columns == wanted->lower.columns &&
          got->upper.columns == wanted->upper.columns &&
          close(got->lower.values, wanted->lower.values) &&
          close(got->upper.values, wanted->upper.values) &&
          close(got->inverse_pivots, wanted->inverse_pivots);
  if (!right) {
    std::cout << name << ": NOT the factors of the host\n";
    std::exit(1);
  }
  auto const line = [&](char const* what, double host, double device) {
    std::cout << name << " | " << a.entries() << " | " << what << " | " << levels << " | " << host
              << " | " << device << " | " << host / device << " | " << (quicker ? "device" : "host")
              << std::endl;
  };
  Index seen = 0;
  line("schedules",
       median(ctx, repetitions,
              [&] {
                TriangularFactors const p = fill_pattern(a, 0);
                for (int k = 0; k < 2; ++k) seen += level_order(p.lower, true).levels();
                seen += level_order(p.upper, false).levels();
              }),
       median(ctx, repetitions,
              [&] { seen += level_zero(ctx, A.view(), 1 << 20)->lower_levels.levels; }));
  line("set-up", median(ctx, repetitions, by_host), median(ctx, repetitions, without));
  if (seen == 0) std::cout << "no levels\n";
}

}  // namespace

int main(int argc, char** argv) {
  std::string why;
  if (!cuda::available(why)) {
    std::cout << "bench_level_zero: " << why << ": nothing to measure\n";
    return 0;
  }
  bool const brief = std::getenv("TCSOLVE_BENCH_SHORT") != nullptr;
  int const repetitions = argc > 1 ? std::atoi(argv[1]) : brief ? 3 : 11;
  Context ctx(Backend::cuda);
  bench::print_device(ctx, repetitions);
  std::cout.precision(4);
  std::cout << "matrix | entries | what | levels of L | by the host, ms | without, ms | gain | "
               "quicker\n---|---|---|---|---|---|---|---\n";
  for (int k = 2; k < argc; ++k)
    measure(ctx, std::filesystem::path(argv[k]).stem().string(), read_matrix(argv[k]), repetitions);
  if (argc > 2) return 0;
  measure(ctx, "7-point 32^3", generate(Poisson7Params{.n = 32}), repetitions);
  if (brief) return 0;
  measure(ctx, "7-point 96^3", generate(Poisson7Params{.n = 96}), repetitions);
  measure(ctx, "27-point 64^3", generate(Poisson27Params{.n = 64}), repetitions);
  measure(ctx, "elasticity 32^3", generate(ElasticityParams{.n = 32}), repetitions);
}
