// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/io/files/libarchive.hpp>

#include <dlfcn.h>

#include <tcsolve/core/error.hpp>

namespace tcsolve {
namespace {

constexpr char const* file = "libarchive.so.13";  // of libarchive 3

LibArchive load() {
  void* const handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    throw NotBuilt(cat("an archive is read by libarchive, which is not installed: ", dlerror(),
                       "; install it, or unpack the archive"));
  LibArchive library;
#define TCSOLVE_FIND(name)                                                                  \
  library.name = reinterpret_cast<decltype(library.name)>(dlsym(handle, "archive_" #name)); \
  if (library.name == nullptr) throw NotBuilt(cat(file, " has no archive_" #name));
  TCSOLVE_LIBARCHIVE(TCSOLVE_FIND)
#undef TCSOLVE_FIND
  return library;
}

}  // namespace

LibArchive const& libarchive() {
  static LibArchive const library = load();
  return library;
}

}  // namespace tcsolve
