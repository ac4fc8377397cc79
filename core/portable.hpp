// SPDX-License-Identifier: Apache-2.0
/// Marks a function that the host and the device both compile: the scalar logic and the per-element
/// work of every operation is written once.
#pragma once

#if defined(__CUDACC__)
#define TCSOLVE_HD __host__ __device__ __forceinline__
#else
#define TCSOLVE_HD inline
#endif
