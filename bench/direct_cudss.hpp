// SPDX-License-Identifier: Apache-2.0
/// A x = b by cuDSS alone, as its own examples do it: analysis, factorisation, and a solve with two
/// steps of refinement, everything else its default, on a matrix that lies on the device already.
#pragma once

#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include <tcsolve/core/context.hpp>
#include <tcsolve/core/timed.hpp>
#include <tcsolve/factors/cudss/cudss_library.hpp>
#include <tcsolve/matrix/csr.hpp>
#include <tcsolve/matrix/transfer.hpp>

namespace tcsolve {

/// The upper triangle of a symmetric matrix, or the whole of another one.
inline Csr<double> for_cudss(Csr<double> const& a, bool symmetric) {
  if (!symmetric) return a;
  Csr<double> upper;
  upper.rows = upper.cols = a.rows;
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
      if (a.columns[k] >= i) {
        upper.columns.push_back(a.columns[k]);
        upper.values.push_back(a.values[k]);
      }
    upper.offsets.push_back(upper.entries());
  }
  return upper;
}

/// What a direct solver takes, in seconds; `problem` says why there is no x.
struct DirectSolve {
  double analysis = 0, factorisation = 0, solve = 0;
  double residual = 1;  ///< ||b - A x|| / ||b||
  std::string problem;
  double all() const { return analysis + factorisation + solve; }
};

/// b = ones. `kind`: CudssLibrary::general, symmetric, or spd. Needs cuDSS 0.8 or later.
class DirectByCudss {
 public:
  static constexpr int spd = 3;  // CUDSS_MTYPE_SPD

  explicit DirectByCudss(Context& ctx) : ctx_(ctx) {
    good(cudss().create(&handle_));
    if (!cudss().threading.empty()) good(cudss().set_threading(handle_, cudss().threading.c_str()));
    good(cudss().set_stream(handle_, ctx.stream()));
  }
  ~DirectByCudss() { cudss().destroy(handle_); }
  DirectByCudss(DirectByCudss const&) = delete;
  DirectByCudss& operator=(DirectByCudss const&) = delete;

  DirectSolve solve(Csr<double> const& a, int kind) {
    CudssLibrary const& library = cudss();
    Csr<double> const host = for_cudss(a, kind != CudssLibrary::general);
    std::vector<Index> const offsets(host.offsets.begin(), host.offsets.end());
    std::vector<double> const ones(a.rows, 1.0);
    Array<Index> const there_offsets = to_space(ctx_, offsets.data(), offsets.size());
    Array<Index> const there_columns = to_space(ctx_, host.columns.data(), host.columns.size());
    Array<double> const there_values = to_space(ctx_, host.values.data(), host.values.size());
    Array<double> const b = to_space(ctx_, ones.data(), ones.size());
    Array<double> const x = to_space(ctx_, ones.data(), ones.size());
    CudssLibrary::Object config = nullptr, data = nullptr, A = nullptr, B = nullptr, X = nullptr;
    int const steps = 2;
    good(library.config_create(&config));
    good(library.config_set(config, 5, &steps, sizeof steps));  // CUDSS_CONFIG_IR_N_STEPS
    good(library.data_create(handle_, &data));
    good(library.matrix_create_csr(
        &A, a.rows, host.entries(), there_offsets.data(), there_columns.data(), there_values.data(),
        CudssLibrary::f64, kind,
        kind == CudssLibrary::general ? CudssLibrary::full : CudssLibrary::upper));
    for (auto const& [vector, values] : {std::pair{&B, &b}, std::pair{&X, &x}})
      good(library.matrix_create_dense(vector, a.rows, 1, a.rows, values->data(), CudssLibrary::f64,
                                       CudssLibrary::by_columns));
    DirectSolve result;
    for (auto const& [phase, seconds] :
         {std::pair{CudssLibrary::analysis, &result.analysis},
          std::pair{CudssLibrary::factorisation, &result.factorisation},
          std::pair{CudssLibrary::solve, &result.solve}}) {
      ctx_.synchronize();
      auto const start = std::chrono::steady_clock::now();
      good(library.execute(handle_, phase, config, data, A, X, B));
      ctx_.synchronize();
      *seconds = seconds_since(start);
    }
    for (CudssLibrary::Object const matrix : {A, X, B}) library.matrix_destroy(matrix);
    library.data_destroy(handle_, data);
    library.config_destroy(config);
    std::vector<double> const there = to_host(ctx_, x);
    double squares = 0;
    for (Index i = 0; i < a.rows; ++i) {
      double r = 1;
      for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
        r -= a.values[k] * there[a.columns[k]];
      squares += r * r;
    }
    result.residual = std::sqrt(squares / a.rows);
    result.problem = problem_;
    return result;
  }

 private:
  void good(int status) {
    if (status != CudssLibrary::success && problem_.empty()) problem_ = cat("status ", status);
  }

  Context& ctx_;
  CudssLibrary::Object handle_ = nullptr;
  std::string problem_;
};

}  // namespace tcsolve
