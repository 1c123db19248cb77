"""Arrays in the memory of a GPU, of any library that has `__cuda_array_interface__` or DLPack: as the library takes and gives them."""

from __future__ import annotations

import operator
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import numpy as np

from .errors import UsageError

_DLPACK_CUDA, _DLPACK_MANAGED = 2, 13
_IMAGE, _MAP = np.dtype(np.uint8), np.dtype(np.float32)
_DLPACK_TYPES: "Dict[Tuple[int, int, int], np.dtype[Any]]" = {(1, 8, 1): _IMAGE, (2, 32, 1): _MAP}
_TYPES = "images are of uint8, maps of float32"
DEFAULT_STREAM = 1  # how CUDA and both protocols call the default stream

#: Address, height, width, channels, bytes from one row to the next, stream or None: as the library takes an image.
Rows = Tuple[int, int, int, int, int, Optional[int]]


def is_on_gpu(given: Any) -> bool:
    if hasattr(given, "__cuda_array_interface__"):
        return True
    device = getattr(given, "__dlpack_device__", None)
    return device is not None and int(device()[0]) in (_DLPACK_CUDA, _DLPACK_MANAGED)


def stream_of(given: Any) -> Optional[int]:
    """The number of a stream of the caller's, that of the default stream for 0: a number, or a stream of CuPy, PyTorch, Numba or cuda-python."""
    if given is None:
        return None
    protocol = getattr(given, "__cuda_stream__", None)
    if protocol is not None:
        return int((protocol() if callable(protocol) else protocol)[1]) or DEFAULT_STREAM
    for name in ("cuda_stream", "ptr", "handle"):
        if hasattr(given, name):
            value = getattr(given, name)
            return int(getattr(value, "value", value) or 0) or DEFAULT_STREAM
    try:
        return operator.index(given) or DEFAULT_STREAM
    except TypeError:
        raise TypeError(f"stream is of type {type(given).__name__}; it must be a stream of CUDA, or the number of one") from None


class Array(NamedTuple):
    """An array on a GPU."""

    address: int
    shape: Tuple[int, ...]
    strides: Tuple[int, ...]  #: bytes
    type: "np.dtype[Any]"
    stream: Optional[int]  #: that its owner works on
    read_only: bool
    owner: Any  #: keeps the memory

    def items(self) -> "List[Array]":
        """The arrays that it has along its first axis."""
        return [self._replace(address=self.address + i * self.strides[0], shape=self.shape[1:], strides=self.strides[1:])
                for i in range(self.shape[0])]

    def rows(self, channels: int) -> Rows:
        """For an array whose pixels follow each other in a row."""
        height, width = self.shape[:2]
        row = width * channels * self.type.itemsize
        pitch = self.strides[0] if height > 1 else row
        return self.address, height, width, channels, pitch, self.stream


def _dense(shape: Tuple[int, ...], itemsize: int) -> Tuple[int, ...]:
    strides: List[int] = []
    for size in reversed(shape):
        strides.insert(0, itemsize)
        itemsize *= size
    return tuple(strides)


def _of_interface(interface: Dict[str, Any], owner: Any, name: str) -> Array:
    if interface.get("mask") is not None:
        raise UsageError(f"{name} has a mask; it must be an array without")
    address, read_only = interface["data"]
    try:
        dtype = np.dtype(interface["typestr"])
    except TypeError:
        raise UsageError(f"{name} has values of the type {interface['typestr']}; {_TYPES}") from None
    shape = tuple(interface["shape"])
    strides = interface.get("strides") or _dense(shape, dtype.itemsize)
    return Array(int(address or 0), shape, tuple(strides), dtype, interface.get("stream"), bool(read_only), owner)


def _of_dlpack(given: Any, stream: int, name: str) -> Array:
    """Of a library that lets `stream` wait for what it has queued."""
    from . import _native
    tensor = _native.Tensor(given.__dlpack__(stream=stream))
    dtype = _DLPACK_TYPES.get(tensor.type)
    if dtype is None:
        raise UsageError(f"{name} has values of DLPack's type {tensor.type}; {_TYPES}")
    shape = tuple(tensor.shape)
    strides = _dense(shape, dtype.itemsize) if tensor.strides is None else tuple(dtype.itemsize * it for it in tensor.strides)
    return Array(tensor.address, shape, strides, dtype, None, False, tensor)


def _array(given: Any, stream: int, name: str) -> Array:
    if not is_on_gpu(given):
        raise TypeError(f"{name} is of type {type(given).__name__}, which is no array in the memory of a GPU: a Matcher or a "
                        "Sweeper takes what has __cuda_array_interface__ or DLPack, such as arrays of CuPy or tensors of PyTorch; match() takes NumPy's, "
                        "as sweep() does")
    interface = getattr(given, "__cuda_array_interface__", None)
    # Without a stream, as PyTorch's, it does not say what to wait for.
    if interface is not None and ("stream" in interface or not hasattr(given, "__dlpack__")):
        return _of_interface(interface, given, name)
    return _of_dlpack(given, stream, name)


