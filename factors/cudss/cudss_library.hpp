// SPDX-License-Identifier: Apache-2.0
/// cuDSS, NVIDIA's sparse direct solver for its devices, loaded when it is first asked for. It has
/// a proprietary licence and is never needed, shipped or looked for at build time: what is used of
/// it is declared here, as its public headers have it.
///
/// Checked against the headers of 0.7.0, 0.7.1, 0.8.0 and 1.0.0. They agree on everything but
///
///                                0.7     0.8, 1.0
///     CUDSS_DATA_MEMORY_ESTIMATES        12      13
///     CUDSS_CONFIG_DETERMINISTIC_MODE    25      24
///     CUDSS_CONFIG_MATCHING_ALG          (4)     3        off by default in 0.7 and 0.8
///     cudssMatrixCreateCsr       one type for    a type for the offsets
///                                both integers   before that of the columns
///
/// 0.4 to 0.6 number the phases otherwise and are refused. From 1.0 on a release with the same
/// libcudss.so.1 is taken for what 1.0 is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tcsolve {

struct CudssLibrary {
  /// cudssHandle_t, cudssConfig_t, cudssData_t and cudssMatrix_t: pointers to what only it knows.
  using Object = void*;
  using Create = int (*)(Object*);
  using Destroy = int (*)(Object);

  /// cudssStatus_t.
  static constexpr int success = 0, allocation_failed = 2, not_supported = 4;
  /// cudssPhase_t.
  static constexpr int analysis = 3, factorisation = 4, refactorisation = 8, solve = 1008;
  /// cudssDataParam_t.
  static constexpr int info = 0, entries_of_factors = 1, replaced_pivots = 2, inertia = 3;
  /// cudssMatrixType_t, cudssMatrixViewType_t.
  static constexpr int general = 0, symmetric = 1, full = 0, upper = 2;
  /// cudssIndexBase_t, cudssLayout_t.
  static constexpr int from_zero = 0, by_columns = 0;
  /// cudaDataType_t.
  static constexpr int f32 = 0, f64 = 1, i32 = 10;

  Create create = nullptr, config_create = nullptr;
  Destroy destroy = nullptr, config_destroy = nullptr, matrix_destroy = nullptr;
  int (*set_stream)(Object handle, void* stream) = nullptr;
  int (*set_threading)(Object handle, char const* file) = nullptr;
  int (*get_property)(int property, int* value) = nullptr;
  int (*config_set)(Object config, int key, void const* value, std::size_t bytes) = nullptr;
  int (*data_create)(Object handle, Object*) = nullptr;
  int (*data_destroy)(Object handle, Object) = nullptr;
  int (*data_get)(Object handle, Object data, int key, void* value, std::size_t bytes,
                  std::size_t* written) = nullptr;
  int (*execute)(Object handle, int phase, Object config, Object data, Object A, Object x,
                 Object b) = nullptr;
  int (*matrix_create_dense)(Object*, std::int64_t rows, std::int64_t cols, std::int64_t ld,
                             void const* values, int type, int layout) = nullptr;
  /// A square matrix with 32-bit offsets and columns, counted from zero.
  int matrix_create_csr(Object*, std::int64_t rows, std::int64_t entries, void const* offsets,
                        void const* columns, void const* values, int type, int kind,
                        int view) const;

  int memory_estimates = 0;    ///< cudssDataParam_t
  int deterministic_mode = 0;  ///< cudssConfigParam_t
  int matching = -1;           ///< cudssConfigParam_t; -1: off unless it is asked for

  /// What lets the analysis take several threads of the host: the file that lies beside cuDSS;
  /// empty where none does, and the analysis takes one.
  std::string threading;
  bool there = false;
  std::string version;  ///< "0.7.1"
  std::string problem;  ///< why it is not there

 private:
  friend CudssLibrary load_cudss(char const* file);
  void* create_csr_ = nullptr;
  bool type_of_offsets_ = false;
};

/// The library in `file`, or, where that is null, libcudss.so.1, .so.0 or .so where the loader
/// looks. `there` is false for a file that is missing, lacks a function or has another version.
CudssLibrary load_cudss(char const* file);

/// The library that this process uses: of the file that the environment variable TCSOLVE_CUDSS
/// names, or load_cudss(nullptr). Cost: the first call loads it, up to a second.
CudssLibrary const& cudss();

}  // namespace tcsolve
