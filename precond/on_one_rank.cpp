// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/on_one_rank.hpp>

#include <numeric>
#include <utility>
#include <vector>

#include <tcsolve/comm/together.hpp>
#include <tcsolve/distributed/halo.hpp>
#include <tcsolve/distributed/ops.hpp>
#include <tcsolve/distributed/overlap.hpp>
#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/kernels/vector_ops.hpp>
#include <tcsolve/operators/column.hpp>
#include <tcsolve/precond/ranked_inverse.hpp>

namespace tcsolve {
namespace {

/// `inside`: of all rows, on rank 0; null on the others, whose halo is empty.
class OnOneRank final : public LinearOperator<double> {
 public:
  OnOneRank(Index own, std::string name, std::string details, Traits traits,
            OperatorPtr<double> inside, std::shared_ptr<Halo> halo)
      : LinearOperator<double>(own, own),
        name_(std::move(name)),
        details_(std::move(details)),
        traits_(traits),
        inside_(std::move(inside)),
        halo_(std::move(halo)) {}
  Traits traits() const override { return traits_; }
  Cost cost(Index k) const override { return inside_ ? inside_->cost(k) : Cost{}; }
  std::string name() const override { return name_; }
  std::string details() const override { return details_; }

 private:
  void do_apply(Context& ctx, double alpha, In<double> x, double beta, Out<double> y,
                Op op) const override {
    Index const own = rows(), cols = x.cols, others = halo_->size();
    auto scope = ctx.arena().scope();
    Out<double> const r = scope.vectors<double>(own + others, cols),
                      z = scope.vectors<double>(own + others, cols);
    halo_->begin(ctx, x);
    copy<double, double>(ctx, x, rows_of_block(r, 0, own));
    halo_->end(ctx, KeepHalo{std::int64_t{others} * cols, {}, rows_of_block(r, own, others).data});
    if (inside_)
      alone(ctx, [&] { inside_->apply(ctx, 1.0, r, 0.0, z, op); });
    else
      fill<double>(ctx, z, 0.0);
    axpby<double, double>(ctx, alpha, rows_of_block(z, 0, own), beta, y);
    copy<double, double>(
        ctx, rows_of_block(z, own, others),
        {halo_->place(ctx, cols), others, cols, cols, Layout::row_major, ctx.space()});
    halo_->begin_return(ctx, cols);
    halo_->end_return(ctx, alpha, y);
  }

  std::string name_, details_;
  Traits traits_;
  OperatorPtr<double> inside_;
  std::shared_ptr<Halo> halo_;
};

}  // namespace

std::unique_ptr<Preconditioner> on_one_rank(Context& ctx, System const& given, std::string name,
                                            std::shared_ptr<PreconditionerFactory const> inside) {
  auto const make = [name = std::move(name), inside = std::move(inside)](
                        Context& c, System const& system) -> OperatorPtr<double> {
    DistributedMatrix const& a = *matrix_of_ranks(c, system);
    Ranks& ranks = all_ranks(c);
    if (a.rows() != a.columns())
      throw ShapeError(
          cat(name, " needs a square matrix, A is ", a.rows().size(), " x ", a.columns().size()));
    if (a.rows().size() > most_gathered_rows)
      throw Unsupported(
          cat("the preconditioner '", name, "' over ", ranks.ranks(),
              " ranks is made by one of them, for at most ", most_gathered_rows,
              " rows; this matrix has ", a.rows().size(),
              "; take preconditioner: {type: schwarz, parts: ranks, inside: {type: ", name, "}}"));
    bool const here = ranks.rank() == 0;
    Csr<double> whole = gathered(ranks, rows_of(c, a), a.rows());
    struct Made {
      std::shared_ptr<CsrOperator<double>> A;
      std::unique_ptr<Preconditioner> owner;
    } made;
    together(c, [&] {
      if (!here) return;
      alone(c, [&] {
        made.A = std::make_shared<CsrOperator<double>>(c, std::move(whole));
        System const all{.matrix = made.A->view(), .A = made.A, .symmetric = system.symmetric};
        made.owner = build_within_memory(c, *inside, all, name);
      });
    });
    std::vector<std::int64_t> wanted;
    if (here) {
      wanted.resize(static_cast<std::size_t>(a.rows().size() - a.rows().size(0)));
      std::iota(wanted.begin(), wanted.end(), a.rows().size(0));
    }
    auto const halo = std::make_shared<Halo>(c, HaloPlan(ranks, a.rows(), std::move(wanted)));
    // It may borrow what its owner holds.
    auto const kept = std::make_shared<Made>(std::move(made));
    OperatorPtr<double> const M =
        here ? OperatorPtr<double>(kept, kept->owner->view().get()) : nullptr;
    Traits const mine = M ? M->traits() : Traits{};
    bool const transposes = ranks.agree(here && mine.transpose);
    std::string const details = gather(ranks, M ? M->details() : std::string()).front();
    return std::make_shared<OnOneRank>(
        a.plan().own, name, cat("by rank 0", details.empty() ? "" : ": ", details),
        Traits{.transpose = transposes, .fixed = true, .capturable = false}, M, halo);
  };
  return std::make_unique<Remade>(ctx, given, make);
}

}  // namespace tcsolve
