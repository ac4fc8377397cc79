// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/formats/choose/lazy_operator.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <limits>
#include <system_error>
#include <utility>

#include <tcsolve/core/half.hpp>
#include <tcsolve/matrix/scaled.hpp>

namespace tcsolve {

double ConversionTerms::due() const { return std::max(1.0, std::ceil(conversion / loss)); }

double ConversionTerms::between_looks(double since) const {
  return std::max({1.0, step > 0 ? conversion / step : 0, since / 8});
}

template <class T>
LazyOperator<T>::LazyOperator(Made first, ConversionTerms terms, Make make)
    : LinearOperator<T>(first->rows(), first->cols()),
      first_(std::move(first)),
      terms_(std::move(terms)),
      make_(std::move(make)),
      current_(first_) {}

/// The arrays of the other format belong to the Context that they were made in, but are used in the
/// order of the caller's: they go after it.
template <class T>
LazyOperator<T>::~LazyOperator() {
  if (!converted_.home || stream_ == nullptr) return;
  try {
    converted_.home->wait_for(stream_);
  } catch (Error const&) {}  // of a device that has met an error
}

template <class T>
Traits LazyOperator<T>::traits() const {
  Traits traits = current_->traits();
  traits.transpose = false;
  return traits;
}

template <class T>
double LazyOperator<T>::advance(Context& ctx, double applications) const {
  products_ += applications;
  if (phase_ == Phase::counting && products_ >= terms_.due()) start(ctx);
  if (phase_ == Phase::converting &&
      conversion_.wait_for(std::chrono::seconds(0)) == std::future_status::ready)
    settle(ctx);
  switch (phase_) {
    case Phase::counting: return terms_.due() - products_;
    case Phase::converting: return terms_.between_looks(products_ - terms_.due());
    case Phase::settled: break;
  }
  return std::numeric_limits<double>::infinity();
}

/// A loop reports the applications of its recording; a product outside a loop is counted directly.
template <class T>
void LazyOperator<T>::count(Context& ctx, double products) const {
  if (!ctx.recording() && ctx.loop() == nullptr) advance(ctx, products);
}

template <class T>
void LazyOperator<T>::start(Context& ctx) const {
  ctx.synchronize();  // new values may still be on their way
  Backend const backend = ctx.device() != nullptr ? Backend::cuda : Backend::host;
  try {
    ContextOptions options = ctx.options();
    options.ordered = false;  // the caller has no access to it
    conversion_ = std::async(std::launch::async, [make = make_, backend, options] {
      Converted made{std::make_unique<Context>(backend, options), nullptr};
      made.A = make(*made.home);
      made.home->synchronize();
      made.home->arena().trim();
      return made;
    });
    phase_ = Phase::converting;
  } catch (std::system_error const& e) {  // no more threads
    phase_ = Phase::settled;
    ctx.log(Severity::note, cat("format: ", name(), " stays: no thread to convert in: ", e.what()));
  }
}

template <class T>
void LazyOperator<T>::settle(Context& ctx) const {
  phase_ = Phase::settled;
  try {
    converted_ = conversion_.get();
    current_ = converted_.A;
    stream_ = ctx.stream();
    ++revision_;
  } catch (std::exception const& e) {
    ctx.log(Severity::note, cat("format: ", name(), " stays: not ", terms_.format, ": ", e.what()));
  }
}

template <class T>
void LazyOperator<T>::do_apply(Context& ctx, T alpha, In<T> x, T beta, Out<T> y, Op op) const {
  current_->apply(ctx, alpha, x, beta, y, op);
  count(ctx, x.cols);
}

template <class T>
void LazyOperator<T>::do_apply_dot(Context& ctx, T alpha, In<T> x, Out<T> y, double* sigma) const {
  current_->apply_dot(ctx, alpha, x, y, sigma);
  count(ctx, 1);
}

template <class T>
void LazyOperator<T>::do_apply_gram(Context& ctx, T alpha, In<T> X, Out<T> Y, double* G) const {
  current_->apply_gram(ctx, alpha, X, Y, G);
  count(ctx, X.cols);
}

template <class T>
void LazyOperator<T>::do_exact_residual(Context& ctx, ResidualVectors const& v) const {
  current_->exact_residual(ctx, v);
  count(ctx, 1);
}

template <class T>
void LazyOperator<T>::do_update_values(Context& ctx, CsrView<T> const& a) {
  if (phase_ == Phase::converting) settle(ctx);
  current_->update_values(ctx, a);
}

namespace {

template <class S>
OperatorPtr<double> as(Context& ctx, CsrView<double> const& a, Plan const& plan) {
  std::shared_ptr<CsrOperator<double, S>> csr;
  if constexpr (std::is_same_v<S, double>)
    csr = std::make_shared<CsrOperator<double>>(ctx, CsrStorage<double>(ctx, a));
  else
    csr = std::make_shared<CsrOperator<double, S>>(ctx,
                                                   NarrowCsr<S>(ctx, a, Beyond::refuse).owned(ctx));
  Candidate const& now = plan.of(plan.request.among->source());
  Candidate const* best = &now;
  for (Candidate const& c : plan.candidates)
    if (c.excluded.empty() && c.step < best->step) best = &c;
  std::string const device = cat(" (", plan.device, ")");
  if (best == &now) {
    ctx.log(Severity::note, cat("format: csr for any number of products", device));
    return csr;
  }
  ConversionTerms const terms{best->format->name, best->conversion, now.step - best->step,
                              now.step};
  ctx.log(Severity::note, cat("format: csr, ", terms.format, " when it will have paid: after ",
                              terms.due(), " products", device));
  auto make = [csr, format = best->format, bytes = best->bytes, seen = plan.seen](Context& own) {
    // As in the plan, but of what is free by now: the vectors of the solver have come since.
    auto const free = double(own.available_memory());
    if (bytes > 0.9 * free)
      throw MemoryError(cat(format->name, " takes ", bytes, " bytes, ", free, " are free"));
    return make_operator<double, S>(own, csr->view(), *format, &seen);
  };
  return std::make_shared<LazyOperator<double>>(csr, terms, make);
}

}  // namespace

OperatorPtr<double> convert_lazily(Context& ctx, CsrView<double> const& a, Plan const& plan) {
  switch (plan.request.values) {
    case Real::f64: return as<double>(ctx, a, plan);
    case Real::f32: return as<float>(ctx, a, plan);
    case Real::f16: return as<half>(ctx, a, plan);
    case Real::bf16: return as<bfloat16>(ctx, a, plan);
  }
  throw Error("internal: a value type without an operator");
}

template class LazyOperator<double>;
template class LazyOperator<float>;

}  // namespace tcsolve
