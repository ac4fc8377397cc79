// SPDX-License-Identifier: Apache-2.0
/// cuSPARSE's products of two sparse FP64 matrices, as bench_sparse sets its own beside them: all
/// at once (SpGEMM), and its pattern apart from its values (SpGEMMreuse). Offsets have 32 bits.
#pragma once

#include <utility>

#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/matrix/transfer.hpp>

#include "cusparse.hpp"

namespace tcsolve::bench {

class CusparseProduct {
 public:
  /// Of matrices in device memory with 32-bit offsets, which outlive it.
  CusparseProduct(Context& ctx, CsrView<double> const& a, CsrView<double> const& b)
      : ctx_(ctx), on_(*ctx.device()), rows_(a.rows), cols_(b.cols) {
    offsets_ = Array<std::int32_t>(ctx.space(), std::size_t(a.rows) + 1);
    a_ = describe(a), b_ = describe(b);
    cuda::check(cusparseCreateCsr(&c_, a.rows, b.cols, 0, offsets_.data(), nullptr, nullptr,
                                  CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                                  CUDA_R_64F));
    cuda::check(cusparseSpGEMM_createDescr(&work_));
  }
  ~CusparseProduct() {
    cusparseSpGEMM_destroyDescr(work_);
    for (cusparseSpMatDescr_t matrix : {a_, b_, c_}) cusparseDestroySpMat(matrix);
  }
  CusparseProduct(CusparseProduct const&) = delete;
  CusparseProduct& operator=(CusparseProduct const&) = delete;

  /// Pattern and values at once.
  void once() {
    std::size_t bytes = 0;
    auto const estimate = [&](void* buffer) {
      cuda::check(cusparseSpGEMM_workEstimation(bench::cusparse(on_), none, none, &one, a_, b_,
                                                &zero, c_, CUDA_R_64F, algorithm, work_, &bytes,
                                                buffer));
    };
    estimate(nullptr);
    Array<std::byte> const first = buffer(bytes);
    estimate(const_cast<std::byte*>(first.data()));
    auto const compute = [&](void* buffer) {
      cuda::check(cusparseSpGEMM_compute(bench::cusparse(on_), none, none, &one, a_, b_, &zero, c_,
                                         CUDA_R_64F, algorithm, work_, &bytes, buffer));
    };
    compute(nullptr);
    Array<std::byte> const second = buffer(bytes);
    compute(const_cast<std::byte*>(second.data()));
    allocate();
    cuda::check(cusparseSpGEMM_copy(bench::cusparse(on_), none, none, &one, a_, b_, &zero, c_,
                                    CUDA_R_64F, algorithm, work_));
    ctx_.synchronize();
  }

  void pattern() {
    std::size_t bytes[3];
    auto const estimate = [&](void* buffer) {
      cuda::check(cusparseSpGEMMreuse_workEstimation(bench::cusparse(on_), none, none, a_, b_, c_,
                                                     algorithm, work_, bytes, buffer));
    };
    estimate(nullptr);
    Array<std::byte> first = buffer(bytes[0]);
    estimate(first.data());
    auto const count = [&](void* p, void* q, void* r) {
      cuda::check(cusparseSpGEMMreuse_nnz(bench::cusparse(on_), none, none, a_, b_, c_, algorithm,
                                          work_, bytes, p, bytes + 1, q, bytes + 2, r));
    };
    count(nullptr, nullptr, nullptr);
    Array<std::byte> second = buffer(bytes[0]), third = buffer(bytes[1]);
    kept_ = buffer(bytes[2]);
    count(second.data(), third.data(), kept_.data());
    allocate();
    auto const copy = [&](void* buffer) {
      cuda::check(cusparseSpGEMMreuse_copy(bench::cusparse(on_), none, none, a_, b_, c_, algorithm,
                                           work_, bytes, buffer));
    };
    copy(nullptr);
    kept_too_ = buffer(bytes[0]);
    copy(kept_too_.data());
    ctx_.synchronize();
  }
  /// After pattern(), as often as values change.
  void values() {
    cuda::check(cusparseSpGEMMreuse_compute(bench::cusparse(on_), none, none, &one, a_, b_, &zero,
                                            c_, CUDA_R_64F, algorithm, work_));
  }
  CsrView<double> result() const {
    return {rows_,
            cols_,
            static_cast<Offset>(columns_.size()),
            OffsetsView(offsets_.data()),
            columns_.data(),
            values_.data(),
            ctx_.space()};
  }

 private:
  static constexpr auto none = CUSPARSE_OPERATION_NON_TRANSPOSE;
  static constexpr auto algorithm = CUSPARSE_SPGEMM_DEFAULT;
  static constexpr double one = 1, zero = 0;

  static cusparseSpMatDescr_t describe(CsrView<double> const& m) {
    cusparseSpMatDescr_t to = nullptr;
    cuda::check(cusparseCreateCsr(&to, m.rows, m.cols, m.entries, const_cast<void*>(m.offsets.data),
                                  const_cast<Index*>(m.columns), const_cast<double*>(m.values),
                                  CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                                  CUDA_R_64F));
    return to;
  }
  Array<std::byte> buffer(std::size_t bytes) { return Array<std::byte>(ctx_.space(), bytes + 16); }
  void allocate() {
    std::int64_t rows = 0, cols = 0, entries = 0;
    cuda::check(cusparseSpMatGetSize(c_, &rows, &cols, &entries));
    columns_ = Array<Index>(ctx_.space(), static_cast<std::size_t>(entries));
    values_ = Array<double>(ctx_.space(), static_cast<std::size_t>(entries));
    cuda::check(cusparseCsrSetPointers(c_, offsets_.data(), columns_.data(), values_.data()));
  }

  Context& ctx_;
  cuda::Device& on_;
  Index rows_, cols_;
  cusparseSpMatDescr_t a_ = nullptr, b_ = nullptr, c_ = nullptr;
  cusparseSpGEMMDescr_t work_ = nullptr;
  Array<std::int32_t> offsets_;
  Array<Index> columns_;
  Array<double> values_;
  Array<std::byte> kept_, kept_too_;
};

}  // namespace tcsolve::bench
