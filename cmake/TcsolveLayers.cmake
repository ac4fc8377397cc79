# SPDX-License-Identifier: Apache-2.0
# One directory is one layer: an object library of everything in it, archived into `tcsolve`.

# <tcsolve/solvers/cg/cg.hpp> is solvers/cg/cg.hpp by way of the link include/tcsolve/solvers, which is in
# the repository; the build tree adds <tcsolve/version.hpp> and <tcsolve/backends.hpp>.
set(TCSOLVE_GENERATED_DIR "${PROJECT_BINARY_DIR}/include")
set(TCSOLVE_INCLUDE_DIRS "${PROJECT_SOURCE_DIR}/include" "${TCSOLVE_GENERATED_DIR}")
set(TCSOLVE_LAYERS "")

# tcsolve_layer(NAME [USES layer...]): USES is what scripts/check-layers lets NAME include.
function(tcsolve_layer NAME)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "USES")
  foreach(used IN LISTS ARG_USES)
    if(NOT used IN_LIST TCSOLVE_LAYERS)
      message(FATAL_ERROR "${NAME} uses ${used}, which is not declared before it")
    endif()
  endforeach()
  list(APPEND TCSOLVE_LAYERS ${NAME})
  set(TCSOLVE_LAYERS "${TCSOLVE_LAYERS}" PARENT_SCOPE)

  if(NOT EXISTS "${PROJECT_SOURCE_DIR}/include/tcsolve/${NAME}")  # a new layer: commit its link
    file(CREATE_LINK ../../${NAME} "${PROJECT_SOURCE_DIR}/include/tcsolve/${NAME}" SYMBOLIC)
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${NAME}/*.cpp")
  list(FILTER sources EXCLUDE REGEX "/${NAME}/(.*/)?(cuda|metis)/|(cuda|metis)_absent\\.cpp$|/app/main\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "/host/parallel\\.cpp$")  # see tcsolve_kokkos_objects()
  tcsolve_levels(${NAME} own_level apart apart_level ${sources})
  list(REMOVE_ITEM sources ${apart})
  tcsolve_united(sources "${NAME}" cpp ${sources})
  tcsolve_united(apart "${NAME}${apart_level}" cpp ${apart})
  tcsolve_objects(tcsolve_${NAME} ${sources} ${apart})
  if(TARGET tcsolve_${NAME})
    target_compile_options(tcsolve_${NAME} PRIVATE ${own_level})
    set_property(SOURCE ${apart} APPEND PROPERTY COMPILE_OPTIONS ${apart_level})
    if(TCSOLVE_SANITIZE)
      target_precompile_headers(tcsolve_${NAME} PRIVATE "${PROJECT_SOURCE_DIR}/cmake/precompiled.hpp")
      # A precompiled header serves files of its own level.
      set_property(SOURCE ${apart} PROPERTY SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endif()
  # What the fuzz targets give their bytes to counts where they lead; loops over numbers, which
  # counters slow down, do not.
  if(TCSOLVE_FUZZ AND NAME MATCHES "^(configs|io|app)$")
    target_compile_options(tcsolve_${NAME} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endfunction()

# tcsolve_levels(LAYER OWN APART APART_LEVEL source...): how much the compiler optimises, the sources
# APART at another level than their layer. What has no loops over numbers takes longer to optimise
# than it will ever run: the tables of parameters, and the program's own layer. With sanitizers the
# compiler takes most of the time of all tests: there the standard headers are parsed once for a
# layer, and of whole layers the files of the host's loops alone are optimised.
function(tcsolve_levels NAME OWN APART APART_LEVEL)
  set(apart ${ARGN})
  set(own "")
  set(level -O1)
  if(NOT TCSOLVE_SANITIZE)
    list(FILTER apart INCLUDE REGEX "/(format|register)\\.cpp$|/app/")
  elseif(NAME MATCHES "^(core|comm|configs|operators|solvers|api|app)$")
    set(own -O0)
    list(FILTER apart INCLUDE REGEX "/[^/]*host[^/]*\\.cpp$")
  else()
    set(level -O0)
    list(FILTER apart INCLUDE REGEX "/register\\.cpp$")
  endif()
  set(${OWN} "${own}" PARENT_SCOPE)
  set(${APART} "${apart}" PARENT_SCOPE)
  set(${APART_LEVEL} ${level} PARENT_SCOPE)
endfunction()

# tcsolve_united(OUT NAME cpp|cu source...): with TCSOLVE_UNITY, files of the build tree that include
# the sources of a folder, or of a few small ones, at most eight each; else the sources. Most of a first
# build goes into headers, which are parsed once for them then. C++ of one name, as each format has,
# names its functions alike and stays apart, as do the host's loops over numbers: what the compiler
# makes of a loop must not depend on its neighbours. Sources for the device, whose kernels are compiled
# one by one, go together by layers, four at a time, without the largest. By GCC alone: Clang refuses a
# class that is instantiated where some of its members have been (solvers/driver/).
function(tcsolve_united OUT NAME EXTENSION)
  if(NOT TCSOLVE_UNITY OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set(${OUT} ${ARGN} PARENT_SCOPE)
    return()
  endif()
  set(apart ${ARGN})
  list(FILTER apart INCLUDE REGEX "/([^/]*host[^/]*\\.cpp|(product_[^/]*|persistent[^/]*|batch)\\.cu)$")
  set(sources ${ARGN})
  list(REMOVE_ITEM sources ${apart})
  set(united ${apart})
  set(most 8)
  if(EXTENSION STREQUAL "cu")
    set(most 4)
  endif()
  set(text "")
  set(names "")
  set(folder "")
  foreach(source IN LISTS sources ITEMS "")  # sorted: those of a folder follow each other
    cmake_path(GET source PARENT_PATH there)
    cmake_path(GET source FILENAME name)
    list(LENGTH names length)
    set(foreign FALSE)
    if(EXTENSION STREQUAL "cpp" AND (name IN_LIST names OR (length GREATER 3 AND NOT there STREQUAL folder)))
      set(foreign TRUE)
    endif()
    if(length EQUAL most OR foreign OR (length GREATER 0 AND NOT source))
      list(LENGTH united number)
      set(file "${PROJECT_BINARY_DIR}/united/${NAME}_${number}.${EXTENSION}")
      file(CONFIGURE OUTPUT "${file}" CONTENT "${text}" @ONLY)
      # What lies in an unnamed namespace of an included file is of this one alone, too.
      set_property(SOURCE "${file}" APPEND PROPERTY COMPILE_OPTIONS
        "$<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>")
      list(APPEND united "${file}")
      set(names "")
      set(text "")
    endif()
    list(APPEND names ${name})
    # Relative, so that clones in different places share what ccache keeps.
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${PROJECT_BINARY_DIR}/united" OUTPUT_VARIABLE path)
    string(APPEND text "#include \"${path}\"\n")
    set(folder "${there}")
  endforeach()
  set(${OUT} ${united} PARENT_SCOPE)
endfunction()

# tcsolve_bindings(NAME USES layer...): a directory over the layers that makes libraries of its own.
# USES is what scripts/check-layers lets it include.
function(tcsolve_bindings NAME)
  add_subdirectory("${NAME}")
endfunction()

# An object library; none when there are no sources.
function(tcsolve_objects TARGET)
  if(ARGN)
    add_library(${TARGET} OBJECT ${ARGN})
    target_include_directories(${TARGET} PRIVATE ${TCSOLVE_INCLUDE_DIRS})
    target_link_libraries(${TARGET} PRIVATE tcsolve_private ${TCSOLVE_LINK_PUBLIC} ${TCSOLVE_LINK_PRIVATE})
  endif()
endfunction()

# The static library `tcsolve` (tcsolve::tcsolve): all layers, and either the leaf files of CUDA and
# of METIS or the files that say they are absent. No other place knows which. For tests and benches
# the same objects make the shared library `tcsolve_shared`, bin/lib/libtcsolve.so, so that not each
# of their programs carries every kernel.
function(tcsolve_library)
  if(TCSOLVE_HAVE_CUDA)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/core/cuda/*.cpp")
    foreach(layer IN LISTS TCSOLVE_LAYERS)
      file(GLOB_RECURSE kernels CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${layer}/*.cu")
      tcsolve_united(kernels ${layer} cu ${kernels})
      list(APPEND sources ${kernels})
    endforeach()
  else()
    set(sources "${PROJECT_SOURCE_DIR}/core/cuda_absent.cpp")
  endif()
  tcsolve_objects(tcsolve_cuda ${sources})
  if(TARGET tcsolve_cuda)
    target_link_libraries(tcsolve_cuda PRIVATE ${TCSOLVE_LINK_CUDA})
  endif()

  if(TCSOLVE_HAVE_METIS)
    tcsolve_objects(tcsolve_metis "${PROJECT_SOURCE_DIR}/graph/reorder/metis/graph_partition.cpp")
    target_link_libraries(tcsolve_metis PRIVATE ${TCSOLVE_LINK_METIS})
  else()
    tcsolve_objects(tcsolve_metis "${PROJECT_SOURCE_DIR}/graph/reorder/metis_absent.cpp")
  endif()

  tcsolve_rates()
  tcsolve_loop_rooms()
  set(objects "")
  foreach(layer IN LISTS TCSOLVE_LAYERS ITEMS cuda metis rates)
    if(TARGET tcsolve_${layer})
      list(APPEND objects $<TARGET_OBJECTS:tcsolve_${layer}>)
    endif()
  endforeach()
  tcsolve_kokkos_objects("${PROJECT_SOURCE_DIR}/kernels/host/parallel.cpp" kokkos_objects kokkos_libraries)
  list(APPEND objects ${kokkos_objects})
  set(TCSOLVE_LINK_KOKKOS ${kokkos_libraries} PARENT_SCOPE)
  tcsolve_version_header()
  tcsolve_backends_header()
  if(NOT objects)  # a tree that has headers only
    file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/empty.cpp" CONTENT "")
    list(APPEND objects "${PROJECT_BINARY_DIR}/empty.cpp")
  endif()
  add_library(tcsolve STATIC ${objects})
  add_library(tcsolve::tcsolve ALIAS tcsolve)
  set(libraries tcsolve)
  target_link_libraries(tcsolve PRIVATE ${TCSOLVE_LINK_CUDA})
  if(TCSOLVE_TESTS OR TCSOLVE_BENCH)
    add_library(tcsolve_shared SHARED ${objects})
    list(APPEND libraries tcsolve_shared)
    target_link_libraries(tcsolve_shared PRIVATE ${TCSOLVE_LINK_CUDA_SHARED})
    # It calls its own copies of templates, not those that a test has compiled without optimisation.
    target_link_options(tcsolve_shared PRIVATE -Wl,-Bsymbolic-functions)
    set_target_properties(tcsolve_shared PROPERTIES OUTPUT_NAME tcsolve
      LIBRARY_OUTPUT_DIRECTORY "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/lib" BUILD_RPATH "$ORIGIN")
  endif()
  foreach(library IN LISTS libraries)
    set_target_properties(${library} PROPERTIES LINKER_LANGUAGE CXX)
    if(TARGET tcsolve_kokkos_hidden)
      add_dependencies(${library} tcsolve_kokkos_hidden)
    endif()
    target_compile_features(${library} PUBLIC cxx_std_20)
    target_include_directories(${library} PUBLIC
      "$<BUILD_INTERFACE:${TCSOLVE_INCLUDE_DIRS}>" $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_link_libraries(${library} PUBLIC ${TCSOLVE_LINK_PUBLIC}
      PRIVATE ${TCSOLVE_LINK_PRIVATE} ${TCSOLVE_LINK_METIS} ${kokkos_libraries})
  endforeach()
endfunction()

# build/include/tcsolve/backends.hpp: which backends there are. Apart from version.hpp, which every
# commit changes and few files include.
function(tcsolve_backends_header)
  set(TCSOLVE_HAS_CUDA false)
  if(TCSOLVE_HAVE_CUDA)
    set(TCSOLVE_HAS_CUDA true)
  endif()
  configure_file("${PROJECT_SOURCE_DIR}/cmake/backends.hpp.in" "${TCSOLVE_GENERATED_DIR}/tcsolve/backends.hpp" @ONLY)
endfunction()

# build/include/tcsolve/loop_rooms.hpp and loop_teams.*: what the folders of methods add to the loops
# that run as one kernel, found by the names of files so that no list names a method.
function(tcsolve_loop_rooms)
  set(TCSOLVE_LOOP_INCLUDES "")
  set(TCSOLVE_LOOP_TEAMS "")
  set(TCSOLVE_HOST_TEAMS "")
  set(rooms "")
  foreach(layer formats operators distributed precond solvers)
    file(GLOB lists CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
      "${PROJECT_SOURCE_DIR}/${layer}/loop_ops.hpp" "${PROJECT_SOURCE_DIR}/${layer}/*/loop_ops.hpp")
    foreach(list IN LISTS lists)
      cmake_path(GET list PARENT_PATH folder)
      cmake_path(GET folder FILENAME room)
      string(APPEND TCSOLVE_LOOP_INCLUDES "#include <tcsolve/${list}>\n")
      list(APPEND rooms "loop_rooms::${room}")
    endforeach()
    foreach(teams IN ITEMS "LOOP_TEAMS;team.cuh" "HOST_TEAMS;team.hpp")
      list(POP_BACK teams file)
      file(GLOB found CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
        "${PROJECT_SOURCE_DIR}/${layer}/*/${file}")
      foreach(team IN LISTS found)
        string(APPEND TCSOLVE_${teams} "#include <tcsolve/${team}>\n")
      endforeach()
    endforeach()
  endforeach()
  list(JOIN rooms ", " TCSOLVE_LOOP_ROOMS)
  foreach(header loop_rooms.hpp loop_teams.hpp loop_teams.cuh)
    configure_file("${PROJECT_SOURCE_DIR}/cmake/${header}.in"
      "${TCSOLVE_GENERATED_DIR}/tcsolve/${header}" @ONLY)
  endforeach()
endfunction()

# shipped_rates.cpp: the texts of configs/rates/*.yaml, so that the library needs no files.
function(tcsolve_rates)
  file(GLOB tables CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/configs/rates/*.yaml")
  set(TCSOLVE_RATES "")
  foreach(table IN LISTS tables)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${table}")
    cmake_path(GET table STEM name)
    file(READ "${table}" text)
    string(APPEND TCSOLVE_RATES "  {\"${name}\", R\"yaml(${text})yaml\"},\n")
  endforeach()
  configure_file("${PROJECT_SOURCE_DIR}/cmake/shipped_rates.cpp.in" "${PROJECT_BINARY_DIR}/shipped_rates.cpp" @ONLY)
  tcsolve_objects(tcsolve_rates "${PROJECT_BINARY_DIR}/shipped_rates.cpp")
endfunction()

# build/include/tcsolve/version.hpp, configured again whenever the checked-out commit changes.
function(tcsolve_version_header)
  find_package(Git QUIET)
  set(TCSOLVE_GIT_REVISION "unknown")
  if(Git_FOUND)
    execute_process(COMMAND "${GIT_EXECUTABLE}" -C "${PROJECT_SOURCE_DIR}" rev-parse --short=12 HEAD
      OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed)
      set(TCSOLVE_GIT_REVISION "${revision}")
      execute_process(COMMAND "${GIT_EXECUTABLE}" -C "${PROJECT_SOURCE_DIR}" rev-parse
        --path-format=absolute --git-path logs/HEAD
        OUTPUT_VARIABLE log OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
      if(EXISTS "${log}")
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${log}")
      endif()
    endif()
  endif()
  configure_file("${PROJECT_SOURCE_DIR}/cmake/version.hpp.in" "${TCSOLVE_GENERATED_DIR}/tcsolve/version.hpp" @ONLY)
endfunction()
