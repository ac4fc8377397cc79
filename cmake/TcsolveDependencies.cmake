# SPDX-License-Identifier: Apache-2.0
# The packages of the library. Tests and benchmarks look for theirs in their own directories.
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(Eigen3 3.3 REQUIRED NO_MODULE)
find_package(yaml-cpp REQUIRED)
if(TCSOLVE_PROGRAM)
  find_package(CLI11 REQUIRED)
endif()
find_package(nlohmann_json REQUIRED)
find_package(ZLIB REQUIRED)
find_package(LibLZMA REQUIRED)
find_package(LibArchive REQUIRED)

# Kokkos: that of the project around this one, then the caller's choice, then the one that
# scripts/setup built, then an installed one.
if(NOT "$ENV{TCSOLVE_DEPS}" STREQUAL "")
  set(TCSOLVE_DEPS_DEFAULT "$ENV{TCSOLVE_DEPS}")
else()
  set(TCSOLVE_DEPS_DEFAULT "${PROJECT_SOURCE_DIR}/.deps")
endif()
set(TCSOLVE_DEPS "${TCSOLVE_DEPS_DEFAULT}" CACHE PATH "where scripts/setup puts what it builds")
if(NOT DEFINED Kokkos_ROOT AND NOT DEFINED ENV{Kokkos_ROOT} AND EXISTS "${TCSOLVE_DEPS}/kokkos")
  set(Kokkos_ROOT "${TCSOLVE_DEPS}/kokkos")
endif()
include(TcsolveKokkos)
if(NOT TARGET Kokkos::kokkos)
  find_package(Kokkos CONFIG QUIET)
  if(NOT Kokkos_FOUND)
    set(kokkos_problem "no Kokkos was found")
  endif()
endif()
if(TARGET Kokkos::kokkos)
  tcsolve_check_kokkos(kokkos_problem)
endif()
if(kokkos_problem)
  unset(Kokkos_DIR CACHE)  # or the next run would not look elsewhere
  message(FATAL_ERROR "tcsolve: ${kokkos_problem}. Install Kokkos >= 3.4 (Debian: libtrilinos-kokkos-dev), "
    "set Kokkos_ROOT to one, or run ${PROJECT_SOURCE_DIR}/scripts/setup, which builds one")
endif()
message(STATUS "tcsolve: Kokkos ${Kokkos_VERSION} (${Kokkos_DEVICES}) from ${Kokkos_DIR}")

# CUDA: the only place that decides whether the backend is built.
set(TCSOLVE_HAVE_CUDA FALSE)
set(TCSOLVE_CUDA_VERSION "none")
set(TCSOLVE_CUDA_NOTE "")
if(NOT TCSOLVE_CUDA STREQUAL "OFF")
  find_package(CUDAToolkit QUIET)
  if(NOT CUDAToolkit_FOUND OR NOT CUDAToolkit_NVCC_EXECUTABLE)
    set(cuda_problem "no CUDA toolkit found")
  elseif(CUDAToolkit_VERSION VERSION_LESS 12.4)
    set(cuda_problem "CUDA toolkit ${CUDAToolkit_VERSION} is older than 12.4")
  else()
    set(TCSOLVE_HAVE_CUDA TRUE)
  endif()
else()
  set(cuda_problem "TCSOLVE_CUDA=OFF")
endif()

