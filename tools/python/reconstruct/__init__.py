"""Depth maps and point clouds from calibrated photos.

    import reconstruct
    disparity = reconstruct.match(left, right, max_disparity=64)        # a rectified pair, as NumPy arrays
    result = reconstruct.run("scene/", quality="draft")                 # a scene in files, as the program does it
    depth = reconstruct.io.read_depth_map("scene/dense/stereo/depth_maps/a.jpg.geometric.bin")

Options are those of the command line, with _ for -: `max_disparity=64` is --max-disparity 64, `fill=True` is --fill. Each call
lets other Python threads run, and Ctrl-C ends it with KeyboardInterrupt. Results are those of the program, byte for byte, and
the same for any number of threads.
"""

from __future__ import annotations

import functools
import json
import os
from typing import Any, Callable, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from . import io
from .errors import (DeviceError, DeviceUnavailable, Error, InputError, Interrupted, OutOfMemory, OutputError,
                     UsageError)

try:
    from . import _native
except ImportError as _error:  # the readers of reconstruct.io need NumPy alone
    _native = None  # type: ignore[assignment]
    _why_none = str(_error)

__all__ = ["Device", "DeviceError", "DeviceUnavailable", "Error", "InputError", "Interrupted", "OutOfMemory",
           "OutputError", "Progress", "UsageError", "io", "match", "run", "version"]

PathLike = Union[str, "os.PathLike[str]"]
Option = Union[str, bool, int, float, "os.PathLike[str]", Sequence[Union[str, int, float]], None]


def _library() -> Any:
    if _native is None:
        raise ImportError(f"the library cannot be loaded ({_why_none}): build with -DRECON_PYTHON=ON, or install the library "
                          "and then `pip install tools/python`; reconstruct.io works without")
    return _native


def version() -> str:
    """The version of the library, such as "0.1.0"."""
    return _library().version()


class Device:
    """The CPU, or GPUs that are open: what calls compute on.

    Calls that are given a name open the device once and keep it; make one yourself to set its memory.

    device: "auto" (every usable GPU, else the CPU), "cpu", "cuda", or GPUs such as "cuda:0,2"
    threads: the most; 0: as many as there are processors
    memory_limit, gpu_memory_limit: the most bytes of host memory and of each GPU; None: what is there

    Raises UsageError, DeviceUnavailable. Several threads may use one device.
    """

    def __init__(self, device: str = "auto", threads: int = 0, memory_limit: Optional[int] = None,
                 gpu_memory_limit: Optional[int] = None) -> None:
        self._opened = _library().Device(device, threads, memory_limit, gpu_memory_limit)

    @property
    def name(self) -> str:
        """For people, such as "CPU, 2 threads, AVX-512"."""
        return self._opened.name

    def __repr__(self) -> str:
        return f"<reconstruct.Device {self.name}>"


@functools.lru_cache(maxsize=4)
def _opened(device: str, threads: int) -> Device:
    return Device(device, threads)


def _native_device(device: Union[str, Device], threads: int) -> Any:
    if isinstance(device, Device):
        if threads:
            raise UsageError("threads are those of the device, which is given")
        return device._opened
    return _opened(device, threads)._opened


def _text(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    if isinstance(value, (list, tuple)):
        return ",".join(_text(part) for part in value)
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def _options(given: Mapping[str, Any]) -> "dict[str, str]":
    """Options as the command line has them; those that are None are not given."""
    return {name.replace("_", "-"): _text(value) for name, value in given.items() if value is not None}


def _image(image: Any, name: str) -> NDArray[Any]:
    """The array itself where its rows are contiguous, else a copy."""
    array = np.asarray(image)
    colour = array.ndim == 3 and array.shape[2] == 3 and array.dtype == np.uint8
    grey = array.ndim == 2 and array.dtype.kind == "u" and array.dtype.itemsize <= 2
    if not (colour or grey):
        raise UsageError(f"{name} is an array of {array.dtype} of shape {array.shape}; it must be (height, width) of uint8 or "
                         "uint16, or (height, width, 3) of uint8, red first")
    pixel = array.itemsize * (3 if colour else 1)
    plain = array.strides[1] == pixel and array.strides[0] >= pixel * array.shape[1] and array.dtype.isnative
    aligned = array.flags.aligned and array.strides[0] % array.itemsize == 0
    if plain and aligned and (not colour or array.strides[2] == 1):
        return array
    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))


def match(left: Any, right: Any, max_disparity: int, min_disparity: Optional[int] = None, method: Optional[str] = None,
          device: Union[str, Device] = "auto", threads: int = 0, return_filled: bool = False,
          **options: Option) -> Union[NDArray[np.float32], Tuple[NDArray[np.float32], Optional[NDArray[np.uint8]]]]:
    """Matches a rectified pair.

    left, right: arrays of one size: (height, width) of uint8 or uint16, or (height, width, 3) of uint8 in the order red,
        green, blue (of an image of OpenCV: image[..., ::-1]). They are not copied where their rows are contiguous.
    min_disparity, max_disparity: searched is min <= d < max, pixels, with x_right = x_left - d
    method: "sgm" (the default), "bm", "bp" or "pipeline"
    device: a name as for Device, or a Device; threads: with a name, the most, 0: as many as there are processors
    return_filled: also returns where a disparity was filled in or replaced (255, else 0), None without fill=True
    options: others by name, such as fill=True, p1=9, preset="ad-census", roi=(0, 0, 640, 480)

    Returns the disparities of the left image: (height, width) of float32, pixels, NaN where unknown. They are those of the
    program's disparity.pfm, bit for bit.

    Raises UsageError, OutOfMemory, DeviceUnavailable, DeviceError.
    """
    given = _options(dict(options, max_disparity=max_disparity, min_disparity=min_disparity, method=method))
    disparity, filled = _library().match(_native_device(device, threads), _image(left, "left"), _image(right, "right"), given)
    return (disparity, filled) if return_filled else disparity


class Progress(NamedTuple):
    """How far a step of a scene is."""

    step: str  #: such as "depth maps"
    done: int
    total: int
    seconds: float  #: since the step began
    left: float  #: seconds that it will still take, predicted; 0: unknown, or none


def run(scene: Union[PathLike, Sequence[PathLike]], *, progress: Optional[Callable[[Progress], Any]] = None,
        message: Optional[Callable[[str, str], Any]] = None, **options: Option) -> "dict[str, Any]":
    """Reconstructs scenes and rectified pairs in files, as the program does: `reconstruct SCENE --OPTION VALUE`.

    scene: the folder of a scene or a pair, or of several; or a list of them, or of the two images of a pair
    progress: is called with a Progress as often as a view is done
    message: is called with "debug", "info", "warning" or "error" and a text
    options: by name, such as output="out", quality="draft", device="cpu", threads=4, memory_limit="4GiB", dry_run=True

    Both functions are called one at a time, from other threads; what they raise ends the run and is raised.
    Returns what `reconstruct --json` prints: "scenes" with an entry for each, and "exit_code": 0, or 7 where some views or
    scenes failed. One run at a time in a process; others wait.

    Raises Error and its kinds where nothing has results. After Ctrl-C what was finished is kept, and the same call goes on.
    """
    inputs = [scene] if isinstance(scene, (str, os.PathLike)) else list(scene)
    levels = ("debug", "info", "warning", "error")
    on_progress = None if progress is None else lambda *values: progress(Progress(*values))
    on_message = None if message is None else lambda level, text: message(levels[level], text)
    _, result = _library().run([os.fspath(path) for path in inputs], _options(options), on_progress, on_message)
    return json.loads(result)
