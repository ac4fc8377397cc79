# SPDX-License-Identifier: Apache-2.0
# How everything here is compiled. Only options that concern every target live in this file.
include(GNUInstallDirs)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  if(PROJECT_IS_TOP_LEVEL)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo" FORCE)
  else()
    set(CMAKE_BUILD_TYPE Release)  # of this directory; the project around it has its own
  endif()
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_COLOR_DIAGNOSTICS ON)

# Every program lies in bin/ and also looks for shared libraries in bin/lib: scripts/bundle copies
# the two to a machine that lacks the packages.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_BUILD_RPATH "$ORIGIN/lib")
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)

find_program(TCSOLVE_CCACHE ccache)
if(TCSOLVE_CCACHE)
  foreach(lang CXX CUDA)
    if(NOT DEFINED CMAKE_${lang}_COMPILER_LAUNCHER)
      set(CMAKE_${lang}_COMPILER_LAUNCHER "${TCSOLVE_CCACHE}")
    endif()
  endforeach()
endif()

# Flags of our own targets, not of those who link the installed library.
add_library(tcsolve_flags INTERFACE)
target_compile_options(tcsolve_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wno-missing-field-initializers>
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra;--expt-relaxed-constexpr;--extended-lambda>)
# False alarms: GCC 12 on every `"text" + string` (its bug 105651) and on strings that an aggregate
# initialises, GCC on code with sanitizer checks.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(tcsolve_flags INTERFACE 
      $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict;-Wno-maybe-uninitialized>)
  endif()
  if(TCSOLVE_SANITIZE)
    target_compile_options(tcsolve_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized>)
  endif()
endif()
if(TCSOLVE_WERROR)
  target_compile_options(tcsolve_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Werror> $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>)
endif()
if(TCSOLVE_NATIVE)
  target_compile_options(tcsolve_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-march=native>)
endif()

# Sanitizers must be in every object, hence global. Clang counts p + n of a null p as an overflow,
# and arrays that are empty are null: what would be read through such a pointer address finds.
if(TCSOLVE_SANITIZE OR TCSOLVE_FUZZ)
  set(sanitizers address,undefined)
  add_compile_options(-fsanitize=${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer
    $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=pointer-overflow>)
  add_link_options(-fsanitize=${sanitizers})
endif()
