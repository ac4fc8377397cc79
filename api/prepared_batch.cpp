// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/api/prepared_batch.hpp>

#include <string>
#include <utility>

#include <tcsolve/configs/schema/suggest.hpp>
#include <tcsolve/core/phase.hpp>

namespace tcsolve {
namespace {

/// "none, jacobi", the entries of the registry that `asked` was read by whose product batches.
template <class R>
std::string those_that_batch(Block const& asked) {
  RegistryBase const& registry = *asked.registry();
  std::vector<std::string> names;
  for (RegistryBase::Entry const& entry : registry.entries()) {
    Diagnostics problems;  // of an entry with a key that it must have
    Block const block = registry.read(Block(entry.name, registry.type_key()).node(), problems,
                                      solver_registries().catalog);
    if (block && make<R>(block)->batches()) names.push_back(entry.name);
  }
  return joined(names);
}

template <class R>
void require_batches(Block const& asked) {
  if (make<R>(asked)->batches()) return;
  throw Unsupported(
      cat("the ", asked.registry()->kind(), " '", asked.type(),
          "' does not serve many systems at once; these do: ", those_that_batch<R>(asked)));
}

std::unique_ptr<Solver> method_of(SolverOptions const& options, SolverParts const& parts) {
  require_batches<SolverRegistry>(options.solver);
  require_batches<PreconditionerRegistry>(options.preconditioner);
  if (options.precision != PrecisionChoice::fp64)
    throw Unsupported("many systems at once are solved in FP64; leave 'precision' out");
  OperatorFactory const& stored = *parts.matrix_operator;
  Reorder const order = stored.reorder();
  if (!stored.exact() || !stored.may_borrow() ||
      (order != Reorder::none && order != Reorder::automatic))
    throw Unsupported(
        "many systems at once are stored in csr, in FP64 and in the order given; leave 'operator' "
        "out");
  if (!options.nullspace.empty())
    throw Unsupported("a 'nullspace' is of one system, and there are many at once");
  if (options.renew != Renew::always)
    throw Unsupported(
        "the preconditioner of many systems at once follows all new values; leave "
        "'renew' out");
  return make<SolverRegistry>(options.solver);
}

}  // namespace

PreparedBatch::PreparedBatch(Context& ctx, SolverOptions const& options, SolverParts const& parts)
    : ctx_(ctx),
      preconditioner_(parts.preconditioner->is_identity() ? nullptr : parts.preconditioner.get()),
      solver_(method_of(options, parts)) {}

/// f(), as a phase.
template <class F>
void PreparedBatch::set_up(F const& f) {
  Context::Entry const entry(ctx_);
  phase(ctx_, "setting up", report_.setup, [&] {
    f();
    ctx_.synchronize();
  });
}

void PreparedBatch::load(CsrView<double> const& a, std::vector<Index> const& starts,
                         Arrays arrays) {
  set_up([&] { solver_.setup(ctx_, a, starts, preconditioner_, arrays); });
  count_ = static_cast<Index>(starts.size()) - 1;
  report_.format = "csr";
}

void PreparedBatch::update_values(CsrView<double> const& a) {
  set_up([&] { solver_.update_values(a); });
  ++report_.updates;
}

}  // namespace tcsolve
