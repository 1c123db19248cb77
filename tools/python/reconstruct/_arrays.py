"""What the calls are given, checked and as the library takes it: arrays, cameras, poses, views."""

from __future__ import annotations

import operator
import os
from typing import Any, List, NamedTuple, Optional, Sequence, Tuple, Type, TypeVar

import numpy as np
from numpy.typing import NDArray

from . import _gpu
from .errors import UsageError

_MAX_SIDE = 16384  # of the images of the library

Rows = List[List[float]]
Camera = Tuple[float, float, float, float]
_Given = TypeVar("_Given", bound=NamedTuple)


def _kind(value: Any) -> str:
    return "None" if value is None else f"of type {type(value).__name__}"


def _array(given: Any, name: str) -> NDArray[Any]:
    if given is None or isinstance(given, (str, bytes, bytearray, os.PathLike)):
        raise TypeError(f"{name} is {_kind(given)}; it must be an array. The images of files are read by other libraries, such as "
                        "cv2.imread; run() takes the files themselves")
    if _gpu.is_on_gpu(given):
        raise TypeError(f"{name} is {_kind(given)}, in the memory of a GPU; these are for a reconstruct.Matcher or, with poses, a "
                        "reconstruct.Sweeper, which are made once for images of one size. Else copy it to the host, of CuPy by image.get()")
    return np.asarray(given)


def _checked_sides(array: NDArray[Any], name: str) -> NDArray[Any]:
    """Without a last axis of one channel; refused before anything is copied where a side is too long."""
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[:, :, 0]
    if max(array.shape[:2], default=0) > _MAX_SIDE:
        raise UsageError(f"{name} is an array of shape {array.shape}; each side must be 1 to {_MAX_SIDE}")
    return array


def _advice(array: NDArray[Any]) -> str:
    """How an image that is refused becomes one that is taken; empty where that is unknown."""
    shape = array.shape
    if len(shape) == 4:
        return ": a batch of pairs is matched by match_batch()"
    if len(shape) == 3 and shape[2] == 4:
        return ": drop its fourth channel by image[..., :3]"
    if len(shape) == 3 and shape[0] in (1, 3) and shape[2] > 4:
        return ": move the channels to the end by numpy.moveaxis(image, 0, 2)"
    if array.dtype.kind == "f":
        return ": floats from 0 to 1 by (255 * image).round().astype(numpy.uint8)"
    if len(shape) == 3 and array.dtype.kind == "u" and array.itemsize == 2:
        return ": of 16 bits a channel by (image >> 8).astype(numpy.uint8)"
    if array.dtype.kind in "iu":
        return ": values up to 255 by image.astype(numpy.uint8)"
    if array.dtype.kind == "b":
        return ": by 255 * image.astype(numpy.uint8)"
    return ""


def image(given: Any, name: str) -> NDArray[Any]:
    """The array itself where its rows are contiguous, else a copy; (height, width, 1) is grey.

    Raises TypeError for what is no array, UsageError for an array of another type or shape.
    """
    array = _checked_sides(_array(given, name), name)
    colour = array.ndim == 3 and array.shape[2] == 3 and array.dtype == np.uint8
    grey = array.ndim == 2 and array.dtype.kind == "u" and array.itemsize <= 2
    if not (colour or grey):
        raise UsageError(f"{name} is an array of {array.dtype} of shape {array.shape}; it must be (height, width) of uint8 or "
                         f"uint16, or (height, width, 3) of uint8, red first{_advice(array)}")
    pixel = array.itemsize * (3 if colour else 1)
    plain = array.strides[1] == pixel and array.strides[0] >= pixel * array.shape[1] and array.dtype.isnative
    aligned = array.flags.aligned and array.strides[0] % array.itemsize == 0
    if plain and aligned and (not colour or array.strides[2] == 1):
        return array
    return np.array(array, array.dtype.newbyteorder("="), order="C")


def images(given: Any, name: str) -> List[NDArray[Any]]:
    """Those of a batch."""
    if not isinstance(given, (list, tuple)):
        array = _array(given, name)
        if array.ndim not in (3, 4):
            raise UsageError(f"{name} is an array of shape {array.shape}; a batch is (count, height, width), with colours "
                             "(count, height, width, 3)")
        given = array
    batch = [image(it, f"{name}[{i}]") for i, it in enumerate(given)]
    if not batch:
        raise UsageError(f"{name} is empty; a batch has at least one image")
    return batch


def mask(given: Any, name: str) -> Optional[NDArray[Any]]:
    if given is None:
        return None
    array = _array(given, name)
    return image(array.astype(np.uint8) if array.dtype == np.bool_ else array, name)


def floats(given: Any, name: str) -> Optional[NDArray[np.float32]]:
    """A map: the array itself where its rows are contiguous floats, else a copy."""
    if given is None:
        return None
    array = _checked_sides(_array(given, name), name)
    if array.ndim != 2 or array.dtype.kind not in "fiu":
        raise UsageError(f"{name} is an array of {array.dtype} of shape {array.shape}; it must be (height, width) of float32")
    plain = array.dtype == np.float32 and array.dtype.isnative and array.strides[1] == 4
    if plain and array.strides[0] >= 4 * array.shape[1] and array.flags.aligned and array.strides[0] % 4 == 0:
        return array
    with np.errstate(over="ignore"):  # of doubles, which are infinite then: unknown
        return np.array(array, np.float32, order="C")


