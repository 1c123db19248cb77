"""Depth maps and point clouds from calibrated photos.

    import reconstruct
    disparity = reconstruct.match(left, right, max_disparity=64).disparity  # a rectified pair, as NumPy arrays
    maps = reconstruct.sweep(reference, sources)                            # posed photos, as arrays
    result = reconstruct.run("scene/", quality="draft")                     # a scene in files, as the program does it
    depth = reconstruct.io.read_depth_map("scene/dense/stereo/depth_maps/a.jpg.geometric.bin")

Options are those of the command line, with _ for -: `max_disparity=64` is --max-disparity 64, `fill=True` is --fill. SceneOptions
and PairOptions have them with their types. Each call lets other Python threads run, and Ctrl-C ends it with KeyboardInterrupt.
Results are those of the program with the same inputs, byte for byte, and the same for any number of threads. What runs say goes to
the logger "reconstruct" of Python's logging.
"""

from __future__ import annotations

import json
import logging
from typing import Any, Callable, Dict, List, Literal, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from . import _arrays, io
from ._device import Device, version
from ._device import check_library as _check_library
from ._device import installed_version as _installed_version
from ._device import native_device as _native_device
from ._gpu import DeviceArray
from ._live import DeviceDepthMaps, Matcher, Sweeper
from ._options import Option, Options, PathLike
from ._options import paths as _paths
from ._options import texts as _texts
from ._views import DepthMaps, View
from .errors import (DeviceError, DeviceUnavailable, Error, InputError, Interrupted, OutOfMemory, OutputError,
                     UsageError)
from .pair_options import PairOptions
from .scene_options import SceneOptions

try:
    from . import _native
except ImportError:  # said when it is called
    pass

__all__ = ["DepthMaps", "Device", "DeviceArray", "DeviceDepthMaps", "DeviceError", "DeviceUnavailable", "Disparities", "Error",
           "Fusion", "FusionView", "InputError", "Interrupted", "Matcher", "OutOfMemory", "OutputError", "PairOptions", "Progress",
           "SceneOptions", "Sweeper", "UsageError", "View", "fuse", "io", "match", "match_batch", "opencv_camera", "run", "sweep",
           "version"]

_logger = logging.getLogger("reconstruct")
_logger.addHandler(logging.NullHandler())  # silent where the program sets no other
_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


__version__ = _installed_version()


class Disparities(NamedTuple):
    """Disparities of the left image of a pair."""

    disparity: NDArray[np.float32]  #: (height, width), pixels, x_right = x_left - d; NaN where unknown
    #: (height, width): 255 where a disparity was filled in or replaced, else 0; None without fill=True
    filled: Optional[NDArray[np.uint8]]


def match(left: Any, right: Any, max_disparity: Optional[int] = None, min_disparity: Optional[int] = None,
          method: Optional[Literal["sgm", "bm", "bp", "pipeline"]] = None, device: Union[str, Device] = "auto", threads: int = 0, *,
          options: Optional[PairOptions] = None, out: Optional[NDArray[np.float32]] = None, **keywords: Option) -> Disparities:
    """Matches a rectified pair.

    left, right: arrays of one size: (height, width) or (height, width, 1) of uint8 or uint16, or (height, width, 3) of uint8 in
        the order red, green, blue (of an image of OpenCV: image[..., ::-1]). They are not copied where their rows are contiguous.
    min_disparity, max_disparity: searched is min <= d < max, pixels, with x_right = x_left - d; the max is needed
    method: "sgm" (the default), "bm", "bp" or "pipeline"
    device: a name as for Device, or a Device; threads: with a name, the most, 0: as many as there are processors
    options: a PairOptions; keywords: the same by name, such as fill=True, p1=9, preset="ad-census", roi=(0, 0, 640, 480), which
        come first where both are given
    out: (height, width) of float32, which the disparities are written to; the result has it then

    Returns Disparities: those of the left image, of the program's disparity.pfm, bit for bit, and where they were filled in.

    Raises UsageError, OutOfMemory, DeviceUnavailable, DeviceError; TypeError for what is no array, number or text.
    """
    _check_library()
    given = _texts(options, dict(keywords, max_disparity=max_disparity, min_disparity=min_disparity, method=method))
    images = _arrays.image(left, "left"), _arrays.image(right, "right")
    target = _arrays.output(out, images[0].shape[:2], "out")
    disparity, filled = _native.match(_native_device(device, threads), *images, given)
    if target is not None:
        np.copyto(target, disparity)
        disparity = target
    return Disparities(disparity, filled)


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
    prior: Any = None  #: of a network or sensor, of all of the view in any resolution, up to a scale and a shift; 0, NaN: unknown
    prior_confidence: Any = None  #: of the prior, [0, 1], in any resolution: below 0.1 it is not used; None: 1 everywhere


