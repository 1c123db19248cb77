"""COLMAP's binary models of undistorted images, as `reconstruct` writes them. Its users have them from `reconstruct.io`."""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, NoReturn, Tuple, Union

import numpy as np
from numpy.typing import NDArray

PathLike = Union[str, os.PathLike[str]]


def fail(path: PathLike, reason: str) -> NoReturn:
    raise ValueError(f"{os.fspath(path)}: {reason}")


class CameraView(NamedTuple):
    """A view of dense/sparse."""

    name: str
    size: Tuple[int, int]  #: width, height
    camera: Tuple[float, float, float, float]  #: fx, fy, cx, cy, pixels; the first pixel's centre is at (0.5, 0.5)
    pose: NDArray[np.float64]  #: cam_from_world, (3, 4): [R | t], x_in_cam = R x_in_world + t


class Points3D(NamedTuple):
    """The sparse points of a model."""

    position: NDArray[np.float64]  #: (n, 3), world
    colour: NDArray[np.uint8]  #: (n, 3), red first
    error: NDArray[np.float64]  #: (n), mean reprojection error, pixels; negative: unknown
    starts: NDArray[np.int64]  #: (n + 1): views[starts[i]:starts[i + 1]] see point i
    views: NDArray[np.int32]  #: indices of the views in the order of `read_views`

    def seen_by(self, view: int) -> NDArray[np.float64]:
        """The positions of the points that a view sees, (m, 3), as a FusionView takes them. view: its index in `read_views`"""
        points = np.repeat(np.arange(len(self.position)), np.diff(self.starts))
        seen: NDArray[np.float64] = self.position[np.unique(points[self.views == view])]
        return seen


class _Words:
    """Little-endian numbers of a file, one after the other."""

    def __init__(self, path: Path) -> None:
        self.path, self.data, self.at = path, path.read_bytes(), 0

    def skip(self, size: int) -> None:
        if self.at + size > len(self.data):
            fail(self.path, f"ends at byte {len(self.data)}, in the middle")
        self.at += size

    def take(self, layout: str) -> Tuple[Any, ...]:
        begin = self.at
        self.skip(struct.calcsize("<" + layout))
        return struct.unpack_from("<" + layout, self.data, begin)

    def count(self, least: int) -> int:
        """A number of items of at least as many bytes, which is compared with what follows."""
        number: int = self.take("Q")[0]
        if number * least > len(self.data) - self.at:
            fail(self.path, f"{number} items take {number * least} bytes, but {len(self.data) - self.at} follow")
        return number

    def name(self) -> str:
        end = self.data.find(b"\0", self.at)
        if end < 0:
            fail(self.path, "ends in a name")
        begin, self.at = self.at, end + 1
        return os.fsdecode(self.data[begin:end])


def _rotation(w: float, x: float, y: float, z: float) -> NDArray[np.float64]:
    with np.errstate(all="ignore"):  # of a damaged file
        w, x, y, z = np.array([w, x, y, z]) / np.linalg.norm([w, x, y, z])
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def _model_folder(folder: PathLike) -> Path:
    """Where a folder has its model: itself, or in sparse/ or sparse/0/, as dense/splat has it."""
    folder = Path(folder)
    for model in (folder / "sparse", folder / "sparse" / "0", folder):
        if (model / "cameras.bin").exists():
            return model
    raise FileNotFoundError(f"{folder}: there is no cameras.bin in it, in sparse/ or in sparse/0/; is it an output folder?")


def _read_images(model: Path) -> List[Tuple[int, CameraView]]:
    """The views with the numbers that the model gives their images."""
    kinds = {0: 3, 1: 4}  # SIMPLE_PINHOLE and PINHOLE
    file, cameras = _Words(model / "cameras.bin"), {}
    for _ in range(file.take("Q")[0]):
        number, kind, width, height = file.take("IiQQ")
        if kind not in kinds:
            fail(file.path, f"camera {number} has model {kind}; undistorted images have pinhole cameras")
        values = file.take(f"{kinds[kind]}d")
        cameras[number] = (width, height), (values[:1] * 2 + values[1:] if kind == 0 else values)
    file, views = _Words(model / "images.bin"), []
    for _ in range(file.take("Q")[0]):
        number, w, x, y, z, *t, camera = file.take("I7dI")
        if camera not in cameras:
            fail(file.path, f"has no camera {camera}")
        name = file.name()
        file.skip(24 * file.take("Q")[0])  # observations
        size, (fx, fy, cx, cy) = cameras[camera]
        views.append((number, CameraView(name, size, (fx, fy, cx, cy), np.column_stack([_rotation(w, x, y, z), t]))))
    return views


def read_views(dense: PathLike) -> List[CameraView]:
    """The views of the undistorted images in dense/sparse, in the order that visibility files count them: CameraViews.

    dense: an output folder, its dense/splat, or the folder of a binary model of pinhole cameras itself
    """
    return [view for _, view in _read_images(_model_folder(dense))]


def read_points3D(dense: PathLike) -> Points3D:
    """The sparse points of the model that `read_views` reads, each with the views that see it: Points3D.

    dense: as of `read_views`
    """
    model = _model_folder(dense)
    order: Dict[int, int] = {number: index for index, (number, _) in enumerate(_read_images(model))}
    file = _Words(model / "points3D.bin")
    count = file.count(51)
    begins, starts = np.empty(count, np.int64), np.zeros(count + 1, np.int64)
    for i in range(count):
        begins[i] = file.at
        file.skip(43)  # number, position, colour, error
        length = file.count(8)
        file.skip(8 * length)
        starts[i + 1] = starts[i] + length
    data = np.frombuffer(file.data, np.uint8)
    head = data[begins[:, None] + np.arange(43)].copy().view([("id", "<u8"), ("at", "<f8", 3), ("colour", "u1", 3), ("error", "<f8")])
    # What remains is 8 bytes of each observation: image and its keypoint.
    at = np.repeat(begins + 51 - 8 * starts[:-1], np.diff(starts)) + 8 * np.arange(starts[-1])
    images = data[at[:, None] + np.arange(4)].copy().view("<u4")[:, 0]
    numbers, which = np.unique(images, return_inverse=True)
    if unknown := [number for number in numbers.tolist() if number not in order]:
        fail(file.path, f"has observations in image {unknown[0]}, which images.bin does not have")
    views = np.array([order[number] for number in numbers.tolist()], np.int32)[which]
    points = head[:, 0]
    return Points3D(points["at"].astype(np.float64), points["colour"].copy(), points["error"].astype(np.float64), starts, views)
