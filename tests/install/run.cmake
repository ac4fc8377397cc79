# SPDX-License-Identifier: Apache-2.0
# cmake -D BUILD=... -D GENERATOR=... -D CXX=... -P run.cmake: install, build the consumer, run it.
set(work "${BUILD}/install-test")
file(REMOVE_RECURSE "${work}")
# The consumer's source is the example of the README, so that the example is always one that works.
file(READ "${CMAKE_CURRENT_LIST_DIR}/../../README.md" readme)
string(FIND "${readme}" "```cpp\n" begin)
string(SUBSTRING "${readme}" ${begin} -1 readme)
string(REGEX REPLACE "^```cpp\n" "" readme "${readme}")
string(FIND "${readme}" "```" end)
string(SUBSTRING "${readme}" 0 ${end} example)
file(WRITE "${work}/main.cpp" "${example}")
foreach(step
    "--install|${BUILD}|--prefix|${work}/prefix"
    "-S|${CMAKE_CURRENT_LIST_DIR}|-B|${work}/build|-G|${GENERATOR}|-DCMAKE_CXX_COMPILER=${CXX}|-DCMAKE_BUILD_TYPE=Release|-DCMAKE_PREFIX_PATH=${work}/prefix|-DSOURCE=${work}/main.cpp"
    "--build|${work}/build")
  string(REPLACE "|" ";" arguments "${step}")
  execute_process(COMMAND "${CMAKE_COMMAND}" ${arguments} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
execute_process(COMMAND "${work}/build/consumer" COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE_RECURSE "${work}")
