// SPDX-License-Identifier: Apache-2.0
/// cuSPARSE's products with a block of FP64 or FP32 vectors, as bench_spmm sets its own beside
/// them: CSR, by every algorithm, with blocks that are row-major or column-major. It has no TF32
/// for CSR.
#pragma once

#include <memory>
#include <vector>

#include "spmv_cusparse.hpp"

namespace tcsolve::bench {

template <class T>
class CusparseBlocks {
 public:
  CusparseBlocks(cuda::Device& on, Csr<T> const& a, Index columns, bool row_major,
                 cusparseSpMMAlg_t algorithm)
      : on_(on),
        algorithm_(algorithm),
        offsets_(std::vector<std::int32_t>(a.offsets.begin(), a.offsets.end())),
        columns_(a.columns),
        values_(a.values),
        X_(Space::cuda, std::size_t(a.cols) * columns),
        Y_(Space::cuda, std::size_t(a.rows) * columns) {
    auto const order = row_major ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL;
    auto const dense = [&](cusparseDnMatDescr_t& to, Index rows, T* data) {
      cuda::check(cusparseCreateDnMat(&to, rows, columns, row_major ? columns : rows, data,
                                      data_type<T>, order));
    };
    cuda::check(cusparseCreateCsr(&matrix_, a.rows, a.cols, a.entries(), offsets_.array.data(),
                                  columns_.array.data(), values_.array.data(), CUSPARSE_INDEX_32I,
                                  CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, data_type<T>));
    dense(x_, a.cols, X_.data());
    dense(y_, a.rows, Y_.data());
    std::size_t bytes = 0;
    cuda::check(cusparseSpMM_bufferSize(bench::cusparse(on_), none, none, &one, matrix_, x_, &zero,
                                        y_, data_type<T>, algorithm_, &bytes));
    buffer_ = Array<std::byte>(Space::cuda, bytes + 16);
    cuda::check(cusparseSpMM_preprocess(bench::cusparse(on_), none, none, &one, matrix_, x_, &zero,
                                        y_, data_type<T>, algorithm_, buffer_.data()));
  }
  ~CusparseBlocks() {
    cusparseDestroyDnMat(x_);
    cusparseDestroyDnMat(y_);
    cusparseDestroySpMat(matrix_);
  }
  CusparseBlocks(CusparseBlocks const&) = delete;
  CusparseBlocks& operator=(CusparseBlocks const&) = delete;

  T* X() { return X_.data(); }
  T const* Y() const { return Y_.data(); }
  void run() {
    cuda::check(cusparseSpMM(bench::cusparse(on_), none, none, &one, matrix_, x_, &zero, y_,
                             data_type<T>, algorithm_, buffer_.data()));
  }

 private:
  static constexpr cusparseOperation_t none = CUSPARSE_OPERATION_NON_TRANSPOSE;
  T one = 1, zero = 0;
  cuda::Device& on_;
  cusparseSpMMAlg_t algorithm_;
  Uploaded<std::int32_t> offsets_, columns_;
  Uploaded<T> values_;
  Array<T> X_, Y_;
  Array<std::byte> buffer_;
  cusparseSpMatDescr_t matrix_ = nullptr;
  cusparseDnMatDescr_t x_ = nullptr, y_ = nullptr;
};

}  // namespace tcsolve::bench
