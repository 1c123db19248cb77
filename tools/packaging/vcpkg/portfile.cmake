vcpkg_from_github(
  OUT_SOURCE_PATH SOURCE_PATH
  REPO OWNER/reconstruct
  REF "v${VERSION}"
  SHA512 0
  HEAD_REF main)

if("cuda" IN_LIST FEATURES)
  set(cuda ON)
else()
  set(cuda OFF)
endif()

# The image formats are a module that is loaded, and so the library is a shared one.
vcpkg_check_linkage(ONLY_DYNAMIC_LIBRARY)

vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    -DRECON_CUDA=${cuda}
    -DRECON_PYTHON=OFF
    -DRECON_BUILD_TESTS=OFF
    "-DRECON_COMMIT=v${VERSION}"
    -DCMAKE_INSTALL_LIBDIR=lib
  MAYBE_UNUSED_VARIABLES CMAKE_INSTALL_LIBDIR)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME reconstruct CONFIG_PATH lib/cmake/reconstruct)
if("tools" IN_LIST FEATURES)
  vcpkg_copy_tools(TOOL_NAMES reconstruct reconstruct-evaluate reconstruct-render AUTO_CLEAN)
endif()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share" "${CURRENT_PACKAGES_DIR}/bin"
  "${CURRENT_PACKAGES_DIR}/debug/bin")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
