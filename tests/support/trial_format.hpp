// SPDX-License-Identifier: Apache-2.0
/// A format as somebody adds it to a list: an operator, a fact of its own and a descriptor. Its
/// products are those of csr.
#pragma once

#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/formats/format_factory.hpp>
#include <tcsolve/matrix/transfer.hpp>

#include <algorithm>
#include <string>

namespace tcsolve::test {

template <class T, class S = T>
class TrialOperator final : public LinearOperator<T> {
 public:
  TrialOperator(Context& ctx, CsrView<S> const& a)
      : LinearOperator<T>(a.rows, a.cols), csr_(ctx, to_host(ctx, a)) {}
  void update_values(Context& ctx, CsrView<S> const& a) {
    csr_.update_values(ctx, to_host(ctx, a));
  }
  using LinearOperator<T>::update_values;
  Traits traits() const override {
    Traits traits = csr_.traits();
    traits.transpose = false;
    return traits;
  }
  Cost cost(Index k) const override { return csr_.cost(k); }
  std::string name() const override { return "trial"; }
  double norm_estimate() const override { return csr_.norm_estimate(); }

 private:
  void do_apply(Context& ctx, T alpha, In<T> x, T beta, Out<T> y, Op op) const override {
    csr_.apply(ctx, alpha, x, beta, y, op);
  }
  CsrOperator<T, S> csr_;
};

struct TrialCounts {
  Offset diagonal = 0;  ///< entries on the main diagonal
  bool operator==(TrialCounts const&) const = default;
};

inline void set_diagonal(Features& f, Offset diagonal) { f.own.set(TrialCounts{diagonal}); }

inline constinit Fact const trial_fact{.name = "main diagonal",
                                       .expect =
                                           [](Features& f) {
                                             set_diagonal(f, std::min<Offset>(f.rows, f.entries));
                                             return f.entries > 0;
                                           },
                                       .look =
                                           [](Context& ctx, AnyCsr const& any, Features& f) {
                                             Offset found = 0;
                                             std::visit(
                                                 [&](auto const& there) {
                                                   auto const a = to_host(ctx, there);
                                                   for (Index i = 0; i < a.rows; ++i)
                                                     for (Index const j : a.row_columns(i))
                                                       found += i == j;
                                                 },
                                                 any);
                                             set_diagonal(f, found);
                                           },
                                       .doubt = [](Features& f) { set_diagonal(f, 0); }};

inline Format trial_format() {
  return {.name = "trial",
          .doc = "a format for tests",
          .refuses = [](Features const& f, PlanRequest const&) -> std::string {
            return f.own.get<TrialCounts>().diagonal > 0 ? "" : "no entry on the diagonal";
          },
          .layout = [](Features const& f, Real values) -> FormatLayout {
            auto const entries = double(f.entries);
            return {.stored = entries * (size_of(values) + 12), .slots = entries};
          },
          .estimate = [](Real values, double,
                         double entries) { return entries * (size_of(values) + 12); },
          .facts = {&trial_fact},
          .factory = factory_of<RoundingFactory<TrialOperator>>(),
          .makers = makers_of<TrialOperator>()};
}

}  // namespace tcsolve::test