if(TCSOLVE_HAVE_CUDA)
  if(DEFINED ENV{TCSOLVE_CUDA_ARCHITECTURES})
    set(cuda_architectures "$ENV{TCSOLVE_CUDA_ARCHITECTURES}")
  else()
    set(cuda_architectures "80;90")
  endif()
  set(TCSOLVE_CUDA_ARCHITECTURES "${cuda_architectures}" CACHE STRING "GPU architectures to compile for")
  set(CMAKE_CUDA_ARCHITECTURES "${TCSOLVE_CUDA_ARCHITECTURES}")
  if(NOT DEFINED CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    set(CMAKE_CUDA_COMPILER "${CUDAToolkit_NVCC_EXECUTABLE}")
  endif()
  enable_language(CUDA)
  # Packages that name /usr/include must not have it put before nvcc's own: <cmath> would miss math.h.
  list(APPEND CMAKE_CUDA_IMPLICIT_INCLUDE_DIRECTORIES ${CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES})
  # CMake 3.25.1 does not know that nvcc has C++20; hence also not before enable_language.
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
  endif()
  set(CMAKE_CUDA_STANDARD 20)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  set(CMAKE_CUDA_EXTENSIONS OFF)
  set(TCSOLVE_CUDA_VERSION "${CUDAToolkit_VERSION}")
  message(STATUS "tcsolve: host and CUDA backends (toolkit ${CUDAToolkit_VERSION}, "
                 "architectures ${CMAKE_CUDA_ARCHITECTURES})")
elseif(TCSOLVE_CUDA STREQUAL "ON")
  message(FATAL_ERROR "TCSOLVE_CUDA=ON, but ${cuda_problem}; set CUDAToolkit_ROOT to a toolkit >= 12.4")
else()
  message(STATUS "tcsolve: host backend only (${cuda_problem})")
endif()

# METIS: orders by graph partitioning. Without it reorder: metis says so, the rest is there.
set(TCSOLVE_METIS AUTO CACHE STRING "graph partitioning by METIS: AUTO takes it where it is installed")
set_property(CACHE TCSOLVE_METIS PROPERTY STRINGS AUTO ON OFF)
set(TCSOLVE_HAVE_METIS FALSE)
if(NOT TCSOLVE_METIS STREQUAL "OFF")
  find_package(METIS)
  set(TCSOLVE_HAVE_METIS ${METIS_FOUND})
endif()
if(TCSOLVE_METIS STREQUAL "ON" AND NOT TCSOLVE_HAVE_METIS)
  message(FATAL_ERROR "TCSOLVE_METIS=ON, but no METIS was found; install it (Debian: libmetis-dev) or set METIS_ROOT")
endif()

# MPI: a component that the program loads under a launcher, and nothing else. Without it the program
# refuses to be started as one of several.
set(TCSOLVE_MPI AUTO CACHE STRING "the program under mpirun: AUTO builds the component where there is an MPI")
set_property(CACHE TCSOLVE_MPI PROPERTY STRINGS AUTO ON OFF)
set(TCSOLVE_HAVE_MPI FALSE)
if(NOT TCSOLVE_MPI STREQUAL "OFF")
  set(MPI_CXX_SKIP_MPICXX TRUE)
  find_package(MPI COMPONENTS CXX QUIET)
  set(TCSOLVE_HAVE_MPI ${MPI_CXX_FOUND})
endif()
if(TCSOLVE_MPI STREQUAL "ON" AND NOT TCSOLVE_HAVE_MPI)
  message(FATAL_ERROR "TCSOLVE_MPI=ON, but no MPI was found; install one (Debian: libopenmpi-dev) or set MPI_HOME")
endif()

# What every layer sees; only link-time needs reach the users of the installed library.
add_library(tcsolve_private INTERFACE)
target_link_libraries(tcsolve_private INTERFACE tcsolve_flags Eigen3::Eigen
  $<TARGET_NAME_IF_EXISTS:CLI11::CLI11> nlohmann_json::nlohmann_json)
# Of libarchive the headers alone: it is loaded when an archive is read (io/files/libarchive.hpp).
target_include_directories(tcsolve_private SYSTEM INTERFACE ${LibArchive_INCLUDE_DIRS})
set(TCSOLVE_LINK_PUBLIC yaml-cpp Threads::Threads)
set(TCSOLVE_LINK_PRIVATE ZLIB::ZLIB LibLZMA::LibLZMA ${CMAKE_DL_LIBS})
set(TCSOLVE_LINK_CUDA_SHARED "")
set(TCSOLVE_LINK_CUDA "")  # for the CUDA leaf files alone: no other layer finds a CUDA header
if(TARGET yaml-cpp::yaml-cpp)  # yaml-cpp >= 0.8
  list(TRANSFORM TCSOLVE_LINK_PUBLIC REPLACE "^yaml-cpp$" "yaml-cpp::yaml-cpp")
endif()
set(TCSOLVE_LINK_METIS "")
if(TCSOLVE_HAVE_METIS)
  set(TCSOLVE_LINK_METIS METIS::METIS)
endif()
if(TCSOLVE_HAVE_CUDA)
  # The driver is loaded by the run time: a program starts where none is installed. The installed
  # package has the static run time beside it.
  set(TCSOLVE_LINK_CUDA $<BUILD_INTERFACE:CUDA::cudart_static> $<INSTALL_INTERFACE:tcsolve::cudart>)
  # One CUDA runtime for the shared library of the tests and the programs that use it.
  set(TCSOLVE_LINK_CUDA_SHARED CUDA::cudart)
  # Device code that is compressed for its size is a third as large, and packing it takes seconds a
  # file (docs/results/build-host.md). `size` needs a driver >= 12.4, as all of this does.
  set(TCSOLVE_CUDA_COMPRESSION balance CACHE STRING "of device code: balance, or size, for packages")
  set_property(CACHE TCSOLVE_CUDA_COMPRESSION PROPERTY STRINGS balance size)
  option(TCSOLVE_CUDA_QUICK "kernels that compile sooner and run slowly: to see that they compile"
    $ENV{TCSOLVE_CUDA_QUICK})
  option(TCSOLVE_CUDA_LINES "profilers show source lines (larger device code, a slower build)" OFF)
  if(CUDAToolkit_VERSION VERSION_GREATER_EQUAL 12.8)
    set(device_code --compress-mode=${TCSOLVE_CUDA_COMPRESSION})
  else()
    set(device_code -Xfatbin=-compress-all)
  endif()
  if(TCSOLVE_CUDA_LINES)
    list(APPEND device_code -lineinfo)
  endif()
  if(TCSOLVE_CUDA_QUICK AND CUDAToolkit_VERSION VERSION_GREATER_EQUAL 13.0)
    # What is not inlined has a stack whose size ptxas cannot tell: a warning.
    list(APPEND device_code --Ofast-compile=max -Xptxas=-suppress-stack-size-warning)
    set(TCSOLVE_CUDA_NOTE ", kernels compiled quickly and not well")  # in every record of a run
    message(STATUS "tcsolve: kernels are compiled quickly and not well (TCSOLVE_CUDA_QUICK)")
  endif()
  target_compile_options(tcsolve_flags INTERFACE "$<$<COMPILE_LANGUAGE:CUDA>:${device_code}>")
endif()
