// SPDX-License-Identifier: Apache-2.0
/// bench_first_answer [REPETITIONS = 21]: what a solve costs before its first iteration, phase by
/// phase, as the program spends it (app/run/solve_run.cpp): `operator: {format: auto, reorder:
/// auto}`, jacobi, cg. JSON lines, milliseconds: `cold` the first time in this process, when a
/// device's driver loads kernels and takes memory; `ms` the median of the others, `most` their
/// largest.
///
///   upload      CSR from the host's memory to the device
///   plan        features, and which order and format
///   order       orders, taken or not, and P A P^T
///   conversion  CSR to the format, in `values`; of narrower ones with rounding and scaling
///   update      new values of the same pattern (LinearOperator::update_values); none where they
///   are
///               refused
///   preconditioner, recording (the solver's setup), first_solve, second_solve
///   before      plan + order + conversion + preconditioner + recording
///
/// TCSOLVE_BENCH_SHORT: small matrices, three repetitions.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include <tcsolve/configs/schema/yaml.hpp>
#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/formats/register.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/precond/jacobi/jacobi.hpp>
#include <tcsolve/solvers/cg/cg.hpp>
#include <tcsolve/solvers/loop/one_kernel.hpp>
#include <tcsolve/version.hpp>

using namespace tcsolve;

namespace {

constexpr char const* phases[] = {"upload",         "plan",      "order",       "conversion",
                                  "preconditioner", "recording", "first_solve", "second_solve",
                                  "update",         "before"};

/// Milliseconds of each phase, one repetition after another.
using Ledger = std::map<std::string, std::vector<double>>;

template <class F>
double milliseconds(Context& ctx, F const& f) {
  ctx.synchronize();
  auto const start = std::chrono::steady_clock::now();
  f();
  ctx.synchronize();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

/// One solve of A x = A 1 from the host's arrays, as the program makes it. Returns the format.
std::string solve(Context& ctx, OperatorFactory const& factory, Csr<double> const& a,
                  Ledger& ledger) {
  auto const phase = [&](char const* name, auto const& f) {
    double const ms = milliseconds(ctx, f);
    ledger[name].push_back(ms);
    return ms;
  };
  OrderedMatrix ready;
  std::shared_ptr<Solver> solver;
  OperatorPtr<double> A, M, exact;
  std::shared_ptr<CsrOperator<double>> csr;
  phase("upload", [&] { ready = as_given(ctx, a); });
  OperatorUse use{.applies = 500};
  double const planning = milliseconds(ctx, [&] {
    auto method = std::make_unique<Cg<double>>();
    JacobiFactory const jacobi;
    use.persistent = ctx.device() != nullptr && runs_as_one_kernel(*method, &jacobi);
    use.ready = &ready;
    OrderedMatrix ordered = factory.order(ctx, a, use);
    ready = std::move(ordered);
    solver = std::move(method);
  });
  double const order = 1e3 * ready.order_seconds;
  ledger["plan"].push_back(planning - order);
  ledger["order"].push_back(order);
  double before = planning;
  before += phase("conversion", [&] { A = factory.build(ctx, a, use); });
  csr = std::make_shared<CsrOperator<double>>(ctx, CsrStorage<double>(ctx, ready.matrix->view()));
  exact = factory.exact() ? A : csr;
  before += phase("preconditioner", [&] {
    M = JacobiFactory().build(ctx, {csr->view(), A})->view();
  });
  before += phase("recording", [&] {
    solver = std::make_shared<Cg<double>>();
    if (ready.order.taken != Reorder::none)
      solver->frame({.order = std::make_shared<Permutation const>(ready.order.P)});
    solver->setup(ctx, A, M, exact);
  });
  ledger["before"].push_back(before);
  std::vector<double> const b(static_cast<std::size_t>(a.rows), 1.0);
  Array<double> const there = to_space(ctx, b.data(), b.size());
  for (char const* which : {"first_solve", "second_solve"}) {
    Array<double> x(ctx.space(), b.size());
    std::vector<double> const zeros(b.size());
    copy_bytes(ctx, x.data(), ctx.space(), zeros.data(), Space::host, 8 * zeros.size());
    phase(which, [&] { solver->solve(there.view(), x.view()); });
  }
  auto& updated = const_cast<LinearOperator<double>&>(*A);
  // Of values that a conversion rounds to zero, new ones are refused: no time then.
  bool taken = true;
  double const update = milliseconds(ctx, [&] {
    try {
      updated.update_values(ctx, ready.matrix->view());
    } catch (MatrixError const&) { taken = false; }
  });
  if (taken) ledger["update"].push_back(update);
  return A->name();
}

std::unique_ptr<OperatorFactory> factory_for(std::string const& values) {
  OperatorRegistry registry{"operator", "format"};
  register_operators(registry);
  Catalog catalog;
  catalog.add(registry);
  Diagnostics problems;
  auto factory = registry.make(parse_yaml("{format: auto, values: " + values + "}", "bench"),
                               problems, catalog);
  problems.throw_if_any();
  return factory;
}

void measure(Context& ctx, std::string const& name, Csr<double> const& a, int repetitions) {
  for (std::string const values : {"fp64", "fp32", "fp16", "bf16"}) {
    auto const factory = factory_for(values);
    Ledger ledger;
    std::string format;
    for (int k = 0; k <= repetitions; ++k) format = solve(ctx, *factory, a, ledger);
    std::cout << "{\"matrix\": \"" << name << "\", \"rows\": " << a.rows
              << ", \"entries\": " << a.entries() << ", \"values\": \"" << values
              << "\", \"format\": \"" << format << "\"";
    for (char const* phase : phases) {
      std::vector<double>& ms = ledger[phase];
      if (ms.empty()) continue;
      double const cold = ms.front();
      ms.erase(ms.begin());
      std::sort(ms.begin(), ms.end());
      std::cout << ", \"" << phase << "\": {\"ms\": " << ms[ms.size() / 2]
                << ", \"most\": " << ms.back() << ", \"cold\": " << cold << "}";
    }
    std::cout << "}" << std::endl;
  }
}

}  // namespace

int main(int argc, char** argv) {
  bool const brief = std::getenv("TCSOLVE_BENCH_SHORT") != nullptr;
  int const repetitions = argc > 1 ? std::max(1, std::atoi(argv[1])) : brief ? 3 : 21;
  Context ctx;
  std::cout << "{\"device\": \"" << ctx.device_name() << "\", \"revision\": \"" << version::revision
            << "\", \"repetitions\": " << repetitions << "}" << std::endl;
  auto const poisson27 = [&](Index n, Renumber order = Renumber::none) {
    return generate(Poisson27Params{n, Coefficient::random, order});
  };
  measure(ctx, "poisson27_20", poisson27(20), repetitions);
  measure(ctx, "elasticity_8",
          generate(ElasticityParams{.n = 8, .coefficient = Coefficient::random}), repetitions);
  measure(ctx, "poisson27_20, renumbered", poisson27(20, Renumber::random), repetitions);
  if (brief) return 0;
  measure(ctx, "poisson27_32", poisson27(32), repetitions);
  measure(ctx, "poisson27_96", poisson27(96), repetitions);
  measure(ctx, "poisson7_160",
          generate(Poisson7Params{.n = 160, .coefficient = Coefficient::random}), repetitions);
  measure(ctx, "elasticity_56",
          generate(ElasticityParams{.n = 56, .coefficient = Coefficient::random}), repetitions);
  measure(ctx, "poisson27_64, renumbered", poisson27(64, Renumber::random), repetitions);
}