def output(given: Any, shape: Tuple[int, ...], name: str) -> Optional[NDArray[np.float32]]:
    """An array of the caller's for a result."""
    if given is None:
        return None
    if not isinstance(given, np.ndarray):
        raise TypeError(f"{name} is {_kind(given)}; it must be an array")
    if given.dtype != np.float32 or given.shape != shape:
        raise UsageError(f"{name} is an array of {given.dtype} of shape {given.shape}; it must be of float32 and of shape {shape}")
    if not given.flags.writeable:
        raise UsageError(f"{name} is read-only")
    return given


def depth_outputs(given: Any, shape: Tuple[int, ...]) -> List[Optional[NDArray[np.float32]]]:
    """Arrays of the caller's for depth, normal and confidence."""
    if given is None:
        return [None, None, None]
    if not isinstance(given, (tuple, list)) or len(given) != 3:
        raise TypeError(f"out is {_kind(given)}; it must be DepthMaps, or a tuple (depth, normal, confidence)")
    shapes = (shape, (*shape, 3), shape)
    return [output(it, of, f"{name} of out") for it, of, name in zip(given, shapes, ("depth", "normal", "confidence"))]


def _numbers(given: Any, name: str) -> NDArray[np.float64]:
    if isinstance(given, (str, bytes)):
        raise TypeError(f"{name} is {_kind(given)}; it must be numbers")
    try:
        array = np.asarray(given)
        if array.dtype.kind not in "fiu":
            raise TypeError
        return np.ascontiguousarray(array, np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be numbers, not {given!r:.200}") from None


def points(given: Any, name: str) -> NDArray[np.float64]:
    array = _numbers(np.empty((0, 3)) if given is None or len(given) == 0 else given, name)
    if array.ndim != 2 or array.shape[1] != 3:
        raise UsageError(f"{name} are an array of shape {array.shape}; it must be (n, 3)")
    return array


def camera(given: Any, name: str) -> Camera:
    numbers = _numbers(given, name)
    if numbers.shape == (3, 3):
        if numbers[0, 1] or numbers[1, 0] or not np.array_equal(numbers[2], [0, 0, 1]):
            raise UsageError(f"{name} is a matrix that has skew, or is none: {numbers.tolist()}")
        numbers = numbers[[0, 1, 0, 1], [0, 1, 2, 2]]
    if numbers.shape != (4,):
        raise UsageError(f"{name} is of shape {numbers.shape}; it must be fx, fy, cx, cy or a 3x3 matrix")
    fx, fy, cx, cy = numbers.tolist()
    return fx, fy, cx, cy


def pose(given: Any, name: str) -> Rows:
    rows = _numbers(given, name)
    turned = "; it is [R | t] with the translation in the last column: it seems to be transposed, give pose.T"
    if rows.shape == (4, 3):
        raise UsageError(f"{name} is of shape (4, 3){turned}")
    if rows.shape not in ((3, 4), (4, 4)):
        raise UsageError(f"{name} is of shape {rows.shape}; a pose is [R | t], 3x4 or 4x4")
    last = [0.0, 0.0, 0.0, 1.0]
    if len(rows) == 4 and not np.array_equal(rows[3], last):
        is_turned = np.array_equal(rows[:, 3], last)
        raise UsageError(f"{name} has the last row {rows[3].tolist()}" + (turned if is_turned else "; it must be 0 0 0 1"))
    result: Rows = rows[:3].tolist()
    return result


def indices(given: Any, name: str) -> List[int]:
    try:
        values = list(given)
        if any(isinstance(value, (bool, np.bool_)) for value in values):
            raise TypeError
        return [operator.index(value) for value in values]
    except TypeError:
        raise TypeError(f"{name} must be whole numbers, indices of views, not {given!r:.200}") from None


def record(kind: Type[_Given], given: Any, name: str) -> _Given:
    """What is given as one of a kind, or as a tuple of its first fields."""
    if isinstance(given, kind):
        return given
    fields = kind._fields
    needed = len(fields) - len(kind._field_defaults)
    if not isinstance(given, (tuple, list)) or not needed <= len(given) <= len(fields):
        raise TypeError(f"{name} is {_kind(given)}; it must be a {kind.__name__}, or a tuple ({', '.join(fields)}), of which the "
                        f"first {needed} are needed")
    return kind(*given)


def sequence(kind: Type[Any], given: Any, name: str) -> Sequence[Any]:
    """Several of a kind, not one alone."""
    if isinstance(given, (kind, np.ndarray, str, bytes)) or not hasattr(given, "__iter__"):
        raise TypeError(f"{name} are {_kind(given)}; they must be a list, each a {kind.__name__}")
    return list(given)
