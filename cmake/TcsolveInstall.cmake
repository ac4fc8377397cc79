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
  install(TARGETS tcsolve_program)
endif()
install(EXPORT tcsolveTargets NAMESPACE tcsolve:: DESTINATION "${package_dir}")

get_filename_component(TCSOLVE_KOKKOS_DIR "${Kokkos_DIR}" ABSOLUTE)
configure_package_config_file(cmake/tcsolveConfig.cmake.in tcsolveConfig.cmake
  INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file(tcsolveConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/tcsolveConfig.cmake" "${PROJECT_BINARY_DIR}/tcsolveConfigVersion.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/FindMETIS.cmake"
  DESTINATION "${package_dir}")
