# The packages that `cpack` makes: .tar.gz and .deb. The programs are installed where they are defined, in tools/.

include(GNUInstallDirs)
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
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_HOMEPAGE ${RECON_HOMEPAGE})
set(CPACK_DEBIAN_PACKAGE_SECTION graphics)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# The Python module uses the library of the package itself.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3-numpy")
include(CPack)
