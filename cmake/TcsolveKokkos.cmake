# SPDX-License-Identifier: Apache-2.0
# Sets RESULT to what is wrong with the Kokkos that was found, empty when it will do. A serial-only
# build (such as Debian 12's libtrilinos-kokkos-dev) would leave all cores but one idle.
function(tcsolve_check_kokkos RESULT)
  set(problem "")
  if(Kokkos_VERSION VERSION_LESS 3.4)
    set(problem "Kokkos ${Kokkos_VERSION} is older than 3.4")
  elseif(NOT "${Kokkos_DEVICES}" MATCHES "OPENMP|THREADS|OpenMP|Threads")
    set(problem "Kokkos ${Kokkos_VERSION} in ${Kokkos_DIR} is not parallel (devices: ${Kokkos_DEVICES})")
  endif()
  set(${RESULT} "${problem}" PARENT_SCOPE)
endfunction()
