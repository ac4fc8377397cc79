// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/configs/schema/synonyms.hpp>

#include <tcsolve/configs/schema/diagnostics.hpp>
#include <tcsolve/configs/schema/suggest.hpp>
#include <tcsolve/core/error.hpp>

#include <algorithm>

namespace tcsolve::detail {
namespace {

struct Pair {
  char const *name, *ours;
};

// A name may stand for several of ours; the block decides which of them it has.
constexpr Pair synonyms[] = {
    {"tol", "rtol"},
    {"tolerance", "rtol"},
    {"eps", "rtol"},
    {"reltol", "rtol"},
    {"ksp_rtol", "rtol"},
    {"relative_tolerance", "rtol"},
    {"abstol", "atol"},
    {"ksp_atol", "atol"},
    {"absolute_tolerance", "atol"},
    {"maxiter", "max_iters"},
    {"maxit", "max_iters"},
    {"max_it", "max_iters"},
    {"maxits", "max_iters"},
    {"ksp_max_it", "max_iters"},
    {"iterations", "max_iters"},
    {"max_iterations", "max_iters"},
    {"maximum_iterations", "max_iters"},
    {"timeout", "time_limit"},
    {"max_time", "time_limit"},
    {"gmres_restart", "restart"},
    {"ksp_gmres_restart", "restart"},
    {"krylov_dim", "restart"},
    {"pc", "preconditioner"},
    {"pc_type", "preconditioner"},
    {"precond", "preconditioner"},
    {"prec", "preconditioner"},
    {"ksp", "solver"},
    {"ksp_type", "solver"},
    {"method", "solver"},
    {"method", "type"},
    {"name", "type"},
    {"name", "format"},
    {"mat", "matrix"},
    {"A", "matrix"},
    {"file", "matrix"},
    {"b", "rhs"},
    {"right_hand_side", "rhs"},
    {"guess", "x0"},
    {"initial_guess", "x0"},
    {"nx", "n"},
    {"size", "n"},
    {"dir", "directory"},
    {"path", "directory"},
    {"precision", "values"},
    {"dtype", "values"},
    {"device", "backend"},
    {"nthreads", "threads"},
    {"num_threads", "threads"},
    {"gpu", "cuda"},
    {"nvidia", "cuda"},
    {"cpu", "host"},
    {"double", "fp64"},
    {"float64", "fp64"},
    {"float", "fp32"},
    {"single", "fp32"},
    {"float32", "fp32"},
    {"half", "fp16"},
    {"float16", "fp16"},
    {"bfloat16", "bf16"},
    {"diagonal", "jacobi"},
    {"diag", "jacobi"},
    {"bjacobi", "block_jacobi"},
    {"cheb", "chebyshev"},
    {"gamg", "amg"},
    {"boomeramg", "amg"},
    {"multigrid", "amg"},
    {"mg", "amg"},
    {"sa", "amg"},
    {"ilu0", "ilu"},
    {"iluk", "ilu"},
    {"ilut", "ilu"},
    {"ic0", "ic"},
    {"icc", "ic"},
    {"ict", "ic"},
    {"lu", "direct"},
    {"cholesky", "direct"},
    {"asm", "schwarz"},
    {"additive_schwarz", "schwarz"},
    {"ras", "schwarz"},
    {"ainv", "fsai"},
    {"pcg", "cg"},
    {"bcgs", "bicgstab"},
    {"bicg", "bicgstab"},
    {"lsqr", "lsmr"},
    {"yes", "true"},
    {"on", "true"},
    {"no", "false"},
    {"off", "false"},
};

// A key and the block it belongs to; "" is the top of the config.
constexpr Pair blocks[] = {
    {"matrix", "problem"},
    {"generator", "problem"},
    {"rhs", "problem"},
    {"x0", "problem"},
    {"n", "problem.generator"},
    {"coefficient", "problem.generator"},
    {"renumber", "problem.generator"},
    {"rtol", "solver"},
    {"atol", "solver"},
    {"max_iters", "solver"},
    {"time_limit", "solver"},
    {"baseline", "solver"},
    {"restart", "solver"},
    {"stagnation_window", "solver"},
    {"format", "operator"},
    {"values", "operator"},
    {"reorder", "operator"},
    {"calibration", "operator"},
    {"directory", "output"},
    {"history", "output"},
    {"bandwidth", "output"},
    {"every", "output"},
    {"problem", ""},
    {"operator", ""},
    {"preconditioner", ""},
    {"solver", ""},
    {"output", ""},
    {"cache", ""},
    {"backend", ""},
    {"seed", ""},
    {"deterministic", ""},
    {"threads", ""},
};

// The methods that others have and this package lacks, and what comes nearest here.
struct Replacement {
  char const *name, *what;
};
constexpr Replacement missing[] = {
    {"sor", "relaxation is"},
    {"ssor", "relaxation is"},
    {"gauss_seidel", "relaxation is"},
};

bool contains(std::vector<std::string> const& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::string exact_synonym(std::string_view name, std::vector<std::string> const& known) {
  for (Pair const& pair : synonyms)
    if (name == pair.name && contains(known, pair.ours)) return pair.ours;
  return "";
}

std::string synonym(std::string_view name, std::vector<std::string> const& known) {
  if (std::string const same = exact_synonym(name, known); !same.empty()) return same;
  std::vector<std::string> possible;
  for (Pair const& pair : synonyms)
    if (contains(known, pair.ours) && std::string_view(pair.name).size() > 5)
      possible.emplace_back(pair.name);
  std::string const near = edit_nearest(name, possible);
  return near.empty() ? "" : exact_synonym(near, known);
}

std::string other_block(std::string_view name, std::string_view what) {
  std::vector<std::string> keys;
  for (Pair const& pair : blocks) keys.emplace_back(pair.name);
  std::string const meant = contains(keys, name) ? std::string(name) : synonym(name, keys);
  for (auto const& [key, block] : blocks) {
    if (meant != key) continue;
    std::string_view const place = block;
    std::string_view const last = place.substr(place.find_last_of('.') + 1);
    bool const here = place.empty() ? what == "the config"
                                    : what.starts_with(last) || what == cat("'", last, "'");
    if (here) return "";
    return cat(
        "; '", meant, "' belongs ",
        place.empty() ? "at the top of the config, beside 'solver:'" : cat("under '", place, ":'"));
  }
  return "";
}

std::string replacement(std::string_view name, std::vector<std::string> const& known) {
  if (!contains(known, "block_jacobi")) return "";
  for (auto const& [method, what] : missing)
    if (name == method) return cat("; ", what, " not available; nearest: ilu, ic, chebyshev");
  return "";
}

std::string unit_of(std::string_view key) {
  if (key == "time_limit") return "seconds";
  if (key == "limit") return "MB";
  return "";
}

}  // namespace tcsolve::detail

std::string tcsolve::key_path(std::string_view name) {
  std::vector<std::string> keys;
  for (detail::Pair const& pair : detail::blocks) keys.emplace_back(pair.name);
  std::string const meant =
      detail::contains(keys, name) ? std::string(name) : detail::synonym(name, keys);
  for (auto const& [key, block] : detail::blocks)
    if (meant == key) return std::string_view(block).empty() ? meant : cat(block, ".", meant);
  return "";
}
