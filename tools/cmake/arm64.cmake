# For arm64 on another processor: Debian's compiler g++-aarch64-linux-gnu, the libraries of an unpacked system, and qemu for the
# programs that the build runs itself (the manual, the names of tests). tools/packaging/arm64 makes that system.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

set(RECON_ARM64_SYSTEM ${CMAKE_CURRENT_LIST_DIR}/../../build/arm64-system CACHE PATH "Debian for arm64, unpacked")
# The small projects by which CMake tries the compiler have it too.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES RECON_ARM64_SYSTEM)
get_filename_component(CMAKE_SYSROOT ${RECON_ARM64_SYSTEM} ABSOLUTE)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L ${CMAKE_SYSROOT})
