# SPDX-License-Identifier: Apache-2.0
# cmake -D BUILD=... -D GENERATOR=... -D CXX=... -P run.cmake: install, build the consumer, run it.
set(work "${BUILD}/install-test")
file(REMOVE_RECURSE "${work}")
foreach(step
    "--install|${BUILD}|--prefix|${work}/prefix"
    "-S|${CMAKE_CURRENT_LIST_DIR}|-B|${work}/build|-G|${GENERATOR}|-DCMAKE_CXX_COMPILER=${CXX}|-DCMAKE_BUILD_TYPE=Release|-DCMAKE_PREFIX_PATH=${work}/prefix"
    "--build|${work}/build")
  string(REPLACE "|" ";" arguments "${step}")
  execute_process(COMMAND "${CMAKE_COMMAND}" ${arguments} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
execute_process(COMMAND "${work}/build/consumer" COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE_RECURSE "${work}")
