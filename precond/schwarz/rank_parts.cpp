// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/schwarz/rank_parts.hpp>

#include <cmath>
#include <utility>
#include <vector>

#include <tcsolve/comm/together.hpp>
#include <tcsolve/distributed/operator.hpp>
#include <tcsolve/distributed/ops.hpp>
#include <tcsolve/distributed/overlap.hpp>
#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/matrix/symmetry.hpp>
#include <tcsolve/operators/column.hpp>
#include <tcsolve/operators/composite.hpp>
#include <tcsolve/precond/schwarz/schwarz.hpp>
#include <tcsolve/precond/smoother.hpp>

namespace tcsolve {
namespace {

/// In how many parts each row of this rank's part is: its own rows, then those of the halo. Every
/// rank calls it.
std::vector<double> parts_of_rows(Context& ctx, Halo& halo) {
  HaloPlan const& plan = halo.plan();
  std::vector<double> count(static_cast<std::size_t>(plan.own), 1.0);
  for (Index const i : plan.sent) ++count[static_cast<std::size_t>(i)];
  Array<double> const own = to_space(ctx, count.data(), count.size());
  Array<double> layer(ctx.space(), static_cast<std::size_t>(halo.size()));
  halo.begin(ctx, vector_view<double const>(own.data(), plan.own, ctx.space()));
  halo.end(ctx, KeepHalo{halo.size(), {}, layer.data()});
  std::vector<double> const theirs = to_host(ctx, layer);
  count.insert(count.end(), theirs.begin(), theirs.end());
  return count;
}

/// a_ij times sqrt(m_i m_j): what solves with it solves with a between two times D = diag(m)^-1/2.
void weigh(Csr<double>& a, std::vector<double> const& m) {
  for (Index i = 0; i < a.rows; ++i)
    for (Offset e = a.offsets[i]; e < a.offsets[i + 1]; ++e)
      a.values[static_cast<std::size_t>(e)] *=
          std::sqrt(m[static_cast<std::size_t>(i)] *
                    m[static_cast<std::size_t>(a.columns[static_cast<std::size_t>(e)])]);
}

class OwnedRankParts final : public Preconditioner {
 public:
  OwnedRankParts(Context& ctx, System const& system, std::unique_ptr<PreconditionerFactory> factory,
                 int overlap, Combine combine)
      : factory_(std::move(factory)), overlap_(overlap), combine_(combine) {
    together(ctx, [&] {
      if (system.matrix.rows != system.matrix.cols)
        throw ShapeError(cat("schwarz needs a square matrix, A is ", system.matrix.rows, " x ",
                             system.matrix.cols));
    });
    make(ctx, system);
  }
  OperatorPtr<double> view() const override { return M_; }
  void update(Context& ctx, System const& system) override { make(ctx, system); }

 private:
  /// What the ranks have, where their parts overlap; null elsewhere.
  DistributedMatrix const* matrix_of_all(System const& system) const {
    auto const* const all = dynamic_cast<DistributedOperator const*>(system.A.get());
    return overlap_ > 0 && all != nullptr ? &all->matrix() : nullptr;
  }

