// SPDX-License-Identifier: Apache-2.0
/// What the library calls back: the log, the look for Ctrl-C, products by Python functions.
#pragma once

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <tcsolve/core/context.hpp>
#include <tcsolve/operators/function_operator.hpp>

namespace nb = nanobind;

namespace tcsolve::python {

using Clock = std::chrono::steady_clock;

/// Looks for Ctrl-C while the library computes, and keeps what a signal's handler raises, or the
/// log. Most of where that is cannot be left by an exception, so the work is cancelled, and who has
/// called for it throws what is pending. Signals are the main thread's alone. Another thread must
/// not ask for the interpreter's lock without need: where the interpreter is ending, that ends the
/// thread, wherever it is.
class Signals final : public CheckListener, public Observer {
 public:
  /// ctx: what is at work; null: work that has no Context, or that makes one.
  explicit Signals(Context* ctx) : ctx_(ctx), before_(at_work_) {
    if (listens()) {
      ctx_->attach(this);
      ctx_->listen_to_checks(this);
    }
    at_work_ = this;
  }
  ~Signals() override {
    at_work_ = before_;
    if (listens()) {
      ctx_->listen_to_checks(nullptr);
      ctx_->detach(this);
    }
    if (ctx_ != nullptr && pending_) ctx_->clear_cancel();
  }
  Signals(Signals const&) = delete;
  Signals& operator=(Signals const&) = delete;

  /// Those of the call at work on this thread, the innermost; null where there is none.
  static Signals* at_work() { return at_work_; }
  /// For work without a Context.
  CancelFlag cancel_flag() { return CancelFlag(raised_, Deadline::max(), this); }
  std::exception_ptr const& pending() const { return pending_; }

  /// The first that is kept stands.
  void keep(std::exception_ptr const& raised) noexcept {
    if (pending_) return;
    pending_ = raised;
    raised_ = true;
    if (ctx_ != nullptr) ctx_->cancel();
  }

  /// Set-ups ask from any thread of theirs.
  void on_check() noexcept override {
    if (std::this_thread::get_id() == thread_) look_if_due();
  }
  using Observer::on;
  /// Of solves within solves, too.
  void on(IterationEvent const&) override { look_if_due(); }

 private:
  bool listens() const { return main_ && ctx_ != nullptr; }
  void look_if_due() noexcept {
    if (!main_ || pending_) return;
    auto const now = Clock::now();
    if (now < next_) return;
    next_ = now + std::chrono::milliseconds(50);
    nb::gil_scoped_acquire const gil;
    if (PyErr_CheckSignals() == 0) return;
    try {
      throw nb::python_error();  // takes the error that Python has set
    } catch (...) { keep(std::current_exception()); }
  }

  inline static thread_local Signals* at_work_ = nullptr;
  Context* ctx_;
  Signals* before_;
  bool const main_ = ::gettid() == ::getpid();
  std::thread::id const thread_ = std::this_thread::get_id();
  Clock::time_point next_ = Clock::now() + std::chrono::milliseconds(50);
  std::atomic<bool> raised_{false};
  std::exception_ptr pending_;
};

/// f(signals), with the interpreter's lock given back. Throws what Python has raised meanwhile,
/// whatever f did then.
template <class F>
void heeding_signals(Context* ctx, F const& f) {
  Signals signals(ctx);
  try {
    f(signals);
  } catch (...) {
    if (!signals.pending()) throw;
  }
  if (signals.pending()) std::rethrow_exception(signals.pending());
}

/// Lines of a Context's log, for logging.getLogger("tcsolve").
class Log final : public Observer {
 public:
  using Observer::on;
  void on(LogEvent const& event) override {
    nb::gil_scoped_acquire const gil;
    Signals* const call = Signals::at_work();
    try {
      static constexpr int levels[] = {10, 20, 30};  // DEBUG, INFO, WARNING
      int const level = levels[static_cast<int>(event.severity)];
      // For as long as the process: loggers are never removed.
      static PyObject* const logger =
          nb::module_::import_("logging").attr("getLogger")("tcsolve").release().ptr();
      nb::handle const log(logger);
      if (nb::cast<bool>(log.attr("isEnabledFor")(level))) log.attr("log")(level, "%s", event.text);
    } catch (nb::python_error& e) {
      // A handler of signals that was run in there, or one of the log that does not catch its own.
      if (call != nullptr)
        call->keep(std::current_exception());
      else
        e.discard_as_unraisable("tcsolve: the log");
    }
  }
};

/// What keeps Python's functions and arrays alive while the library calls or reads them.
struct Held {
  nb::object object;
  explicit Held(nb::object o) : object(std::move(o)) {}
  ~Held() {
    if (!nb::is_alive()) {
      object.release();
      return;
    }
    nb::gil_scoped_acquire const gil;
    object.reset();
  }
};

template <class T>
nb::object array_over(MultiView<T> v) {
  std::size_t const shape[1] = {static_cast<std::size_t>(v.rows)};
  using Made = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
  return nb::cast(Made(v.data, 1, shape, nb::handle()), nb::rv_policy::reference);
}

/// f(x, y), which writes y, as an operator's product. f sees vectors of the host alone.
inline FunctionOperator<double>::Function product_by(nb::object f) {
  auto const held = std::make_shared<Held>(std::move(f));
  return [held](Context& ctx, In<double> x, Out<double> y) {
    if (ctx.space() != Space::host)
      throw Unsupported("a Python function as an operator on a device; take device='cpu'");
    for (Index j = 0; j < x.cols; ++j) {
      std::vector<double> from, to;
      In<double> in = x;
      Out<double> out = y;
      if (!x.is_vector() || !y.is_vector()) {
        from.resize(static_cast<std::size_t>(x.rows));
        to.resize(static_cast<std::size_t>(y.rows));
        for (Index i = 0; i < x.rows; ++i)
          from[static_cast<std::size_t>(i)] = x.data[x.offset(i, j)];
        in = vector_view<double const>(from.data(), x.rows);
        out = vector_view(to.data(), y.rows);
      }
      {
        nb::gil_scoped_acquire const gil;
        held->object(array_over(in), array_over(out));
      }
      for (std::size_t i = 0; i < to.size(); ++i)
        y.data[y.offset(static_cast<Index>(i), j)] = to[i];
    }
  };
}

inline OperatorPtr<double> operator_by(Index rows, Index cols, nb::object f,
                                       nb::object transposed) {
  FunctionOperator<double>::Options options{.name = "python"};
  if (!transposed.is_none()) options.transposed = product_by(std::move(transposed));
  return std::make_shared<FunctionOperator<double>>(rows, cols, product_by(std::move(f)), options);
}

}  // namespace tcsolve::python
