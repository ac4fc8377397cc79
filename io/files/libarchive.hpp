// SPDX-License-Identifier: Apache-2.0
/// libarchive, loaded when the first archive is read: a program that reads none does not carry it
/// and its own needs, among them 31 MB of Unicode tables.
#pragma once

#include <archive.h>
#include <archive_entry.h>

namespace tcsolve {

// clang-format off
#define TCSOLVE_LIBARCHIVE(X)                                                              \
  X(error_string) X(read_new) X(read_free) X(read_support_format_tar)                      \
  X(read_support_format_zip) X(read_support_filter_gzip) X(read_support_filter_xz)         \
  X(read_open_filename) X(read_open_memory) X(read_next_header) X(read_data)               \
  X(entry_pathname) X(entry_filetype) X(entry_is_encrypted) X(entry_size) X(entry_size_is_set)
// clang-format on

/// archive_read_new() and the others, without the prefix.
struct LibArchive {
#define TCSOLVE_MEMBER(name) decltype(&::archive_##name) name = nullptr;
  TCSOLVE_LIBARCHIVE(TCSOLVE_MEMBER)
#undef TCSOLVE_MEMBER
};

/// From where the loader looks. Throws NotBuilt where it is not installed.
LibArchive const& libarchive();

}  // namespace tcsolve
