# SPDX-License-Identifier: Apache-2.0
# METIS::METIS, graph partitioning; METIS_ROOT names a place to look in. Debian's package has no
# CMake files of its own.
find_path(METIS_INCLUDE_DIR metis.h)
find_library(METIS_LIBRARY metis)
set(METIS_VERSION "")
if(METIS_INCLUDE_DIR)
  file(STRINGS "${METIS_INCLUDE_DIR}/metis.h" lines REGEX "^#define METIS_VER_[A-Z]+")
  string(REGEX MATCHALL "[0-9]+" numbers "${lines}")
  string(REPLACE ";" "." METIS_VERSION "${numbers}")
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(METIS REQUIRED_VARS METIS_LIBRARY METIS_INCLUDE_DIR
  VERSION_VAR METIS_VERSION)
if(METIS_FOUND AND NOT TARGET METIS::METIS)
  add_library(METIS::METIS UNKNOWN IMPORTED)
  set_target_properties(METIS::METIS PROPERTIES
    IMPORTED_LOCATION "${METIS_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${METIS_INCLUDE_DIR}")
endif()
mark_as_advanced(METIS_INCLUDE_DIR METIS_LIBRARY)
