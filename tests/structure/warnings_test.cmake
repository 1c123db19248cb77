# cmake -DSOURCE=DIR -DWORK=DIR -P warnings_test.cmake
# Compilers and libraries that nobody tried have other warnings: they end a build only where RECON_WERROR asks for it.

cmake_minimum_required(VERSION 3.25)

# The flags of a target that uses the options of all targets.
function(flags_of folder output)
  file(WRITE ${WORK}/${folder}/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)
project(probe LANGUAGES CXX)
include(${SOURCE}/tools/cmake/ReconOptions.cmake)
file(WRITE \${CMAKE_BINARY_DIR}/probe.cpp \"int main() {}\")
add_executable(probe \${CMAKE_BINARY_DIR}/probe.cpp)
target_link_libraries(probe recon_options)
")
  execute_process(COMMAND ${CMAKE_COMMAND} -G Ninja -S ${WORK}/${folder} -B ${WORK}/${folder}/build ${ARGN}
                  RESULT_VARIABLE result ERROR_VARIABLE error OUTPUT_QUIET)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${error}")
  endif()
  file(READ ${WORK}/${folder}/build/compile_commands.json flags)
  if(NOT flags MATCHES "-Wshadow")
    message(FATAL_ERROR "no warnings are asked for: ${flags}")
  endif()
  set(${output} "${flags}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
flags_of(default flags)
if(flags MATCHES "-Werror")
  message(FATAL_ERROR "warnings are errors by default: ${flags}")
endif()
flags_of(strict flags -DRECON_WERROR=ON)
if(NOT flags MATCHES "-Werror")
  message(FATAL_ERROR "RECON_WERROR=ON does not make warnings errors: ${flags}")
endif()
file(READ ${SOURCE}/tools/check check)
if(NOT check MATCHES "RECON_WERROR=ON")
  message(FATAL_ERROR "tools/check builds without RECON_WERROR=ON")
endif()