  /// The part's matrix is on the host where parts overlap: rows of neighbours have come by
  /// messages.
  void make(Context& ctx, System const& system) {
    DistributedMatrix const* const all = matrix_of_all(system);
    bool const overlaps = all != nullptr;
    Csr<double> extended;
    if (overlaps) extended = with_halo_rows(ctx, *all);
    std::optional<bool> symmetric = system.symmetric;
    if (!symmetric) {
      bool here = false;
      together(ctx, [&] {
        here = overlaps ? is_symmetric(extended.view())
                        : with_host(ctx, system, [](auto const& a) { return is_symmetric(a); });
      });
      symmetric = !ctx.communicator().agree(!here);
    }
    if (!factory_) factory_ = make_smoother(*symmetric ? "ic" : "ilu");
    bool const restricted =
        combine_ == Combine::automatic ? !*symmetric : combine_ == Combine::restricted;
    Index const own = system.matrix.rows;
    if (overlaps && !halo_) halo_ = std::make_shared<Halo>(ctx, all->plan());
    if (overlaps && !restricted) weigh(extended, parts_of_rows(ctx, *halo_));
    together(ctx, [&] {
      alone(ctx, [&] {
        System part = system;
        part.notes = nullptr;
        part.symmetric = symmetric;
        if (overlaps) {
          part.host = nullptr;
          matrix_ = std::make_shared<CsrOperator<double>>(ctx, std::move(extended));
        } else {
          matrix_ = std::make_shared<CsrOperator<double>>(ctx, system.matrix, Arrays::borrowed);
        }
        part.matrix = matrix_->view();
        part.A = matrix_;
        if (part.matrix.rows == 0)
          inside_ = nullptr;
        else if (inside_)
          inside_->update(ctx, part);
        else
          inside_ = factory_->build(ctx, part);
      });
    });
    OperatorPtr<double> inside =
        inside_ ? inside_->view() : std::make_shared<Identity<double>>(own);
    M_ = std::make_shared<RankParts>(own, std::move(inside), halo_, restricted);
  }

  std::unique_ptr<PreconditionerFactory> factory_;
  int overlap_;
  Combine combine_;
  std::shared_ptr<CsrOperator<double>> matrix_;
  std::unique_ptr<Preconditioner> inside_;
  std::shared_ptr<Halo> halo_;
  OperatorPtr<double> M_;
};

}  // namespace

RankParts::RankParts(Index own, OperatorPtr<double> inside, std::shared_ptr<Halo> halo,
                     bool restricted)
    : LinearOperator<double>(own, own),
      inside_(std::move(inside)),
      halo_(std::move(halo)),
      restricted_(restricted) {}

Traits RankParts::traits() const {
  Traits const inside = inside_->traits();
  return {.precision = inside.precision,
          .transpose = inside.transpose && (!halo_ || !restricted_),
          .fixed = inside.fixed,
          .capturable = inside.capturable && !halo_,
          .isolates_nonfinite = false};
}

std::string RankParts::details() const {
  return cat("a part a rank, overlap ",
             halo_ ? (restricted_ ? "1, restricted" : "1, additive") : "0", ", inside ",
             inside_->name(), inside_->details().empty() ? "" : ": ", inside_->details());
}

double RankParts::advance(Context& ctx, double n) const {
  double patience = 0;
  alone(ctx, [&] { patience = inside_->advance(ctx, n); });
  return least(ctx, patience);
}

void RankParts::do_apply(Context& ctx, double alpha, In<double> x, double beta, Out<double> y,
                         Op op) const {
  if (!halo_) return alone(ctx, [&] { inside_->apply(ctx, alpha, x, beta, y, op); });
  Index const own = rows(), all = own + halo_->size(), cols = x.cols;
  auto scope = ctx.arena().scope();
  Out<double> const r = scope.vectors<double>(all, cols), z = scope.vectors<double>(all, cols);
  auto const layer = [&](double* h) {
    return MultiView<double>{h, halo_->size(), cols, cols, Layout::row_major, ctx.space()};
  };
  halo_->begin(ctx, x);
  copy<double, double>(ctx, x, rows_of_block(r, 0, own));
  // r is row-major without gaps, as the halo is.
  halo_->end(
      ctx,
      KeepHalo{std::int64_t{halo_->size()} * cols, {}, rows_of_block(r, own, halo_->size()).data});
  alone(ctx, [&] { inside_->apply(ctx, 1.0, r, 0.0, z, op); });
  axpby<double, double>(ctx, alpha, rows_of_block(z, 0, own), beta, y);
  if (restricted_) return;
  copy<double, double>(ctx, rows_of_block(z, own, halo_->size()), layer(halo_->place(ctx, cols)));
  halo_->begin_return(ctx, cols);
  halo_->end_return(ctx, alpha, y);
}

std::unique_ptr<Preconditioner> rank_parts(Context& ctx, System const& system,
                                           std::unique_ptr<PreconditionerFactory> inside,
                                           int overlap, Combine combine) {
  return std::make_unique<OwnedRankParts>(ctx, system, std::move(inside), overlap, combine);
}

}  // namespace tcsolve
