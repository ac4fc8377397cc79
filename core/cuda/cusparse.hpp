// SPDX-License-Identifier: Apache-2.0
/// cuSPARSE, loaded when the first Device is made: a program runs where it is not installed, and
/// one that stays on the host does not carry its hundreds of megabytes.
#pragma once

#include <cusparse.h>

#include <string>

namespace tcsolve::cuda {

// clang-format off
#define TCSOLVE_CUSPARSE(X)                                                            \
  X(Create) X(Destroy) X(SetStream) X(GetErrorString)                                  \
  X(CreateDnVec) X(DestroyDnVec) X(CreateDnMat) X(DestroyDnMat)                        \
  X(CreateCsr) X(DestroySpMat)                                                         \
  X(SpMV) X(SpMV_bufferSize) X(SpMV_preprocess) X(SpMM) X(SpMM_bufferSize)
// clang-format on

/// cusparseCreate() and the others, without the prefix.
struct Cusparse {
#define TCSOLVE_MEMBER(name) decltype(&::cusparse##name) name = nullptr;
  TCSOLVE_CUSPARSE(TCSOLVE_MEMBER)
#undef TCSOLVE_MEMBER
  bool there = false;
  std::string problem;  ///< why it is not
};

/// libcusparse.so of the toolkit's major version: from where the loader looks, from the toolkit
/// that tcsolve was built with, or from /usr/local/cuda. The first call takes some 50 ms.
Cusparse const& cusparse();

}  // namespace tcsolve::cuda
