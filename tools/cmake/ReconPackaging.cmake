# The packages that `cpack` makes: a .tar.gz with all, and four .deb: programs, library, what is needed to compile with it, and the
# Python module. Programs, library and module are installed where they are defined.

install(FILES README.md CHANGELOG.md CONTRIBUTING.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
install(DIRECTORY scenes/demo DESTINATION share/reconstruct/scenes)
# Pages, examples, results and pictures where README.md links to them.
install(DIRECTORY tools/docs DESTINATION ${CMAKE_INSTALL_DOCDIR}/tools FILES_MATCHING PATTERN "*.md" PATTERN "*.jpg" PATTERN "*.txt")
install(FILES ${PROJECT_BINARY_DIR}/manual/reference.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/tools/docs)
install(DIRECTORY tools/examples DESTINATION ${CMAKE_INSTALL_DOCDIR}/tools)
install(FILES scenes/demo.png DESTINATION ${CMAKE_INSTALL_DOCDIR}/scenes)
install(FILES tools/packages.txt DESTINATION ${CMAKE_INSTALL_DOCDIR}/tools)
install(FILES tools/cluster/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/tools/cluster)
install(DIRECTORY tests/bench/results DESTINATION ${CMAKE_INSTALL_DOCDIR}/tests/bench FILES_MATCHING PATTERN "*.md" PATTERN "*.json")

# Placeholders: whoever publishes packages sets both; tools/release insists.
set(RECON_MAINTAINER "reconstruct developers <reconstruct@example.org>" CACHE STRING "Name and address in packages")
set(RECON_HOMEPAGE "https://example.org/reconstruct" CACHE STRING "Homepage in packages")

set(CPACK_GENERATOR TGZ DEB)
set(CPACK_PACKAGE_VENDOR "The reconstruct authors")
set(CPACK_PACKAGE_CONTACT ${RECON_MAINTAINER})
set(CPACK_PACKAGE_DESCRIPTION_FILE ${PROJECT_SOURCE_DIR}/tools/cmake/description.txt)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
# Files of the time of the sources, where SOURCE_DATE_EPOCH has it.
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/tools/cmake/PackageTimes.cmake)

# recon_debian_package(COMPONENT NAME SECTION CONTENT [DEPENDS ...])
function(recon_debian_package component name section content)
  cmake_parse_arguments(ARG "" "" "DEPENDS" ${ARGN})
  string(TOUPPER ${component} key)
  list(JOIN ARG_DEPENDS ", " depends)
  file(READ ${PROJECT_SOURCE_DIR}/tools/cmake/description.txt description)
  set(CPACK_DEBIAN_${key}_PACKAGE_NAME ${name} PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_PACKAGE_SECTION ${section} PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_PACKAGE_DEPENDS "${depends}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_DESCRIPTION "${description}\nThis package has ${content}." PARENT_SCOPE)
  if(NOT component STREQUAL "program")
    # Programs have more documents; each package has the licence.
    install(FILES LICENSE DESTINATION share/doc/${name} COMPONENT ${component} RENAME copyright)
  endif()
endfunction()

set(library_package libreconstruct${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(same "(= ${PROJECT_VERSION})")
set(CPACK_COMPONENTS_ALL program library development)
recon_debian_package(program reconstruct graphics "the programs and the documents" DEPENDS "${library_package} ${same}")
recon_debian_package(library ${library_package} libs "the library and the image formats")
recon_debian_package(development libreconstruct-dev libdevel "the headers, and what CMake needs to find the library"
  DEPENDS "${library_package} ${same}")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS python3-reconstruct)
if(TARGET reconstruct_native)
  list(APPEND CPACK_COMPONENTS_ALL python)
  # The module is for this Python alone.
  math(EXPR next_minor "${Python_VERSION_MINOR} + 1")
  recon_debian_package(python python3-reconstruct python "the module for Python"
    DEPENDS "${library_package} ${same}" "python3 (>= ${Python_VERSION_MAJOR}.${Python_VERSION_MINOR})"
            "python3 (<< ${Python_VERSION_MAJOR}.${next_minor})" python3-numpy)
endif()
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_HOMEPAGE ${RECON_HOMEPAGE})
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# The Python module uses the library of the packages.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
include(CPack)
