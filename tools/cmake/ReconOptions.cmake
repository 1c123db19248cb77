# Compiler settings of all targets, through one interface target.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

find_program(RECON_CCACHE ccache)
mark_as_advanced(RECON_CCACHE)
if(RECON_CCACHE)
  foreach(language CXX CUDA)
    if(NOT CMAKE_${language}_COMPILER_LAUNCHER)
      # ccache keeps what was made with precompiled headers under these settings only.
      set(CMAKE_${language}_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${RECON_CCACHE})
    endif()
  endforeach()
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CUDA_STANDARD 17)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  # Vectors of SVE have no size that the compiler knows, so that they cannot be members: all processors run NEON.
  add_compile_definitions("HWY_DISABLED_TARGETS=HWY_SVE|HWY_SVE2|HWY_SVE_256|HWY_SVE2_128")
else()
  # Processors with SSSE3 and without SSE4 are older than 2008: they run scalar code.
  add_compile_definitions(HWY_DISABLED_TARGETS=HWY_SSSE3)
endif()

add_library(recon_options INTERFACE)
target_include_directories(recon_options INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}
  ${PROJECT_SOURCE_DIR}/src/core/public)
option(RECON_PACKAGE "For packages: the same sources make the same bytes in any folder, and kernels are small" OFF)
set(recon_paths "")
set(recon_kernel_form -lineinfo)
if(RECON_PACKAGE)
  set(recon_paths -ffile-prefix-map=${PROJECT_BINARY_DIR}=build -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.)
  # The numbers of lines come with paths, and take more memory than the kernels.
  set(recon_kernel_form "$<$<VERSION_GREATER_EQUAL:$<CUDA_COMPILER_VERSION>,12.8>:--compress-mode=size>")
  # A path of the build folder would leave its length in what is installed.
  set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
endif()
option(RECON_WERROR "Warnings are errors, as in tools/check: other compilers and libraries than Debian's have others" OFF)
set(recon_warnings -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion)
set(recon_kernel_warnings "")
if(RECON_WERROR)
  list(APPEND recon_warnings -Werror)
  set(recon_kernel_warnings "--Werror=all-warnings,cross-execution-space-call")
endif()
# No contraction to FMA: results must not depend on the processor, nor differ between CPU and GPU.
target_compile_options(recon_options INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:${recon_warnings};${recon_paths};-ffp-contract=off>"
  # ccache needs it of g++ where headers are precompiled.
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>
  # g++ 12 takes the joining of strings for copies that overlap or are too long (its bug 105651).
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict -Wno-array-bounds -Wno-stringop-overflow>)
target_compile_options(recon_options INTERFACE
  "$<$<COMPILE_LANGUAGE:CUDA>:--fmad=false;${recon_kernel_warnings};${recon_kernel_form};-Xcompiler=-Wall,-Wextra,-ffp-contract=off>"
  "$<$<COMPILE_LANGUAGE:CUDA>:$<$<BOOL:${recon_paths}>:-Xcompiler=$<JOIN:${recon_paths},$<COMMA>>>>")

if(RECON_SANITIZE)
  target_compile_options(recon_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${RECON_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer>
    # Under the sanitizers g++ 12 loses track of what the standard library has set.
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>)
  target_link_options(recon_options INTERFACE -fsanitize=${RECON_SANITIZE})
endif()

option(RECON_JOIN_SOURCES "Compile source files eight at a time: faster from scratch, slower after a change" ON)

# recon_join_sources(target): most of the time of small files goes into the headers that they share. Names in the anonymous
# namespaces of a target must differ. Highway includes a file once for each instruction set, so these stand alone, and so do
# kernels, which CMake joins since 3.31; clang-tidy looks at each file by itself.
function(recon_join_sources target)
  if(NOT RECON_JOIN_SOURCES OR CMAKE_CXX_CLANG_TIDY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    file(STRINGS ${source} vector_code REGEX "hwy/foreach_target.h" LIMIT_COUNT 1)
    if(vector_code OR source MATCHES "\\.cu$")
      set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()
endfunction()

# recon_library(NAME SOURCES... [LINK targets...]): one module.
function(recon_library name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC recon_options ${ARG_LINK})
  recon_join_sources(${name})
endfunction()

# recon_light_optimization(targets...): for code that runs once a view or a file. It compiles in two thirds of the time.
function(recon_light_optimization)
  foreach(target ${ARGN})
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  endforeach()
endfunction()
