// SPDX-License-Identifier: Apache-2.0
/// bench_reorder [REPETITIONS = 11] [graphs]: what an order costs on a device and what it gains,
/// for meshes that were renumbered at random. Every order and every reordered matrix is compared
/// with that of the serial code on the host, which is timed once beside it.
///
///   order     reverse Cuthill-McKee of the matrix in device memory, to a Permutation on the host;
///             its searches and its numbers as one kernel each, or with kernels for every level
///   permute   P A P^T, made and left there
///   features  what the planner looks at;  locality  what the report shows
///   product   y = A x repeated, median us: the matrix as given, and P A P^T
///
/// An order is paid for after (order + permute) / (product before - product after) products.
///
/// graphs: instead, what else goes through a graph, and where its limits are:
///
///   components  connected components, to the numbers on the host;  colours  of the host alone
///   order       of long strips and of meshes with a hub, by levels without a limit; `taken` where
///               the limits of reverse_cuthill_mckee() send them
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include <tcsolve/formats/choose/planner.hpp>
#include <tcsolve/graph/reorder/colouring.hpp>
#include <tcsolve/graph/reorder/cuthill_mckee.hpp>
#include <tcsolve/graph/reorder/locality.hpp>
#include <tcsolve/graph/reorder/renumber.hpp>
#include <tcsolve/graph/search/graph_search.hpp>
#include <tcsolve/io/generate/generators.hpp>

#include "measure.hpp"

using namespace tcsolve;

