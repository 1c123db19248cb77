"""What works on arrays in the memory of a GPU, one call after the other."""

from __future__ import annotations

import operator
from typing import Any, List, Literal, NamedTuple, Optional, Sequence, Tuple, Union

from . import _arrays, _gpu
from ._device import Device, check_library, native_device
from ._options import Option
from ._options import texts as _texts
from ._views import View
from .errors import UsageError
from .pair_options import PairOptions
from .scene_options import SceneOptions

try:
    from . import _native
except ImportError:  # said when it is called
    pass


def _sizes(width: Any, height: Any, channels: Any) -> Tuple[int, int, int]:
    sizes = operator.index(width), operator.index(height), operator.index(channels)
    if sizes[2] not in (1, 3):
        raise UsageError(f"channels is {channels}; it must be 1 or 3")
    if max(sizes[:2]) > _arrays._MAX_SIDE:
        raise UsageError(f"width and height are {width} and {height}; each side must be 1 to {_arrays._MAX_SIDE}")
    return sizes


class _Call:
    """A call on a GPU: its stream, and the arrays that its work uses."""

    def __init__(self, writer: Any, stream: Any, first: Any) -> None:
        """stream: the caller's; None: that which the first array names, else the default one."""
        self._writer = writer
        number, owner = _gpu.stream_of(stream), stream
        if number is None:
            number, owner = _gpu.stream_of(getattr(first, "__cuda_array_interface__", {}).get("stream")), first
        if number is None:
            number, owner = _gpu.DEFAULT_STREAM, None
        self.stream, self._stream_owner = number, owner
        self.owners: List[Any] = []  # of the memory of the caller's arrays
        self._made: List[_gpu.DeviceArray] = []

    def image(self, given: Any, name: str) -> _gpu.Rows:
        array, rows = _gpu.image(given, self.stream, name)
        self.owners.append(array.owner)
        return rows

    def images(self, given: Any, name: str) -> List[_gpu.Rows]:
        array, rows = _gpu.images(given, self.stream, name)
        self.owners.append(array.owner)
        return rows

    def _keep(self, given: Any, array: _gpu.Array) -> None:
        if isinstance(given, _gpu.DeviceArray):
            self._made.append(given)
        self.owners.append(array.owner)

    def output(self, given: Any, name: str, channels: int = 1) -> _gpu.Rows:
        array, rows = _gpu.output(given, self.stream, name, channels)
        self._keep(given, array)
        return rows

    def outputs(self, given: Any, name: str) -> List[_gpu.Rows]:
        array, rows = _gpu.outputs(given, self.stream, name)
        self._keep(given, array)
        return rows

    def end(self) -> List[Any]:
        """All work is queued. Returns what keeps the memory while it may still be used."""
        for made in self._made:
            made._written_by(self._writer, self.stream, self._stream_owner)
        return self.owners


