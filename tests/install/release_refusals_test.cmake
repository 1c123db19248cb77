# cmake -DBUILD=DIR -DSOURCE=DIR -DWORK=DIR -P release_refusals_test.cmake
# What would be no release is refused before the work.

cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE ${WORK})
# Sources that have changes, or are no work tree of git.
file(COPY ${SOURCE}/tools/release DESTINATION ${WORK}/no_release/tools)
file(COPY ${SOURCE}/tools/python/pyproject.toml DESTINATION ${WORK}/no_release/tools/python)
execute_process(COMMAND ${CMAKE_COMMAND} -E env GIT_CEILING_DIRECTORIES=${WORK} ${WORK}/no_release/tools/release ${WORK}/refused
                RESULT_VARIABLE result ERROR_VARIABLE error)
if(NOT result EQUAL 1 OR NOT error MATCHES "no git work tree")
  message(FATAL_ERROR "tools/release ended with ${result}: ${error}")
endif()

# A build that may be an old one.
execute_process(COMMAND ${SOURCE}/tools/release --build ${BUILD} ${WORK}/refused RESULT_VARIABLE result ERROR_VARIABLE error)
if(NOT result EQUAL 2 OR NOT error MATCHES "--build goes with --trial")
  message(FATAL_ERROR "tools/release --build ended with ${result}: ${error}")
endif()
# A folder with other files.
file(WRITE ${WORK}/files/other "")
execute_process(COMMAND ${SOURCE}/tools/release --trial --build ${BUILD} ${WORK}/files RESULT_VARIABLE result ERROR_VARIABLE error)
if(NOT result EQUAL 1 OR NOT error MATCHES "is not empty")
  message(FATAL_ERROR "tools/release ended with ${result}: ${error}")
endif()
