// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/factors/cudss/complete_on_device.hpp>

#include <algorithm>
#include <cstdio>

#include <tcsolve/factors/cudss/cudss_library.hpp>

namespace tcsolve {
namespace {

std::string facts(CudssFactors const& M, Offset entries_of_A) {
  char ratio[32];
  std::snprintf(
      ratio, sizeof ratio, "%.2f",
      static_cast<double>(M.entries()) / static_cast<double>(std::max<Offset>(1, entries_of_A)));
  std::string text = cat(M.entries(), " entries, ", ratio, " times A's");
  if (M.replaced() > 0) text += cat("; ", M.replaced(), " small pivots replaced");
  return text;
}

}  // namespace

CompleteOnDevice::CompleteOnDevice(Context& ctx, CsrView<double> const& a, Definiteness kind,
                                   Real values)
    : LinearOperator<double>(a.rows, a.cols),
      kind_(kind),
      values_(values),
      entries_of_A_(a.entries),
      arrangement_(a, {UseMatching::automatic, FactorScaling::largest, FactorOrder::none},
                   kind != Definiteness::general, ctx.cancel_flag()) {
  if (arrangement_.rank() < a.rows)
    throw MatrixError(cat("the matrix is singular: of its ", a.rows, " rows, ", arrangement_.rank(),
                          " can be given columns of their own"));
  place(ctx);
}

void CompleteOnDevice::update(Context& ctx, CsrView<double> const& a) {
  arrangement_.update(a);
  place(ctx);
}

void CompleteOnDevice::place(Context& ctx) {
  Csr<double> const& B = arrangement_.matrix();
  invert(ctx, B, inverse_);
  if (transposed_) invert(ctx, transpose(B.view()), transposed_);
  store<double>(ctx, arrangement_.sides().entering(), enter_);
  store<double>(ctx, arrangement_.sides().leaving(), leave_);
}

/// `to` becomes B^-1: it takes new values, or is made where there is none.
void CompleteOnDevice::invert(Context& ctx, Csr<double> const& B, Inverse& to) const {
  if (to)
    to->update(ctx, B);
  else if (values_ == Real::f32)
    to = std::make_shared<CudssInverse<float>>(ctx, B, kind_);
  else
    to = std::make_shared<CudssInverse<double>>(ctx, B, kind_);
}

void CompleteOnDevice::prepare(Context& ctx, Op op) const {
  enter_.product->prepare(ctx, op);
  leave_.product->prepare(ctx, op);
  if (op == Op::none || kind_ != Definiteness::general) return;
  std::call_once(transposed_once_,
                 [&] { invert(ctx, transpose(arrangement_.matrix().view()), transposed_); });
}

Traits CompleteOnDevice::traits() const {
  Traits traits = inverse_->traits();
  traits.transpose = true;
  return traits;
}

Cost CompleteOnDevice::cost(Index k) const {
  Cost total;
  for (LinearOperator<double> const* part :
       {enter_.product.get(), static_cast<LinearOperator<double>*>(inverse_.get()),
        leave_.product.get()}) {
    Cost const cost = part->cost(k);
    total.flops += cost.flops;
    total.bytes += cost.bytes;
  }
  return total;
}

std::string CompleteOnDevice::details() const {
  std::string text = arrangement_.text();
  text += cat(text.empty() ? "" : "; ", facts(*inverse_, entries_of_A_));
  return text + cat("; ", tcsolve::name(values_),
                    kind_ == Definiteness::general ? " L U" : " L D L^T",
                    " on the device by cuDSS ", cudss().version);
}

void CompleteOnDevice::do_apply(Context& ctx, double alpha, In<double> x, double beta,
                                Out<double> y, Op op) const {
  bool const plain = op == Op::none;
  if (!plain) prepare(ctx, op);
  Inverse const& B = plain || kind_ != Definiteness::general ? inverse_ : transposed_;
  auto scope = ctx.arena().scope();
  Out<double> const t = scope.template vectors<double>(rows(), x.cols);
  Out<double> const u = scope.template vectors<double>(rows(), x.cols);
  (plain ? enter_ : leave_).product->apply(ctx, 1, x, 0, t, op);
  B->apply(ctx, 1, t, 0, u);
  (plain ? leave_ : enter_).product->apply(ctx, alpha, u, beta, y, op);
}

}  // namespace tcsolve
