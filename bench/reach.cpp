// SPDX-License-Identifier: Apache-2.0
/// bench_reach [complete] [FILE...]: an application of M to columns of the identity on the host, of
/// the factors of `ic` or `ilu` at level 0, or of complete ones, in full and by the rows reached:
/// us (the median of 60 columns, one thread) and the share of the entries gone through. Each result
/// is compared with that in full before it is timed. Without files two generated systems.
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

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
  std::cout << "| " << name << " | "
            << (fill == FillIn::complete ? "complete"
                : symmetric              ? "ic"
                                         : "ilu")
            << " | " << n << " | " << static_cast<std::int64_t>(entries) << " | " << median(full)
            << " | " << median(part) << " | " << median(full) / median(part) << " | "
            << 100 * median(share) << " |" << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  std::cout.precision(3);
  std::cout
      << "| matrix | factors | rows | entries | in full, us | by reach, us | ratio | entries gone "
         "through, % |\n|---|---|---|---|---|---|---|---|\n";
  bool const complete = argc > 1 && std::string(argv[1]) == "complete";
  FillIn const fill = complete ? FillIn::complete : FillIn::by_level;
  int const first = complete ? 2 : 1;
  if (first >= argc) {
    measure("poisson7 24^3", generate(Poisson7Params{.n = 24}), fill);
    measure("poisson27 16^3", generate(Poisson27Params{.n = 16}), fill);
  }
  for (int i = first; i < argc; ++i)
    measure(std::filesystem::path(argv[i]).filename().string(), read_matrix(argv[i]), fill);
}