class Matcher:
    """Matches rectified pairs of one size in the memory of a GPU, such as those of a live camera: no copy to the host, and no
    allocation where `match` is given `out`.

    width, height: of the images, pixels; channels: 1, or 3 for colours
    min_disparity, max_disparity, method, options, keywords: as of `match`, without what the host computes: fill, graphcut, and sigma
        of the method bp
    device: a name as for Device, or a Device; of several GPUs the first. Its limit of memory counts for each Matcher by itself

    Raises UsageError, OutOfMemory, DeviceUnavailable, DeviceError. Several threads may use one; the work of each call waits for that
    of the one before, also on other streams.
    """

    def __init__(self, width: int, height: int, max_disparity: Optional[int] = None, min_disparity: Optional[int] = None,
                 method: Optional[Literal["sgm", "bm", "bp", "pipeline"]] = None, device: Union[str, Device] = "cuda", *,
                 channels: int = 1, options: Optional[PairOptions] = None, **keywords: Option) -> None:
        check_library()
        self.width, self.height, self.channels = _sizes(width, height, channels)
        given = _texts(options, dict(keywords, max_disparity=max_disparity, min_disparity=min_disparity, method=method))
        self._matcher = _native.Matcher(native_device(device, 0), self.width, self.height, self.channels, given)
        self._last_owners: List[Any] = []

    def match(self, left: Any, right: Any, out: Any = None, stream: Any = None) -> Any:
        """Queues the disparities of the left image, and does not wait for them: they are there when the work of the stream is done.

        left, right: arrays of CuPy, tensors of PyTorch, or others with `__cuda_array_interface__` or DLPack, (height, width) or
            (height, width, 3) of uint8, red first, with any pitch. The work waits for the streams that they are written on, where
            they name these. They must not change before the work is done; the Matcher keeps those of the last call.
        out: (height, width) of float32 on the same GPU, which the disparities are written to; or the DeviceArray of an earlier call.
            It saves the allocation of a DeviceArray, and that it is freed later: both may wait for all work of the GPU.
        stream: of CUDA, that of the work: a stream of CuPy, PyTorch, Numba or cuda-python, or the number of one. None: the one that
            the left image names, as CuPy's arrays do, else the default stream. Give PyTorch's where it is another.

        Returns `out`, or without it a new DeviceArray: those of `match`, bit for bit; NaN where unknown.

        Raises UsageError, DeviceError; TypeError for what is not in the memory of a GPU.
        """
        call = _Call(self._matcher, stream, left)
        images = call.image(left, "left"), call.image(right, "right")
        result = _gpu.DeviceArray(self._matcher, self._matcher.new_map()) if out is None else out
        self._matcher.match(*images, call.output(result, "out"), call.stream)
        self._last_owners = call.end()
        return result

    def match_batch(self, left: Any, right: Any, out: Any = None, stream: Any = None) -> Any:
        """Queues the disparities of the pairs of a batch, as so many calls of `match` do.

        left, right: as of `match`, (count, height, width) or (count, height, width, 3)
        out: (count, height, width) of float32; or the DeviceArray of an earlier call
        stream: as of `match`

        Returns `out`, or without it a new DeviceArray, which is one allocation.

        Raises as `match`: then nothing is queued.
        """
        call = _Call(self._matcher, stream, left)
        images = call.images(left, "left"), call.images(right, "right")
        if not images[0]:
            raise UsageError("left is empty; a batch has at least one image")
        result = _gpu.DeviceArray(self._matcher, self._matcher.new_maps(len(images[0]))) if out is None else out
        self._matcher.match_batch(*images, call.outputs(result, "out"), call.stream)
        self._last_owners = call.end()
        return result

    @property
    def nbytes(self) -> int:
        """Bytes of device memory that it has."""
        return self._matcher.nbytes

    def __repr__(self) -> str:
        return f"<reconstruct.Matcher {self.width}x{self.height} cuda:{self._matcher.device}>"


class DeviceDepthMaps(NamedTuple):
    """The maps of a view in the memory of a GPU, as DepthMaps on the host: each a DeviceArray, or the array of the caller's."""

    depth: Any  #: (height, width) of float32
    normal: Any = None  #: (height, width, 3) of float32; None: not wanted
    confidence: Any = None  #: (height, width) of float32; None: not wanted


