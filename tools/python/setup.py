"""Builds the part of the module that calls the library: needs the installed library, CMake, a C++20 compiler and pybind11.

CMAKE_PREFIX_PATH names the folder that the library is installed in, where that is not /usr or /usr/local; CMAKE_ARGS has further
arguments of CMake, quoted as a shell has them. With RECONSTRUCT_READERS_ONLY=1 nothing is built: only reconstruct.io works then.
"""

import os
import shlex
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext


class BuildNative(build_ext):
    """CMake builds the extension, and finds library and pybind11."""

    def build_extension(self, ext):
        target = Path(self.get_ext_fullpath(ext.name)).resolve()
        build = Path(self.build_temp).resolve()
        build.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cmake", "-S", str(Path(__file__).parent.resolve()), "-B", str(build), "-DCMAKE_BUILD_TYPE=Release",
                        f"-DPython_EXECUTABLE={sys.executable}", f"-DCMAKE_LIBRARY_OUTPUT_DIRECTORY={target.parent}",
                        *shlex.split(os.environ.get("CMAKE_ARGS", ""))], check=True)
        subprocess.run(["cmake", "--build", str(build)], check=True)


readers_only = os.environ.get("RECONSTRUCT_READERS_ONLY") == "1"
setup(ext_modules=[] if readers_only else [Extension("reconstruct._native", sources=[])],
      cmdclass={"build_ext": BuildNative})
