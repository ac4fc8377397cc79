// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/api/precision.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>

namespace tcsolve {
namespace {

char const* name(PrecisionChoice p) {
  for (auto const& [choice, word] : names(p))
    if (choice == p) return word;
  return "";
}

bool has_key(Block const& block, std::string const& key) {
  return std::ranges::any_of(block.registry()->keys_of(block.type()),
                             [&](KeyDoc const& k) { return k.key == key; });
}

/// key: value in the place of what the map has.
void set_key(ConfigNode& node, std::string const& key, std::string const& value) {
  if (ConfigNode* const old = node.find(key))
    *old = ConfigNode::of_plain(value);
  else
    node.entries.push_back({key, node.at, ConfigNode::of_plain(value)});
}

Block read_again(Block const& block, ConfigNode const& node) {
  Diagnostics problems;
  Block read = block.registry()->read(node, problems, solver_registries().catalog);
  problems.throw_if_any();
  return read;
}

Block with_key(Block const& block, std::string const& key, std::string const& value) {
  ConfigNode node = block.node();
  set_key(node, key, value);
  return read_again(block, node);
}

/// The method with its keys in these types, which are read together: one alone may not go with what
/// the others were. Refinement without an inner solver, whose corrections are M r, has none.
Block with_types(Block const& solver, WorkingPrecision to) {
  ConfigNode node = solver.node();
  if (node.find("solver") == nullptr && has_key(solver, "solver")) return solver;
  if (has_key(solver, "values")) set_key(node, "values", name(to.values));
  if (has_key(solver, "vectors")) {
    set_key(node, "vectors", name(to.vectors));
    ConfigNode* const inner = node.find("solver");
    if (inner && inner->find("vectors")) set_key(*inner, "vectors", name(to.vectors));
  }
  // One kernel reads a basis of the vectors' own type.
  ConfigNode const* const execution = node.find("execution");
  if (node.find("basis") && execution && execution->scalar == "persistent")
    set_key(node, "basis", name(to.vectors));
  return read_again(solver, node);
}

/// What is kept of diagonals corrects A x, and not A^T x: a method that multiplies by both has
/// entries as they are stored, unless a correction is asked for by name.
Block of_transposes(Block const& block, Solver const& method) {
  ConfigNode const* const diagonal = block.node().find("diagonal");
  bool const corrected =
      diagonal != nullptr && diagonal->scalar != "stored" && values_of(block) != Real::f64;
  if (!corrected || !method.cost().transpose) return block;
  if (diagonal->scalar == "auto") return with_key(block, "diagonal", "stored");
  Diagnostics problems;
  problems.add(diagonal->at,
               cat("'diagonal: ", diagonal->scalar, "' corrects products with A, and ",
                   method.name(), " multiplies by A^T as well; leave it out"));
  problems.throw_if_any();
  return block;
}

/// A method with a Krylov basis, of which nobody has said what it is to be stored in. From 100
/// vectors on a narrow one becomes an earlier restart.
bool may_narrow_basis(Block const& solver) {
  constexpr int most = 50;
  if (!has_key(solver, "basis") || solver.node().find("basis") != nullptr) return false;
  ConfigNode const effective = solver.registry()->effective(solver);
  ConfigNode const* const restart = effective.find("restart");
  ConfigNode const* const execution = effective.find("execution");
  return restart != nullptr && std::stoi(restart->scalar) <= most &&
         (execution == nullptr || execution->scalar != "persistent");
}

}  // namespace

SolverOptions with_narrow_basis(SolverOptions options) {
  options.solver = with_key(options.solver, "basis", "fp32");
  return options;
}

std::optional<WorkingPrecision> next_wider(WorkingPrecision now) {
  switch (now.values) {
    case Real::f16:
    case Real::bf16: return WorkingPrecision{Real::f32, now.vectors};
    case Real::f32: return WorkingPrecision{};
    case Real::f64: break;
  }
  return std::nullopt;
}

Real values_of(Block const& matrix_operator) {
  ConfigNode const effective = matrix_operator.registry()->effective(matrix_operator);
  ConfigNode const* const values = effective.find("values");
  if (values != nullptr)
    for (Real const r : {Real::f32, Real::f16, Real::bf16})
      if (values->scalar == name(r)) return r;
  return Real::f64;
}

Block operator_of(SolverOptions const& options, Solver const& method) {
  Block const block = of_transposes(options.matrix_operator, method);
  ConfigNode const* const given = block.node().find("values");
  std::optional<Real> const wanted = method.values();
  Diagnostics problems;
  if (given != nullptr && wanted && values_of(block) != *wanted)
    problems.add(given->at, cat("'values' is ", name(values_of(block)), " in the operator and ",
                                name(*wanted), " in the solver: A is stored once"));
  else if (given != nullptr && method.vectors() == Real::f32 && values_of(block) == Real::f64)
    problems.add(given->at,
                 "'values: fp64' with 'vectors: fp32': a matrix that multiplies FP32 vectors is "
                 "stored in fp32 at the widest; leave 'values' out: `converged` goes by the FP64 "
                 "matrix in any case");
  problems.throw_if_any();
  if (!wanted || given != nullptr) return block;
  if (!has_key(block, "values"))
    throw Unsupported(cat("operator {format: ", block.type(), "} has no key 'values', and ",
                          method.name(), " asks for ", name(*wanted)));
  return with_key(block, "values", name(*wanted));
}

bool refuses_to_scale(SolverOptions const& options) {
  ConfigNode const effective =
      options.matrix_operator.registry()->effective(options.matrix_operator);
  ConfigNode const* const scale = effective.find("scale");
  return scale != nullptr && scale->scalar == "refuse";
}

SolverOptions with_precision(SolverOptions options, WorkingPrecision to) {
  if (!has_key(options.matrix_operator, "values"))
    throw Unsupported(cat("operator {format: ", options.matrix_operator.type(),
                          "} has no key 'values' to step up by"));
  options.matrix_operator = with_key(options.matrix_operator, "values", name(to.values));
  options.solver = with_types(options.solver, to);
  return options;
}

SolverOptions with_precision_keys(SolverOptions options) {
  if (options.precision == PrecisionChoice::fp64) return options;
  Diagnostics problems;
  for (auto const& [block, key, what] :
       {std::tuple{&options.matrix_operator, "values", "operator.values"},
        std::tuple{&options.solver, "values", "solver.values"},
        std::tuple{&options.solver, "vectors", "solver.vectors"}})
    if (ConfigNode const* const given = block->node().find(key))
      problems.add(given->at,
                   cat("'", what, "' is given beside 'precision: ", name(options.precision),
                       "', which says the same: take one of them"));
  problems.throw_if_any();
  if (options.precision == PrecisionChoice::automatic) return options;
  bool const half = options.precision == PrecisionChoice::fp16;
  options = with_precision(std::move(options), {half ? Real::f16 : Real::f32, Real::f32});
  bool const kept = !half || options.matrix_operator.node().find("diagonal") != nullptr;
  if (!kept && has_key(options.matrix_operator, "diagonal"))
    options.matrix_operator = with_key(options.matrix_operator, "diagonal", "auto");
  return options;
}

int basis_vectors(SolverOptions const& options, Solver const& method) {
  if (!may_narrow_basis(options.solver) || !method.needs().fixed_preconditioner) return 0;
  ConfigNode const effective = options.solver.registry()->effective(options.solver);
  return std::stoi(effective.find("restart")->scalar);
}

bool lies_in_cache(CsrView<double> const& a, int basis, double cache_bytes) {
  // In csr's bytes, whatever the format, and what H200s call their cache, 60 MiB: CG took 0.78 to
  // 1.01 times FP32's time up to 1.8 caches, 1.10 to 1.6 from 2.2 on; there bicgstab 1.35, gmres
  // 1.34 (docs/results/mixed-h200.md).
  constexpr double most = 2.0;
  // gmres(30) took 1.08 to 1.35 times FP32's time where its basis filled two thirds of the cache
  // and all of it, 1.00 and 1.07 at 0.42, 0.89 to 1.03 below 0.25.
  constexpr double most_of_basis = 0.5;
  double const step = 12.0 * static_cast<double>(a.entries) + 80.0 * a.rows;
  return step <= most * cache_bytes && 8.0 * basis * a.rows <= most_of_basis * cache_bytes;
}

PrecisionChosen choose_precision(std::int64_t rows, std::int64_t cols, SolverOptions const& options,
                                 Solver const& method, RunsWhere where) {
  constexpr double most = 3e-3 / roundoff(Real::f32);
  // An update sees 4096 at most (solvers/driver/condition_watch.hpp), where r has hardly fallen.
  constexpr double most_of_updates = 1e3;
  auto const fp64 = [](std::string why) { return PrecisionChosen{.why = std::move(why)}; };
  bool const restarts = may_narrow_basis(options.solver);
  bool const narrow_basis = restarts && where == RunsWhere::device_memory;
  auto const basis_alone = [&] {
    return PrecisionChosen{
        .narrow_basis = true,
        .why = cat("a Krylov basis in fp32, which ", method.name(), " reads in each step")};
  };
  bool const restarts_in_fp32 = basis_vectors(options, method) > 0;
  if (narrow_basis && !restarts_in_fp32) return basis_alone();
  if (!(method.renews() || restarts_in_fp32) || !has_key(options.solver, "vectors"))
    return fp64(cat(method.name(),
                    " neither makes r anew on the way in FP32 nor begins from it "
                    "again after 50 steps at most"));
  if (where == RunsWhere::cache)
    return fp64("the system lies in the device's cache, where FP32 makes no step faster");
  if (!has_key(options.matrix_operator, "values"))
    return narrow_basis ? basis_alone() : fp64("the format has FP64 values alone");
  if (rows != cols || rows == 0) return fp64("the matrix is not square");
  bool const by_steps = restarts_in_fp32 || method.needs().definite;
  double const bearable = by_steps ? most : most_of_updates;
  return {.types = {Real::f32, Real::f32},
          .why = cat("while the steps of the solve see no condition above ", figure_text(bearable)),
          .most_condition = bearable};
}

std::string why_wider(SolveReport const& r) {
  return r.reason == Stop::max_iterations ? "slow" : r.outcome();
}

bool may_be_the_rounding(SolveReport const& r) {
  if (!r.ended_rounded()) return false;
  switch (r.reason) {
    case Stop::stagnated:
    case Stop::diverged:
    case Stop::precision_limit:
    case Stop::false_convergence:
    case Stop::indefinite_operator: return true;
    case Stop::breakdown: return r.cause != Cause::inner_solver;
    case Stop::nonfinite: return r.cause == Cause::overflow;
    default: return false;
  }
}

}  // namespace tcsolve
