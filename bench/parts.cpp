// SPDX-License-Identifier: Apache-2.0
/// bench_parts [FILE...]: parts of 64 rows grown breadth-first and by METIS, on the host: the time
/// of the parts and of the whole set-up of schwarz with one layer of overlap, and the iterations of
/// CG with it to 1e-8, b = ones. Without files three generated systems. Times are processor seconds
/// of the whole process, the least of some repetitions, so that what else runs on the machine
/// counts little.
#include <algorithm>
#include <ctime>
#include <filesystem>
#include <functional>
#include <iostream>
#include <limits>

#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/graph/parts/parts.hpp>
#include <tcsolve/graph/reorder/graph_partition.hpp>
#include <tcsolve/io/files/matrix_file.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/precond/schwarz/schwarz.hpp>
#include <tcsolve/solvers/cg/cg.hpp>

using namespace tcsolve;

namespace {

constexpr Index size = 64;

double processor_seconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double least_seconds(int repetitions, std::function<void()> const& f) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < repetitions; ++i) {
    double const start = processor_seconds();
    f();
    least = std::min(least, processor_seconds() - start);
  }
  return least;
}

Index iterations(Context& ctx, OperatorPtr<double> const& A, CsrView<double> const& a, PartsBy by,
                 int overlap) {
  OverlappingParts const parts = overlapping_parts(a, size, overlap, 0, by);
  auto const M = std::make_shared<CsrOperator<double>>(ctx, schwarz(ctx, a, parts, false).view());
  Cg<double> cg({.stopping = {.rtol = 1e-8, .max_iters = 20000}});
  cg.setup(ctx, A, M);
  auto const n = static_cast<std::size_t>(a.rows);
  std::vector<double> const b(n, 1);
  std::vector<double> x(n, 0);
  SolveReport const report =
      cg.solve(vector_view<double const>(b.data(), a.rows), vector_view(x.data(), a.rows));
  return report.reason == Stop::converged ? report.iterations : -1;
}

void measure(std::string const& name, Csr<double> const& a) {
  Context ctx(Backend::host);
  Graph const graph = adjacency(a);
  auto const A = std::make_shared<CsrOperator<double>>(ctx, a.view());
  for (PartsBy const by : {PartsBy::grow, PartsBy::metis}) {
    if (by == PartsBy::metis && !metis_built()) continue;
    Parts parts;
    double const seconds =
        least_seconds(by == PartsBy::metis ? 3 : 15, [&] { parts = parts_of(graph, size, by); });
    std::vector<Index> rows(static_cast<std::size_t>(parts.count), 0);
    for (Index const p : parts.of) ++rows[p];
    double const setup = least_seconds(
        1, [&] { schwarz(ctx, a.view(), overlapping_parts(a.view(), size, 1, 0, by), false); });
    std::cout << "| " << name << " | " << a.rows << " | "
              << (by == PartsBy::grow    ? "grow"
                  : by == PartsBy::metis ? "metis"
                                         : "rows")
              << " | " << 1e3 * seconds << " | " << parts.count << ", "
              << *std::ranges::max_element(rows) << " | " << setup << " | "
              << iterations(ctx, A, a.view(), by, 0) << " | " << iterations(ctx, A, a.view(), by, 1)
              << " |" << std::endl;
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::cout.precision(3);
  std::cout << "| matrix | rows | parts | parts, ms | number, largest | set-up, s | iterations, "
               "overlap 0 | overlap 1 |\n|---|---|---|---|---|---|---|---|\n";
  if (argc < 2) {
    measure("poisson27 24^3", generate(Poisson27Params{.n = 24}));
    measure("poisson7 28^3", generate(Poisson7Params{.n = 28}));
    measure("elasticity 12^3", generate(ElasticityParams{.n = 12}));
  }
  for (int i = 1; i < argc; ++i)
    measure(std::filesystem::path(argv[i]).filename().string(), read_matrix(argv[i]));
}
