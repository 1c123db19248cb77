# Decides whether the Python module is built, in tools/python, and installs it.

# The readers of results need no build; the module can be built beside an installed library by pip.
install(DIRECTORY tools/python/ DESTINATION share/reconstruct/python COMPONENT development PATTERN __pycache__ EXCLUDE PATTERN build EXCLUDE
        PATTERN "*.egg-info" EXCLUDE)

# The distribution's Python, which has its packages, unless another one is named.
find_program(RECON_DEBIAN_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
mark_as_advanced(RECON_DEBIAN_PYTHON)
if(RECON_DEBIAN_PYTHON AND NOT DEFINED Python_EXECUTABLE)
  set(Python_EXECUTABLE ${RECON_DEBIAN_PYTHON} CACHE FILEPATH "Python of the module")
endif()

# A module with sanitizers needs an interpreter with them.
set(recon_python ${RECON_PYTHON})
if(RECON_PYTHON STREQUAL AUTO)
  find_package(Python QUIET COMPONENTS Interpreter Development.Module)
  set(PYBIND11_FINDPYTHON ON)
  find_package(pybind11 QUIET)
  if(NOT pybind11_FOUND OR NOT Python_FOUND OR RECON_SANITIZE OR CMAKE_CXX_CLANG_TIDY)
    set(recon_python OFF)
  else()
    set(recon_python ON)
  endif()
endif()
message(STATUS "Python module: ${recon_python}")
if(recon_python)
  add_subdirectory(tools/python)
endif()
