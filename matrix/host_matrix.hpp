// SPDX-License-Identifier: Apache-2.0
/// The host's side of a matrix that lies in a Context's space: what is made on the host asks here,
/// so that the entries pass from a device at the most once, and not at all while their owner lends
/// the arrays they came from.
#pragma once

#include <optional>
#include <utility>

#include <tcsolve/matrix/transfer.hpp>

namespace tcsolve {

class HostMatrix {
 public:
  /// What was lent, and what was copied meanwhile, is gone with it.
  class [[nodiscard]] Loan {
   public:
    explicit Loan(HostMatrix& to) : to_(to) {}
    ~Loan() { to_.clear(); }
    Loan(Loan const&) = delete;
    Loan& operator=(Loan const&) = delete;

   private:
    HostMatrix& to_;
  };

  /// Host arrays that stay as they are as long as the Loan; a matrix that lies elsewhere lends
  /// nothing.
  Loan lend(CsrView<double> const& a) {
    clear();
    if (a.space == Space::host) view_ = a;
    return Loan(*this);
  }
  /// No arrays: what of() copies is shared as long as the Loan.
  Loan lend_nothing() {
    clear();
    return Loan(*this);
  }
  /// A copy that somebody has made already.
  void keep(Csr<double> copy) {
    copy_ = std::move(copy);
    view_ = copy_.view();
  }
  /// As another matrix takes the place of this one.
  void clear() {
    view_.reset();
    copy_ = {};
  }

  bool there() const { return view_.has_value(); }
  /// `a` on the host: itself, where it lies there; what was lent or kept; or a copy, made now. The
  /// view is good until clear(). Throws DeviceError, MemoryError. Cost: of the copy, once.
  CsrView<double> of(Context& ctx, CsrView<double> const& a) {
    if (a.space == Space::host) return a;
    if (!view_) keep(to_host(ctx, a));
    return *view_;
  }

 private:
  std::optional<CsrView<double>> view_;
  Csr<double> copy_;
};

}  // namespace tcsolve
