# Where libraries are installed, and to which package what is installed belongs.

# Debian's folder for the libraries of an architecture, below any prefix: packages of several can be installed at once.
if(EXISTS /etc/debian_version AND CMAKE_LIBRARY_ARCHITECTURE)
  set(CMAKE_INSTALL_LIBDIR lib/${CMAKE_LIBRARY_ARCHITECTURE} CACHE PATH "Libraries, below the prefix")
endif()
include(GNUInstallDirs)

# The others are `library`, `development` and `python`; see ReconPackaging.cmake.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME program)