class Sweeper:
    """Sweeps views of one size in the memory of a GPU, such as those of a moving camera: no copy of images or maps to the host, and no
    allocation where `sweep` is given `out`.

    The host chooses planes, by cameras and poses, and queues the work. Without both depth_min and depth_max it searches for the depths
    first, in coarse maps, whose shorter side has 100 to 200 pixels, that it copies from the GPU, and so waits for these.

    width, height: of all images, pixels; channels: 1, or 3 for colours
    sources: the most of a call, 1 to 32
    options, keywords: as of `sweep`, without what the host computes: graphcut
    device: a name as for Device, or a Device; of several GPUs the first. Its limit of memory counts for each Sweeper by itself

    Raises UsageError, OutOfMemory, DeviceUnavailable, DeviceError. Several threads may use one; the work of each call waits for that
    of the one before, also on other streams.
    """

    def __init__(self, width: int, height: int, sources: int, device: Union[str, Device] = "cuda", *, channels: int = 1,
                 options: Optional[SceneOptions] = None, **keywords: Option) -> None:
        check_library()
        self.width, self.height, self.channels = _sizes(width, height, channels)
        self.sources = operator.index(sources)
        self._sweeper = _native.Sweeper(native_device(device, 0), self.width, self.height, self.channels, self.sources,
                                        _texts(options, keywords))
        self._last_owners: List[Any] = []

    def sweep(self, reference: Union[View, Tuple[Any, ...]], sources: Sequence[Union[View, Tuple[Any, ...]]], out: Any = None,
              stream: Any = None, *, depth_min: Optional[float] = None, depth_max: Optional[float] = None) -> DeviceDepthMaps:
        """Queues the maps of a reference view, and does not wait for them: they are there when the work of the stream is done.

        reference, sources: as of the function `sweep`, with images, and the mask, that are arrays on the GPU: (height, width) or
            (height, width, 3) of uint8 as of a Matcher, the mask (height, width) of uint8. They must not change before the work is
            done; the Sweeper keeps those of the last call. Cameras and poses are numbers on the host, and may differ in each call.
        out: DeviceDepthMaps, or a tuple (depth, normal, confidence), of arrays of float32 on the same GPU, which are written to; of
            these normal and confidence may be None, and are not computed then
        stream: as of a Matcher; None: the one that the image of the reference names, else the default stream
        depth_min, depth_max: exact bounds of this call; None: those of the options

        Returns `out` as DeviceDepthMaps, or without it new DeviceArrays: the maps of `sweep`, bit for bit; NaN where unknown.

        Raises UsageError, InputError (all cameras in one place), OutOfMemory, DeviceError; TypeError for what is not in the memory of
        a GPU.
        """
        view = _arrays.record(View, reference, "the reference")
        others = [_arrays.record(View, it, f"source {i}") for i, it in enumerate(_arrays.sequence(View, sources, "the sources"))]
        call = _Call(self._sweeper, stream, view.image)
        views = [self._view(call, view, "the reference")]
        views += [self._view(call, it._replace(mask=None), f"source {i}") for i, it in enumerate(others)]
        maps = self._maps(out)
        rows = [None if it is None else call.output(it, name, channels)
                for it, name, channels in zip(maps, maps._fields, (1, 3, 1))]
        bounds = [None if it is None else float(it) for it in (depth_min, depth_max)]
        self._sweeper.sweep(views[0], views[1:], tuple(rows), call.stream, *bounds)
        self._last_owners = call.end()
        return maps

    @staticmethod
    def _view(call: _Call, view: View, name: str) -> Tuple[Any, ...]:
        return (call.image(view.image, name), _arrays.camera(view.camera, f"the camera of {name}"),
                _arrays.pose(view.pose, f"the pose of {name}"),
                None if view.mask is None else call.image(view.mask, f"the mask of {name}"))

    def _maps(self, out: Any) -> DeviceDepthMaps:
        if out is None:
            return DeviceDepthMaps(*(_gpu.DeviceArray(self._sweeper, it) for it in self._sweeper.new_maps()))
        if not isinstance(out, (tuple, list)) or not 1 <= len(out) <= 3 or out[0] is None:
            raise TypeError(f"out is of type {type(out).__name__}; it must be DeviceDepthMaps, or a tuple (depth, normal, confidence), of "
                            "which the depth is needed")
        return DeviceDepthMaps(*out)

    @property
    def nbytes(self) -> int:
        """Bytes of device memory that it has."""
        return self._sweeper.nbytes

    def __repr__(self) -> str:
        return f"<reconstruct.Sweeper {self.width}x{self.height}, {self.sources} sources, cuda:{self._sweeper.device}>"
