// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/factors/cudss/cudss_inverse.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <mutex>
#include <type_traits>
#include <utility>

#include <tcsolve/core/left_behind.hpp>
#include <tcsolve/core/own_stream.hpp>
#include <tcsolve/factors/cudss/cudss_library.hpp>

namespace tcsolve {
namespace {

using Object = CudssLibrary::Object;

template <class S>
constexpr int type_of = std::is_same_v<S, float> ? CudssLibrary::f32 : CudssLibrary::f64;

/// Throws for a status other than success.
void require(int status, char const* what) {
  if (status == CudssLibrary::success) return;
  std::string const text = cat("cuDSS ", cudss().version, ": ", what, " failed, status ", status);
  if (status == CudssLibrary::allocation_failed)
    throw MemoryError(text + ": no memory; a preconditioner with less fill takes less");
  if (status == CudssLibrary::not_supported) throw Unsupported(text + ": not supported");
  throw DeviceError(text);
}

/// The entries on and above the diagonal, which is to be positive where B is definite.
Csr<double> upper_triangle(Csr<double> const& B, bool definite) {
  Csr<double> U;
  U.rows = U.cols = B.rows;
  for (Index i = 0; i < B.rows; ++i) {
    double diagonal = 0;
    for (Offset k = B.offsets[i]; k < B.offsets[i + 1]; ++k)
      if (B.columns[k] >= i) {
        if (B.columns[k] == i) diagonal = B.values[k];
        U.columns.push_back(B.columns[k]);
        U.values.push_back(B.values[k]);
      }
    if (definite && !(diagonal > 0))
      throw MatrixError(
          cat("the matrix has no positive pivots: row ", i, " has ", diagonal, " on the diagonal"));
    U.offsets.push_back(U.entries());
  }
  return U;
}

/// r - B z.
std::vector<double> remainder(Csr<double> const& B, std::vector<double> r,
                              std::vector<double> const& z) {
  for (Index i = 0; i < B.rows; ++i)
    for (Offset k = B.offsets[i]; k < B.offsets[i + 1]; ++k) r[i] -= B.values[k] * z[B.columns[k]];
  return r;
}

double norm(std::vector<double> const& r) {
  double sum = 0;
  for (double const value : r) sum += value * value;
  return std::sqrt(sum);
}

}  // namespace

/// What cuDSS keeps of a system, on one device.
template <class S>
struct CudssInverse<S>::Objects {
  int ordinal;
  Object handle = nullptr, config = nullptr, data = nullptr;
  Object A = nullptr, x = nullptr, b = nullptr;
  Array<Index> offsets, columns;  // what A, x and b are made of
  Array<S> values;
  MultiVector<S> of_x, of_b;  // one column after the other
  std::mutex busy;            // held by a call of cuDSS
  cuda::OwnStream apart;      // of calls that may be left behind

  explicit Objects(Space space) : ordinal(ordinal_of(space)), apart(ordinal) {}
  Objects(Objects const&) = delete;
  Objects& operator=(Objects const&) = delete;
  ~Objects() {
    CudssLibrary const& library = cudss();
    cuda::Current const current(ordinal);
    for (Object const matrix : {A, x, b})
      if (matrix != nullptr) library.matrix_destroy(matrix);
    if (data != nullptr) library.data_destroy(handle, data);
    if (config != nullptr) library.config_destroy(config);
    if (handle != nullptr) library.destroy(handle);
  }

