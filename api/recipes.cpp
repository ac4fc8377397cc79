// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/api/recipes.hpp>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include <tcsolve/comm/together.hpp>
#include <tcsolve/configs/schema/print.hpp>
#include <tcsolve/configs/schema/yaml.hpp>
#include <tcsolve/distributed/overlap.hpp>
#include <tcsolve/matrix/symmetry.hpp>
#include <tcsolve/precond/on_one_rank.hpp>

namespace tcsolve {
namespace {

constexpr char const* weak_ilu = "{type: ilu, drop_tolerance: 0.1, complete_below: 8}";
constexpr char const* ilu = "{type: ilu, drop_tolerance: 0.01}";
constexpr char const* strong_ilu = "{type: ilu, drop_tolerance: 1e-4, fill_factor: 40}";
constexpr char const* threshold_ic = "{type: ic, drop_tolerance: 0.01, complete_below: 5}";
constexpr char const* direct = "{type: direct}";
constexpr char const* amg = "{type: amg, elliptic: true}";
constexpr char const* jacobi = "{type: jacobi}";
constexpr char const* cg = "{type: cg}";
constexpr char const* one_sum_cg = "{type: chronopoulos_gear}";
constexpr char const* gmres = "{type: gmres, restart: 50}";
constexpr Patience a_digit{.steps = 50, .gain = 0.1};  // a restart of gmres
constexpr char const *lsmr = "{type: lsmr}", *column_scaling = "{type: column_scaling}";

/// The tree of a recipe's text. The same few texts come with every set-up, and to parse them takes
/// as long as to set up a small system.
ConfigNode tree_of(std::string const& text) {
  constexpr std::size_t most = 64;
  thread_local std::unordered_map<std::string, ConfigNode> known;
  if (auto const found = known.find(text); found != known.end()) return found->second;
  if (known.size() >= most) known.clear();
  return known.emplace(text, parse_yaml(text, "auto")).first->second;
}

std::string square_reason(MatrixFacts const& f) {
  if (f.symmetric) return "the matrix is symmetric, and not positive definite";
  return f.zero_diagonal == 0 ? "the matrix is nonsymmetric"
                              : "the matrix is nonsymmetric with zeros on its diagonal";
}

bool dominant(MatrixFacts const& f) { return f.dominant_rows == f.rows && f.zero_diagonal == 0; }

/// Entries up to which the host makes complete factors of a definite matrix in about the time of a
/// hundred iterations on a device.
constexpr Offset few_entries = 30000;
/// Entries from which incomplete factors take the host longer than a device takes for complete
/// ones, and rows from which these may not fit.
constexpr Offset many_entries = 200000;
constexpr Index many_rows = 60000;
/// Entries of a row below which incomplete factors take the host less.
constexpr Offset long_row = 10;

/// Rows of a rank below which two sums of cg that are messages take longer than the form with one
/// sum takes for its seven more passes (solvers/pipelined_cg). Of 131,000 rows on each of two H200
/// an iteration takes 111 us in place of 134 by mpi, 45.9 in place of 47.4 by nccl; of 442,000 155
/// for 161, and 76 for 74. Devices that store their sums into each other's memory have no such
/// sizes: 25.6 in place of 24.2, 43.5 in place of 40.8 (docs/results/two-gpus.md).
constexpr Index few_rows_a_rank = 200000;

/// Iterations with jacobi that a device makes in a twentieth of the time in which the host makes an
/// incomplete factorisation: both grow with the entries (docs/internals/factorisations.md).
int cheap_iterations(MatrixFacts const& f, FactorRates const& rates) {
  double const entries = static_cast<double>(f.entries);
  double const step = rates.step + rates.step_entries * entries;
  return static_cast<int>(std::clamp(0.05 * rates.host_incomplete * entries / step, 30., 5e3));
}

/// A device makes a hierarchy in the time of some hundred iterations with jacobi, and of a small
/// matrix in that of thousands.
bool has_levels(MatrixFacts const& f, bool on_device) {
  return f.positive_diagonal() && f.rows >= (on_device ? 50000 : 20000);
}
/// What jacobi does not solve soon may take incomplete factors, too, more iterations the finer the
/// mesh is. A hierarchy takes as long as some hundred iterations of jacobi, and is given up where
/// it gains less than they would.
Recipe by_levels(std::string const& solver, bool definite) {
  return {.solver = solver,
          .preconditioner = amg,
          .reason = "the matrix looks like one of an elliptic problem",
          .definite = definite,
          .most_iterations = 400,
          .patience = {.steps = 25, .gain = 0.1, .from = 5}};
}

/// What needs no factors, of a matrix that is not symmetric.
void add_cheap(std::vector<Recipe>& list, std::string const& solver, MatrixFacts const& f,
               bool on_device, FactorRates const& rates) {
  if (dominant(f))
    list.push_back({solver, jacobi, "each row is dominated by its diagonal", false, 500});
  else if (on_device && f.zero_diagonal == 0)
    list.push_back({solver, jacobi, "a device makes cheap iterations quickly", false,
                    cheap_iterations(f, rates)});
  if (has_levels(f, on_device)) list.push_back(by_levels(solver, false));
}

/// Whether the host makes all iterations with jacobi in less time than an incomplete factor takes
/// to be ordered and made: of a small grid or graph, whose unknowns are few steps apart and alike.
/// A chain has as many iterations as rows, and a complete factor of its own size.
bool is_soon_solved(MatrixFacts const& f) {
  constexpr Index few_rows = 1000;
  constexpr Offset of_a_row = 4;
  constexpr double alike = 100;
  return f.rows <= few_rows && dominant(f) && f.entries >= of_a_row * f.rows &&
         f.largest_row <= alike * f.least_row;
}

void add_definite(std::vector<Recipe>& list, std::string const& solver, MatrixFacts const& f,
                  bool on_device) {
  std::string const why = "the matrix is symmetric with a positive diagonal";
  Offset const entries = f.entries;
  bool const soon = !on_device && is_soon_solved(f);
  // An iteration with jacobi takes a device microseconds, and a factorisation the host.
  auto const cheap = static_cast<int>(std::min(1e5, 1000 + 8e-3 * static_cast<double>(entries)));
  bool const levels = has_levels(f, on_device);
  if (entries > few_entries || soon) {
    Recipe first{solver, jacobi, why, true};
    if (on_device) {  // most of them without a new best residual, and the others are spared
      first.most_iterations = cheap;
      first.window = 7 * cheap / 10;
    } else {  // it rises at first where x is smooth
      first.most_iterations = 1000;
      first.patience = {.steps = 50, .gain = 0.5, .from = 50};
    }
    Recipe const at_length = first;
    if (on_device && levels) first.patience = {.steps = 200, .gain = 0.25, .from = 100};
    list.push_back(std::move(first));
    if (levels) list.push_back(by_levels(solver, true));
    // Where it does not, cheap iterations go on.
    if (on_device && levels) list.push_back(at_length);
  }
  list.push_back({solver, threshold_ic, why, true, 600});
  list.push_back({solver, direct, why, true, 100});
  list.push_back({solver, jacobi, why, true, 100000});
}

Recipe with_factors(std::string const& solver, char const* ilu, std::string const& why, int most,
                    Patience const& patience = {}) {
  return {.solver = solver,
          .preconditioner = ilu,
          .reason = why,
          .most_iterations = most,
          .patience = patience,
          .incomplete = true};
}

void add_general(std::vector<Recipe>& list, std::string const& gmres, std::string const& bicgstab,
                 MatrixFacts const& f, std::string const& why, bool direct_first = false) {
  Recipe const completely{.solver = gmres,
                          .preconditioner = direct,
                          .reason = direct_first ? why + ", and the device factorises" : why,
                          .most_iterations = 100,
                          .complete = true};
  if (direct_first) list.push_back(completely);
  // Of large systems GMRES would have to keep too many vectors.
  if (f.rows >= 100000) {
    list.push_back(with_factors(bicgstab, ilu, why, 500));
  } else {
    list.push_back(with_factors(gmres, weak_ilu, why, 400, a_digit));
    list.push_back(with_factors(gmres, ilu, why, 400, a_digit));
  }
  list.push_back(with_factors(gmres, strong_ilu, why, 400, a_digit));
  if (!direct_first) list.push_back(completely);
}

}  // namespace

MatrixFacts matrix_facts(Context& ctx, DistributedMatrix const& a) {
  if (a.rows() != a.columns())
    throw Unsupported(cat("auto over ", ctx.communicator().ranks(), " ranks, of a matrix of ",
                          a.rows().size(), " x ", a.columns().size(),
                          "; name lsmr, which needs no square one"));
  Csr<double> const extended = with_halo_rows(ctx, a);
  MatrixFacts f;
  together(ctx, [&] {
    // Rows of this rank, with all of their columns.
    CsrView<double> own = extended.view();
    own.rows = a.own().rows;
    own.entries = extended.offsets[static_cast<std::size_t>(own.rows)];
    f = row_facts(own);
    f.symmetric = is_symmetric(extended.view());
  });
  Ranks& ranks = all_ranks(ctx);
  auto const all = [&](double mine) {
    double sum = 0;
    for (double const one : gather(ranks, mine)) sum += one;
    return static_cast<Index>(std::min(sum, double(std::numeric_limits<Index>::max())));
  };
  f.rows = f.cols = all(a.own().rows);
  f.entries = a.entries();
  f.zero_diagonal = all(f.zero_diagonal);
  f.negative_diagonal = all(f.negative_diagonal);
  f.dominant_rows = all(f.dominant_rows);
  f.symmetric = !ranks.agree(!f.symmetric);
  f.largest_row = ranks.agree(f.largest_row);
  constexpr double none = std::numeric_limits<double>::max();
  f.least_row = least(ctx, f.least_row > 0 ? f.least_row : none);
  if (f.least_row == none) f.least_row = 0;
  return f;
}

std::vector<Recipe> for_ranks(std::vector<Recipe> list, MatrixFacts const& f, int ranks,
                              bool slow_sums) {
  std::erase_if(list, [&](Recipe const& r) {
    return r.least_squares || r.preconditioner == amg ||
           (r.preconditioner == direct && f.rows > most_gathered_rows);
  });
  // Two stretches of jacobi without a hierarchy between them are one, the second.
  auto const same = [](Recipe const& a, Recipe const& b) {
    return a.solver == b.solver && a.preconditioner == b.preconditioner;
  };
  list.erase(list.begin(), std::unique(list.rbegin(), list.rend(), same).base());
  for (Recipe& r : list) {
    if (r.preconditioner.empty()) continue;
    auto const& registry = solver_registries().preconditioners;
    if (!over_ranks(*make<PreconditionerRegistry>(read_text(registry, r.preconditioner))))
      r.preconditioner =
          cat("{type: schwarz, parts: ranks, overlap: 1, inside: ", r.preconditioner, "}");
    r.incomplete = false;  // another one costs what this one did
  }
  bool const sums_dominate = slow_sums && f.rows / ranks < few_rows_a_rank;
  if (sums_dominate && !list.empty() && list.front().solver == cg &&
      list.front().preconditioner == jacobi) {
    list.front().solver = one_sum_cg;
    list.front().reason += ", and ranks wait for one sum an iteration";
  }
  return list;
}

bool sums_by_messages(Context& ctx) {
  if (!ctx.communicator().extends_sums()) return false;
  return ctx.visit([]<class On>(On& on) {
    if constexpr (OnDevice<On>)
      return transport(on) != DeviceTransport::peer;
    else
      return false;
  });
}

Block read_text(RegistryBase const& registry, std::string const& text,
                std::optional<StoppingParams> const& keys) {
  struct Read {
    RegistryBase const* by;
    std::string text;
    std::optional<StoppingParams> keys;
    Block block;
  };
  constexpr std::size_t most = 64;
  thread_local std::vector<Read> known;
  auto const found = std::ranges::find_if(
      known, [&](Read const& r) { return r.by == &registry && r.text == text && r.keys == keys; });
  if (found != known.end()) return found->block;
  ConfigNode node = tree_of(text);
  if (keys) {
    ConfigNode const more = to_node(*keys);
    node.entries.insert(node.entries.end(), more.entries.begin(), more.entries.end());
  }
  Diagnostics problems;
  Block block = registry.read(node, problems, solver_registries().catalog);
  problems.throw_if_any();
  if (known.size() >= most) known.clear();
  known.push_back({&registry, text, keys, block});
  return block;
}

std::string brief(std::string const& text) {
  ConfigNode node = tree_of(text);
  std::string const type = node.find("type")->scalar;
  std::erase_if(node.entries, [](ConfigNode::Entry const& e) { return e.key == "type"; });
  return node.entries.empty() ? type : cat(type, " ", to_yaml_inline(node));
}

std::string by_rows(std::string solver) {
  return solver.insert(solver.rfind('}'), ", baseline: rows");
}

bool direct_comes_first(MatrixFacts const& f) {
  return f.square() && f.entries > many_entries && f.rows < many_rows &&
         f.entries > long_row * f.rows && !(f.symmetric && f.positive_diagonal());
}

double seconds_of_incomplete(MatrixFacts const& f, double made, Recipe const& next,
                             FactorRates const& rates) {
  auto const entries = static_cast<double>(f.entries);
  double const step = rates.host_entries * (entries + made) + rates.host_rows * f.rows;
  int const steps = next.patience.steps > 0 ? next.patience.steps : next.most_iterations;
  return rates.host_incomplete * std::max(entries, made) + steps * step;
}

std::vector<Recipe> recipes(MatrixFacts const& f, bool on_device, bool direct_first,
                            FactorRates const& rates) {
  if (!f.square())
    return {{lsmr, column_scaling, "the matrix is not square: least squares", false, 100000}};
  std::vector<Recipe> list;
  if (f.symmetric && f.positive_diagonal()) add_definite(list, cg, f, on_device);
  if (!f.symmetric) add_cheap(list, "{type: bicgstab}", f, on_device, rates);
  add_general(list, gmres, "{type: bicgstab}", f, square_reason(f), direct_first);
  // In exact arithmetic it ends after as many iterations as there are rows.
  constexpr double least = 200, most = 5000;
  list.push_back({.solver = lsmr,
                  .preconditioner = column_scaling,
                  .reason = "the matrix seems to be singular: least squares",
                  .most_iterations = static_cast<int>(std::clamp(4.0 * f.rows, least, most)),
                  .least_squares = true});
  return list;
}

std::vector<Recipe> recipes_for(MatrixFacts const& f, bool on_device, SolverNeeds const& needs,
                                FactorRates const& rates) {
  std::vector<Recipe> list;
  if (!f.square()) return {{"", column_scaling, "the matrix is not square", false, 100000}};
  if (needs.symmetric || needs.definite) {
    if (f.positive_diagonal()) add_definite(list, "", f, on_device);
    list.push_back({"", "{type: none}", "the matrix is symmetric", false, 5000});
    return list;
  }
  add_cheap(list, "", f, on_device, rates);
  add_general(list, "", "", f, square_reason(f));
  return list;
}

std::vector<Recipe> recipes_with(MatrixFacts const& f, PreconditionerFactory const& M) {
  std::vector<Recipe> list;
  if (!f.square()) return {{lsmr, "", "the matrix is not square", false, 100000}};
  if (!M.is_fixed())
    return {{"{type: fgmres, restart: 50}", "", "the preconditioner varies", false, 10000}};
  if (f.symmetric && f.positive_diagonal())
    list.push_back(
        {"{type: cg}", "", "the matrix is symmetric with a positive diagonal", true, 10000});
  if (f.symmetric && (M.is_identity() || M.needs_definite()))
    list.push_back({"{type: minres}", "", "the matrix is symmetric", false, 10000});
  list.push_back({gmres, "", square_reason(f), false, 10000});
  return list;
}

}  // namespace tcsolve
