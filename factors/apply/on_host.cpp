// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/factors/apply/on_host.hpp>

#include <algorithm>

#include <tcsolve/kernels/vector_ops.hpp>
#include <tcsolve/operators/column.hpp>

namespace tcsolve {

OnHost::OnHost(std::shared_ptr<Context> host, OperatorPtr<double> M)
    : LinearOperator<double>(M->rows(), M->cols()),
      host_(std::move(host)),
      M_(std::move(M)),
      x_(static_cast<std::size_t>(std::max(rows(), cols()))),
      y_(x_.size()) {}

Traits OnHost::traits() const {
  Traits traits = M_->traits();
  traits.capturable = false;
  traits.operations = false;
  return traits;
}

void OnHost::do_apply(Context& ctx, double alpha, In<double> x, double beta, Out<double> y,
                      Op op) const {
  ctx.submit(
      "on_host",
      [this, alpha, x, beta, y, op](Context& c) {
        auto scope = c.arena().scope();
        Out<double> const there = scope.template vectors<double>(std::max(x.rows, y.rows), 1);
        for (Index j = 0; j < x.cols; ++j) {
          Out<double> const in = vector_view(there.data, x.rows, c.space());
          Out<double> const out = vector_view(there.data, y.rows, c.space());
          copy<double, double>(c, column(x, j), in);
          copy_bytes(c, x_.data(), Space::host, in.data, c.space(), sizeof(double) * x.rows);
          M_->apply(*host_, 1.0, vector_view<double const>(x_.data(), x.rows), 0.0,
                    vector_view(y_.data(), y.rows), op);
          copy_bytes(c, out.data, c.space(), y_.data(), Space::host, sizeof(double) * y.rows);
          axpby<double, double>(c, alpha, out, beta, column(y, j));
        }
      },
      false);
}

}  // namespace tcsolve
