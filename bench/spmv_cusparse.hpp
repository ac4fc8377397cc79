// SPDX-License-Identifier: Apache-2.0
/// cuSPARSE's products with one vector, as bench_spmv sets its own beside them: CSR (ALG1 and ALG2,
/// preprocessed), sliced ELLPACK with slices of 32, and BSR. Values and x of one type, since
/// cuSPARSE has no FP16 or BF16 matrix with an FP32 x; y and sums are FP32 then.
#pragma once

#include <algorithm>
#include <memory>
#include <type_traits>
#include <vector>

#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/core/half.hpp>
#include <tcsolve/matrix/csr.hpp>

#include "cusparse.hpp"

namespace tcsolve::bench {

template <class S>
constexpr cudaDataType data_type = std::is_same_v<S, double>  ? CUDA_R_64F
                                   : std::is_same_v<S, float> ? CUDA_R_32F
                                   : std::is_same_v<S, half>  ? CUDA_R_16F
                                                              : CUDA_R_16BF;

/// Device memory for the length of a scope.
template <class V>
struct Uploaded {
  explicit Uploaded(std::vector<V> const& from) : array(Space::cuda, from.size()) {
    if (!from.empty())
      cuda::check(cudaMemcpy(array.data(), from.data(), array.bytes(), cudaMemcpyHostToDevice));
  }
  Array<V> array;
};

template <class S>
class Cusparse {
 public:
  using Y = std::conditional_t<sizeof(S) == 2, float, S>;

  static std::shared_ptr<Cusparse> csr(cuda::Device& on, Csr<S> const& a, cusparseSpMVAlg_t alg) {
    auto p = std::shared_ptr<Cusparse>(new Cusparse(on, a, alg));
    p->keep(std::vector<std::int32_t>(a.offsets.begin(), a.offsets.end()), a.columns, a.values);
    cuda::check(cusparseCreateCsr(&p->matrix_, a.rows, a.cols, a.entries(), p->offsets(),
                                  p->columns(), p->values(), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                  CUSPARSE_INDEX_BASE_ZERO, data_type<S>));
    p->prepare(a.rows, a.cols);
    return p;
  }

  /// Null when padding takes more than `most` times the entries.
  static std::shared_ptr<Cusparse> sell(cuda::Device& on, Csr<S> const& a, double most = 2) {
    constexpr Index C = 32;
    Index slices = (a.rows + C - 1) / C;
    std::vector<std::int32_t> offsets(1);
    Offset stored = 0;
    for (Index s = 0; s < slices; ++s) {
      Offset width = 0;
      for (Index i = s * C; i < std::min(a.rows, (s + 1) * C); ++i)
        width = std::max(width, a.offsets[i + 1] - a.offsets[i]);
      stored += width * C;
      if (stored > most * a.entries()) return nullptr;
      offsets.push_back(static_cast<std::int32_t>(stored));
    }
    std::vector<std::int32_t> columns(stored, -1);
    std::vector<S> values(stored, S(0.0f));
    for (Index i = 0; i < a.rows; ++i)
      for (Offset k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
        Offset at = offsets[i / C] + (k - a.offsets[i]) * C + i % C;
        columns[at] = a.columns[k], values[at] = a.values[k];
      }
    auto p = std::shared_ptr<Cusparse>(new Cusparse(on, a, CUSPARSE_SPMV_SELL_ALG1));
    p->keep(offsets, columns, values);
    cuda::check(cusparseCreateSlicedEll(&p->matrix_, a.rows, a.cols, a.entries(), stored, C,
                                        p->offsets(), p->columns(), p->values(), CUSPARSE_INDEX_32I,
                                        CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                                        data_type<S>));
    p->prepare(a.rows, a.cols);
    return p;
  }