def _image_rows(array: Array, name: str) -> Rows:
    shape, strides = array.shape, array.strides
    if array.type != _IMAGE or not (len(shape) == 2 or len(shape) == 3 and shape[2] in (1, 3)):
        raise UsageError(f"{name} is an array of {array.type} of shape {shape}; it must be (height, width) or (height, width, 3) of uint8, "
                         "red first")
    channels = 3 if len(shape) == 3 and shape[2] == 3 else 1
    if (shape[1] > 1 and strides[1] != channels) or (channels == 3 and strides[2] != 1):
        raise UsageError(f"{name} has strides of {strides} bytes; the pixels of a row must follow each other: of CuPy by "
                         "cupy.ascontiguousarray(image)")
    return array.rows(channels)


def image(given: Any, stream: int, name: str) -> Tuple[Array, Rows]:
    """An image (height, width), (height, width, 1) or (height, width, 3) of uint8, and as the library takes it."""
    array = _array(given, stream, name)
    return array, _image_rows(array, name)


def images(given: Any, stream: int, name: str) -> Tuple[Array, List[Rows]]:
    """A batch of images: an array with one more axis before theirs."""
    array = _array(given, stream, name)
    if len(array.shape) not in (3, 4):
        raise UsageError(f"{name} is an array of shape {array.shape}; a batch is (count, height, width), with colours "
                         "(count, height, width, 3)")
    return array, [_image_rows(it, f"{name}[{i}]") for i, it in enumerate(array.items())]


def _map_rows(array: Array, name: str, channels: int) -> Rows:
    last = () if channels == 1 else (channels,)
    if array.type != _MAP or len(array.shape) != 2 + len(last) or array.shape[2:] != last:
        shape = "(height, width" + "".join(f", {it}" for it in last) + ")"
        raise UsageError(f"{name} is an array of {array.type} of shape {array.shape}; it must be {shape} of float32")
    if (array.shape[1] > 1 and array.strides[1] != 4 * channels) or (last and array.strides[2] != 4):
        raise UsageError(f"{name} has strides of {array.strides} bytes; the values of a row must follow each other")
    if array.read_only:
        raise UsageError(f"{name} is read-only")
    return array.rows(channels)


def output(given: Any, stream: int, name: str, channels: int = 1) -> Tuple[Array, Rows]:
    """A map (height, width) of float32 that is written to; with channels (height, width, channels)."""
    array = _array(given, stream, name)
    return array, _map_rows(array, name, channels)


def outputs(given: Any, stream: int, name: str) -> Tuple[Array, List[Rows]]:
    """Maps (count, height, width) of float32 that are written to."""
    array = _array(given, stream, name)
    if len(array.shape) != 3:
        raise UsageError(f"{name} is an array of shape {array.shape}; for a batch it must be (count, height, width)")
    return array, [_map_rows(it, f"{name}[{i}]", 1) for i, it in enumerate(array.items())]


class DeviceArray:
    """A map of float32 in the memory of a GPU: (height, width), of normals (height, width, 3), of a batch (count, height, width).
    Libraries take it without a copy, and let their work wait for what writes it: `cupy.asarray(it)`, `torch.from_dlpack(it)`,
    `numba.cuda.as_cuda_array(it)`. It may outlive what made it.
    """

    def __init__(self, writer: Any, values: Any) -> None:
        self._writer, self._values = writer, values
        self._stream: Optional[int] = None
        self._stream_owner: Any = None
        self.shape: Tuple[int, ...] = tuple(values.shape)
        self.dtype = _MAP

    def _written_by(self, writer: Any, stream: int, owner: Any) -> None:
        """By work that is queued on a stream, which lives as long as `owner`."""
        self._writer, self._stream, self._stream_owner = writer, stream, owner

    @property
    def __cuda_array_interface__(self) -> Dict[str, Any]:
        return {"shape": self.shape, "typestr": "<f4", "data": (self._values.address, False), "strides": None, "version": 3,
                "stream": self._stream}

    def __dlpack_device__(self) -> Tuple[int, int]:
        return _DLPACK_CUDA, self._writer.device

    def __dlpack__(self, *, stream: Optional[int] = None, max_version: Optional[Tuple[int, int]] = None,
                   dl_device: Optional[Tuple[int, int]] = None, copy: Optional[bool] = None) -> Any:
        if copy or (dl_device is not None and tuple(dl_device) != self.__dlpack_device__()):
            raise BufferError("the array is not copied, and not moved to another device")
        if stream != -1:  # the caller synchronizes
            self._writer.order_after(DEFAULT_STREAM if stream is None else stream)
        return self._values.tensor(self._writer.device)

    def __repr__(self) -> str:
        return f"<reconstruct.DeviceArray {'x'.join(map(str, self.shape))} float32 cuda:{self._writer.device}>"
