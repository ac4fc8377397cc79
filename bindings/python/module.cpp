// SPDX-License-Identifier: Apache-2.0
/// The compiled part of the Python package: LinearSolver on arrays that lie where Python has them.
/// What a user sees of it stands in src/tcsolve/; here are no defaults and no conversions.
///
/// Every call gives the interpreter's lock back while it computes, and takes it for callbacks, for
/// lines of the log, and 20 times a second to look for Ctrl-C.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <tcsolve/api/linear_solver.hpp>
#include <tcsolve/api/ranking.hpp>
#include <tcsolve/api/report_json.hpp>
#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/io/files/matrix_file.hpp>
#include <tcsolve/operators/function_operator.hpp>
#include <tcsolve/precond/preconditioner.hpp>
#include <tcsolve/version.hpp>

namespace nb = nanobind;
using namespace nb::literals;

namespace tcsolve::python {
namespace {

using InVector = nb::ndarray<double const, nb::ndim<1>, nb::c_contig>;
using OutVector = nb::ndarray<double, nb::ndim<1>, nb::c_contig>;
using Block2 = nb::ndarray<double const, nb::ndim<2>>;
using OutBlock2 = nb::ndarray<double, nb::ndim<2>>;
using Numbers = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig>;
using Clock = std::chrono::steady_clock;

template <class Array>
Space space_of(Array const& a) {
  if (a.device_type() == nb::device::cpu::value) return Space::host;
  if (a.device_type() == nb::device::cuda::value ||
      a.device_type() == nb::device::cuda_managed::value)
    return device_space(a.device_id(), 0);
  throw Unsupported("an array that lies neither on the host nor on a CUDA device");
}

Index length(InVector const& a) { return narrow(static_cast<std::int64_t>(a.size()), "length"); }

/// A block with the columns or the rows adjacent, where it lies.
template <class T, class Array>
MultiView<T> block_view(Array const& a) {
  Index const rows = narrow(static_cast<std::int64_t>(a.shape(0)), "rows");
  Index const cols = narrow(static_cast<std::int64_t>(a.shape(1)), "columns");
  std::int64_t const down = a.stride(0), across = a.stride(1);
  if (down == 1 || rows <= 1)
    return {a.data(),          rows,       cols, std::max<std::int64_t>(across, rows),
            Layout::col_major, space_of(a)};
  if (across != 1 && cols > 1) throw ShapeError("a block whose rows and columns both have gaps");
  return {a.data(), rows, cols, down, Layout::row_major, space_of(a)};
}

/// Python's arrays as a CSR matrix; nothing is copied.
CsrView<double> csr_view(std::int64_t rows, std::int64_t cols, Numbers const& indptr,
                         Numbers const& indices, InVector const& data) {
  CsrView<double> a;
  a.rows = narrow(rows, "rows");
  a.cols = narrow(cols, "columns");
  a.entries = static_cast<Offset>(data.size());
  a.space = space_of(data);
  if (indptr.dtype() == nb::dtype<std::int32_t>())
    a.offsets = OffsetsView(static_cast<std::int32_t const*>(indptr.data()));
  else if (indptr.dtype() == nb::dtype<std::int64_t>())
    a.offsets = OffsetsView(static_cast<std::int64_t const*>(indptr.data()));
  else
    throw ShapeError("indptr: int32 or int64");
  if (indices.dtype() != nb::dtype<std::int32_t>()) throw ShapeError("indices: int32");
  if (indptr.size() != static_cast<std::size_t>(a.rows) + 1 || indices.size() != data.size())
    throw ShapeError(cat("CSR of ", rows, " rows: indptr has ", indptr.size(), " numbers, indices ",
                         indices.size(), ", data ", data.size()));
  a.columns = static_cast<std::int32_t const*>(indices.data());
  a.values = data.data();
  return a;
}

/// Lines of a Context's log, for logging.getLogger("tcsolve").
class Log final : public Observer {
 public:
  using Observer::on;
  void on(LogEvent const& event) override {
    nb::gil_scoped_acquire const gil;
    try {
      static constexpr int levels[] = {10, 20, 30};  // DEBUG, INFO, WARNING
      int const level = levels[static_cast<int>(event.severity)];
      // For as long as the process: loggers are never removed.
      static PyObject* const logger =
          nb::module_::import_("logging").attr("getLogger")("tcsolve").release().ptr();
      nb::handle const log(logger);
      if (nb::cast<bool>(log.attr("isEnabledFor")(level))) log.attr("log")(level, "%s", event.text);
    } catch (nb::python_error& e) { e.discard_as_unraisable("tcsolve: the log"); }
  }
};

/// A Context and who hears of it. One-shot solves of the same options share it.
struct Place {
  SolverOptions options;
  Log log;
  std::optional<Context> ctx;

