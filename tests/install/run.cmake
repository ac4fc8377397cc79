# SPDX-License-Identifier: Apache-2.0
# cmake -D BUILD=... -D GENERATOR=... -D CXX=... -P run.cmake: install, build the consumer, run it.
set(work "${BUILD}/install-test")
file(REMOVE_RECURSE "${work}")
# The consumer's sources are the examples of these pages, so that an example is always one that works.
set(pages README.md docs/03-many-systems.md docs/04-from-cpp.md docs/reordering.md)
foreach(page IN LISTS pages)
  file(READ "${CMAKE_CURRENT_LIST_DIR}/../../${page}" text)
  string(FIND "${text}" "```cpp\n" begin)
  string(SUBSTRING "${text}" ${begin} -1 text)
  string(REGEX REPLACE "^```cpp\n" "" text "${text}")
  string(FIND "${text}" "```" end)
  string(SUBSTRING "${text}" 0 ${end} example)
  cmake_path(GET page STEM name)
  file(WRITE "${work}/examples/${name}.cpp" "${example}")
endforeach()
foreach(step
    "--install|${BUILD}|--prefix|${work}/prefix"
    "-S|${CMAKE_CURRENT_LIST_DIR}|-B|${work}/build|-G|${GENERATOR}|-DCMAKE_CXX_COMPILER=${CXX}|-DCMAKE_BUILD_TYPE=Release|-DCMAKE_PREFIX_PATH=${work}/prefix|-DEXAMPLES=${work}/examples"
    "--build|${work}/build")
  string(REPLACE "|" ";" arguments "${step}")
  execute_process(COMMAND "${CMAKE_COMMAND}" ${arguments} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
foreach(page IN LISTS pages)
  cmake_path(GET page STEM name)
  execute_process(COMMAND "${work}/build/${name}" COMMAND_ERROR_IS_FATAL ANY)
endforeach()
file(REMOVE_RECURSE "${work}")