  /// Blocks of b x b, row-major; null when they hold more than `most` times the entries.
  static std::shared_ptr<Cusparse> bsr(cuda::Device& on, Csr<S> const& a, Index b,
                                       double most = 2) {
    Index rows = (a.rows + b - 1) / b, cols = (a.cols + b - 1) / b;
    std::vector<std::int32_t> offsets(1), columns;
    std::vector<Index> seen(cols, -1), place(cols);
    for (Index i = 0; i < rows; ++i) {
      std::size_t begin = columns.size();
      for (Offset k = a.offsets[i * b]; k < a.offsets[std::min(a.rows, (i + 1) * b)]; ++k)
        if (Index j = a.columns[k] / b; seen[j] != i) seen[j] = i, columns.push_back(j);
      std::sort(columns.begin() + begin, columns.end());
      offsets.push_back(static_cast<std::int32_t>(columns.size()));
      if (double(columns.size()) * b * b > most * a.entries()) return nullptr;
    }
    std::vector<S> values(columns.size() * b * b, S(0.0f));
    for (Index i = 0; i < rows; ++i) {
      for (std::int32_t q = offsets[i]; q < offsets[i + 1]; ++q) place[columns[q]] = q;
      for (Index r = i * b; r < std::min(a.rows, (i + 1) * b); ++r)
        for (Offset k = a.offsets[r]; k < a.offsets[r + 1]; ++k)
          values[(std::size_t(place[a.columns[k] / b]) * b + r % b) * b + a.columns[k] % b] =
              a.values[k];
    }
    auto p = std::shared_ptr<Cusparse>(new Cusparse(on, a, CUSPARSE_SPMV_BSR_ALG1));
    Offset blocks = static_cast<Offset>(columns.size());
    p->keep(offsets, columns, values);
    cuda::check(cusparseCreateBsr(&p->matrix_, rows, cols, blocks, b, b, p->offsets(), p->columns(),
                                  p->values(), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                  CUSPARSE_INDEX_BASE_ZERO, data_type<S>, CUSPARSE_ORDER_ROW));
    p->prepare(Offset{rows} * b, Offset{cols} * b);
    return p;
  }

  ~Cusparse() {
    if (x_) cusparseDestroyDnVec(x_);
    if (y_) cusparseDestroyDnVec(y_);
    if (matrix_) cusparseDestroySpMat(matrix_);
  }
  Cusparse(Cusparse const&) = delete;

  void set_x(std::vector<S> const& x) {
    cuda::check(
        cudaMemcpy(x_array_.data(), x.data(), x.size() * sizeof(S), cudaMemcpyHostToDevice));
  }
  std::vector<double> y(Index rows) const {
    std::vector<Y> here(rows);
    cuda::check(cudaStreamSynchronize(on_.stream));
    cuda::check(cudaMemcpy(here.data(), y_array_.data(), rows * sizeof(Y), cudaMemcpyDeviceToHost));
    return {here.begin(), here.end()};
  }
  void run() {
    Y one = 1, zero = 0;
    cuda::check(cusparseSpMV(bench::cusparse(on_), CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix_,
                             x_, &zero, y_, data_type<Y>, algorithm_, buffer_.data()));
  }

 private:
  Cusparse(cuda::Device& on, Csr<S> const&, cusparseSpMVAlg_t alg) : on_(on), algorithm_(alg) {}

  void keep(std::vector<std::int32_t> const& offsets, std::vector<std::int32_t> const& columns,
            std::vector<S> const& values) {
    offsets_ = std::move(Uploaded(offsets).array);
    columns_ = std::move(Uploaded(columns).array);
    values_ = std::move(Uploaded(values).array);
  }
  void* offsets() { return offsets_.data(); }
  void* columns() { return columns_.data(); }
  void* values() { return values_.data(); }

  void prepare(Offset rows, Offset cols) {
    x_array_ = Array<S>(Space::cuda, cols), y_array_ = Array<Y>(Space::cuda, rows);
    cuda::check(cudaMemset(x_array_.data(), 0, x_array_.bytes()));
    cuda::check(cusparseCreateDnVec(&x_, cols, x_array_.data(), data_type<S>));
    cuda::check(cusparseCreateDnVec(&y_, rows, y_array_.data(), data_type<Y>));
    Y one = 1, zero = 0;
    std::size_t bytes = 0;
    cuda::check(cusparseSpMV_bufferSize(bench::cusparse(on_), CUSPARSE_OPERATION_NON_TRANSPOSE,
                                        &one, matrix_, x_, &zero, y_, data_type<Y>, algorithm_,
                                        &bytes));
    buffer_ = Array<std::byte>(Space::cuda, bytes + 16);
    if (algorithm_ == CUSPARSE_SPMV_CSR_ALG1 || algorithm_ == CUSPARSE_SPMV_CSR_ALG2)
      cuda::check(cusparseSpMV_preprocess(bench::cusparse(on_), CUSPARSE_OPERATION_NON_TRANSPOSE,
                                          &one, matrix_, x_, &zero, y_, data_type<Y>, algorithm_,
                                          buffer_.data()));
  }

  cuda::Device& on_;
  cusparseSpMVAlg_t algorithm_;
  cusparseSpMatDescr_t matrix_ = nullptr;
  cusparseDnVecDescr_t x_ = nullptr, y_ = nullptr;
  Array<std::int32_t> offsets_, columns_;
  Array<S> values_, x_array_;
  Array<Y> y_array_;
  Array<std::byte> buffer_;
};

}  // namespace tcsolve::bench
