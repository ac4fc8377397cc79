// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/kernels/batch.hpp>

#include <algorithm>
#include <exception>
#include <mutex>

#include <tcsolve/kernels/host/parallel.hpp>
#include <tcsolve/kernels/host/residual.hpp>

namespace tcsolve::host {

namespace {

/// The rows of one system.
struct Rows {
  std::int64_t begin, end;
};

template <class V>
void run(V const& verb, Frame f, bool stopped, Rows rows) {
  using Traits = VerbTraits<V>;
  typename CoefficientsOf<V>::type c{};
  bool go = !stopped || Traits::always;
  if constexpr (Traits::prepares) go = go && verb.prepare(f, c);
  if (go) {
    double sum[Traits::sums > 0 ? Traits::sums : 1] = {};
    if (verb.n > 0)
      for (std::int64_t i = rows.begin; i < rows.end; ++i) verb.element(i, c, sum);
    if constexpr (Traits::finishes) verb.finish(f, sum);
  }
  if constexpr (Traits::afters) verb.after(f);
}

template <class S, class T>
void run(CsrMultiply<S, T> const& verb, Frame, bool stopped, Rows rows) {
  if (stopped) return;
  double sigma = 0;
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    double sum = 0;
    for (Offset e = verb.a.offsets[i], end = verb.a.offsets[i + 1]; e < end; ++e)
      sum += double(verb.a.values[e]) * double(verb.x[verb.a.columns[e]]);
    verb.y[i] =
        T(verb.beta == T(0) ? double(verb.alpha) * sum
                            : double(verb.alpha) * sum + double(verb.beta) * double(verb.y[i]));
    if (verb.sigma != nullptr) sigma += double(verb.x[i]) * double(verb.y[i]);
  }
  if (verb.sigma != nullptr) *verb.sigma = sigma;
}

template <class View>
void run(ExactResidual<View> const& verb, Frame, bool stopped, Rows rows) {
  if (!stopped) walk(verb, {}, rows.begin, rows.end, nullptr);
}

template <class T>
void run(Gram<T> const& verb, Frame f, bool stopped, Rows rows) {
  if (stopped) return;
  Index j = f.step();
  double* sum = verb.H.sums;
  std::fill_n(sum, Gram<T>::sums(j), 0.0);
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    double ui = double(verb.u[i]), wi = double(verb.w[i]);
    for (Index k = 0; k <= j; ++k) {
      sum[2 * k] += double(verb.column(j, k)[i]) * ui;
      sum[2 * k + 1] += double(verb.column(j, k)[i]) * wi;
    }
    sum[2 * j + 2] += wi * wi;
  }
  for (Index k = 0; k <= j; ++k) verb.entry(j, k);
  verb.finish(f);
}

/// A team's own copy of the program and of the scalars that it points to.
class Team {
 public:
  Team(BatchProgram const& program, Rows rows)
      : program_(program),
        list_(program.list),
        scalars_(program.kept.scalars.size() / 8),
        rows_(rows) {
    system_.first = rows.begin;
    system_.rows = rows.end - rows.begin;
    auto redirect = [&](void const* from, std::size_t bytes, void* to) {
      auto low = reinterpret_cast<std::uintptr_t>(from);
      for (Instruction& in : list_)
        for (int k = 0; k < Instruction::max_operands / 8; ++k) {
          auto& word = reinterpret_cast<std::uintptr_t*>(in.operands)[k];
          if (in.points(k) && word >= low && word < low + bytes)
            word = reinterpret_cast<std::uintptr_t>(to) + (word - low);
        }
    };
    redirect(program.kept.scalars.data(), program.kept.scalars.size(), scalars_.data());
    redirect(program.system, sizeof(SystemState), &system_);
  }

  SystemState const& solve(std::function<std::int32_t()> const& asked) {
    walk(program_.first, false);
    while (system_.running()) {
      walk(program_.begin, false);
      while (loop_.stop == 0) {
        if (loop_.iteration % 16 == 0) loop_.cancel = asked();
        walk(program_.step, true);
      }
      walk(program_.end, false);
    }
    return system_;
  }

 private:
  void walk(BatchProgram::Part part, bool looping) {
    for (int k = part.begin; k < part.end; ++k) {
      bool stopped = looping && loop_.stop != 0;
      pick<BatchVerbs>(list_[k].verb, [&]<class V>() {
        run(*reinterpret_cast<V const*>(list_[k].operands), Frame{&loop_, true, false}, stopped,
            rows_);
      });
    }
  }

  BatchProgram const& program_;
  std::vector<Instruction> list_;
  std::vector<double> scalars_;
  SystemState system_;
  LoopState loop_;
  Rows rows_;
};

}  // namespace

void run_batch(Host&, BatchProgram const& program, BatchExtents const& extents,
               SystemState* results, std::function<std::int32_t()> const& asked) {
  // An exception must not leave a parallel region: the first one is thrown behind it.
  std::exception_ptr failure;
  std::mutex guard;
  parallel(extents.count(), 2, [&](std::int64_t k) {
    try {
      Team team(program, {extents.starts[k], extents.starts[k + 1]});
      results[k] = team.solve(asked);
    } catch (...) {
      std::lock_guard<std::mutex> const one(guard);
      if (!failure) failure = std::current_exception();
    }
  });
  if (failure) std::rethrow_exception(failure);
}

}  // namespace tcsolve::host