  Place(std::string const& yaml, int device, std::uintptr_t stream,
        std::vector<std::vector<double>> nullspace)
      : options(SolverOptions::from_yaml(yaml)) {
    options.device = device;
    options.stream = reinterpret_cast<void*>(stream);
    for (auto& z : nullspace) options.nullspace.vectors.push_back(std::move(z));
    nb::gil_scoped_release const released;
    ctx.emplace(options.backend,
                ContextOptions{.seed = options.seed,
                               .deterministic = options.deterministic,
                               .device = options.device,
                               .threads = options.threads,
                               .stream = options.stream},
                &log);
  }
};

/// Looks for Ctrl-C: in a set-up, which cannot be left by an exception where it asks, by cancelling
/// it. Signals are the main thread's alone. Another thread must not ask for the interpreter's lock
/// without need: where the interpreter is ending, that ends the thread, wherever it is.
class Signals final : public CheckListener {
 public:
  explicit Signals(Context& ctx) : ctx_(ctx) {
    if (main_) ctx_.listen_to_checks(this);
  }
  ~Signals() {
    if (main_) ctx_.listen_to_checks(nullptr);
    if (pending_) ctx_.clear_cancel();
  }
  bool due() {
    auto const now = Clock::now();
    if (now < next_) return false;
    next_ = now + std::chrono::milliseconds(50);
    return true;
  }
  /// From a loop: throws.
  void look() {
    if (!main_ || !due()) return;
    nb::gil_scoped_acquire const gil;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }
  /// Set-ups ask from any thread of theirs.
  void on_check() noexcept override {
    if (std::this_thread::get_id() != thread_ || pending_ || !due()) return;
    nb::gil_scoped_acquire const gil;
    if (PyErr_CheckSignals() == 0) return;
    try {
      throw nb::python_error();  // takes the error that Python has set
    } catch (...) { pending_ = std::current_exception(); }
    ctx_.cancel();
  }
  std::exception_ptr const& pending() const { return pending_; }

