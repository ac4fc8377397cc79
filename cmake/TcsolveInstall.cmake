# SPDX-License-Identifier: Apache-2.0
# Headers, library, program and the package `find_package(tcsolve)`.
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/tcsolve")

foreach(layer IN LISTS TCSOLVE_LAYERS)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/${layer}/"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/tcsolve/${layer}" FILES_MATCHING PATTERN "*.hpp")
endforeach()
foreach(header version.hpp backends.hpp loop_rooms.hpp)
  install(FILES "${TCSOLVE_GENERATED_DIR}/tcsolve/${header}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/tcsolve")
endforeach()
install(TARGETS tcsolve EXPORT tcsolveTargets)
if(TARGET tcsolve_program)
  if(TARGET tcsolve_mpi)  # which it loads
    file(RELATIVE_PATH libraries "/prefix/${CMAKE_INSTALL_BINDIR}" "/prefix/${CMAKE_INSTALL_LIBDIR}")
    set_target_properties(tcsolve_program PROPERTIES INSTALL_RPATH "$ORIGIN/${libraries}")
  endif()
  install(TARGETS tcsolve_program)
endif()
install(EXPORT tcsolveTargets NAMESPACE tcsolve:: DESTINATION "${package_dir}")

set(TCSOLVE_KOKKOS_SHARED FALSE)
if("Kokkos::kokkos" IN_LIST TCSOLVE_LINK_KOKKOS)
  set(TCSOLVE_KOKKOS_SHARED TRUE)
endif()
configure_package_config_file(cmake/tcsolveConfig.cmake.in tcsolveConfig.cmake
  INSTALL_DESTINATION "${package_dir}")
configure_file(cmake/tcsolveConfigVersion.cmake.in tcsolveConfigVersion.cmake @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/tcsolveConfig.cmake" "${PROJECT_BINARY_DIR}/tcsolveConfigVersion.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/FindMETIS.cmake" "${PROJECT_SOURCE_DIR}/cmake/TcsolveKokkos.cmake"
  DESTINATION "${package_dir}")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

if(TCSOLVE_HAVE_CUDA)
  get_target_property(cudart CUDA::cudart_static IMPORTED_LOCATION)
  if(NOT cudart)
    set(cudart "${CUDA_cudart_static_LIBRARY}")
  endif()
  file(REAL_PATH "${cudart}" cudart)
  install(FILES "${cudart}" DESTINATION "${CMAKE_INSTALL_LIBDIR}/tcsolve" RENAME libcudart_static.a)
endif()

# pkg-config. A static library, so that what it needs is always linked.
file(RELATIVE_PATH TCSOLVE_PC_PREFIX "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
set(pc_libraries -pthread)
foreach(library IN LISTS CMAKE_DL_LIBS)
  list(APPEND pc_libraries "-l${library}")
endforeach()
if(TCSOLVE_HAVE_METIS)
  list(APPEND pc_libraries -lmetis)
endif()
if(TCSOLVE_HAVE_CUDA)
  list(PREPEND pc_libraries "-L\${libdir}/tcsolve" -lcudart_static)  # a path with spaces is quoted after -L alone
  list(APPEND pc_libraries -lrt)
endif()
if(TCSOLVE_KOKKOS_SHARED)
  foreach(library IN LISTS Kokkos_LIBRARIES)
    list(APPEND pc_libraries "-l${library}")
  endforeach()
endif()
list(JOIN pc_libraries " " TCSOLVE_PC_LIBS)
configure_file(cmake/tcsolve.pc.in tcsolve.pc @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/tcsolve.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
