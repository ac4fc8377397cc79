// SPDX-License-Identifier: Apache-2.0
/// bench_reach [device] [complete] [FILE...]: an application of M to columns of the identity, of
/// the factors of `ic` or `ilu` at level 0, or of complete ones, in full and by the rows reached:
/// us, the median of 60 columns; a dense x beside it in both ways. On the host processor time of
/// one thread and the share of the entries gone through, on a device the time until it is done, and
/// in how many columns of 60 L, and U, were visited by the reach alone. Each result is compared
/// with that in full before it is timed. Without files two generated systems.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include <tcsolve/core/timed.hpp>
#include <tcsolve/factors/apply/factored_inverse.hpp>
#include <tcsolve/factors/factorisation.hpp>
#include <tcsolve/io/files/matrix_file.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/matrix/symmetry.hpp>

using namespace tcsolve;

namespace {

constexpr int columns = 60;

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

/// Of processor time: what else runs on the machine counts little.
template <class F>
double microseconds(F const& f) {
  auto const now = [] {
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e6 * static_cast<double>(t.tv_sec) + 1e-3 * static_cast<double>(t.tv_nsec);
  };
  double const start = now();
  f();
  return now() - start;
}

/// The factors between plain sides: what is timed are the solves.
TwoSided plain(Index n) {
  TwoSided sides;
  for (Index i = 0; i < n; ++i) sides.row.push_back(i);
  sides.column = sides.row;
  sides.row_scale = sides.column_scale = std::vector<double>(static_cast<std::size_t>(n), 1.0);
  return sides;
}

void print(std::string const& name, bool symmetric, FillIn fill, Index n, double entries,
           std::vector<double> const& full, std::vector<double> const& part) {
  std::cout << "| " << name << " | "
            << (fill == FillIn::complete ? "complete"
                : symmetric              ? "ic"
                                         : "ilu")
            << " | " << n << " | " << static_cast<std::int64_t>(entries) << " | " << median(full)
            << " | " << median(part) << " | " << median(full) / median(part);
}

void measure(std::string const& name, Csr<double> const& a, FillIn fill) {
  ContextOptions options;
  options.threads = 1;
  Context ctx(Backend::host, options);
  bool const symmetric = is_symmetric(a.view());
  FactorRecipe const recipe{.name = "bench", .symmetric = symmetric, .fill = fill};
  auto const factors = Factorisation(ctx, a.view(), recipe).factors(ctx);
  Index const n = a.rows;
  FactoredInverse<double> const M(ctx, factors, plain(n));
  std::vector<double> e(static_cast<std::size_t>(n), 0.0), x(e), wanted(e);
  auto const apply = [&](FactoredInverse<double> const& inverse, std::vector<double>& to) {
    inverse.apply(ctx, vector_view<double const>(e.data(), n), vector_view(to.data(), n));
  };
  std::vector<double> full, part, share;
  double const entries = static_cast<double>(factors->lower.entries() + factors->upper.entries());
  std::optional<FactoredInverse<double>> in_full;
  for (int k = 0; k < columns; ++k) {
    auto const j = static_cast<std::size_t>((std::int64_t{k} * 7919 + 13) % n);
    e[j] = 1;
    if (k % SparseSolves<double>::worth_patterns == 0) in_full.emplace(ctx, factors, plain(n));
    full.push_back(microseconds([&] { apply(*in_full, wanted); }));
    apply(M, x);
    if (x != wanted) {
      std::cout << "wrong in column " << j << "\n";
      std::exit(1);
    }
    part.push_back(microseconds([&] { apply(M, x); }));
    if (k >= SparseSolves<double>::worth_patterns)
      share.push_back(static_cast<double>(M.visited()) / entries);
    e[j] = 0;
  }
  print(name, symmetric, fill, n, entries, full, part);
  std::cout << " | " << 100 * median(share) << " |" << std::endl;
}

void measure_on_device(std::string const& name, Csr<double> const& a, FillIn fill) {
  Context ctx(Backend::cuda), host(Backend::host);
  bool const symmetric = is_symmetric(a.view());
  FactorRecipe const recipe{.name = "bench", .symmetric = symmetric, .fill = fill};
  auto const factors = Factorisation(host, a.view(), recipe).factors(host);
  Index const n = a.rows;
  FactoredInverse<double> const M(ctx, factors, plain(n)),
      in_full(ctx, factors, plain(n), ReachOnDevice::never);
  std::vector<double> e(static_cast<std::size_t>(n), 0.0);
  Array<double> y(ctx.space(), e.size());
  // The least of some runs: what else the driver does counts little.
  auto const time = [&](FactoredInverse<double> const& inverse, Array<double> const& x) {
    double least = 1e300;
    for (int run = 0; run < 5; ++run) {
      ctx.synchronize();
      auto const start = std::chrono::steady_clock::now();
      inverse.apply(ctx, x.view(), y.view());
      ctx.synchronize();
      least = std::min(least, 1e6 * seconds_since(start));
    }
    return least;
  };
  std::vector<double> full, part;
  int lower = 0, upper = 0;
  for (int k = 0; k < columns; ++k) {
    auto const j = static_cast<std::size_t>((std::int64_t{k} * 7919 + 13) % n);
    e[j] = 1;
    Array<double> const x = to_space(ctx, e.data(), e.size());
    full.push_back(time(in_full, x));
    std::vector<double> const wanted = to_host(ctx, y);
    part.push_back(time(M, x));
    if (to_host(ctx, y) != wanted) {
      std::cout << "wrong in column " << j << "\n";
      std::exit(1);
    }
    if (auto const found = M.reached(ctx)) lower += found->lower, upper += found->upper;
    e[j] = 0;
  }
  std::fill(e.begin(), e.end(), 1.0);
  Array<double> const dense = to_space(ctx, e.data(), e.size());
  print(name, symmetric, fill, n, double(factors->lower.entries() + factors->upper.entries()), full,
        part);
  std::cout << " | " << lower << ", " << upper << " | " << M.levels() << " | "
            << time(in_full, dense) << ", " << time(M, dense) << " |" << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  std::cout.precision(3);
  std::vector<std::string> arguments(argv + 1, argv + argc);
  auto const given = [&](char const* word) { return std::erase(arguments, word) > 0; };
  bool const device = given("device");
  FillIn const fill = given("complete") ? FillIn::complete : FillIn::by_level;
  if (std::string why; device && !cuda::available(why)) {
    std::cout << "bench_reach: " << why << ": nothing to measure\n";
    return 0;
  }
  std::cout << "| matrix | factors | rows | entries | in full, us | by reach, us | ratio | "
            << (device ? "by the reach: L, U | levels | dense x: in full, us, with a look |\n"
                         "|---|---|---|---|---|---|---|---|---|---|\n"
                       : "entries gone through, % |\n|---|---|---|---|---|---|---|---|\n");
  auto const run = device ? measure_on_device : measure;
  if (arguments.empty()) {
    run("poisson7 24^3", generate(Poisson7Params{.n = 24}), fill);
    run("poisson27 16^3", generate(Poisson27Params{.n = 16}), fill);
  }
  for (std::string const& file : arguments)
    run(std::filesystem::path(file).filename().string(), read_matrix(file), fill);
}