 private:
  Context& ctx_;
  bool const main_ = ::gettid() == ::getpid();
  std::thread::id const thread_ = std::this_thread::get_id();
  Clock::time_point next_ = Clock::now() + std::chrono::milliseconds(50);
  std::exception_ptr pending_;
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
FunctionOperator<double>::Function product_by(nb::object f) {
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

OperatorPtr<double> operator_by(Index rows, Index cols, nb::object f, nb::object transposed) {
  FunctionOperator<double>::Options options{.name = "python"};
  if (!transposed.is_none()) options.transposed = product_by(std::move(transposed));
  return std::make_shared<FunctionOperator<double>>(rows, cols, product_by(std::move(f)), options);
}

/// What is asked of a solve, as keywords give it.
struct Asked {
  std::optional<double> rtol, atol, time_limit;
  std::optional<std::int64_t> max_iters;
  bool transpose = false, zero_guess = false;
  std::uintptr_t stream = 0;
  nb::object progress;
  int every = 1;
};

class Core {
 public:
  explicit Core(std::shared_ptr<Place> place)
      : place_(std::move(place)), solver_(*place_->ctx, place_->options) {}

  void set_csr(std::int64_t rows, std::int64_t cols, Numbers const& indptr, Numbers const& indices,
               InVector const& data, bool borrow) {
    CsrView<double> const a = csr_view(rows, cols, indptr, indices, data);
    guarded([&] { solver_.set_matrix(a, borrow ? Arrays::borrowed : Arrays::copied); });
  }
  /// A matrix with a preconditioner of the caller's. The arrays are borrowed.
  void set_csr_and_M(std::int64_t rows, std::int64_t cols, Numbers const& indptr,
                     Numbers const& indices, InVector const& data, nb::object M, nb::object Mt) {
    CsrView<double> const a = csr_view(rows, cols, indptr, indices, data);
    validate_on_host(a);
    auto const preconditioner = operator_by(a.cols, a.rows, std::move(M), std::move(Mt));
    guarded([&] {
      solver_.set_operator(
          std::make_shared<CsrOperator<double>>(solver_.context(), a, Arrays::borrowed),
          preconditioner);
    });
  }
  void set_functions(std::int64_t rows, std::int64_t cols, nb::object A, nb::object At,
                     nb::object M, nb::object Mt) {
    Index const n = narrow(rows, "rows"), m = narrow(cols, "columns");
    auto const matrix = operator_by(n, m, std::move(A), std::move(At));
    OperatorPtr<double> preconditioner;
    if (!M.is_none()) preconditioner = operator_by(m, n, std::move(M), std::move(Mt));
    guarded([&] { solver_.set_operator(matrix, preconditioner); });
  }
  void update(std::int64_t rows, std::int64_t cols, Numbers const& indptr, Numbers const& indices,
              InVector const& data) {
    CsrView<double> const a = csr_view(rows, cols, indptr, indices, data);
    guarded([&] { solver_.update_values(a); });
  }
  void refresh() {
    guarded([&] { solver_.refresh(); });
  }

  SolveReport solve(InVector const& b, OutVector const& x, Asked const& asked) {
    auto const vb = vector_view<double const>(b.data(), length(b), space_of(b));
    auto const vx =
        vector_view(x.data(), narrow(static_cast<std::int64_t>(x.size()), "length"), space_of(x));
    SolveReport report;
    with_call(asked, [&](SolveCall const& call) { report = solver_.solve(vb, vx, call); });
    return report;
  }
  std::vector<SolveReport> solve_columns(Block2 const& b, OutBlock2 const& x, Asked const& asked) {
    auto const vb = block_view<double const>(b);
    auto const vx = block_view<double>(x);
    std::vector<SolveReport> reports;
    with_call(asked, [&](SolveCall const& call) { reports = solver_.solve_columns(vb, vx, call); });
    return reports;
  }
  /// y = M x or M^T x.
  void apply_M(InVector const& x, OutVector const& y, bool transpose) {
    OperatorPtr<double> const M = solver_.M();
    auto const& order = solver_.setup_report().reordering;
    if (order && order->taken != Reorder::none)
      throw Unsupported("the preconditioner of a reordered matrix is in other numbers");
    if (transpose && M && !M->traits().transpose) throw Unsupported(cat(M->name(), ": transpose"));
    auto const in = vector_view<double const>(x.data(), length(x), space_of(x));
    auto const out =
        vector_view(y.data(), narrow(static_cast<std::int64_t>(y.size()), "length"), space_of(y));
    guarded([&] {
      Context& ctx = solver_.context();
      if (in.space != ctx.space() || out.space != ctx.space())
        throw Unsupported("M of a device on host vectors");
      if (!M) return copy_bytes(ctx, out.data, out.space, in.data, in.space, x.nbytes());
      M->apply(ctx, 1.0, in, 0.0, out, transpose ? Op::transpose : Op::none);
      ctx.synchronize();
    });
  }

  bool ready() const { return solver_.ready(); }
  bool preconditioned() const { return solver_.M() != nullptr; }
  std::pair<std::int64_t, std::int64_t> shape() const {
    if (!solver_.ready()) return {0, 0};
    return {solver_.A()->rows(), solver_.A()->cols()};
  }
  std::string format() const { return solver_.ready() ? solver_.format() : ""; }
  std::string setup_json() const { return to_json(solver_.setup_report()); }
  std::string options_json() const { return dump_json(solver_.options()); }
  std::string device_name() { return solver_.context().device_name(); }
  double memory() const {
    double bytes = 0;
    for (auto const& op : {solver_.A(), solver_.M()})
      if (op) bytes += op->cost(0).bytes;
    return bytes;
  }
  void cancel() { solver_.context().cancel(); }
  /// Where A's column numbers lie, of a matrix in csr; else 0.
  std::uintptr_t columns_pointer() const {
    auto const csr = std::dynamic_pointer_cast<CsrOperator<double> const>(solver_.A());
    return csr ? reinterpret_cast<std::uintptr_t>(csr->view().columns) : 0;
  }

 private:
  void validate_on_host(CsrView<double> const& a) const {
    if (a.space == Space::host) validate(a, NonFinite::keep);
  }
  /// f() without the interpreter's lock, one thread at a time: another one waits. A callback that
  /// asks for more gets the Context's BusyError.
  template <class F>
  void guarded(F const& f) {
    bool const inside = inside_.load() == std::this_thread::get_id();
    std::exception_ptr interrupt;
    {
      nb::gil_scoped_release const released;
      std::unique_lock<std::mutex> lock(mutex_, std::defer_lock);
      if (!inside) {
        lock.lock();
        inside_ = std::this_thread::get_id();
      }
      struct Leave {
        std::atomic<std::thread::id>* inside;
        ~Leave() {
          if (inside != nullptr) *inside = std::thread::id();
        }
      } const leave{inside ? nullptr : &inside_};
      if (inside) {
        f();
        return;
      }
      Signals signals(solver_.context());
      signals_ = &signals;
      try {
        f();
      } catch (Cancelled const&) {
        if (!signals.pending()) {
          solver_.context().clear_cancel();
          throw;
        }
      }
      interrupt = signals.pending();
    }
    if (interrupt) std::rethrow_exception(interrupt);
  }

  template <class F>
  void with_call(Asked const& asked, F const& f) {
    SolveCall call;
    call.rtol = asked.rtol;
    call.atol = asked.atol;
    call.time_limit = asked.time_limit;
    if (asked.max_iters)
      call.max_iters = static_cast<Index>(
          std::min<std::int64_t>(*asked.max_iters, std::numeric_limits<Index>::max()));
    call.transpose = asked.transpose;
    call.zero_guess = asked.zero_guess;
    call.stream = reinterpret_cast<void*>(asked.stream);
    nb::object const& progress = asked.progress;
    Index const every = std::max(1, asked.every);
    call.progress = [&, this](IterationEvent const& e) {
      signals_->look();
      if (!progress || progress.is_none() || e.iteration % every != 0) return true;
      nb::gil_scoped_acquire const gil;
      return !progress(e.iteration, e.norm).is(nb::bool_(false));
    };
    guarded([&] { f(call); });
    if (solver_.context().cancelled()) solver_.context().clear_cancel();
  }

  std::shared_ptr<Place> place_;
  LinearSolver solver_;
  std::mutex mutex_;
  std::atomic<std::thread::id> inside_{};
  Signals* signals_ = nullptr;  // of the call at work
};

nb::object history(SolveReport const& r) {
  auto* const norms = new std::vector<double>;
  norms->reserve(r.history.size());
  for (Record const& h : r.history) norms->push_back(h.norm);
  nb::capsule const owner(norms,
                          [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
  return nb::cast(
      nb::ndarray<nb::numpy, double, nb::ndim<1>>(norms->data(), {norms->size()}, owner));
}

template <class T>
nb::object taken_over(std::vector<T> values) {
  auto* const kept = new std::vector<T>(std::move(values));
  nb::capsule const owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner));
}

nb::tuple read_file(std::string const& path) {
  Csr<double> a;
  {
    nb::gil_scoped_release const released;
    a = read_matrix(path);
  }
  Index const rows = a.rows, cols = a.cols;
  return nb::make_tuple(rows, cols, taken_over(std::move(a.offsets)),
                        taken_over(std::move(a.columns)), taken_over(std::move(a.values)));
}

nb::list race(std::shared_ptr<Place> const& place, std::int64_t rows, std::int64_t cols,
              Numbers const& indptr, Numbers const& indices, InVector const& data,
              InVector const& b, double seconds, double rtol) {
  CsrView<double> const a = csr_view(rows, cols, indptr, indices, data);
  std::vector<RankedChoice> found;
  {
    nb::gil_scoped_release const released;
    validate(a, NonFinite::keep);
    found = ranking(*place->ctx, a, {b.data(), b.size()}, {.rtol = rtol, .seconds = seconds});
  }
  nb::list told;
  for (RankedChoice const& c : found) {
    nb::dict d;
    d["solver"] = c.solver;
    d["preconditioner"] = c.preconditioner;
    d["standing"] = name(c.standing);
    d["outcome"] = c.outcome;
    d["iterations"] = c.iterations;
    d["setup"] = c.setup;
    d["solve"] = c.solve;
    d["predicted"] = c.predicted;
    d["bytes"] = c.bytes;
    told.append(d);
  }
  return told;
}

nb::list devices() {
  nb::list found;
  std::string why;
  for (int ordinal = 0; has_cuda && cuda::available(why, ordinal); ++ordinal)
    found.append(cat("cuda:", ordinal));
  return found;
}

/// core.name(b, x, ...), whose keywords are the fields of Asked.
template <class Result, class B, class X>
void define_call(nb::class_<Core>& core, char const* name,
                 Result (Core::*method)(B const&, X const&, Asked const&)) {
  core.def(
      name,
      [method](Core& c, B const& b, X const& x, std::optional<double> rtol,
               std::optional<double> atol, std::optional<std::int64_t> max_iters,
               std::optional<double> time_limit, bool transpose, bool zero_guess,
               nb::object progress, int every, std::uintptr_t stream) {
        return (c.*method)(b, x,
                           Asked{rtol, atol, time_limit, max_iters, transpose, zero_guess, stream,
                                 std::move(progress), every});
      },
      "b"_a.noconvert(), "x"_a.noconvert(), "rtol"_a.none(), "atol"_a.none(), "max_iters"_a.none(),
      "time_limit"_a.none(), "transpose"_a, "zero_guess"_a, "progress"_a.none(), "every"_a,
      "stream"_a);
}

}  // namespace
}  // namespace tcsolve::python

NB_MODULE(_core, m) {
  using namespace tcsolve;
  using namespace tcsolve::python;
  m.attr("__version__") = version::release;
  m.attr("revision") = version::revision;
  m.attr("has_cuda") = has_cuda;
  m.attr("cuda_version") = version::cuda;
  m.attr("compiler") = version::compiler;

  // Errors are the package's classes, which have Python's own among their bases.
  nb::set_leak_warnings(false);
  nb::register_exception_translator([](std::exception_ptr const& thrown, void*) {
    auto const raise = [](char const* name, std::exception const& e) {
      nb::object const type = nb::module_::import_("tcsolve._errors").attr(name);
      PyErr_SetString(type.ptr(), e.what());
    };
    try {
      std::rethrow_exception(thrown);
    } catch (ConfigError const& e) { raise("ConfigError", e); } catch (MatrixError const& e) {
      raise("MatrixError", e);
    } catch (SetupError const& e) { raise("SetupError", e); } catch (ShapeError const& e) {
      raise("ShapeError", e);
    } catch (Unsupported const& e) { raise("Unsupported", e); } catch (NotBuilt const& e) {
      raise("Unsupported", e);
    } catch (DeviceError const& e) { raise("DeviceError", e); } catch (MemoryError const& e) {
      raise("OutOfMemory", e);
    } catch (BusyError const& e) { raise("BusyError", e); } catch (Cancelled const& e) {
      raise("Cancelled", e);
    } catch (Error const& e) { raise("Error", e); }
  });

  nb::class_<SolveReport>(m, "Report")
      .def_prop_ro("converged", &SolveReport::converged)
      .def_prop_ro("solved", &SolveReport::solved)
      .def_prop_ro("outcome", &SolveReport::outcome)
      .def_prop_ro("exit_code", &SolveReport::exit_code)
      .def_ro("message", &SolveReport::message)
      .def_ro("iterations", &SolveReport::iterations)
      .def_ro("true_residual", &SolveReport::true_residual)
      .def_ro("tolerance", &SolveReport::tolerance)
      .def_ro("rhs_norm", &SolveReport::rhs_norm)
      .def_ro("seconds", &SolveReport::seconds)
      .def_ro("setup_seconds", &SolveReport::setup_seconds)
      .def_prop_ro("residuals", &history)
      .def_prop_ro("json", [](SolveReport const& r) { return to_json(r); });

  nb::class_<Place>(m, "Place")
      .def(
          "__init__",
          [](Place* self, std::string const& yaml, int device, std::uintptr_t stream,
             std::vector<std::vector<double>> nullspace) {
            new (self) Place(yaml, device, stream, std::move(nullspace));
          },
          "yaml"_a, "device"_a, "stream"_a, "nullspace"_a);

  nb::class_<Core> core(m, "Core");
  core.def(nb::init<std::shared_ptr<Place>>())
      .def("set_csr", &Core::set_csr, "rows"_a, "cols"_a, "indptr"_a.noconvert(),
           "indices"_a.noconvert(), "data"_a.noconvert(), "borrow"_a)
      .def("set_csr_and_M", &Core::set_csr_and_M, "rows"_a, "cols"_a, "indptr"_a.noconvert(),
           "indices"_a.noconvert(), "data"_a.noconvert(), "M"_a.none(), "Mt"_a.none())
      .def("set_functions", &Core::set_functions, "rows"_a, "cols"_a, "A"_a, "At"_a.none(),
           "M"_a.none(), "Mt"_a.none())
      .def("update", &Core::update, "rows"_a, "cols"_a, "indptr"_a.noconvert(),
           "indices"_a.noconvert(), "data"_a.noconvert())
      .def("refresh", &Core::refresh)
      .def("apply_M", &Core::apply_M, "x"_a.noconvert(), "y"_a.noconvert(), "transpose"_a)
      .def("cancel", &Core::cancel)
      .def_prop_ro("ready", &Core::ready)
      .def_prop_ro("preconditioned", &Core::preconditioned)
      .def_prop_ro("shape", &Core::shape)
      .def_prop_ro("format", &Core::format)
      .def_prop_ro("setup_json", &Core::setup_json)
      .def_prop_ro("options_json", &Core::options_json)
      .def_prop_ro("device_name", &Core::device_name)
      .def_prop_ro("memory", &Core::memory)
      .def_prop_ro("columns_pointer", &Core::columns_pointer);

  define_call(core, "solve", &Core::solve);
  define_call(core, "solve_columns", &Core::solve_columns);

  m.def("read", &read_file, "path"_a);
  m.def("race", &race, "place"_a, "rows"_a, "cols"_a, "indptr"_a.noconvert(),
        "indices"_a.noconvert(), "data"_a.noconvert(), "b"_a.noconvert(), "seconds"_a, "rtol"_a);
  m.def("devices", &devices);
}
