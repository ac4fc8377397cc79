# SPDX-License-Identifier: Apache-2.0
# cmake -D BUILD=... -D GENERATOR=... -D CXX=... -D KOKKOS=... -P run.cmake: installs, moves what was
# installed, builds the consumers and runs them.
cmake_minimum_required(VERSION 3.25)
set(work "${BUILD}/install-test")
set(here "${CMAKE_CURRENT_LIST_DIR}")
file(REMOVE_RECURSE "${work}")
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# The consumer's sources are the examples of these pages, so that an example is always one that works.
set(pages README.md docs/03-many-systems.md docs/04-from-cpp.md docs/09-sequences.md
  docs/17-sparse-right-hand-sides.md docs/18-sparse-vectors.md docs/reordering.md)
set(examples "")
foreach(page IN LISTS pages)
  file(READ "${here}/../../${page}" text)
  cmake_path(GET page STEM stem)
  set(number 0)
  while(TRUE)
    string(FIND "${text}" "```cpp\n" begin)
    if(begin EQUAL -1)
      break()
    endif()
    math(EXPR begin "${begin} + 7")
    string(SUBSTRING "${text}" ${begin} -1 text)
    string(FIND "${text}" "```" end)
    string(SUBSTRING "${text}" 0 ${end} example)
    string(SUBSTRING "${text}" ${end} -1 text)
    math(EXPR number "${number} + 1")
    file(WRITE "${work}/examples/${stem}-${number}.cpp" "${example}")
    list(APPEND examples "${stem}-${number}")
  endwhile()
endforeach()

run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${work}/first")
file(RENAME "${work}/first" "${work}/moved place")  # a package that has been moved works as well
set(prefix "${work}/moved place")
foreach(file share/doc/tcsolve/LICENSE lib/pkgconfig/tcsolve.pc)
  file(GLOB_RECURSE found "${prefix}/*/${file}" "${prefix}/${file}")
  if(NOT found)
    string(REPLACE "lib/" "" file "${file}")
    file(GLOB_RECURSE found LIST_DIRECTORIES false "${prefix}/lib/*${file}")
  endif()
  if(NOT found)
    message(FATAL_ERROR "${file} was not installed")
  endif()
endforeach()
file(GLOB_RECURSE packages "${prefix}/lib/*.cmake" "${prefix}/lib/*.pc")
foreach(package IN LISTS packages)
  file(READ "${package}" text)
  if(text MATCHES "${BUILD}|install-test|\\.deps")
    message(FATAL_ERROR "${package} names a place of the machine it was made on: ${CMAKE_MATCH_0}")
  endif()
endforeach()

# As on a machine without a CUDA toolkit, also where tcsolve was built with one.
run("${CMAKE_COMMAND}" -S "${here}" -B "${work}/build" -G "${GENERATOR}" "-DCMAKE_CXX_COMPILER=${CXX}"
  -DCMAKE_BUILD_TYPE=Release "-DCMAKE_PREFIX_PATH=${prefix}" "-DEXAMPLES=${work}/examples"
  "-DKokkos_DIR=${KOKKOS}" -DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON)
run("${CMAKE_COMMAND}" --build "${work}/build")
foreach(example IN LISTS examples)
  run("${work}/build/${example}")
endforeach()
foreach(order first last)
  if(EXISTS "${work}/build/tcsolve_${order}")
    run("${work}/build/tcsolve_${order}")
  endif()
endforeach()
list(GET examples 0 first)
execute_process(COMMAND ldd "${work}/build/${first}" OUTPUT_VARIABLE libraries)
if(libraries MATCHES "lib(cu|nv|kokkos|gomp)[^ ]*")
  message(FATAL_ERROR "a program needs ${CMAKE_MATCH_0}")
endif()

# Without CMake.
find_program(pkg_config pkg-config)
if(pkg_config)
  file(GLOB_RECURSE pc "${prefix}/tcsolve.pc")
  cmake_path(GET pc PARENT_PATH folder)
  set(ENV{PKG_CONFIG_PATH} "${folder}:$ENV{PKG_CONFIG_PATH}")
  execute_process(COMMAND "${pkg_config}" --cflags --libs tcsolve
    OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  run("${CXX}" -std=c++20 "${work}/examples/${first}.cpp" -o "${work}/by-pkg-config" ${flags})
  run("${work}/by-pkg-config")
endif()

# A complex type is refused with a sentence.
foreach(part OPERATOR VIEW VECTOR SOLVER)
  execute_process(COMMAND "${CXX}" -std=c++20 -fsyntax-only "-I${prefix}/include" -DTRY_${part} "${here}/complex.cpp"
    ERROR_VARIABLE said RESULT_VARIABLE failed)
  if(NOT failed OR NOT said MATCHES "tcsolve solves real systems")
    message(FATAL_ERROR "complex ${part}: ${said}")
  endif()
endforeach()

# As a part of another project: nothing of it is touched, and only what was built is installed.
run("${CMAKE_COMMAND}" -S "${here}/fetch" -B "${work}/fetch" -G "${GENERATOR}" "-DCMAKE_CXX_COMPILER=${CXX}"
  "-DFETCHCONTENT_SOURCE_DIR_TCSOLVE=${here}/../.." -DTCSOLVE_CUDA=OFF "-DKokkos_ROOT=${KOKKOS}")
run("${CMAKE_COMMAND}" --install "${work}/fetch" --prefix "${work}/nothing")
# A place without a Kokkos is an error that says what to do, and another place may be named then.
execute_process(COMMAND "${CMAKE_COMMAND}" -E env TCSOLVE_DEPS=${work}/none "${CMAKE_COMMAND}" -S "${here}/fetch" -B "${work}/no-kokkos"
    -G "${GENERATOR}" "-DCMAKE_CXX_COMPILER=${CXX}" "-DFETCHCONTENT_SOURCE_DIR_TCSOLVE=${here}/../.."
    -DTCSOLVE_CUDA=OFF -DCMAKE_DISABLE_FIND_PACKAGE_Kokkos=ON
  ERROR_VARIABLE said OUTPUT_QUIET RESULT_VARIABLE failed)
if(NOT failed OR NOT said MATCHES "no Kokkos was found.*Install Kokkos")
  message(FATAL_ERROR "without a Kokkos: ${said}")
endif()
run("${CMAKE_COMMAND}" -S "${here}/fetch" -B "${work}/no-kokkos" -DCMAKE_DISABLE_FIND_PACKAGE_Kokkos=OFF
  "-DKokkos_ROOT=${KOKKOS}")
file(REMOVE_RECURSE "${work}")
