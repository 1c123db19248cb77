# cmake -DBUILD=DIR -DEXAMPLES=DIR -DDATA=SCENE -DWORK=DIR -P examples_test.cmake
# Installs a build, builds the examples against it in a folder of its own, and compares what they compute with the program's.

cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE error)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}: ended with ${result}\n${output}\n${error}")
  endif()
  set(output "${output}" PARENT_SCOPE)
  set(error "${error}" PARENT_SCOPE)
endfunction()

function(expect_same a b)
  execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files ${a} ${b} RESULT_VARIABLE differs)
  if(differs)
    message(FATAL_ERROR "${a} and ${b} differ")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
set(prefix ${WORK}/prefix)
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix} --strip)
file(COPY ${EXAMPLES}/ DESTINATION ${WORK}/examples)
run(${CMAKE_COMMAND} -S ${WORK}/examples -B ${WORK}/build -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_BUILD_TYPE=Release
    -DCMAKE_CXX_FLAGS=-Wall\ -Wextra\ -Werror)
run(${CMAKE_COMMAND} --build ${WORK}/build)

# All that the library exports is of its namespace.
file(GLOB library ${prefix}/lib*/libreconstruct.so ${prefix}/lib/*/libreconstruct.so)
find_program(nm nm REQUIRED)
run(${nm} --dynamic --defined-only --demangle ${library})
string(REGEX REPLACE "[0-9a-f]* [A-Za-z] ((typeinfo|vtable|typeinfo name) for )?reconstruct::[^\n]*\n" "" others "${output}")
if(NOT others STREQUAL "")
  message(FATAL_ERROR "${library} exports more than its own namespace:\n${others}")
endif()
if(NOT output MATCHES "reconstruct::match")
  message(FATAL_ERROR "${library} does not export its calls:\n${output}")
endif()

set(left ${DATA}/images/view00.png)
set(right ${DATA}/images/view01.png)
set(program ${prefix}/bin/reconstruct)
run(${program} ${left} ${right} --max-disparity 16 --device cpu --output ${WORK}/pair)
run(${WORK}/build/pair_to_disparity ${left} ${right} 16 ${WORK}/disparity.pfm)
expect_same(${WORK}/disparity.pfm ${WORK}/pair/disparity.pfm)

set(options quality=draft device=cpu)
run(${program} ${DATA} --quality draft --device cpu --output ${WORK}/dense)
run(${WORK}/build/scene_to_cloud ${DATA} ${WORK}/cloud ${options})
if(NOT output MATCHES "depth maps: 1 of" OR NOT error STREQUAL "")
  message(FATAL_ERROR "scene_to_cloud does not show its progress, or says too much:\n${output}\n${error}")
endif()
foreach(file fused.ply fused.ply.vis)
  expect_same(${WORK}/dense/${file} ${WORK}/cloud/${file})
endforeach()