namespace {

using Call = std::function<void()>;

double milliseconds(Call const& f) {
  auto const start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

struct Median {
  double median, least;
};
Median timed(Context& ctx, int repetitions, Call const& f) {
  f();
  std::vector<double> ms;
  for (int i = 0; i < repetitions; ++i) {
    ctx.synchronize();
    ms.push_back(milliseconds([&] {
      f();
      ctx.synchronize();
    }));
  }
  std::sort(ms.begin(), ms.end());
  return {ms[ms.size() / 2], ms.front()};
}

/// Reverse Cuthill-McKee by levels on the device, once it is known to be the host's.
Median timed_order(Context& ctx, std::string const& name, CsrView<double> const& a,
                   Permutation const& wanted, bool one_kernel, int repetitions) {
  std::vector<Index> old_numbers(static_cast<std::size_t>(a.rows));
  auto const order = [&] {
    Arena arena(ctx.space());
    cuthill_mckee(*ctx.device(), arena, PatternView(a), {.one_kernel = one_kernel},
                  old_numbers.data());
  };
  order();
  if (Permutation(old_numbers) != wanted) {
    std::cout << name << ": NOT the order of the host" << std::endl;
    std::exit(1);
  }
  return timed(ctx, repetitions, order);
}

void measure(Context& ctx, std::string const& name, Csr<double> const& a, int repetitions) {
  CsrStorage<double> const there(ctx, a.view());
  Permutation P, serial;
  Csr<double> b;
  auto const line = [&](char const* step, Median const& ms, double host) {
    std::cout << name << " | " << step << " | " << ms.median << " | " << ms.least << " | ";
    if (host > 0) std::cout << host;
    std::cout << std::endl;
  };
  std::cout << "matrix | step | ms, median | ms, least | ms on the host\n---|---|---|---|---\n";
  line("copy to the device", timed(ctx, 3, [&] { CsrStorage<double> const copy(ctx, a.view()); }),
       0);
  double const host = milliseconds([&] { serial = reverse_cuthill_mckee(Pattern(a)); });
  line("order", timed(ctx, repetitions, [&] { P = reverse_cuthill_mckee(ctx, there.view()); }),
       host);
  if (P != serial) std::cout << name << ": NOT the order of the host" << std::endl;
  for (bool const one_kernel : {true, false})
    line(one_kernel ? "order, one kernel" : "order, a kernel a level",
         timed_order(ctx, name, there.view(), serial, one_kernel, repetitions), 0);
  double const host_permute = milliseconds([&] { b = permuted(a.view(), serial); });
  line("permute", timed(ctx, repetitions, [&] { permuted(ctx, there.view(), P); }), host_permute);
  CsrStorage<double> const moved = permuted(ctx, there.view(), P);
  if (to_host(ctx, moved.view()) != b) std::cout << name << ": NOT P A P^T" << std::endl;
  line("features", timed(ctx, repetitions, [&] { features(ctx, there.view()); }), 0);
  line("features, ordered", timed(ctx, repetitions, [&] { features(ctx, moved.view()); }), 0);
  Locality seen;
  double const host_locality = milliseconds([&] { seen = locality(a); });
  line("locality", timed(ctx, repetitions, [&] { locality(ctx, there.view()); }), host_locality);
  double const host_after = milliseconds([&] { seen = locality(b); });
  line("locality, ordered", timed(ctx, repetitions, [&] { locality(ctx, moved.view()); }),
       host_after);

  Plan const before = make_plan(features(ctx, there.view()), {}, CostTable::shipped(ctx));
  Plan const after = make_plan(features(ctx, moved.view()), {}, CostTable::shipped(ctx));
  auto const product = [&](Plan const& plan, CsrView<double> const& m, Format const& format,
                           double& predicted) {
    Candidate const& c = plan.of(format);
    predicted = std::nan("");
    if (!c.excluded.empty()) return std::nan("");
    predicted = c.product;
    return time_product(ctx, *make_operator<double>(ctx, m, format), 0.3).median;
  };
  std::cout << "matrix | format | us given | predicted | us ordered | predicted\n"
               "---|---|---|---|---|---\n";
  for (Format const& format : formats()) {
    double model[2];
    double const given = product(before, there.view(), format, model[0]);
    double const ordered = product(after, moved.view(), format, model[1]);
    std::cout << name << " | " << format.name << " | " << given << " | " << model[0] << " | "
              << ordered << " | " << model[1] << std::endl;
  }
}

void measure_graph(Context& ctx, std::string const& name, Csr<double> const& a, int repetitions) {
  CsrStorage<double> const there(ctx, a.view());
  Components wanted;
  Colouring colours;
  double const host = milliseconds([&] { wanted = connected_components(adjacency(a)); });
  Components const got = connected_components(ctx, there.view());
  if (got.of != wanted.of || got.sizes != wanted.sizes) {
    std::cout << name << ": NOT the components of the host" << std::endl;
    std::exit(1);
  }
  double const device =
      timed(ctx, repetitions, [&] { connected_components(ctx, there.view()); }).median;
  double const host_colours = milliseconds([&] { colours = colouring(adjacency(a)); });
  double const graph = milliseconds([&] { adjacency(a); });
  std::cout << name << " | " << a.rows << " | " << a.entries() << " | " << wanted.count() << " | "
            << device << " | " << host << " | " << colours.colours << " | " << host_colours << " | "
            << graph << std::endl;
}

/// A grid of `width` x `length` points, or with a hub: vertex 0 has edges to every `apart`th.
Csr<double> strip(Index width, Index length, Index apart) {
  Index const n = width * length;
  std::vector<std::vector<Index>> rows(static_cast<std::size_t>(n));
  auto const join = [&](Index i, Index j) { rows[i].push_back(j), rows[j].push_back(i); };
  for (Index i = 0; i < n; ++i) {
    rows[i].push_back(i);
    if (i % width + 1 < width) join(i, i + 1);
    if (i + width < n) join(i, i + width);
    if (apart > 0 && i > 0 && i % apart == 0) join(0, i);
  }
  Csr<double> a;
  a.rows = a.cols = n;
  for (auto& row : rows) {
    std::ranges::sort(row);
    row.erase(std::unique(row.begin(), row.end()), row.end());
    a.columns.insert(a.columns.end(), row.begin(), row.end());
    a.offsets.push_back(static_cast<Offset>(a.columns.size()));
  }
  a.values.assign(a.columns.size(), 1.0);
  return a;
}

void measure_limits(Context& ctx, std::string const& name, Csr<double> const& a, int repetitions) {
  CsrStorage<double> const there(ctx, a.view());
  Permutation serial;
  double const host = milliseconds([&] { serial = reverse_cuthill_mckee(Pattern(a)); });
  std::cout << name << " | " << a.rows << " | " << a.entries();
  for (bool const one_kernel : {true, false})
    std::cout << " | "
              << timed_order(ctx, name, there.view(), serial, one_kernel, repetitions).median;
  double const taken =
      timed(ctx, repetitions, [&] { reverse_cuthill_mckee(ctx, there.view()); }).median;
  std::cout << " | " << taken << " | " << host << std::endl;
}

void measure_graphs(Context& ctx, int repetitions) {
  constexpr auto random = Coefficient::random;
  std::cout << "matrix | rows | entries | components | ms | ms on the host | colours | ms on the "
               "host | ms of its graph\n---|---|---|---|---|---|---|---|---\n";
  measure_graph(ctx, "27-point 64^3", generate(Poisson27Params{64, random}), repetitions);
  measure_graph(ctx, "7-point 96^3", generate(Poisson7Params{96, random}), repetitions);
  measure_graph(ctx, "elasticity 32^3", generate(ElasticityParams{32, random}), repetitions);
  measure_graph(ctx, "rmat 18, 8", generate(RmatParams{18, 8, random}), repetitions);
  std::cout << "matrix | rows | entries | ms by levels | a kernel a level | ms taken | ms on the "
               "host\n---|---|---|---|---|---|---\n";
  for (Index const width : {16, 64, 256})
    measure_limits(ctx, cat("strip ", width, " wide"), strip(width, (1 << 18) / width, 0),
                   repetitions);
  for (Index const apart : {100, 20, 5})
    measure_limits(ctx, cat("hub, every ", apart, "th"), strip(512, 512, apart), repetitions);
}

}  // namespace

int main(int argc, char** argv) {
  std::string why;
  if (!cuda::available(why)) {
    std::cout << "bench_reorder: " << why << ": nothing to measure\n";
    return 0;
  }
  bool const brief = std::getenv("TCSOLVE_BENCH_SHORT") != nullptr;
  int const repetitions = argc > 1 ? std::atoi(argv[1]) : brief ? 3 : 11;
  Context ctx(Backend::cuda);
  bench::print_device(ctx, repetitions);
  std::cout.precision(4);
  if (argc > 2 && std::string(argv[2]) == "graphs") {
    measure_graphs(ctx, repetitions);
    return 0;
  }
  constexpr auto random = Coefficient::random;
  constexpr auto lost = Renumber::random;
  measure(ctx, "27-point 48^3", generate(Poisson27Params{48, random, lost}), repetitions);
  if (brief) return 0;
  measure(ctx, "27-point 80^3", generate(Poisson27Params{80, random, lost}), repetitions);
  measure(ctx, "7-point 96^3", generate(Poisson7Params{96, random, lost}), repetitions);
  measure(ctx, "elasticity 40^3", generate(ElasticityParams{40, random, lost}), repetitions);
}
