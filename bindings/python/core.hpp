// SPDX-License-Identifier: Apache-2.0
/// A LinearSolver on Python's arrays: a call gives the interpreter's lock back while it computes.
#pragma once

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <tcsolve/api/linear_solver.hpp>
#include <tcsolve/api/report_json.hpp>
#include <tcsolve/formats/csr/operator.hpp>

#include "arrays.hpp"
#include "callbacks.hpp"

namespace tcsolve::python {

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
    heeding_signals(nullptr, [&](Signals&) {
      ctx.emplace(options.backend,
                  ContextOptions{.seed = options.seed,
                                 .deterministic = options.deterministic,
                                 .device = options.device,
                                 .threads = options.threads,
                                 .stream = options.stream},
                  &log);
    });
  }
};

/// What a solve says, and of which set-up it said so.
struct Told {
  SolveReport report;
  std::shared_ptr<SetupReport const> setup;
  double memory;
};

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

  /// coordinates (nodes, 2 or 3), near_nullspace (vectors, rows), on the host; either may be empty.
  void set_nodes(int block, HostRows const& coordinates, HostRows const& near_nullspace) {
    NodeFacts nodes{.block = block};
    nodes.coordinates.assign(coordinates.data(), coordinates.data() + coordinates.size());
    std::size_t const n = near_nullspace.shape(1);
    for (std::size_t k = 0; k < near_nullspace.shape(0); ++k)
      nodes.near_nullspace.emplace_back(near_nullspace.data() + k * n,
                                        near_nullspace.data() + (k + 1) * n);
    guarded([&] { solver_.set_nodes(std::move(nodes)); });
  }
  /// `stream`: what the arrays are ready after, a cudaStream_t; 0: they are ready.
  void set_csr(std::int64_t rows, std::int64_t cols, Numbers const& indptr, Numbers const& indices,
               InVector const& data, bool borrow, std::uintptr_t stream) {
    CsrView<double> const a = csr_view(rows, cols, indptr, indices, data);
    after(stream, [&] { solver_.set_matrix(a, borrow ? Arrays::borrowed : Arrays::copied); });
  }
  /// A matrix with a preconditioner of the caller's. The arrays are borrowed.
  void set_csr_and_M(std::int64_t rows, std::int64_t cols, Numbers const& indptr,
                     Numbers const& indices, InVector const& data, nb::object M, nb::object Mt) {
    CsrView<double> const a = csr_view(rows, cols, indptr, indices, data);
    validate_on_host(a);
    auto const preconditioner = operator_by(a.cols, a.cols, std::move(M), std::move(Mt));
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
    if (!M.is_none()) preconditioner = operator_by(m, m, std::move(M), std::move(Mt));
    guarded([&] { solver_.set_operator(matrix, preconditioner); });
  }
  void update(std::int64_t rows, std::int64_t cols, Numbers const& indptr, Numbers const& indices,
              InVector const& data, std::uintptr_t stream) {
    CsrView<double> const a = csr_view(rows, cols, indptr, indices, data);
    after(stream, [&] { solver_.update_values(a); });
  }
  /// Entries (i, j, value): their places, and values summed into them.
  void set_coo(std::int64_t rows, std::int64_t cols, Numbers const& i, Numbers const& j,
               InVector const& values, std::uintptr_t stream) {
    CooView const entries = coo_view(rows, cols, i, j, values);
    after(stream, [&] { solver_.set_coo(entries); });
  }
  void update_coo(InVector const& values, std::uintptr_t stream) {
    after(stream, [&] { solver_.update_coo({values.data(), values.size()}, space_of(values)); });
  }
  void refresh() {
    guarded([&] { solver_.refresh(); });
  }

  Told solve(InVector const& b, OutVector const& x, Asked const& asked) {
    auto const vb = vector_view<double const>(b.data(), length(b), space_of(b));
    auto const vx =
        vector_view(x.data(), narrow(static_cast<std::int64_t>(x.size()), "length"), space_of(x));
    SolveReport report;
    with_call(asked, [&](SolveCall const& call) { report = solver_.solve(vb, vx, call); });
    return {std::move(report), setup_now(), memory()};
  }
  /// The same of vectors on the device `ordinal` that their package names by address, as most of a
  /// small solve would go into DLPack otherwise: once for b and once for x. guess: x begins with
  /// it; 0: with 0.
  Told solve_at(std::uintptr_t b, std::int64_t rows, std::uintptr_t x, std::int64_t cols,
                std::uintptr_t guess, int ordinal, Asked const& asked) {
    Space const there = device_space(ordinal, 0);
    Index const n = narrow(rows, "length"), m = narrow(cols, "length");
    auto const vb = vector_view(reinterpret_cast<double const*>(b), n, there);
    auto const vx = vector_view(reinterpret_cast<double*>(x), m, there);
    SolveReport report;
    with_call(asked, [&](SolveCall& call) {
      if (guess != 0) call.guess = vector_view(reinterpret_cast<double const*>(guess), m, there);
      report = solver_.solve(vb, vx, call);
    });
    return {std::move(report), setup_now(), memory()};
  }
  std::vector<Told> solve_columns(Block2 const& b, OutBlock2 const& x, Asked const& asked) {
    auto const vb = block_view<double const>(b);
    auto const vx = block_view<double>(x);
    std::vector<SolveReport> reports;
    with_call(asked, [&](SolveCall const& call) { reports = solver_.solve_columns(vb, vx, call); });
    auto const setup = setup_now();
    std::vector<Told> told;
    for (SolveReport& report : reports) told.push_back({std::move(report), setup, memory()});
    return told;
  }
  /// y = M x or M^T x, on vectors of any space.
  void apply_M(InVector const& x, OutVector const& y, bool transpose, std::uintptr_t stream) {
    OperatorPtr<double> const M = solver_.M();
    auto const& order = solver_.setup_report().reordering;
    if (order && order->taken != Reorder::none)
      throw Unsupported("the preconditioner of a reordered matrix is in other numbers");
    if (transpose && M && !M->traits().transpose) throw Unsupported(cat(M->name(), ": transpose"));
    auto const in = vector_view<double const>(x.data(), length(x), space_of(x));
    auto const out =
        vector_view(y.data(), narrow(static_cast<std::int64_t>(y.size()), "length"), space_of(y));
    after(stream, [&] {
      Context& ctx = solver_.context();
      if (!M) return copy_bytes(ctx, out.data, out.space, in.data, in.space, x.nbytes());
      Array<double> from, to;
      In<double> here = in;
      Out<double> there = out;
      if (in.space != ctx.space()) {
        from.resize(ctx.space(), x.size());
        copy_bytes(ctx, from.data(), from.space(), in.data, in.space, from.bytes());
        here = std::as_const(from).view();
      }
      if (out.space != ctx.space()) {
        to.resize(ctx.space(), y.size());
        there = to.view();
      }
      M->apply(ctx, 1.0, here, 0.0, there, transpose ? Op::transpose : Op::none);
      ctx.synchronize();
      if (to.size() > 0) copy_bytes(ctx, out.data, out.space, to.data(), to.space(), to.bytes());
    });
  }
  /// An array of the Context's memory for whoever takes DLPack: (rows,), or (rows, cols) by rows
  /// where cols >= 0. It may outlive this solver.
  nb::object empty(std::int64_t rows, std::int64_t cols) {
    std::size_t const shape[2] = {static_cast<std::size_t>(rows), static_cast<std::size_t>(cols)};
    Space const space = solver_.context().space();
    auto* const kept = new Array<double>(space, shape[0] * (cols < 0 ? 1 : shape[1]));
    nb::capsule const owner(kept, [](void* p) noexcept { delete static_cast<Array<double>*>(p); });
    bool const host = space == Space::host;
    return nb::cast(nb::ndarray<nb::array_api, double>(
        kept->data(), cols < 0 ? 1 : 2, shape, owner, nullptr, nb::dtype<double>(),
        host ? nb::device::cpu::value : nb::device::cuda::value, host ? 0 : ordinal_of(space)));
  }
  /// to <- from, dense arrays of one shape, of any space.
  void copy(nb::ndarray<double const, nb::c_contig> const& from,
            nb::ndarray<double, nb::c_contig> const& to, std::uintptr_t stream) {
    if (from.size() != to.size())
      throw ShapeError(cat("copy of ", from.size(), " numbers into ", to.size()));
    after(stream, [&] {
      copy_bytes(solver_.context(), to.data(), space_of(to), from.data(), space_of(from),
                 from.nbytes());
    });
  }

  /// to <- from, arrays of one length: numbers of one type as those of another where the Context
  /// computes, or of the same type from any space to any.
  void convert(Numbers const& from, OutNumbers const& to, std::uintptr_t stream) {
    if (from.size() != to.size())
      throw ShapeError(cat("convert: ", from.size(), " numbers into ", to.size()));
    after(stream, [&] {
      Context& ctx = solver_.context();
      if (from.dtype() == to.dtype())
        return copy_bytes(ctx, to.data(), space_of(to), from.data(), space_of(from), from.nbytes());
      require_here(from, "convert"), require_here(to, "convert");
      convert_numbers(ctx, numbers_view(from), to.data(), number_type(to.dtype()),
                      static_cast<std::int64_t>(from.size()));
      ctx.synchronize();
    });
  }
  /// A copy of `from`, which lies where the Context computes, as numbers of a type: "int32",
  /// "int64", "float64".
  nb::object owned(Numbers const& from, std::string const& type, std::uintptr_t stream) {
    if (type == "int32") return owned_as<std::int32_t>(from, NumberKind::i32, stream);
    if (type == "int64") return owned_as<std::int64_t>(from, NumberKind::i64, stream);
    if (type == "float64") return owned_as<double>(from, NumberKind::f64, stream);
    throw ShapeError(cat("owned: ", type));
  }
  /// Whether two arrays, where the Context computes, hold the same numbers of one type.
  bool same(Numbers const& a, Numbers const& b, std::uintptr_t stream) {
    if (a.size() != b.size() || a.dtype() != b.dtype()) return false;
    require_here(a, "same"), require_here(b, "same");
    bool equal = false;
    after(stream, [&] { equal = same_bytes(solver_.context(), a.data(), b.data(), a.nbytes()); });
    return equal;
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
  bool on_host() { return solver_.context().space() == Space::host; }
  /// What a product with A and one with M reads, without the vectors. Factors, which take a column
  /// at a time, cost nothing for no column.
  double memory() const {
    double bytes = 0;
    for (auto const& op : {solver_.A(), solver_.M()}) {
      if (!op) continue;
      double const stored = op->cost(0).bytes, vectors = 8.0 * op->rows() + 8.0 * op->cols();
      bytes += stored > 0 ? stored : std::max(0.0, op->cost(1).bytes - vectors);
    }
    return bytes;
  }
  void cancel() { solver_.context().cancel(); }
  /// Where A's column numbers and values lie, of a matrix in csr of FP64; else 0.
  std::pair<std::uintptr_t, std::uintptr_t> pointers() const {
    auto const csr = std::dynamic_pointer_cast<CsrOperator<double> const>(solver_.A());
    if (!csr) return {0, 0};
    return {reinterpret_cast<std::uintptr_t>(csr->view().columns),
            reinterpret_cast<std::uintptr_t>(csr->view().values)};
  }

 private:
  std::shared_ptr<SetupReport const> setup_now() const {
    return std::make_shared<SetupReport const>(solver_.setup_report());
  }
  template <class A>
  void require_here(A const& a, char const* what) {
    if (space_of(a) != solver_.context().space())
      throw ShapeError(cat(what, ": an array that lies elsewhere"));
  }
  template <class T>
  nb::object owned_as(Numbers const& from, NumberKind type, std::uintptr_t stream) {
    require_here(from, "owned");
    Space const space = solver_.context().space();
    auto kept = std::make_unique<Array<T>>(space, from.size());
    after(stream, [&] {
      convert_numbers(solver_.context(), numbers_view(from), kept->data(), type,
                      static_cast<std::int64_t>(from.size()));
      solver_.context().synchronize();
    });
    Array<T>* const array = kept.release();
    nb::capsule const owner(array, [](void* p) noexcept { delete static_cast<Array<T>*>(p); });
    std::size_t const shape[1] = {array->size()};
    bool const host = space == Space::host;
    return nb::cast(nb::ndarray<nb::array_api, T>(
        array->data(), 1, shape, owner, nullptr, nb::dtype<T>(),
        host ? nb::device::cpu::value : nb::device::cuda::value, host ? 0 : ordinal_of(space)));
  }
  void validate_on_host(CsrView<double> const& a) const {
    if (a.space == Space::host) validate(a, NonFinite::keep);
  }
  /// f() without the interpreter's lock, one thread at a time: another one waits. A callback that
  /// asks for more gets the Context's BusyError.
  template <class F>
  void guarded(F const& f) {
    bool const inside = inside_.load() == std::this_thread::get_id();
    nb::gil_scoped_release const released;
    if (inside) return f();
    std::lock_guard<std::mutex> const lock(mutex_);
    inside_ = std::this_thread::get_id();
    struct Leave {
      std::atomic<std::thread::id>& inside;
      ~Leave() { inside = std::thread::id(); }
    } const leave{inside_};
    heeding_signals(&solver_.context(), [&](Signals const& signals) {
      try {
        f();
      } catch (Cancelled const&) {
        if (!signals.pending()) solver_.context().clear_cancel();
        throw;
      }
    });
  }

  /// The same for a f() that reads arrays which `stream` makes, and which others may change once it
  /// is back.
  template <class F>
  void after(std::uintptr_t stream, F const& f) {
    guarded([&] {
      if (stream == 0) return f();
      solver_.context().wait_for(reinterpret_cast<void*>(stream));
      f();
      solver_.context().synchronize();
    });
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
    if (progress && !progress.is_none())
      call.progress = [&](IterationEvent const& e) {
        if (e.iteration % every != 0) return true;
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
};

}  // namespace tcsolve::python
