// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/core/cuda/cusparse.hpp>

#include <dlfcn.h>

#include <tcsolve/core/error.hpp>

namespace tcsolve::cuda {

namespace {

Cusparse load() {
  Cusparse library;
  std::string const file = cat("libcusparse.so.", CUSPARSE_VER_MAJOR);
  void* handle = nullptr;
  for (std::string const folder : {"", TCSOLVE_CUDA_LIBRARIES "/", "/usr/local/cuda/lib64/"}) {
    handle = dlopen((folder + file).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle != nullptr) break;
    if (library.problem.empty()) library.problem = dlerror();
  }
  if (handle == nullptr) return library;
#define TCSOLVE_FIND(name)                                                                  \
  library.name = reinterpret_cast<decltype(library.name)>(dlsym(handle, "cusparse" #name)); \
  if (library.name == nullptr) {                                                            \
    library.problem = cat(file, " has no cusparse" #name);                                  \
    return library;                                                                         \
  }
  TCSOLVE_CUSPARSE(TCSOLVE_FIND)
#undef TCSOLVE_FIND
  library.there = true;
  return library;
}

}  // namespace

Cusparse const& cusparse() {
  static Cusparse const& library = *new Cusparse(load());  // Devices outlive static objects
  return library;
}

}  // namespace tcsolve::cuda
