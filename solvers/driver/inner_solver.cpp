// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/solvers/driver/inner_solver.hpp>

#include <algorithm>

namespace tcsolve {
namespace {

using Solvers = Registry<Solver>;

char const* name_of(VectorType v) { return name(real_of_vectors(v)); }

bool has_vectors(Block const& solver) {
  return std::ranges::any_of(solver.registry()->keys_of(solver.type()),
                             [](KeyDoc const& k) { return k.key == "vectors"; });
}

}  // namespace

std::unique_ptr<Solver> make_inner(Block const& solver, std::optional<VectorType> vectors) {
  if (!vectors || (*vectors == VectorType::fp64 && !has_vectors(solver)))
    return make<Solvers>(solver);
  ConfigNode node = solver.node();
  if (ConfigNode* const own = node.find("vectors"))
    *own = ConfigNode::of_plain(name_of(*vectors));
  else
    node.entries.push_back({"vectors", node.at, ConfigNode::of_plain(name_of(*vectors))});
  Diagnostics problems;
  Catalog const catalog;  // of the blocks within the block: no method on FP32 vectors has any
  Block const read = solver.registry()->read(node, problems, catalog);
  problems.throw_if_any();
  return make<Solvers>(read);
}

std::string check_inner(Block const& solver, std::optional<VectorType> vectors,
                        std::optional<Real> values) {
  if (solver.type() == "auto")
    return "auto goes by the entries of the matrix and cannot be an inner solver; name a method, "
           "e.g. gmres";
  ConfigNode const* const own = solver.node().find("vectors");
  if (vectors && own != nullptr && own->scalar != name_of(*vectors))
    return cat("'vectors' is ", name_of(*vectors), " here and ", own->scalar,
               " in the inner solver");
  if (vectors == VectorType::fp32 && !has_vectors(solver))
    return cat("'vectors: fp32': ", solver.type(), " has FP64 vectors alone");
  auto const inner = make_inner(solver, vectors);
  if (values == Real::f64 && inner->vectors() == Real::f32)
    return "'values: fp64' with 'vectors: fp32': a matrix that multiplies FP32 vectors is stored "
           "in fp32 at the widest; leave 'values' out";
  if (inner->limits().iterations == 0)
    return "an inner solver with 'max_iters' = 0 gives zero for every residual; allow at least one "
           "iteration, or take 'type: none'";
  return "";
}

}  // namespace tcsolve
