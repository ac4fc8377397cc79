// SPDX-License-Identifier: Apache-2.0
/// A matrix that is converted once the conversion has paid: `operator: {format: auto, conversion:
/// lazy}`.
///
///     products so far x loss of each >= conversion     a thread begins to convert, on a stream
///                                                      of its own
///     the conversion is ready, a loop comes back       from this step on the new format is applied
///
/// This is the rule of ski rental: rent until the rent paid equals the price, then buy (Karlin,
/// Manasse, Rudolph and Sleator 1988, Competitive snoopy caching, Algorithmica 3). Where a product
/// in the new format takes f, one in the first format l more, and the conversion c, the best choice
/// for a known number of products n spends n f + min(n l, c). The rule spends n f + n l while n l <
/// c and n f + 2 c afterwards: at most twice as much, whatever n will be. As the conversion runs
/// beside the solve, some of the second c is hidden, and what products lose meanwhile comes on top.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <string>

#include <tcsolve/formats/choose/planner.hpp>
#include <tcsolve/formats/csr/operator.hpp>

namespace tcsolve {

/// When a conversion is due, in microseconds as predicted.
struct ConversionTerms {
  std::string format;     ///< that is converted to
  double conversion = 0;  ///< once
  double loss = 0;        ///< of a product in the first format against one in the other
  double step = 0;        ///< of a solver with the first format: one product or more

  /// Products after which the loss has reached the conversion, at least one.
  double due() const;
  /// Products until a loop next pauses to ask whether the conversion is ready, when `since` have
  /// been made since the conversion began: at first as many as it is predicted to take, later an
  /// eighth of `since`. A pause costs a device some tens of microseconds; a conversion that waits
  /// for an idle device, as it does to free memory, waits for such a pause.
  double between_looks(double since) const;
};

/// y = alpha A x + beta y, first by `first`, later by what make() returns. No transpose.
///
///   counted   a product when it is applied outside a loop, and what loops report by advance()
///   changes   in advance() and after a product outside a loop; revision() then grows
///   memory    both formats from then on: recordings of the first may still exist
///   bits      they depend on when the conversion was ready
///
/// One Context at a time, as every operator. The destructor waits for a conversion in flight.
template <class T>
class LazyOperator final : public LinearOperator<T> {
 public:
  using Made = std::shared_ptr<LinearOperator<T>>;
  /// Converts in a Context of its own, on the same device, in a thread of its own. What it throws
  /// leaves the operator with its first format, and the log says so.
  using Make = std::function<Made(Context&)>;
  LazyOperator(Made first, ConversionTerms terms, Make make);
  ~LazyOperator() override;

  Traits traits() const override;
  Cost cost(Index k) const override { return current_->cost(k); }
  std::string name() const override { return current_->name(); }
  double norm_estimate() const override { return current_->norm_estimate(); }
  bool sums_exactly() const override { return current_->sums_exactly(); }
  double advance(Context&, double applications) const override;
  std::uint64_t revision() const override { return revision_ + current_->revision(); }

  OperatorPtr<T> first() const { return first_; }
  double products() const { return products_; }  ///< counted so far

 private:
  enum class Phase { counting, converting, settled };
  struct Converted {
    std::unique_ptr<Context> home;  // destroyed after A, which was made in it
    Made A;
  };
  void do_apply(Context&, T alpha, In<T> x, T beta, Out<T> y, Op) const override;
  void do_apply_dot(Context&, T alpha, In<T> x, Out<T> y, double* sigma) const override;
  void do_apply_gram(Context&, T alpha, In<T> X, Out<T> Y, double* G) const override;
  void do_exact_residual(Context&, ResidualVectors const&) const override;
  /// A conversion in flight is waited for, so that no values are lost; then what products are made
  /// with is updated, and alone: nothing applies the first format once there is another.
  void do_update_values(Context&, CsrView<T> const& a) override;
  void count(Context&, double products) const;
  void start(Context&) const;
  void settle(Context&) const;

  Made first_;
  ConversionTerms terms_;
  Make make_;
  mutable Converted converted_;
  mutable Made current_;
  mutable Phase phase_ = Phase::counting;
  mutable double products_ = 0;
  mutable std::uint64_t revision_ = 0;
  mutable void* stream_ = nullptr;             // that products with the other format are made in
  mutable std::future<Converted> conversion_;  // last: its thread may use the members above
};

/// `a` as csr, to be converted to the format that the plan takes for ever more products; if that is
/// csr, never. Logs which. In FP64 csr borrows an `a` that is in the Context's space. Throws
/// MatrixError where csr cannot hold the values in the plan's type.
OperatorPtr<double> convert_lazily(Context&, CsrView<double> const& a, Plan const&);

}  // namespace tcsolve
