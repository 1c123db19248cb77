# cmake -DBUILD=DIR -DSOURCE=DIR -DVERSION=X.Y.Z -DWORK=DIR -P release_test.cmake
# Makes the files of a release from a build, and looks whether all are there and of one version.

cmake_minimum_required(VERSION 3.25)

include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

file(REMOVE_RECURSE ${WORK})
run(${SOURCE}/tools/release --trial --build ${BUILD} ${WORK}/files)
foreach(file reconstruct_${VERSION}_*.deb libreconstruct*_${VERSION}_*.deb libreconstruct-dev_${VERSION}_*.deb
        python3-reconstruct_${VERSION}_*.deb reconstruct-${VERSION}.spdx.json reconstruct-${VERSION}-*.tar.gz reconstruct-${VERSION}-*.whl
        reconstruct-${VERSION}-cpu-image.tar.gz reconstruct-${VERSION}-cuda-image.tar.gz SHA256SUMS)
  file(GLOB found ${WORK}/files/${file})
  if(NOT found)
    message(FATAL_ERROR "${file} is not among the files of the release:\n${output}")
  endif()
endforeach()
foreach(image cpu cuda)
  file(ARCHIVE_EXTRACT INPUT ${WORK}/files/reconstruct-${VERSION}-${image}-image.tar.gz DESTINATION ${WORK}/${image})
  file(READ ${WORK}/${image}/Dockerfile recipe)
  if(NOT recipe MATCHES "FROM debian:12" OR NOT EXISTS ${WORK}/${image}/src/CMakeLists.txt OR EXISTS ${WORK}/${image}/build)
    message(FATAL_ERROR "the ${image} image cannot be built from its archive")
  endif()
endforeach()
file(GLOB wheel ${WORK}/files/*.whl)
file(ARCHIVE_EXTRACT INPUT ${wheel} DESTINATION ${WORK}/wheel)
file(STRINGS ${WORK}/wheel/reconstruct-${VERSION}.dist-info/METADATA version REGEX "^Version: ${VERSION}$")
if(NOT version)
  message(FATAL_ERROR "the wheel is not of version ${VERSION}")
endif()
