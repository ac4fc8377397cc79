// SPDX-License-Identifier: Apache-2.0
#include "tests/verdicts/fuzz/case.hpp"

#include <algorithm>

#include <tcsolve/configs/schema/number.hpp>
#include <tcsolve/core/error.hpp>
#include <tcsolve/formats/format.hpp>

#include "tests/support/files.hpp"
#include "tests/verdicts/fuzz/system.hpp"

namespace tcsolve::fuzz {

namespace {

std::string preconditioner(Draw& draw, std::string const& type) {
  // One draw a statement: arguments are evaluated in no order.
  if (type == "block_jacobi") return cat("{type: block_jacobi, block: ", draw.below(5), "}");
  if (type == "chebyshev") {
    int const degree = draw.between(1, 6);
    std::string const inner = draw.one_of({"none", "jacobi", "block_jacobi"});
    return cat("{type: chebyshev, degree: ", degree, ", preconditioner: {type: ", inner, "}}");
  }
  if (type == "solver") {
    std::string const method = draw.one_of({"cg", "bicgstab", "gmres", "minres"});
    int const digits = draw.between(1, 8), most = draw.between(1, 30);
    std::string const inner = draw.one_of({"none", "jacobi"});
    return cat("{type: solver, solver: {type: ", method, ", rtol: 1.0e-", digits,
               ", max_iters: ", most, "}, preconditioner: {type: ", inner, "}}");
  }
  if (type == "ilu" || type == "ic") {
    std::string const triangular =
        draw.one_of({"auto", "exact", "isai", "sweeps", "parts", "host"});
    std::string const values = draw.one_of({"fp64", "fp64", "fp32", "fp16"});
    return cat("{type: ", type, ", triangular: ", triangular, ", values: ", values, "}");
  }
  return cat("{type: ", type, "}");
}

std::string stopping(Keys const& keys) {
  return cat("rtol: ", number_text(keys.rtol), ", atol: ", number_text(keys.atol),
             ", max_iters: ", keys.max_iters, ", baseline: ", keys.baseline);
}

/// The block of the solver.
std::string solver(Draw& draw, Keys& keys) {
  keys.rtol = draw.chance(0.05) ? 0 : std::pow(10.0, -draw.below(17));
  keys.atol = draw.chance(0.1) ? std::pow(10.0, -draw.below(12)) : 0;
  keys.max_iters = draw.chance(0.2) ? draw.below(6) : 300;
  keys.baseline = draw.chance(0.7)                     ? "rhs"
                  : draw.chance(0.4)                   ? "rows"
                  : draw.chance(0.6) || keys.atol == 0 ? "initial"
                                                       : "absolute";
  std::string text = cat("{type: ", keys.solver, ", ", stopping(keys));
  if (draw.chance(0.2)) text += ", divtol: 10.0";
  if (draw.chance(0.2)) text += cat(", stagnation_window: ", draw.below(6));
  text += cat(", execution: ", draw.one_of({"auto", "auto", "eager", "graph", "persistent"}));
  bool const restarts = keys.solver == "gmres" || keys.solver == "fgmres";
  if (restarts) text += cat(", restart: ", draw.chance(0.5) ? draw.between(1, 12) : 30);
  if (keys.solver == "gmres" && draw.chance(0.3)) text += ", side: left";
  return text + "}";
}

std::string matrix_operator(Draw& draw, Keys& keys, bool square) {
  static std::vector<std::string> const names = [] {
    std::vector<std::string> all = formats().names();
    all.insert(all.begin(), "auto");
    return all;
  }();
  // lsmr asks for transposes, which few formats have: those are drawn less often for it.
  bool const any = keys.solver != "lsmr" || draw.chance(0.1);
  keys.format = any ? draw.one_of(names) : std::string(draw.one_of({"auto", "csr"}));
  keys.values = draw.chance(0.6) ? "fp64" : draw.one_of({"fp32", "fp16", "bf16"});
  keys.reorder = square && draw.chance(0.25) ? draw.one_of({"rcm", "auto"}) : "none";
  return cat("{format: ", keys.format, ", values: ", keys.values, ", reorder: ", keys.reorder, "}");
}

/// A block with one more key.
std::string with(std::string block, std::string const& key) {
  block.insert(block.rfind('}'), ", " + key);
  return block;
}

/// The blocks of a config, and what stands beside them.
struct Blocks {
  std::string A, M, method, more;
};

/// Lower precision in every way there is to say it: one word, FP32 vectors, a basis, what is kept
/// of diagonals, refinement; combinations that make no sense are for the program to refuse.
void lower_precision(Draw& draw, Keys& keys, Blocks& to, bool square) {
  std::string const stored =
      cat("{format: ", keys.format, ", reorder: ", keys.reorder, "}");  // values by another key
  std::string const narrow = draw.one_of({"fp32", "fp16", "bf16"});
  keys.values = narrow;
  keys.lower = true;
  switch (draw.below(square ? 6 : 4)) {
    case 0:
      to.A = stored;
      keys.automatic = draw.chance(0.4);
      to.more += cat("precision: ", keys.automatic ? "auto" : draw.one_of({"fp32", "fp16"}), "\n");
      break;
    case 1:
      to.A = draw.chance(0.4) ? stored : with(stored, "values: " + narrow);
      to.method = with(to.method, "vectors: fp32");
      break;
    case 2:
      to.method = with(to.method, cat("basis: ", draw.one_of({"fp32", "fp16", "bf16", "frsz16"})));
      if (draw.chance(0.5)) to.method = with(to.method, "vectors: fp32"), to.A = stored;
      break;
    case 3:
      to.A = with(with(stored, "values: " + narrow),
                  cat("diagonal: ", draw.one_of({"stored", "exact", "row_sums", "auto"})));
      if (draw.chance(0.5)) to.method = with(to.method, "vectors: fp32");
      break;
    case 4: {
      std::string const inner = draw.one_of({"cg", "gmres", "bicgstab", "minres"});
      to.A = stored;
      keys.solver = "refinement";
      to.method =
          cat("{type: refinement, ", stopping(keys), draw.chance(0.5) ? ", vectors: fp32" : "",
              ", values: ", narrow, ", solver: {type: ", inner, ", rtol: 1.0e-", draw.between(1, 4),
              ", max_iters: ", draw.between(1, 40), "}}");
      break;
    }
    default:
      to.A = stored;
      keys.solver = "gmres_ir";
      keys.preconditioner = "ilu";
      to.M = "{type: ilu, values: fp32}";
      to.method = cat("{type: gmres_ir, ", stopping(keys),
                      draw.chance(0.5) ? ", vectors: fp32" : "", ", values: ", narrow, "}");
  }
  if (draw.chance(0.3)) to.more += "step_up: never\n";
}

std::string vector_text(std::vector<double> const& v) {
  std::string text;
  for (double const e : v) text += cat(e, "\n");
  return text;
}

}  // namespace

Case drawn(std::uint64_t seed, std::string const& backend) {
  Draw draw(seed);
  Case c;
  bool const rectangular = draw.chance(0.08);
  Keys& keys = c.keys;
  c.system = system(draw, rectangular, keys.constant);
  keys.solver = rectangular ? "lsmr"
                : !c.system.more.empty() && draw.chance(0.7)
                    ? draw.one_of({"block_cg", "pseudo_block_cg", "block_gmres",
                                   "pseudo_block_gmres", "pseudo_block_bicgstab", "deflated_cg"})
                    : draw.one_of({"cg", "chronopoulos_gear", "pipelined_cg", "minres", "bicgstab",
                                   "gmres", "gmres", "fgmres", "lsmr"});
  bool const any = keys.solver != "lsmr" || draw.chance(0.1);
  keys.preconditioner =
      rectangular || draw.chance(0.4) ? "none"
      : any ? draw.one_of({"jacobi", "block_jacobi", "chebyshev", "solver", "ilu", "ic"})
            : draw.one_of({"jacobi", "block_jacobi"});
  Blocks blocks;
  blocks.M = preconditioner(draw, keys.preconditioner);
  blocks.A = matrix_operator(draw, keys, !rectangular);
  blocks.method = solver(draw, keys);
  int const seed_of_run = draw.below(100);
  std::string const nullspace = keys.constant                 ? "nullspace: {constant: true}\n"
                                : !c.system.nullspace.empty() ? "nullspace: {files: [z.txt]}\n"
                                                              : "";
  // By draws of its own, so that the other cases are what they were.
  if (Draw types(seed ^ 0x70726563); types.chance(0.35))
    lower_precision(types, keys, blocks, !rectangular);
  c.yaml = cat("# fuzz case ", seed,
               "\nproblem: {matrix: a.mtx, rhs: b.mtx, x0: x0.mtx}\noperator: ", blocks.A,
               "\npreconditioner: ", blocks.M, "\nsolver: ", blocks.method, "\nbackend: ", backend,
               "\noutput: {solution: true, bandwidth: false}\nseed: ", seed_of_run, "\n", nullspace,
               blocks.more);
  return c;
}

void write(Case const& c, std::filesystem::path const& folder) {
  System const& s = c.system;
  std::string text = cat("%%MatrixMarket matrix coordinate real general\n", s.rows, " ", s.cols,
                         " ", s.entries.size(), "\n");
  for (Value const& e : s.entries) text += cat(e.row + 1, " ", e.column + 1, " ", e.value, "\n");
  test::write_text(folder / "a.mtx", text);
  auto const array = [&](Index rows, std::vector<double> const& first, auto const& others) {
    std::string columns = cat("%%MatrixMarket matrix array real general\n", rows, " ",
                              s.more.size() + 1, "\n", vector_text(first));
    for (std::vector<double> const& each : others) columns += vector_text(each);
    return columns;
  };
  test::write_text(folder / "b.mtx", array(s.rows, s.b, s.more));
  test::write_text(folder / "x0.mtx", array(s.cols, s.x0, std::vector(s.more.size(), s.x0)));
  for (std::vector<double> const& z : s.nullspace)
    test::write_text(folder / "z.txt", vector_text(z));
  test::write_text(folder / "case.yaml", c.yaml);
}

}  // namespace tcsolve::fuzz
