// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/api/transposed_system.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <utility>

#include <tcsolve/core/timed.hpp>
#include <tcsolve/distributed/overlap.hpp>
#include <tcsolve/formats/register.hpp>
#include <tcsolve/matrix/symmetry.hpp>
#include <tcsolve/operators/composite.hpp>

namespace tcsolve {

bool TransposedSystem::is_symmetric() {
  if (options_.symmetric != Symmetry::automatic) return options_.symmetric == Symmetry::yes;
  if (of_.given().A) return false;  // nobody knows their entries
  if (symmetric_) return *symmetric_;
  if (of_.ranks()) return *(symmetric_ = is_symmetric_over_ranks());
  CsrStorage<double> const a = of_.entries();
  symmetric_ = mirrors_bit_by_bit(ctx_, a.view());
  return *symmetric_;
}

bool TransposedSystem::is_symmetric_over_ranks() {
  DistributedMatrix const& A = *of_.ranks();
  if (A.rows() != A.columns()) return false;
  GlobalRows const a = rows_of(ctx_, A), at = transposed(all_ranks(ctx_), a, A.rows(), A.columns());
  auto const same_bits = [](double v, double w) {
    return std::bit_cast<std::uint64_t>(v) == std::bit_cast<std::uint64_t>(w);
  };
  bool const mirrors = a.offsets == at.offsets && a.columns == at.columns &&
                       std::ranges::equal(a.values, at.values, same_bits);
  return !ctx_.communicator().agree(!mirrors);
}

PreparedSystem& TransposedSystem::system() {
  bool const follows = !At_ || M_ == of_.M();
  if (second_ && second_->ready() && !stale_ && follows) return *second_;
  auto const start = std::chrono::steady_clock::now();
  SetupReport& report = of_.report();
  if (!second_ && is_symmetric()) {
    report.transposed = options_.symmetric == Symmetry::yes
                            ? "A itself, which is given as symmetric"
                            : "A itself, which is symmetric bit by bit";
    return of_;
  }
  if (!options_.nullspace.empty())
    throw Unsupported(
        "LinearSolver: transpose: the nullspace given is that of A, and that of A^T is another "
        "one; give A^T to a solver of its own");
  try {
    set_up();
  } catch (...) {
    second_.reset();
    At_.reset();
    plan_.reset();
    throw;
  }
  stale_ = false;
  OperatorPtr<double> const M = second_->M();
  report.transposed = cat("a second set-up: ", second_->A()->name(), M ? " with " + M->name() : "",
                          M && M == M_ ? ", that of A" : "");
  report.transpose += seconds_since(start);
  return *second_;
}

void TransposedSystem::set_up() {
  GivenOperators const& given = of_.given();
  if (given.A) {
    auto const transposed = [](OperatorPtr<double> const& op) -> OperatorPtr<double> {
      return op ? std::make_shared<Transposed<double>>(op) : nullptr;
    };
    begin_second();
    return second_->load(
        GivenOperators{transposed(given.A), transposed(of_.M()), transposed(given.A_true)});
  }
  if (of_.ranks()) return set_up_over_ranks();
  if (At_ || (!second_ && serves_transposed())) return set_up_beside();
  if (plan_) return second_->update_values(plan_->pattern().with(values_.data()));
  find_transpose();
  begin_second();
  second_->load(plan_->pattern().with(values_.data()), Arrays::borrowed);
}

/// The rows of A^T, of which each rank has those of its columns of A, in a set-up of their own.
void TransposedSystem::set_up_over_ranks() {
  DistributedMatrix const& A = *of_.ranks();
  Ranks& ranks = all_ranks(ctx_);
  int const me = ranks.rank();
  GlobalRows const at = transposed(ranks, rows_of(ctx_, A), A.rows(), A.columns());
  DistributedMatrix At(ctx_, A.columns().first(me), at.view(A.rows().size()),
                       narrow(A.rows().size(me), "rows of a rank"));
  Permutation const& P = A.order();
  if (ctx_.communicator().agree(P.size() > 0))  // back to the caller's numbers
    At.reorder(ctx_, P.size() > 0 ? P.inverse() : Permutation::identity(At.own().rows));
  begin_second();
  second_->load(std::move(At));
}

/// With what is known of A^T, and the work space of A's method: one of the two is at work at a
/// time.
void TransposedSystem::begin_second() {
  SolverOptions options = options_;
  if (auto const known = of_.symmetric()) options.symmetric = *known ? Symmetry::yes : Symmetry::no;
  second_.emplace(ctx_, options);
  second_->share_with(of_);
}

/// M is small beside A, as a diagonal: an iteration is mostly the product.
bool TransposedSystem::goes_by_products() const {
  return 2 * of_.M()->cost(1).bytes <= of_.A()->cost(1).bytes;
}

/// Whether M of `of` is an approximation of A^-1 in the caller's numbers, is kept up with the
/// values, and has a transpose. A method that chooses its own M, or multiplies by A^T itself, is
/// set up anew; so is one of which the products with a rounded A are the larger part.
bool TransposedSystem::serves_transposed() const {
  SolverParts const& parts = of_.parts();
  auto const& order = of_.report().reordering;
  OperatorPtr<double> const& M = of_.M();
  return !parts.chooses() && !parts.method->cost().transpose && options_.renew == Renew::always &&
         (!order || order->taken == Reorder::none) && M != nullptr && M->rows() == M->cols() &&
         M->traits().transpose && M->traits().fixed && (parts.exact() || !goes_by_products());
}

/// A^T in the format of A where an iteration is mostly the product, which needs no plan: its rows
/// are A's columns. Else, and where that format does not hold it, in csr, which costs nothing.
std::shared_ptr<LinearOperator<double>> TransposedSystem::stored(CsrView<double> const& at) const {
  Format const* const format = formats().find(of_.A()->name());
  if (format != nullptr && format->converted && goes_by_products()) try {
      return format->make<double>(ctx_, at);
    } catch (MatrixError const&) {
    } catch (MemoryError const&) {
    } catch (Unsupported const&) {}
  return std::make_shared<CsrOperator<double>>(ctx_, CsrStorage<double>(ctx_, at));
}

void TransposedSystem::find_transpose() {
  CsrStorage<double> const a = of_.entries();
  plan_.emplace(ctx_, a.view());
  values_.resize(ctx_.space(), static_cast<std::size_t>(a.view().entries));
  plan_->values(ctx_, a.view().values, values_.data());
}

/// A^T and M^T of `of`.
void TransposedSystem::set_up_beside() {
  if (!At_) {
    find_transpose();
    At_ = stored(plan_->pattern().with(values_.data()));
  } else if (stale_) {
    At_->update_values(ctx_, plan_->pattern().with(values_.data()));
  }
  if (second_ && second_->ready() && M_ == of_.M()) return second_->refresh();
  M_ = of_.M();
  if (!second_) begin_second();
  // A diagonal is its own transpose, and stays one for who asks for it.
  OperatorPtr<double> const Mt = M_->diagonal() ? M_ : std::make_shared<Transposed<double>>(M_);
  second_->load(GivenOperators{At_, Mt, nullptr});
}

void TransposedSystem::update_values(CsrView<double> const& a) {
  symmetric_.reset();
  if (!second_) return;
  CsrStorage<double> const here(ctx_, a);
  plan_->values(ctx_, here.view().values, values_.data());
  stale_ = true;
}

}  // namespace tcsolve
