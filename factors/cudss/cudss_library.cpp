// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/factors/cudss/cudss_library.hpp>

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include <tcsolve/core/error.hpp>

namespace tcsolve {
namespace {

/// The first of the files that there is; null and the loader's words for each where there is none.
void* open_first(std::vector<char const*> const& files, std::string& problem) {
  for (char const* const file : files) {
    if (void* const handle = dlopen(file, RTLD_NOW | RTLD_LOCAL)) return handle;
    char const* const why = dlerror();
    problem += cat(problem.empty() ? "" : "; ", why != nullptr ? why : file);
  }
  return nullptr;
}

/// The file with which cuDSS starts threads by OpenMP, beside the file that `function` is from.
std::string threading_beside(void* function) {
  Dl_info info{};
  if (dladdr(function, &info) == 0 || info.dli_fname == nullptr) return "";
  std::filesystem::path const folder = std::filesystem::path(info.dli_fname).parent_path();
  for (char const* name : {"libcudss_mtlayer_gomp.so.1", "libcudss_mtlayer_gomp.so.0"})
    if (std::error_code none; std::filesystem::exists(folder / name, none)) return folder / name;
  return "";
}

}  // namespace

CudssLibrary load_cudss(char const* file) {
  CudssLibrary library;
  std::vector<char const*> files = {"libcudss.so.1", "libcudss.so.0", "libcudss.so"};
  if (file != nullptr) files = {file};
  void* const handle = open_first(files, library.problem);
  if (handle == nullptr) return library;
  library.problem.clear();

  auto const find = [&]<class F>(F& function, char const* name) {
    function = reinterpret_cast<F>(dlsym(handle, name));
    if (function == nullptr && library.problem.empty())
      library.problem = cat("the cuDSS that was found has no ", name);
  };
  find(library.get_property, "cudssGetProperty");
  find(library.create, "cudssCreate");
  find(library.destroy, "cudssDestroy");
  find(library.set_stream, "cudssSetStream");
  find(library.set_threading, "cudssSetThreadingLayer");
  find(library.config_create, "cudssConfigCreate");
  find(library.config_destroy, "cudssConfigDestroy");
  find(library.config_set, "cudssConfigSet");
  find(library.data_create, "cudssDataCreate");
  find(library.data_destroy, "cudssDataDestroy");
  find(library.data_get, "cudssDataGet");
  find(library.execute, "cudssExecute");
  find(library.matrix_create_dense, "cudssMatrixCreateDn");
  find(library.create_csr_, "cudssMatrixCreateCsr");
  find(library.matrix_destroy, "cudssMatrixDestroy");
  if (!library.problem.empty()) return library;

  int number[3] = {};  // libraryPropertyType: MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL
  for (int part = 0; part < 3; ++part)
    if (library.get_property(part, &number[part]) != CudssLibrary::success) {
      library.problem = "the cuDSS that was found does not tell its version";
      return library;
    }
  library.version = cat(number[0], ".", number[1], ".", number[2]);
  bool const early = number[0] == 0 && number[1] == 7;
  bool const later = (number[0] == 0 && number[1] == 8) || number[0] == 1;
  if (!early && !later) {
    library.problem = cat("cuDSS ", library.version, " was found; take 0.7, 0.8 or 1.x");
    return library;
  }
  library.memory_estimates = later ? 13 : 12;
  library.deterministic_mode = later ? 24 : 25;
  library.matching = later ? 3 : -1;
  library.type_of_offsets_ = later;
  library.threading = threading_beside(library.create_csr_);
  library.there = true;
  return library;
}

CudssLibrary const& cudss() {
  // It stays: devices and what is made on them outlive static objects.
  static CudssLibrary const& library = *new CudssLibrary(load_cudss(std::getenv("TCSOLVE_CUDSS")));
  return library;
}

int CudssLibrary::matrix_create_csr(Object* A, std::int64_t rows, std::int64_t entries,
                                    void const* offsets, void const* columns, void const* values,
                                    int type, int kind, int view) const {
  using Pointer = void const*;
  using One = int (*)(Object*, std::int64_t, std::int64_t, std::int64_t, Pointer, Pointer, Pointer,
                      Pointer, int, int, int, int, int);
  using Two = int (*)(Object*, std::int64_t, std::int64_t, std::int64_t, Pointer, Pointer, Pointer,
                      Pointer, int, int, int, int, int, int);
  if (type_of_offsets_)
    return reinterpret_cast<Two>(create_csr_)(A, rows, rows, entries, offsets, nullptr, columns,
                                              values, i32, i32, type, kind, view, from_zero);
  return reinterpret_cast<One>(create_csr_)(A, rows, rows, entries, offsets, nullptr, columns,
                                            values, i32, type, kind, view, from_zero);
}

}  // namespace tcsolve
