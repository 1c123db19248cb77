# cmake -DPYTHON=FILE -DSOURCE=DIR -DPREFIX=DIR -DDATA=SCENE -DWORK=DIR -P pip_test.cmake
# `pip install tools/python` beside an installed library, and the module that comes out, and the one that is installed with the library.

cmake_minimum_required(VERSION 3.25)

include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

file(REMOVE_RECURSE ${WORK})
file(COPY ${SOURCE}/ DESTINATION ${WORK}/python)
# As far as Debian's packages go: nothing is downloaded.
run(${CMAKE_COMMAND} -E env CMAKE_PREFIX_PATH=${PREFIX} ${PYTHON} -m pip install --no-build-isolation --no-deps --no-index
    --disable-pip-version-check --quiet --target ${WORK}/site ${WORK}/python)
set(code [[
import pathlib, sys
import numpy, reconstruct, reconstruct.io
assert pathlib.Path(reconstruct.__file__).parts[-3] == sys.argv[2], reconstruct.__file__
image = numpy.random.default_rng(1).integers(0, 256, (60, 90), numpy.uint8)
disparity = reconstruct.match(image[:, :-4], image[:, 4:], 8, device="cpu").disparity
assert pathlib.Path(reconstruct.__file__).with_name("_native.pyi").exists() and reconstruct.__version__ == reconstruct.version()
assert abs(numpy.nanmedian(disparity) - 4) < 0.1, disparity
plan = reconstruct.run(sys.argv[1], dry_run=True, device="cpu")
assert len(plan["scenes"][0]["views"]) == 5
]])
foreach(site ${WORK}/site ${PREFIX}/lib/python3/dist-packages)
  get_filename_component(name ${site} NAME)
  run(${CMAKE_COMMAND} -E env PYTHONPATH=${site} PYTHONDONTWRITEBYTECODE=1 ${PYTHON} -c "${code}" ${DATA} ${name})
endforeach()
