"""Depth maps and point clouds from calibrated photos.

    import reconstruct
    disparity = reconstruct.match(left, right, max_disparity=64)        # a rectified pair, as NumPy arrays
    maps = reconstruct.sweep(reference, sources)                        # posed photos, as arrays
    result = reconstruct.run("scene/", quality="draft")                 # a scene in files, as the program does it
    depth = reconstruct.io.read_depth_map("scene/dense/stereo/depth_maps/a.jpg.geometric.bin")

Options are those of the command line, with _ for -: `max_disparity=64` is --max-disparity 64, `fill=True` is --fill. Each call
lets other Python threads run, and Ctrl-C ends it with KeyboardInterrupt. Results are those of the program with the same
inputs, byte for byte, and the same for any number of threads.
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

__all__ = ["DepthMaps", "Device", "DeviceError", "DeviceUnavailable", "Error", "Fusion", "FusionView", "InputError",
           "Interrupted", "OutOfMemory", "OutputError", "Progress", "UsageError", "View", "fuse", "io", "match",
           "opencv_camera", "run", "sweep", "version"]

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
        """For people, such as "CPU, 2 threads, AVX3" (AVX-512)."""
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


class View(NamedTuple):
    """An undistorted photo with its camera."""

    image: Any  #: (height, width) of uint8 or uint16, or (height, width, 3) of uint8, red first
    camera: Any  #: (fx, fy, cx, cy) or a 3x3 matrix, pixels; the first pixel's centre is at (0.5, 0.5), see `opencv_camera`
    pose: Any  #: cam_from_world: [R | t], 3x4 or 4x4, with x_in_cam = R x_in_world + t, as COLMAP has it
    mask: Any = None  #: of a reference: (height, width) of uint8 or bool, 0 where it is ignored


class DepthMaps(NamedTuple):
    """The depth map of a view and what belongs to it; NaN where unknown."""

    depth: NDArray[np.float32]  #: (height, width), z along the viewing axis, scene units
    normal: NDArray[np.float32]  #: (height, width, 3), unit, in the frame of the camera, towards it
    confidence: NDArray[np.float32]  #: (height, width), [0, 1]


class FusionView(NamedTuple):
    """The depth map of a view, of `sweep` or of another program."""

    depth: Any  #: (height, width) of float32, z in scene units; unknown: NaN, infinite, zero or less
    camera: Any  #: as of a View
    pose: Any  #: as of a View
    confidence: Any = None  #: (height, width) of float32 in [0, 1]; None: 1 everywhere
    colour: Any = None  #: an image as of a View; None: the points are black
    mask: Any = None  #: as of a View
    sources: Sequence[int] = ()  #: indices of up to 32 other views that check it, best first; of no view any: they are chosen
    points: Any = ()  #: (n, 3), world: sparse points that the view sees; the depths are compared with them, nothing else


class Fusion(NamedTuple):
    """What fusion makes of depth maps."""

    #: Of each view the depths that others confirm, each the mean with those that agree closely, with normals
    #: that follow from them; small holes are filled.
    checked: "list[DepthMaps]"
    cloud: NDArray[Any]  #: structured: position (3 doubles, world), normal (3), colour (3 uint8), confidence, view_count
    views: NDArray[np.uint32]  #: of each point in turn the indices of its `view_count` views, rising
    #: What seems wrong with the maps: depths in another unit, distances to the camera, scales and shifts of single maps, maps of
    #: other images, or no depths, by comparison of each view with its sparse points, or where these are few, with other views.
    warnings: "list[str]"


def opencv_camera(matrix: Any) -> Tuple[float, float, float, float]:
    """(fx, fy, cx, cy) of a camera matrix of OpenCV, where the centre of the first pixel is (0, 0)."""
    fx, fy, cx, cy = _camera(matrix)
    return fx, fy, cx + 0.5, cy + 0.5


def _camera(camera: Any) -> Tuple[float, float, float, float]:
    numbers = np.asarray(camera, np.float64)
    if numbers.shape == (3, 3):
        if numbers[0, 1] or numbers[1, 0] or not np.array_equal(numbers[2], [0, 0, 1]):
            raise UsageError(f"the camera matrix has skew, or is none: {numbers.tolist()}")
        numbers = numbers[[0, 1, 0, 1], [0, 1, 2, 2]]
    if numbers.shape != (4,):
        raise UsageError(f"a camera is fx, fy, cx, cy or a 3x3 matrix, not of shape {numbers.shape}")
    return tuple(numbers.tolist())


def _pose(pose: Any) -> "list[list[float]]":
    rows = np.asarray(pose, np.float64)
    if rows.shape not in ((3, 4), (4, 4)):
        raise UsageError(f"a pose is [R | t], 3x4 or 4x4, not of shape {rows.shape}")
    return rows[:3].tolist()


def _mask(mask: Any, name: str) -> Optional[NDArray[Any]]:
    if mask is None:
        return None
    array = np.asarray(mask)
    return _image(array.astype(np.uint8) if array.dtype == np.bool_ else array, name)


def _map(values: Any, name: str) -> Optional[NDArray[np.float32]]:
    """The array itself where its rows are contiguous floats, else a copy."""
    if values is None:
        return None
    array = np.asarray(values)
    if array.ndim != 2 or array.dtype.kind not in "fiu":
        raise UsageError(f"{name} is an array of {array.dtype} of shape {array.shape}; it must be (height, width) of float32")
    plain = array.dtype == np.float32 and array.strides[1] == 4 and array.strides[0] >= 4 * array.shape[1]
    if plain and array.flags.aligned and array.strides[0] % 4 == 0:
        return array
    return np.ascontiguousarray(array, np.float32)


def _points(points: Any, name: str) -> NDArray[np.float64]:
    array = np.ascontiguousarray(points, np.float64)
    if array.size and (array.ndim != 2 or array.shape[1] != 3):
        raise UsageError(f"{name} are an array of shape {array.shape}; it must be (n, 3)")
    return array.reshape(-1, 3)


def _native_view(view: Any, name: str) -> Tuple[Any, ...]:
    it = View(*view)
    return _image(it.image, name), _camera(it.camera), _pose(it.pose), _mask(it.mask, f"the mask of {name}")


def sweep(reference: View, sources: Sequence[View], device: Union[str, Device] = "auto", threads: int = 0,
          **options: Option) -> DepthMaps:
    """The depth of a reference view by a plane sweep over 1 to 32 sources, best first.

    reference, sources: a View each, or a tuple (image, camera, pose) with an optional mask of the reference
    device, threads: as of `match`
    options: by name, what belongs to the method planesweep and its depth maps: depth_min and depth_max (without them the
        depths at which there are surfaces are searched for), window, planes, quality and others

    The maps are those before the check across views: give them to `fuse`. They are those of the program's *.photometric.bin,
    bit for bit, with its sources in their order, undistorted images, and the same depth_min and depth_max: without both, the
    program takes the sparse points and all views of the scene too, to find the depths that are searched.

    Raises UsageError, InputError (all cameras in one place), OutOfMemory, DeviceUnavailable, DeviceError.
    """
    others = [_native_view(source, f"source {i}") for i, source in enumerate(sources)]
    return DepthMaps(*_library().sweep(_native_device(device, threads), _native_view(reference, "the reference"), others,
                                       _options(options)))


def fuse(views: Sequence[FusionView], device: Union[str, Device] = "auto", threads: int = 0, **options: Option) -> Fusion:
    """Checks depth maps across views and fuses what is confirmed into a cloud.

    views: a FusionView each, or a tuple (depth, camera, pose, ...), at least 2
    device, threads: as of `match`
    options: by name, of the check and the cloud: min_views, max_depth_error, max_normal_angle, min_confidence, max_hole,
        speckle, min_fused_views, point_spacing, roi, and of the choice of sources

    The points are those that the program makes of the same maps, in its order; there may be none.

    Raises UsageError, InputError (all cameras in one place; next to nothing of the maps agrees), OutOfMemory, DeviceUnavailable, DeviceError.
    """
    given = []
    for i, view in enumerate(views):
        it = FusionView(*view)
        colour = None if it.colour is None else _image(it.colour, f"the colour of view {i}")
        given.append((_map(it.depth, f"the depth map of view {i}"), _camera(it.camera), _pose(it.pose),
                      _map(it.confidence, f"the confidence of view {i}"), colour, _mask(it.mask, f"the mask of view {i}"),
                      [int(source) for source in it.sources], _points(it.points, f"the points of view {i}")))
    checked, cloud, indices, warnings = _library().fuse(_native_device(device, threads), given, _options(options))
    return Fusion([DepthMaps(*maps) for maps in checked], cloud, indices, warnings)


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
