// SPDX-License-Identifier: Apache-2.0
/// bench_bfs [REPETITIONS = 50] [FILE...]: breadth-first searches of the graph of A + A^T on a
/// device from vertex 0 to the end, the whole call, against a queue on the host, which every result
/// is compared with before it is timed.
///
///   variant   queue alone, without parents or with them; by the rule (auto); every other way
///   forced hot, cold median us; cold: 256 MB are read before a level   hot us over the number of
///   levels; barriers: the same in barriers of the grid, which
///             are measured in the same run
///   floor     bytes of the whole search (offsets, columns, levels) at the bandwidth of a copy, us
///   met       the goal of 6 barriers a level and 2.5 floors, over hot
///
/// Files are those given, else grids, elasticity and a graph with hubs.
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>

#include <tcsolve/graph/search/graph_search.hpp>
#include <tcsolve/io/files/matrix_file.hpp>
#include <tcsolve/io/generate/generators.hpp>

#include "clock.hpp"
#include "measure.hpp"
#include "plain_steps.hpp"

using namespace tcsolve;

namespace {

struct Variant {
  char const* name;
  GraphSearchOptions options;
  SearchTuning tuning;
};

class Bench {
 public:
  Bench(Context& ctx, int repetitions)
      : ctx_(ctx),
        clock_(*ctx.device()),
        repetitions_(repetitions),
        barrier_(bench::barrier_microseconds(ctx)) {
    std::cout << "a barrier takes " << barrier_ << " us\n"
              << "graph | vertices | entries | levels | variant | steps | hot, us | cold, us | a "
                 "level, us | barriers a level | floor, us | met\n"
              << "---|---|---|---|---|---|---|---|---|---|---|---\n";
  }

  void measure(std::string const& name, Csr<double> const& a) {
    CsrStorage<double> const there(ctx_, a.view());
    SearchRequest const request{.sources = {0}, .along = Along::both};
    BreadthFirst const wanted = breadth_first(a, request);
    using enum SearchStep;
    GraphSearchOptions const queue_alone{.along = Along::both, .bits = false},
        bits{.along = Along::both}, lists{.along = Along::both, .tile_edges = 1 << 30};
    for (Variant const& variant :
         {Variant{"queue", queue_alone, {.parents = false}},
          Variant{"queue, parents", queue_alone, {}}, Variant{"auto", bits, {.parents = false}},
          Variant{"auto, parents", bits, {}}, Variant{"auto, no tiles", lists, {.parents = false}},
          Variant{"push_csc", bits, {push_csc, false}},
          Variant{"push_csr", bits, {push_csr, false}},
          Variant{"pull_csc", bits, {pull_csc, false}}}) {
      GraphSearch search(ctx_, there.view(), variant.options);
      SearchSummary const summary = search.run(ctx_, request, variant.tuning);
      BreadthFirst const got = search.on_host(ctx_);
      if (got.level != wanted.level || got.vertices != wanted.vertices ||
          (variant.tuning.parents && got.parent != wanted.parent)) {
        std::cout << name << ": " << variant.name << " is wrong\n";
        std::exit(1);
      }
      auto const run = [&] { search.run(ctx_, request, variant.tuning); };
      double const hot = clock_.median(repetitions_, false, run),
                   cold = clock_.median(repetitions_, true, run);
      double const bytes = 4.0 * a.entries() + 8.0 * a.rows + 8.0 * a.rows;
      double const floor = 1e6 * bytes / bench::bandwidth, levels = wanted.levels();
      std::cout << name << " | " << a.rows << " | " << a.entries() << " | " << wanted.levels()
                << " | " << variant.name << " | " << ways(summary) << " | " << hot << " | " << cold
                << " | " << hot / levels << " | " << hot / levels / barrier_ << " | " << floor
                << " | " << (6 * barrier_ * levels + 2.5 * floor) / hot << std::endl;
    }
  }

 private:
  /// How many levels each way has found.
  static std::string ways(SearchSummary const& summary) {
    std::string text;
    for (auto const& [step, name] : names(SearchStep{})) {
      auto const count = std::ranges::count(summary.steps, step);
      if (count > 0) text += cat(text.empty() ? "" : ", ", count, " ", name);
    }
    return text;
  }
  Context& ctx_;
  bench::Clock clock_;
  int repetitions_;
  double barrier_;
};

}  // namespace

int main(int argc, char** argv) {
  std::string why;
  if (!cuda::available(why)) {
    std::cout << "bench_bfs: " << why << ": nothing to measure\n";
    return 0;
  }
  bool const brief = std::getenv("TCSOLVE_BENCH_SHORT") != nullptr;
  int const repetitions = argc > 1 ? std::atoi(argv[1]) : brief ? 5 : 50;
  Context ctx(Backend::cuda);
  bench::print_device(ctx, repetitions);
  std::cout.precision(4);
  Bench bench(ctx, repetitions);
  for (int k = 2; k < argc; ++k)
    bench.measure(std::filesystem::path(argv[k]).stem().string(), read_matrix(argv[k]));
  if (argc > 2) return 0;
  bench.measure("27-point 32^3", generate(Poisson27Params{.n = 32}));
  if (brief) return 0;
  bench.measure("27-point 96^3", generate(Poisson27Params{.n = 96}));
  bench.measure("7-point 96^3", generate(Poisson7Params{.n = 96}));
  bench.measure("7-point 160^3", generate(Poisson7Params{.n = 160}));
  bench.measure("elasticity 40^3", generate(ElasticityParams{.n = 40}));
  bench.measure("rmat 20, 16", generate(RmatParams{20, 16, Coefficient::random}));
}