  /// Of the device's memory, at most, for the factors; known after the analysis.
  std::int64_t peak_bytes() const {
    std::int64_t told[16] = {};  // device: lasting, peak; host: lasting, peak; ...
    std::size_t written = 0;
    require(cudss().data_get(handle, data, cudss().memory_estimates, told, sizeof told, &written),
            "the estimate of memory");
    return told[1];
  }
  /// In a Context's stream.
  void run(void* stream, int phase) {
    std::lock_guard const one(busy);
    submit(stream, phase);
  }
  /// Done on return: what is freed after a call that was left behind is in no use.
  void run_apart(int phase) {
    std::lock_guard const one(busy);
    submit(apart.get(), phase);
    apart.synchronize();
  }
  void submit(void* stream, int phase) {
    CudssLibrary const& library = cudss();
    cuda::Current const current(ordinal);
    require(library.set_stream(handle, stream), "cudssSetStream");
    require(library.execute(handle, phase, config, data, A, x, b),
            phase == CudssLibrary::analysis ? "the analysis"
            : phase == CudssLibrary::solve  ? "the solve"
                                            : "the factorisation");
  }
  /// b and x have so many columns from now on; the device is idle then, where they had others.
  void shape(Context& ctx, Index rows, Index columns) {
    if (b != nullptr && of_b.cols() == columns) return;
    std::lock_guard const one(busy);
    ctx.synchronize();
    CudssLibrary const& library = cudss();
    cuda::Current const current(ordinal);
    for (auto const& [object, vectors] : {std::pair{&b, &of_b}, std::pair{&x, &of_x}}) {
      if (*object != nullptr) library.matrix_destroy(std::exchange(*object, nullptr));
      vectors->resize(ctx.space(), rows, columns);
      require(library.matrix_create_dense(object, rows, columns, rows, vectors->view().data,
                                          type_of<S>, CudssLibrary::by_columns),
              "cudssMatrixCreateDn");
    }
  }
  /// What cuDSS has of b or x: its columns one after the other.
  static Out<S> by_columns(MultiVector<S>& v) {
    Out<S> out = v;
    out.layout = Layout::col_major, out.ld = out.rows;
    return out;
  }
  template <class V>
  V value(int key, char const* what) const {
    V told{};
    std::size_t written = 0;
    require(cudss().data_get(handle, data, key, &told, sizeof told, &written), what);
    return told;
  }
};

template <class S>
CudssInverse<S>::CudssInverse(Context& ctx, Csr<double> const& B, Definiteness kind)
    : CudssFactors(B.rows, B.rows), kind_(kind), objects_(std::make_shared<Objects>(ctx.space())) {
  if (B.rows == 0) return;
  place(ctx, B);
  analyse(ctx);
  ctx.cancel_flag().check();
  factorise(ctx, CudssLibrary::factorisation);
  try_out(ctx, B);
}

template <class S>
CudssInverse<S>::~CudssInverse() = default;

template <class S>
void CudssInverse<S>::update(Context& ctx, Csr<double> const& B) {
  if (B.rows == 0) return;
  if (!objects_->busy.try_lock())
    throw MatrixError("a factorisation of earlier values was left behind and has not ended");
  objects_->busy.unlock();
  place(ctx, B);
  factorise(ctx, CudssLibrary::refactorisation);
  try_out(ctx, B);
}

/// Brings the entries that cuDSS reads to the device, the pattern only once.
template <class S>
void CudssInverse<S>::place(Context& ctx, Csr<double> const& B) {
  Csr<S> here = converted<S>(kind_ == Definiteness::general
                                 ? B
                                 : upper_triangle(B, kind_ == Definiteness::positive_definite));
  if (here.entries() > std::numeric_limits<std::int32_t>::max())
    throw SizeError(
        cat("cudss: ", here.entries(), " entries need 64-bit offsets; at most 2^31 - 1 are taken"));
  Objects& o = *objects_;
  if (o.values.size() == 0) {
    std::vector<Index> const offsets(here.offsets.begin(), here.offsets.end());
    o.offsets = to_space(ctx, offsets.data(), offsets.size());
    o.columns = to_space(ctx, here.columns.data(), here.columns.size());
    o.values = Array<S>(ctx.space(), here.values.size());
  }
  if (o.values.size() != here.values.size())
    throw ShapeError(cat("cudss: new values of ", here.values.size(), " entries where ",
                         o.values.size(), " are stored"));
  copy_bytes(ctx, o.values.data(), ctx.space(), here.values.data(), Space::host, o.values.bytes());
}

template <class S>
void CudssInverse<S>::analyse(Context& ctx) {
  CudssLibrary const& library = cudss();
  cuda::Current const current(objects_->ordinal);
  Objects& o = *objects_;
  require(library.create(&o.handle), "cudssCreate");
  if (!library.threading.empty())
    require(library.set_threading(o.handle, library.threading.c_str()), "cudssSetThreadingLayer");
  require(library.config_create(&o.config), "cudssConfigCreate");
  require(library.data_create(o.handle, &o.data), "cudssDataCreate");
  int const on = 1, off = 0;
  if (ctx.options().deterministic)
    require(library.config_set(o.config, library.deterministic_mode, &on, sizeof on),
            "cudssConfigSet (deterministic mode)");
  if (library.matching >= 0)
    require(library.config_set(o.config, library.matching, &off, sizeof off),
            "cudssConfigSet (matching)");
  int const view = kind_ == Definiteness::general ? CudssLibrary::full : CudssLibrary::upper;
  require(
      library.matrix_create_csr(
          &o.A, rows(), static_cast<std::int64_t>(o.values.size()), o.offsets.data(),
          o.columns.data(), o.values.data(), type_of<S>,
          kind_ == Definiteness::general ? CudssLibrary::general : CudssLibrary::symmetric, view),
      "cudssMatrixCreateCsr");
  o.shape(ctx, rows(), 1);
  run_apart(ctx, CudssLibrary::analysis);
  double const needed = static_cast<double>(o.peak_bytes());
  double const available = static_cast<double>(ctx.available_memory());
  if (needed > available)
    throw MemoryError(cat("cuDSS needs ", needed / 1e9, " GB on the device for the factors, and ",
                          available / 1e9,
                          " GB are free; a preconditioner with less fill takes "
                          "less"));
}

template <class S>
void CudssInverse<S>::factorise(Context& ctx, int phase) {
  run_apart(ctx, phase);
  cuda::Current const current(objects_->ordinal);
  if (int const info = objects_->template value<int>(CudssLibrary::info, "the factorisation"))
    throw MatrixError(cat("the matrix is singular: cuDSS says ", info));
  if (kind_ == Definiteness::positive_definite) {
    auto const [positive, negative] =
        objects_->template value<std::array<int, 2>>(CudssLibrary::inertia, "the inertia");
    if (negative > 0 || positive < rows())
      throw MatrixError(cat("the matrix is not positive definite: of ", rows(), " pivots ",
                            negative, " are negative, ", positive, " positive"));
  }
  entries_ = objects_->template value<std::int64_t>(CudssLibrary::entries_of_factors,
                                                    "the count of entries");
  replaced_ = objects_->template value<int>(CudssLibrary::replaced_pivots, "the count of pivots");
}

/// Throws MatrixError where another step with these factors gains nothing.
template <class S>
void CudssInverse<S>::try_out(Context& ctx, Csr<double> const& B) const {
  auto const n = static_cast<std::size_t>(rows());
  std::vector<double> r(n);
  for (std::size_t i = 0; i < n; ++i) r[i] = random_value(1, static_cast<std::int64_t>(i));
  double before = 0;
  for (int step = 0; step < 2; ++step) {
    before = norm(r);
    if (before == 0) return;
    std::vector<S> small(n);
    for (std::size_t i = 0; i < n; ++i) small[i] = static_cast<S>(r[i] / before);
    Objects& o = *objects_;
    o.shape(ctx, rows(), 1);
    copy_bytes(ctx, o.of_b.view().data, ctx.space(), small.data(), Space::host, n * sizeof(S));
    run(ctx, CudssLibrary::solve);
    small = to_host(ctx, o.of_x.view().data, ctx.space(), n);
    std::vector<double> z(n);
    for (std::size_t i = 0; i < n; ++i) z[i] = before * static_cast<double>(small[i]);
    r = remainder(B, std::move(r), z);
  }
  double const enough = kind_ == Definiteness::symmetric ? 1e-3 : 0.5;
  if (norm(r) <= enough * before) return;
  throw MatrixError(cat("the matrix is singular, or too near it for ", tcsolve::name(real_of<S>),
                        " factors without a search for pivots (", replaced_, " were replaced)"));
}

template <class S>
void CudssInverse<S>::run(Context& ctx, int phase) const {
  objects_->run(ctx.stream(), phase);
}

/// The analysis orders on the host, and a factorisation takes its time. Where one is left behind,
/// the Context's stream, in which solves have read the factors until now, does not wait for it.
template <class S>
void CudssInverse<S>::run_apart(Context& ctx, int phase) const {
  ctx.synchronize();
  leaving_behind(ctx.cancel_flag(), [objects = objects_, phase] { objects->run_apart(phase); });
}

template <class S>
Traits CudssInverse<S>::traits() const {
  return {.precision = {real_of<S>, real_of<S>, real_of<S>},
          .transpose = kind_ != Definiteness::general,
          .capturable = false,
          .isolates_nonfinite = false};
}

template <class S>
Cost CudssInverse<S>::cost(Index k) const {
  // The factor of a symmetric matrix is read twice, as L and as L^T.
  double const read = static_cast<double>(entries_) * (kind_ == Definiteness::general ? 1 : 2),
               n = rows();
  return {2 * read * k, (sizeof(S) * read + 4 * sizeof(S) * n + 16 * n) * k, 1};
}

template <class S>
void CudssInverse<S>::do_apply(Context& ctx, double alpha, In<double> x, double beta, Out<double> y,
                               Op op) const {
  if (op == Op::transpose && kind_ == Definiteness::general) throw Unsupported("cudss: transpose");
  ctx.submit(
      "cudss",
      [this, alpha, x, beta, y](Context& c) {
        if (rows() == 0 || x.cols == 0) return;
        Objects& o = *objects_;
        o.shape(c, rows(), x.cols);
        copy<double, S>(c, x, Objects::by_columns(o.of_b));
        run(c, CudssLibrary::solve);
        axpby<S, double>(c, alpha, Objects::by_columns(o.of_x), beta, y);
      },
      false);
}

template class CudssInverse<double>;
template class CudssInverse<float>;

}  // namespace tcsolve
