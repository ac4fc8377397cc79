// SPDX-License-Identifier: Apache-2.0
/// Every verb there is, for the explicit instantiations of host/sweep.cpp and cuda/sweep.cu. A new
/// verb is one line here.
#pragma once

#include <tcsolve/core/half.hpp>
#include <tcsolve/kernels/verbs/basic.hpp>
#include <tcsolve/kernels/verbs/bicgstab.hpp>
#include <tcsolve/kernels/verbs/cg.hpp>
#include <tcsolve/kernels/verbs/dia.hpp>
#include <tcsolve/kernels/verbs/gmres.hpp>
#include <tcsolve/kernels/verbs/judge.hpp>
#include <tcsolve/kernels/verbs/keep.hpp>
#include <tcsolve/kernels/verbs/lsmr.hpp>
#include <tcsolve/kernels/verbs/matrix.hpp>
#include <tcsolve/kernels/verbs/minres.hpp>
#include <tcsolve/kernels/verbs/monitor.hpp>
#include <tcsolve/kernels/verbs/pipelined_cg.hpp>
#include <tcsolve/kernels/verbs/residual.hpp>
#include <tcsolve/kernels/verbs/sell.hpp>

// clang-format off
#define TCSOLVE_VERBS_OF(X, T)                                                              \
  X(Fill<T>) X(Random<T>) X(Dot<T>) X(Dot2<T>) X(MaxAbs<T>) X(Multiply<T>) X(MultiplyDot<T>) X(Correct<T>) X(Permute<T>) \
  X(CgStart<T>) X(Extend<T>) X(Descend<T>) X(CgFinish<T>) X(CgExplain<T>)                                                                \
  X(OneReduction<T>) X(Advance<T>) X(GearUpdate<T>) X(PipelinedUpdate<T>)                                  \
  X(BicgShadow<T>) X(BicgDirection<T>) X(BicgHalf<T>) X(BicgFull<T>)                                          \
  X(ArnoldiStart<T>) X(ArnoldiUpdate<T>) X(KeepColumn<T>) X(Combine<T>)    \
  X(MinresStart<T>) X(Lanczos<T>) X(MinresUpdate<T>)                                         \
  X(LsmrStart<T>) X(BidiagonalU<T>) X(BidiagonalV<T>) X(LsmrUpdate<T>)                       \
  X(BlockMultiply<T>)

#define TCSOLVE_PRODUCTS(X, S, T)                                                                \
  X(TCSOLVE_PAIR(SellMultiply, S, T)) X(TCSOLVE_PAIR(SellMultiplyDot, S, T))               \
  X(TCSOLVE_PAIR(DiaMultiply, S, T)) X(TCSOLVE_PAIR(DiaMultiplyDot, S, T))

#define TCSOLVE_EXACT_RESIDUALS(X)                                                               \
  X(ExactResidual<CsrView<double>>) X(ExactResidual<CsrParts<double>>)                           \
  X(ExactResidual<SellView<double>>) X(ExactResidual<DiaView<double>>)                           \
  X(ExactResidual<BsellView<double>>) X(ExactResidual<CsellView<double>>)                        \
  X(ExactResidual<DaspView<double>>) X(ExactResidual<SpadenView<double>>)                        \
  X(JoinResidual<CsrParts<double>>) X(JoinResidual<CsellView<double>>)                           \
  X(JoinResidual<DaspView<double>>) X(JoinResidual<SpadenView<double>>)

#define TCSOLVE_VERBS(X)                                                                     \
  TCSOLVE_VERBS_OF(X, double) TCSOLVE_VERBS_OF(X, float)                                     \
  X(TCSOLVE_PAIR(Axpby, double, double)) X(TCSOLVE_PAIR(Axpby, double, float))               \
  X(TCSOLVE_PAIR(Axpby, float, double)) X(TCSOLVE_PAIR(Axpby, float, float))                 \
  X(TCSOLVE_PAIR(Rescale, float, float)) X(TCSOLVE_PAIR(Rescale, double, double)) X(TCSOLVE_PAIR(Rescale, double, float))           \
  X(TCSOLVE_PAIR(InverseDiagonal, double, double)) X(TCSOLVE_PAIR(InverseDiagonal, double, float)) \
  X(TCSOLVE_PAIR(InverseDiagonal, float, double)) X(TCSOLVE_PAIR(InverseDiagonal, float, float))   \
  X(MaxRowSum<double>) X(MaxRowSum<float>) X(MaxRowSum<half>) X(MaxRowSum<bfloat16>)         \
  X(LongestRow<double>) X(LongestRow<float>) X(LongestRow<half>) X(LongestRow<bfloat16>)     \
  X(TransposeValues<double>) X(TransposeValues<float>) X(TransposeValues<half>) X(TransposeValues<bfloat16>) \
  X(TCSOLVE_PAIR(InverseDiagonal, half, double)) X(TCSOLVE_PAIR(InverseDiagonal, half, float))     \
  X(TCSOLVE_PAIR(InverseDiagonal, bfloat16, double)) X(TCSOLVE_PAIR(InverseDiagonal, bfloat16, float)) \
  TCSOLVE_PRODUCTS(X, double, double) TCSOLVE_PRODUCTS(X, float, double) TCSOLVE_PRODUCTS(X, half, double)\
  TCSOLVE_PRODUCTS(X, float, float) TCSOLVE_PRODUCTS(X, half, float)                                 \
  TCSOLVE_PRODUCTS(X, bfloat16, double) TCSOLVE_PRODUCTS(X, bfloat16, float)                         \
  TCSOLVE_EXACT_RESIDUALS(X) X(ShiftResidual) X(InverseRowNorms<double>)                                             \
  X(Observe) X(Raise) X(BackSubstitute)                                   \
  X(JudgeStart) X(JudgeZero) X(JudgeScale) X(JudgeCycle) X(JudgeTrial) X(JudgeVerdict)       \
  X(JudgeKeep) X(BatchCheck) X(BatchMeasure)

/// A template of two types without a comma at the macro's top level.
#define TCSOLVE_PAIR(V, A, B) V<A TCSOLVE_COMMA B>
#define TCSOLVE_COMMA ,
// clang-format on
