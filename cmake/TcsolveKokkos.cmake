# SPDX-License-Identifier: Apache-2.0
# Any Kokkos >= 3.4 will do, whatever its devices: tcsolve brings an execution space of its own and
# uses no state of Kokkos (kernels/host/parallel.cpp).

# Sets RESULT to what is wrong with the Kokkos that was found, empty when it will do. Also puts right
# where Kokkos::kokkos says its headers are: Debian's libtrilinos-kokkos-dev names a directory that
# does not exist.
function(tcsolve_check_kokkos RESULT)
  set(${RESULT} "" PARENT_SCOPE)
  if(Kokkos_VERSION VERSION_LESS 3.4)
    set(${RESULT} "Kokkos ${Kokkos_VERSION} in ${Kokkos_DIR} is older than 3.4" PARENT_SCOPE)
    return()
  endif()
  get_target_property(imported Kokkos::kokkos IMPORTED)
  if(NOT imported)
    return()
  endif()
  get_target_property(directories Kokkos::kokkos INTERFACE_INCLUDE_DIRECTORIES)
  find_path(tcsolve_kokkos_include Kokkos_Core.hpp NO_CACHE NO_DEFAULT_PATH
    PATHS ${directories} ${Kokkos_INCLUDE_DIRS} "${Kokkos_DIR}/../../../../include"
    PATH_SUFFIXES trilinos kokkos)
  if(NOT tcsolve_kokkos_include)
    set(${RESULT} "the headers of Kokkos ${Kokkos_VERSION} in ${Kokkos_DIR} are missing" PARENT_SCOPE)
  elseif(NOT tcsolve_kokkos_include IN_LIST directories)
    set_target_properties(Kokkos::kokkos PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${tcsolve_kokkos_include}")
  endif()
endfunction()

# Sets RESULT to the static library of Kokkos, as a target; empty where Kokkos is shared.
function(tcsolve_static_kokkos RESULT)
  set(${RESULT} "" PARENT_SCOPE)
  if(TARGET Kokkos::kokkoscore)
    get_target_property(type Kokkos::kokkoscore TYPE)
    if(type STREQUAL "STATIC_LIBRARY")
      set(${RESULT} Kokkos::kokkoscore PARENT_SCOPE)
    endif()
  endif()
endfunction()

# Sets OBJECTS to those of SOURCE, the file that sees Kokkos, and LIBRARIES to what has to be linked
# with them. A static Kokkos goes into the object with all its names made local: a program may have
# another Kokkos, of any version, or the same one again, and none hears of the other. A shared one is
# linked, so that there is one in the process.
function(tcsolve_kokkos_objects SOURCE OBJECTS LIBRARIES)
  tcsolve_objects(tcsolve_kokkos "${SOURCE}")
  target_link_libraries(tcsolve_kokkos PRIVATE Kokkos::kokkos)
  set(${OBJECTS} $<TARGET_OBJECTS:tcsolve_kokkos> PARENT_SCOPE)
  set(${LIBRARIES} Kokkos::kokkos PARENT_SCOPE)
  tcsolve_static_kokkos(archive)
  if(NOT archive OR NOT CMAKE_OBJCOPY OR TCSOLVE_SANITIZE OR TCSOLVE_FUZZ)
    return()
  endif()
  target_compile_options(tcsolve_kokkos PRIVATE -fno-lto)
  set(linked "${CMAKE_CURRENT_BINARY_DIR}/kokkos_linked.o")
  set(hidden "${CMAKE_CURRENT_BINARY_DIR}/kokkos_hidden.o")
  add_custom_command(OUTPUT "${hidden}"
    COMMAND "${CMAKE_CXX_COMPILER}" -r -nostdlib -fuse-ld=bfd -Wl,--force-group-allocation
      -o "${linked}" $<TARGET_OBJECTS:tcsolve_kokkos> $<TARGET_FILE:${archive}>
    # Names that are unique in a process (static variables of inline functions) can be made local
    # only when they are weak.
    COMMAND "${CMAKE_OBJCOPY}" --wildcard "--weaken-symbol=_ZZ*" "--weaken-symbol=_ZGV*"
      "--weaken-symbol=_ZN6Kokkos*" "--weaken-symbol=_ZN5desul*" "${linked}"
    COMMAND "${CMAKE_OBJCOPY}" --wildcard "--keep-global-symbol=_ZN7tcsolve*" "${linked}" "${hidden}"
    DEPENDS tcsolve_kokkos $<TARGET_OBJECTS:tcsolve_kokkos>
    COMMENT "Hiding Kokkos" VERBATIM)
  set_source_files_properties("${hidden}" PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  add_custom_target(tcsolve_kokkos_hidden DEPENDS "${hidden}")  # made once, for two libraries
  set(${OBJECTS} "${hidden}" PARENT_SCOPE)
  set(${LIBRARIES} ${CMAKE_DL_LIBS} PARENT_SCOPE)
endfunction()
