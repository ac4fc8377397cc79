// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/api/prepared_system.hpp>

#include <algorithm>
#include <utility>

#include <tcsolve/comm/together.hpp>
#include <tcsolve/core/phase.hpp>
#include <tcsolve/core/timed.hpp>
#include <tcsolve/formats/choose/lazy_operator.hpp>
#include <tcsolve/formats/converted_operator.hpp>
#include <tcsolve/matrix/same_pattern.hpp>
#include <tcsolve/operators/rescaled.hpp>
#include <tcsolve/precond/preconditioner.hpp>
#include <tcsolve/version.hpp>

namespace tcsolve {
namespace {

/// New values for an operator that this solver has made; for its other holders it is constant.
void give_values(Context& ctx, OperatorPtr<double> const& A, CsrView<double> const& a) {
  std::const_pointer_cast<LinearOperator<double>>(A)->update_values(ctx, a);
}

/// What is known of the rows, in their new order. Throws ConfigError where an order of single rows
/// separates it from them; `key`: the preconditioner's, that tells of rows in the caller's order.
std::shared_ptr<NodeFacts const> in_order(std::shared_ptr<NodeFacts const> const& nodes,
                                          Permutation const& P, char const* key) {
  if (key == nullptr && nodes && nodes->by_node()) key = "what is known of nodes";
  if (key != nullptr)
    throw ConfigError(
        cat("'operator.reorder' moves the rows that ", key,
            " goes by; leave the order out, or number the matrix and its files anew"));
  if (!nodes) return nodes;
  auto moved = std::make_shared<NodeFacts>(*nodes);
  for (std::size_t k = 0; k < moved->near_nullspace.size(); ++k) {
    auto const& from = nodes->near_nullspace[k];
    if (from.size() != P.old_numbers().size()) continue;  // amg says so
    for (std::size_t i = 0; i < from.size(); ++i)
      moved->near_nullspace[k][i] = from[static_cast<std::size_t>(P.old_numbers()[i])];
  }
  return moved;
}

/// What this rank says, or the first of all that says something, with its number.
std::string said_by_any(Context const& ctx, std::string const& mine) {
  Ranks* const ranks = ranks_of(ctx);
  if (ranks == nullptr || ranks->ranks() == 1) return mine;
  std::vector<std::string> const all = gather(*ranks, mine);
  for (std::size_t r = 0; r < all.size(); ++r)
    if (!all[r].empty()) return cat("rank ", r, ": ", all[r]);
  return "";
}

/// Of vectors that are as long as the whole matrix, as files have them, this rank's entries.
NullspaceConfig of_rank(NullspaceConfig config, Stretches const& columns, int rank) {
  for (std::vector<double>& z : config.vectors)
    if (static_cast<std::int64_t>(z.size()) == columns.size()) {
      auto const first = z.begin() + columns.first(rank);
      z = std::vector<double>(first, first + columns.size(rank));
    }
  return config;
}

}  // namespace

PreparedSystem::PreparedSystem(Context& ctx, SolverOptions const& options)
    : ctx_(ctx),
      given_options_(with_precision_keys(options)),
      options_(given_options_),
      told_nodes_(options.nodes),
      parts_(options_),
      recipes_(ctx, options_, parts_, report_) {
  if (!options.cache.directory.empty())
    cache_.emplace(options.cache.directory, static_cast<std::int64_t>(1e6 * options.cache.limit));
}

/// Frees everything, the method's workspace included, before the next matrix is loaded.
void PreparedSystem::clear() {
  recipes_.clear();
  order_.reset();
  nodes_ = told_nodes_;
  A_true_ = A_ = nullptr;
  all_ = {};
  outer_.reset();
  ranks_.reset();
  csr_.reset();
  ready_.reset();
  matrix_ = {};
  given_ = {};
  lazy_ = false;
  refused_.clear();
  most_condition_ = std::numeric_limits<double>::infinity();
  if (std::exchange(wider_, false)) {
    options_ = given_options_;
    parts_ = SolverParts(options_);
  }
}

/// Calls f(). If f throws, clears everything but the report and rethrows. Throws Cancelled where
/// that came after f's last look at the flag: nobody takes it for a request to the next call.
template <class F>
void PreparedSystem::or_clear(F const& f) {
  Context::Entry const entry(ctx_);
  try {
    f();
    if (ctx_.communicator().agree(ctx_.cancelled())) throw Cancelled();
  } catch (...) {
    clear();
    throw;
  }
}

void PreparedSystem::load(CsrView<double> const& a, Arrays arrays) {
  HostMatrix::Loan const loan = host_->lend(a);
  load_by([&] { matrix_.take(ctx_, a, arrays, needs_host()); });
}

void PreparedSystem::load(Csr<double> a) {
  if (ctx_.space() != Space::host && !needs_host())  // it stays until the preconditioner is made
    return load(a.view(), Arrays::copied);
  HostMatrix::Loan const loan = host_->lend_nothing();
  load_by([&] { matrix_.take(ctx_, std::move(a), needs_host()); });
}

/// take() fills matrix_.
template <class Take>
void PreparedSystem::load_by(Take const& take) {
  clear();
  report_ = {};
  or_clear([&] {
    phase(ctx_, ctx_.space() == Space::cuda ? "uploading the matrix" : "taking the matrix",
          report_.upload, [&] {
            take();
            ctx_.synchronize();
          });
    if (parts_.chooses())
      phase(ctx_, "looking at the matrix", report_.plan,
            [&] { recipes_.list().look(ctx_, matrix_.storage()->view(), *host_); });
    if (options_.precision == PrecisionChoice::automatic)
      phase(ctx_, "estimating the condition", report_.plan, [&] { choose_types(); });
    tell_types();
    phase(ctx_, "choosing an order and a format", report_.plan, [&] { plan(); });
    report_.plan -= report_.reorder;
    phase(ctx_, "converting the matrix", report_.convert, [&] { convert(); });
    as_setup_errors([&] { phase(ctx_, "setting up", report_.setup, [&] { setup(); }); });
  });
}

void PreparedSystem::load(GivenOperators given) {
  HostMatrix::Loan const loan = host_->lend_nothing();
  clear();
  report_ = {};
  given_ = std::move(given);
  or_clear([&] {
    A_ = given_.A;
    if (!A_) throw ShapeError("LinearSolver: the operator is null");
    A_true_ = given_.A_true ? given_.A_true : A_;
    csr_ = std::dynamic_pointer_cast<CsrOperator<double> const>(A_);
    report_.format = A_->name();
    if (parts_.chooses() && csr_) recipes_.list().look(ctx_, csr_->view(), *host_);
    phase(ctx_, "setting up", report_.setup, [&] { setup(); });
  });
}

/// f(), which asks nothing of other ranks.
template <class F>
void PreparedSystem::as_one_rank(F const& f) {
  together(ctx_, [&] { as_setup_errors([&] { alone(ctx_, f); }); });
}

void PreparedSystem::load(DistributedMatrix a) {
  clear();
  report_ = {};
  or_clear([&] {
    require_over_ranks();
    ranks_ = std::make_shared<DistributedMatrix>(std::move(a));
    HostMatrix::Loan const loan = host_->lend(ranks_->own());
    if (parts_.chooses())
      phase(ctx_, "looking at the matrix", report_.plan,
            [&] { recipes_.list().look(ctx_, *ranks_); });
    as_one_rank([&] {
      phase(ctx_, "taking the matrix", report_.upload,
            [&] { matrix_.take(ctx_, ranks_->own_storage(), needs_host()); });
    });
    if (options_.precision == PrecisionChoice::automatic)
      phase(ctx_, "estimating the condition", report_.plan, [&] { choose_types(); });
    tell_types();
    as_one_rank([&] {
      phase(ctx_, "choosing an order and a format", report_.plan, [&] { plan(); });
      report_.plan -= report_.reorder;
    });
    reorder_ranks();
    phase(ctx_, "converting the matrix", report_.convert, [&] { convert(); });
    outer_ = std::make_shared<OuterPart>(ctx_, ranks_);
    as_setup_errors([&] { phase(ctx_, "setting up", report_.setup, [&] { setup(); }); });
  });
}

/// What is to be decided by all ranks, and is not yet; and that all are asked for the same.
void PreparedSystem::require_over_ranks() const {
  Communicator& ranks = ctx_.communicator();
  auto const refuse = [&](char const* what, char const* remedy) {
    throw Unsupported(cat(what, " over ", ranks.ranks(), " ranks; ", remedy));
  };
  if (!ranks.extends_sums()) return;
  require_one_build(all_ranks(ctx_), version::revision);
  SolverOptions same = given_options_;  // on all ranks; where each computes is its own
  same.threads = 0;
  same.backend = Backend::automatic;
  same.cache = {};
  std::vector<std::string> const all = gather(all_ranks(ctx_), dump_yaml(same));
  for (std::size_t r = 1; r < all.size(); ++r)
    if (all[r] != all[0])
      throw ConfigError(cat("the options of rank ", r, " are not those of rank 0"));
  if (nodes_ && !nodes_->empty()) refuse("coordinates and near-nullspaces", "leave them out");
}

/// Reorders A as the operator factory chooses; b, x0 and x stay in the caller's order. Of several
/// ranks each orders its own rows and columns by itself.
void PreparedSystem::plan() {
  Range const range(ctx_, "plan");
  OperatorFactory const& factory = *parts_.matrix_operator;
  ready_.emplace();
  ready_->order.measured = false;
  ready_->matrix = matrix_.storage();
  OperatorUse use = this->use();
  use.keep_order = parts_.preconditioner->goes_by_blocks() || (nodes_ && nodes_->by_node());
  ready_ = factory.order(ctx_, matrix_.host(), use);
  report_.reorder = ready_->order_seconds;
  if (factory.reorder() == Reorder::none) return;
  report_.reordering = Reordering{.measured = false};
  if (factory.reorder() == Reorder::automatic && use.keep_order)
    return ctx_.log(Severity::detail,
                    "reorder: none, since the preconditioner goes by blocks of rows");
  Reordering const& order = ready_->order;
  if (ready_->plan && ctx_.observed()) ctx_.log(Severity::detail, text(*ready_->plan));
  ctx_.log(
      order.measured ? Severity::note : Severity::detail,
      cat("reorder: ", text(order), ready_->cached.empty() ? "" : cat(" (", ready_->cached, ")")));
  report_.reordering = Reordering{order.taken, {}, order.before, order.after, order.measured};
  if (order.taken == Reorder::none) return;
  order_ = std::make_shared<Permutation const>(std::move(ready_->order.P));
  nodes_ = in_order(nodes_, *order_, parts_.preconditioner->by_row());
  host_->clear();  // the entries are in another order
  // The const_cast is safe: the reordered matrix was made for this call and has no other owner.
  matrix_.reorder(ctx_, std::const_pointer_cast<CsrStorage<double>>(ready_->matrix),
                  factory.needs_host());
}

/// Where a rank has an order of its own, all number their halos by the orders of the others.
void PreparedSystem::reorder_ranks() {
  if (!ctx_.communicator().agree(order_ != nullptr)) return;
  phase(ctx_, "renumbering the halo", report_.reorder, [&] {
    ranks_->reorder(ctx_, order_ ? *order_ : Permutation::identity(ranks_->own().rows),
                    matrix_.storage());
  });
}

/// Calls f() and turns a MatrixError into a SetupError: the matrix is valid, and another `format`
/// or `values` may hold it. After a reordering the message adds that rows and columns are numbered
/// as reordered, or of several ranks where the rank's rows begin.
template <class F>
void PreparedSystem::as_setup_errors(F const& f) const {
  std::string numbered = order_ ? "; rows and columns are numbered as reordered" : "";
  if (ranks_)
    if (auto const first = ranks_->rows().first(all_ranks(ctx_).rank()); first > 0)
      numbered = order_ ? cat("; rows there are those from row ", first + 1,
                              " of the matrix on, numbered as reordered")
                        : cat("; row 1 there is row ", first + 1, " of the matrix");
  try {
    f();
  } catch (SetupError const& e) {
    throw SetupError(e.what() + numbered);
  } catch (MatrixError const& e) {
    Block const& block = options_.matrix_operator;
    ConfigNode const effective = block.registry()->effective(block);
    ConfigNode const* const values =
        effective.find("values");  // a format registered by the caller may lack this key
    throw SetupError(cat("operator {format: ", block.type(),
                         values != nullptr ? cat(", values: ", values->scalar) : "",
                         "}: ", e.what(), numbered));
  }
}

/// The method's use of A: number of products, A^T, one-kernel execution.
OperatorUse PreparedSystem::use() const {
  SolverCost const cost = recipes_.list().cost();
  constexpr double enough = 500;  // products after which any conversion has paid for itself
  constexpr Index unknown = 8;    // columns, where a block method may get any number
  Index const together = parts_.columns_at_once();
  Index const given = options_.columns > 0 ? options_.columns : unknown;
  return {.applies = std::min(enough, cost.products * parts_.method->limits().iterations),
          .columns = std::min(together, given),
          .transpose = cost.transpose,
          .persistent = ctx_.device() != nullptr && recipes_.list().begins_as_one_kernel(),
          .vectors = parts_.method->vectors(),
          .besides = parts_.solving_bytes(ctx_, matrix_.host().rows, matrix_.host().cols,
                                          matrix_.entries(), std::min(together, given)),
          .cache = cache_ ? &*cache_ : nullptr,
          .ready = ready_ ? &*ready_ : nullptr};
}

/// A in the types of the options, or in the first wider ones that hold it: of several ranks, the
/// rows of each. Throws what the first types met where none do.
void PreparedSystem::convert() {
  Range const range(ctx_, "convert");
  std::string first;
  for (;;) {
    std::string why;
    as_one_rank([&] {
      try {
        A_ = store(why);
      } catch (MatrixError const&) {
        if (first.empty()) throw;
        throw MatrixError(first);
      }
    });
    why = said_by_any(ctx_, why);
    if (why.empty()) break;
    if (first.empty()) first = why;
    refuse_types(why);
  }
  as_one_rank([&] { settle(); });
}

/// What A_ is, and what is kept beside it.
void PreparedSystem::settle() {
  report_.format = A_->name();
  auto const lazy = std::dynamic_pointer_cast<LazyOperator<double> const>(A_);
  lazy_ = lazy != nullptr;
  csr_ = std::dynamic_pointer_cast<CsrOperator<double> const>(lazy ? lazy->first() : A_);
  if (!csr_ && parts_.needs_csr())
    csr_ = std::make_shared<CsrOperator<double>>(ctx_,
                                                 CsrStorage<double>(ctx_, ready_->matrix->view()));
  A_true_ = parts_.exact() ? A_ : OperatorPtr<double>(csr_);
  bool const borrowed = csr_ && csr_->view().columns == ready_->matrix->view().columns;
  ready_.reset();
  Csr<double> left = matrix_.settle(ctx_, borrowed);
  if (ctx_.space() != Space::host && left.entries() > 0) host_->keep(std::move(left));
  ctx_.synchronize();
}

void PreparedSystem::join() {
  auto const over_ranks = [&](OperatorPtr<double> const& own) -> OperatorPtr<double> {
    return outer_ ? std::make_shared<DistributedOperator>(own, outer_) : own;
  };
  all_.A = over_ranks(A_);
  all_.A_true = A_true_ == A_ ? all_.A : over_ranks(A_true_);
}

void PreparedSystem::setup() {
  join();
  Framing framing{.order = order_};
  if (!options_.nullspace.empty())
    framing.nullspace = nullspace_vectors(
        ranks_ ? of_rank(options_.nullspace, ranks_->columns(), all_ranks(ctx_).rank())
               : options_.nullspace,
        A_->cols());
  recipes_.set_up(
      {.system = system(), .A_true = all_.A_true, .M = given_.M, .framing = std::move(framing)});
  alone(ctx_, [&] { report_.rounding = rounding_of(ctx_, *A_); });
}

System PreparedSystem::system() const {
  return {.matrix = csr_ ? csr_->view() : CsrView<double>{},
          .A = all_.A,
          .host = host_,
          .nodes = nodes_};
}

void PreparedSystem::update_values(CsrView<double> const& a) {
  if (given_.A)
    throw Unsupported(cat("LinearSolver: update_values: ", A_->name(),
                          " is the caller's; give it its values, then call refresh()"));
  if (a.rows != A_->rows() || a.cols != A_->cols() || a.entries != matrix_.entries())
    throw ShapeError(cat("LinearSolver: update_values: the matrix is ", A_->rows(), " x ",
                         A_->cols(), " with ", matrix_.entries(), " entries, the new one ", a.rows,
                         " x ", a.cols, " with ", a.entries, "; use set_matrix"));
  if (a.space == Space::host && options_.check_matrices) require_offsets(a);
  HostMatrix::Loan const loan = order_ ? host_->lend_nothing() : host_->lend(a);
  or_clear([&] {
    as_setup_errors([&] {
      if (std::string const why = follow(a); !why.empty()) {
        refused_.push_back({in_force().values, in_force().vectors, 0, why, true});
        store_wider();
        join();
      }
      recipes_.take_values(system());
      report_.rounding = rounding_of(ctx_, *A_);
    });
  });
}

void PreparedSystem::update_values(double const* values, Offset entries, Space space) {
  if (!ranks_)
    throw ShapeError("LinearSolver: update_values: of values alone, for the matrix of one rank");
  ranks_->update_values(ctx_, values, entries, space);
  CsrView<double> const own = ranks_->own();
  HostMatrix::Loan const loan = host_->lend(own);
  or_clear([&] {
    std::string why;
    as_one_rank([&] { why = follow(own); });
    outer_->update_values(ctx_);
    if (why = said_by_any(ctx_, why); !why.empty()) {
      refused_.push_back({in_force().values, in_force().vectors, 0, why, true});
      as_one_rank([&] { store_wider(); });
      join();
    }
    as_setup_errors([&] { recipes_.take_values(system()); });
    alone(ctx_, [&] { report_.rounding = rounding_of(ctx_, *A_); });
  });
}

/// Gives the values of `a` to the operators. Says why where A's types do not hold them and wider
/// ones are to.
std::string PreparedSystem::follow(CsrView<double> const& a) {
  Permutation const* const P = ranks_ ? nullptr : order_.get();  // ranks_ has them in its order
  // A conversion that runs in the background reads the old arrays until the operator has waited for
  // it.
  auto const before = matrix_.storage();
  CsrView<double> const now = lazy_ ? matrix_.renew(ctx_, a, P) : matrix_.update_values(ctx_, a, P);
  std::string why;
  try {
    give_values(ctx_, A_, now);
  } catch (MatrixError const& e) {
    if (!may_widen() || refuses_to_scale(options_)) throw;
    why = e.what();
  }
  if (csr_ && csr_ != A_) give_values(ctx_, csr_, now);
  ++report_.updates;
  return why;
}

CsrStorage<double> PreparedSystem::entries() const {
  if (given_.A) throw Unsupported(cat(A_->name(), ": the entries of an operator that was given"));
  if (ranks_) throw Unsupported("the entries of a matrix of several ranks");
  auto const in_given_order = [&](CsrStorage<double> a) {
    return order_ ? permuted(ctx_, a.view(), order_->inverse()) : std::move(a);
  };
  if (csr_) return in_given_order(CsrStorage<double>(ctx_, csr_->view()));
  auto const* const holder = dynamic_cast<HoldsEntries const*>(A_.get());
  std::optional<Csr<double>> a;
  if (holder != nullptr) a = holder->entries(ctx_);
  if (!a || a->entries() != matrix_.entries())
    throw Unsupported(cat("the entries of A cannot be had back from the format ", A_->name(),
                          "; take operator: {format: csr}"));
  return in_given_order(CsrStorage<double>(ctx_, *std::move(a)));
}

/// A and the method in wider types, after a solve that has ended so.
void PreparedSystem::widen(SolveReport& ended) {
  double seconds = 0;
  try {
    timed(seconds, [&] {
      as_one_rank([&] { store_wider(); });
      join();
      as_setup_errors([&] { recipes_.widen(system(), all_.A_true); });
    });
  } catch (...) {
    clear();
    throw;
  }
  ended.setup_seconds += seconds;
  ended.precision.back().why = why_wider(ended);
  ctx_.log(Severity::note, cat(why_wider(ended), " with A in ", name(ended.precision.back().values),
                               ": on in ", name(in_force().values)));
}

void PreparedSystem::refresh() {
  HostMatrix::Loan const loan = host_->lend_nothing();
  or_clear([&] { recipes_.refresh(system()); });
}

}  // namespace tcsolve