class Fusion(NamedTuple):
    """What fusion makes of depth maps."""

    #: Of each view the depths that others confirm, each the mean with those that agree closely, with normals
    #: that follow from them; small holes are filled.
    checked: List[DepthMaps]
    cloud: NDArray[Any]  #: structured: position (3 doubles, world), normal (3), colour (3 uint8), confidence, view_count
    views: NDArray[np.uint32]  #: of each point in turn the indices of its `view_count` views, rising
    #: What seems wrong with the maps: depths in another unit, distances to the camera, scales and shifts of single maps, maps of
    #: other images, or no depths, by comparison of each view with its sparse points, or where these are few, with other views.
    warnings: List[str]


def match_batch(left: Any, right: Any, max_disparity: Optional[int] = None, min_disparity: Optional[int] = None,
                method: Optional[Literal["sgm", "bm", "bp", "pipeline"]] = None, device: Union[str, Device] = "auto", threads: int = 0, *,
                options: Optional[PairOptions] = None, out: Optional[NDArray[np.float32]] = None, **keywords: Option) -> Disparities:
    """Matches a batch of rectified pairs, as so many calls of `match` do, into one array.

    left, right: arrays (count, height, width) of uint8 or uint16, or (count, height, width, 3) of uint8, or lists of images as of
        `match`; all of one size
    max_disparity, min_disparity, method, device, threads, options, keywords: as of `match`
    out: (count, height, width) of float32, which the disparities are written to; the result has it then

    Returns Disparities whose arrays are (count, height, width).

    Raises as `match`.
    """
    _check_library()
    given = _texts(options, dict(keywords, max_disparity=max_disparity, min_disparity=min_disparity, method=method))
    images = _arrays.images(left, "left"), _arrays.images(right, "right")
    target = _arrays.output(out, (len(images[0]), *images[0][0].shape[:2]), "out")
    disparity, filled = _native.match_batch(_native_device(device, threads), *images, given)
    if target is not None:
        np.copyto(target, disparity)
        disparity = target
    return Disparities(disparity, filled)


def opencv_camera(matrix: Any) -> Tuple[float, float, float, float]:
    """(fx, fy, cx, cy) of a camera matrix of OpenCV, where the centre of the first pixel is (0, 0)."""
    fx, fy, cx, cy = _arrays.camera(matrix, "the camera")
    return fx, fy, cx + 0.5, cy + 0.5


def _native_view(given: Any, name: str) -> Tuple[Any, ...]:
    view = _arrays.record(View, given, name)
    return (_arrays.image(view.image, name), _arrays.camera(view.camera, f"the camera of {name}"),
            _arrays.pose(view.pose, f"the pose of {name}"), _arrays.mask(view.mask, f"the mask of {name}"))


def _native_fusion_view(given: Any, name: str) -> Tuple[Any, ...]:
    view = _arrays.record(FusionView, given, name)
    colour = None if view.colour is None else _arrays.image(view.colour, f"the colour of {name}")
    return (_arrays.floats(view.depth, f"the depth map of {name}"), _arrays.camera(view.camera, f"the camera of {name}"),
            _arrays.pose(view.pose, f"the pose of {name}"), _arrays.floats(view.confidence, f"the confidence of {name}"), colour,
            _arrays.mask(view.mask, f"the mask of {name}"), _arrays.indices(view.sources, f"the sources of {name}"),
            _arrays.points(view.points, f"the points of {name}"), _arrays.floats(view.prior, f"the prior of {name}"),
            _arrays.floats(view.prior_confidence, f"the confidence of the prior of {name}"))


def sweep(reference: Union[View, Tuple[Any, ...]], sources: Sequence[Union[View, Tuple[Any, ...]]],
          device: Union[str, Device] = "auto", threads: int = 0, *, options: Optional[SceneOptions] = None,
          out: Optional[Tuple[Any, Any, Any]] = None, **keywords: Option) -> DepthMaps:
    """The depth of a reference view by a plane sweep over 1 to 32 sources, best first.

    reference, sources: a View each, or a tuple (image, camera, pose) with an optional mask of the reference
    device, threads: as of `match`
    options: a SceneOptions; keywords: the same by name: what belongs to the method planesweep and its depth maps: depth_min and
        depth_max (without them the depths at which there are surfaces are searched for), window, planes, quality and others
    out: DepthMaps, or a tuple of depth, normal and confidence, which are written to; the result has those that are not None

    The maps are those before the check across views: give them to `fuse`. They are those of the program's *.photometric.bin,
    bit for bit, with its sources in their order, undistorted images, and the same depth_min and depth_max: without both, the
    program takes the sparse points and all views of the scene too, to find the depths that are searched. A prior of the view goes
    to `fuse`: it is fitted to depths that other views confirm.

    Raises UsageError, InputError (all cameras in one place), OutOfMemory, DeviceUnavailable, DeviceError.
    """
    _check_library()
    others = [_native_view(it, f"source {i}") for i, it in enumerate(_arrays.sequence(View, sources, "the sources"))]
    view = _native_view(reference, "the reference")
    targets = _arrays.depth_outputs(out, view[0].shape[:2])
    maps = _native.sweep(_native_device(device, threads), view, others, _texts(options, keywords))
    for target, found in zip(targets, maps):
        if target is not None:
            np.copyto(target, found)
    return DepthMaps(*(found if target is None else target for target, found in zip(targets, maps)))


def fuse(views: Sequence[Union[FusionView, Tuple[Any, ...]]], device: Union[str, Device] = "auto", threads: int = 0, *,
         options: Optional[SceneOptions] = None, **keywords: Option) -> Fusion:
    """Checks depth maps across views and fuses what is confirmed into a cloud.

    views: a FusionView each, or a tuple (depth, camera, pose, ...), at least 2
    device, threads: as of `match`
    options: a SceneOptions; keywords: the same by name: of the check and the cloud: min_views, max_depth_error,
        max_normal_angle, min_confidence, max_hole, speckle, min_fused_views, point_spacing, roi, prior_kind, and of the choice of
        sources

    Priors of views are used as those of prior_maps: fitted to the depths that other views confirm, they fill what photos do not
    show, where other views agree; one that does not follow the depths is not used, and a warning says so.

    The points are those that the program makes of the same maps, in its order; there may be none. The warnings also go to the
    logger "reconstruct".

    Raises UsageError, InputError (all cameras in one place; next to nothing of the maps agrees), OutOfMemory, DeviceUnavailable,
    DeviceError.
    """
    _check_library()
    given = [_native_fusion_view(it, f"view {i}") for i, it in enumerate(_arrays.sequence(FusionView, views, "the views"))]
    checked, cloud, indices, warnings = _native.fuse(_native_device(device, threads), given, _texts(options, keywords))
    for warning in warnings:
        _logger.warning("%s", warning)
    return Fusion([DepthMaps(*maps) for maps in checked], cloud, indices, warnings)


class Progress(NamedTuple):
    """How far a step of a scene is."""

    step: str  #: such as "depth maps"
    done: int
    total: int
    seconds: float  #: since the step began
    left: float  #: seconds that it will still take, predicted; 0: unknown, or none


def run(scene: Union[PathLike, Sequence[PathLike]], *, progress: Optional[Callable[[Progress], object]] = None,
        message: Optional[Callable[[str, str], object]] = None, options: Options = None, **keywords: Option) -> Dict[str, Any]:
    """Reconstructs scenes and rectified pairs in files, as the program does: `reconstruct SCENE --OPTION VALUE`.

    scene: the folder of a scene or a pair, or of several; or a list of them, or of the two images of a pair
    progress: is called with a Progress as often as a view is done
    message: is called with "debug", "info", "warning" or "error" and a text; messages also go to the logger "reconstruct"
    options: a SceneOptions or PairOptions; keywords: the same by name, such as output="out", quality="draft", device="cpu",
        threads=4, memory_limit="4GiB", dry_run=True

    Both functions are called one at a time, from other threads; what they raise ends the run and is raised.
    Returns what `reconstruct --json` prints: "scenes" with an entry for each, and "exit_code": 0, or 7 where some views or
    scenes failed. One run at a time in a process; others wait.

    Raises Error and its kinds where nothing has results. After Ctrl-C what was finished is kept, and the same call goes on.
    """
    _check_library()
    names = list(_LEVELS)

    def on_message(level: int, text: str) -> None:
        _logger.log(_LEVELS[names[level]], "%s", text)
        if message is not None:
            message(names[level], text)

    def on_progress(*values: Any) -> None:
        if progress is not None:
            progress(Progress(*values))

    _, text = _native.run(_paths(scene, "scene"), _texts(options, keywords), None if progress is None else on_progress, on_message)
    result: Dict[str, Any] = json.loads(text)
    return result
