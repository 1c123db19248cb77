"""Reads the results of `reconstruct` with NumPy alone.

    from reconstruct import io as rio
    depth = rio.read_depth_map("dense/stereo/depth_maps/a.jpg.geometric.bin")      # (height, width), NaN: unknown
    cloud = rio.read_cloud("dense/fused.ply")                                      # cloud["x"], cloud["confidence"], ...
    starts, views = rio.read_visibility("dense/fused.ply.vis", len(cloud))         # of point i: views[starts[i]:starts[i + 1]]
    view = rio.read_views("dense")[0]                                              # name, camera, pose
    points = rio.back_project(depth, view.camera, view.pose)                       # (height, width, 3), world
    sparse = rio.read_points3D("dense").seen_by(0)                                 # (n, 3), world: those that the first view sees

Files that are damaged raise ValueError with the file and what is wrong; those that cannot be opened OSError.
"""

from __future__ import annotations

import json
import os
import re
import struct
import sys
import zlib
from pathlib import Path
from typing import Any, BinaryIO, Dict, List, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._model import CameraView, PathLike, Points3D, read_points3D, read_views
from ._model import fail as _fail

__all__ = ["CameraView", "Points3D", "back_project", "read_cloud", "read_confidence_map", "read_depth_map", "read_normal_map",
           "read_pfm", "read_points3D", "read_report", "read_session", "read_views", "read_visibility", "view_names"]

_PLY_TYPES = {"char": "i1", "int8": "i1", "uchar": "u1", "uint8": "u1", "short": "i2", "int16": "i2", "ushort": "u2",
              "uint16": "u2", "int": "i4", "int32": "i4", "uint": "u4", "uint32": "u4", "float": "f4", "float32": "f4",
              "double": "f8", "float64": "f8"}
_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def _dense_array(path: PathLike, channels: int) -> NDArray[np.float32]:
    """COLMAP's array "width&height&channels&" and little-endian floats, channel by channel: (channels, height, width)."""
    data = Path(path).read_bytes()
    header = data[:64].split(b"&", 3)
    if len(header) != 4 or not all(number.isdigit() for number in header[:3]):
        _fail(path, 'does not begin with "width&height&channels&"')
    width, height, found = (int(number) for number in header[:3])
    start = sum(len(number) + 1 for number in header[:3])
    if found != channels:
        _fail(path, f"has {found} channels, not {channels}")
    if len(data) - start != 4 * width * height * channels:
        _fail(path, f"{width}x{height}x{channels} floats take {4 * width * height * channels} bytes, "
                    f"but {len(data) - start} follow")
    values: NDArray[np.float32] = np.frombuffer(data, "<f4", offset=start).reshape(channels, height, width).astype(np.float32)
    return values


def read_depth_map(path: PathLike) -> NDArray[np.float32]:
    """A depth map in scene units: (height, width) float32, z along the viewing axis; NaN where unknown."""
    depth: NDArray[np.float32] = _dense_array(path, 1)[0]
    depth[~(np.isfinite(depth) & (depth > 0))] = np.nan
    return depth


def read_normal_map(path: PathLike) -> NDArray[np.float32]:
    """A normal map: (height, width, 3) float32, unit vectors in the camera frame; NaN where unknown."""
    normals: NDArray[np.float32] = np.moveaxis(_dense_array(path, 3), 0, 2).copy()
    normals[~np.isfinite(normals).all(axis=2) | ~normals.any(axis=2)] = np.nan
    return normals


def _undo_filter(kind: int, row: NDArray[np.uint8], above: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """A row of an 8-bit grey PNG before its filter, see section 9 of the PNG specification."""
    if kind == 0:
        return row
    if kind == 1:
        return np.cumsum(row, dtype=np.uint8)
    if kind == 2:
        return row + above
    out, left, above_left = np.empty_like(row), 0, 0
    for x, (value, up) in enumerate(zip(row.tolist(), above.tolist())):
        if kind == 3:
            predicted = (left + up) // 2
        else:
            estimate = left + up - above_left
            predicted = min((left, up, above_left), key=lambda near: int(abs(estimate - near)))
        left, above_left = (value + predicted) & 255, up
        out[x] = left
    return out


def _grey_png(path: PathLike) -> NDArray[np.uint8]:
    data = Path(path).read_bytes()
    if not data.startswith(_PNG_SIGNATURE):
        _fail(path, "is not a PNG file")
    at, header, packed = len(_PNG_SIGNATURE), None, []
    while at + 8 <= len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        body = data[at + 8:at + 8 + length]
        if len(body) < length:
            break
        if kind == b"IHDR" and length == 13:
            header = struct.unpack(">IIBBBBB", body)
        elif kind == b"IDAT":
            packed.append(body)
        at += 12 + length
    if header is None:
        _fail(path, "has no header")
    width, height = header[:2]
    if header[2:4] != (8, 0) or header[6] != 0:
        _fail(path, "is not an 8-bit grey image")
    size = height * (width + 1)
    try:
        # No more than the size in the header, whatever the file unpacks to.
        raw = zlib.decompressobj().decompress(b"".join(packed), min(size + 1, sys.maxsize))
    except zlib.error as error:
        _fail(path, f"is damaged: {error}")
    if len(raw) != size:
        _fail(path, f"{width}x{height} pixels take {size} bytes, not {len(raw)}")
    rows = np.frombuffer(raw, np.uint8).reshape(height, width + 1)
    if height and rows[:, 0].max() > 4:
        _fail(path, "has an unknown filter")
    image = np.zeros((height, width), np.uint8)
    for y in range(height):
        image[y] = _undo_filter(rows[y, 0], rows[y, 1:], image[y - 1] if y else np.zeros(width, np.uint8))
    return image


def read_confidence_map(path: PathLike) -> NDArray[np.float32]:
    """A confidence map: (height, width) float32 in [0, 1], multiples of 1/255; 0 also where the depth is unknown."""
    return _grey_png(path).astype(np.float32) / np.float32(255)


def read_pfm(path: PathLike) -> NDArray[np.float32]:
    """A PFM file of one channel: (height, width) float32; NaN where unknown, which is +inf in the file."""
    data = Path(path).read_bytes()
    header = re.match(rb"Pf\s+(\d+)\s+(\d+)\s+(-?\d+(?:\.\d*)?(?:e[+-]?\d+)?)\s", data[:128])
    if not header or float(header[3]) == 0:
        _fail(path, "has no header of a PFM file of one channel")
    width, height, scale = int(header[1]), int(header[2]), float(header[3])
    if len(data) - header.end() != 4 * width * height:
        _fail(path, f"{width}x{height} floats take {4 * width * height} bytes, but {len(data) - header.end()} follow")
    image = np.frombuffer(data, "<f4" if scale < 0 else ">f4", offset=header.end()).reshape(height, width)[::-1].astype(np.float32)
    image[~np.isfinite(image)] = np.nan
    return image


def _ply_header(path: PathLike, file: BinaryIO) -> Tuple[int, "np.dtype[Any]", Optional[List[float]]]:
    """The number of vertices, their NumPy type, and what `reconstruct` subtracted from their coordinates."""
    if file.readline(16).strip() != b"ply":
        _fail(path, "is not a PLY file")
    count, fields, elements, order, own, offset = 0, [], [], None, False, None
    while (line := file.readline(4096).decode("ascii", "replace").strip()) != "end_header":
        if not line:
            _fail(path, "the header is truncated")
        if line.startswith("format "):
            order = {"binary_little_endian": "<", "binary_big_endian": ">"}.get(line.split()[1])
        elif line == "comment written by reconstruct":
            own = True
        elif own and line.startswith("comment offset "):
            numbers = line.split()[2:]
            try:
                x, y, z = (float(number) for number in numbers)
                offset = [x, y, z]
            except ValueError:
                _fail(path, f"has no three numbers in '{line}'")
        elif element := re.fullmatch(r"element (\S+) (\d+)", line):
            elements.append(element[1])
            if element[1] == "vertex":
                count = int(element[2])
        elif line.startswith("property ") and elements == ["vertex"]:
            found = re.fullmatch(r"property (\S+) (\S+)", line)
            if not found or found[1] not in _PLY_TYPES:
                _fail(path, f"cannot read vertices with '{line}'")
            fields.append((found[2], found[1]))
    if order is None:
        _fail(path, "is not a binary PLY file")
    if elements[:1] != ["vertex"] or not fields:
        _fail(path, "does not begin with vertices")
    if len({name for name, _ in fields}) < len(fields):
        _fail(path, "has two properties of the same name")
    return count, np.dtype([(name, order + _PLY_TYPES[kind]) for name, kind in fields]), offset


def _field_name(name: str, names: Sequence[str]) -> str:
    """`views` for scalar_views, as clouds of `reconstruct` have it; all others as the file calls them."""
    return "views" if name == "scalar_views" and "views" not in names else name


def _with_offset(cloud: NDArray[Any], offset: Sequence[float]) -> NDArray[Any]:
    """The same points with x, y and z as doubles, to which the offset is added."""
    kinds = [(name, "f8" if name in ("x", "y", "z") else cloud.dtype[name]) for name in cloud.dtype.names or ()]
    moved = cloud.astype(np.dtype(kinds))
    for axis, added in zip("xyz", offset):
        moved[axis] += added
    return moved


def read_cloud(path: PathLike) -> NDArray[Any]:
    """The points of a binary PLY file: a structured array with a field for each property, of its type in the file.

    Those of `reconstruct` are x y z (float or, in map coordinates, double), nx ny nz, red green blue, confidence and
    views, the number of views that see the point, at most 255 (in the file scalar_views: CloudCompare takes such names).
    What `--offset` subtracted is added again: x y z are double then, in the coordinates of the scene.
    """
    with open(path, "rb") as file:
        count, kind, offset = _ply_header(path, file)
        names = kind.names or ()
        kind.names = tuple(_field_name(name, names) for name in names)
        left = os.fstat(file.fileno()).st_size - file.tell()
        if left < count * kind.itemsize:
            _fail(path, f"{count} vertices take {count * kind.itemsize} bytes, but {left} follow")
        cloud = np.fromfile(file, kind, count)
    return cloud if offset is None else _with_offset(cloud, offset)


def read_visibility(path: PathLike, points: int) -> Tuple[NDArray[np.int64], NDArray[np.int32]]:
    """COLMAP's visibility file of a cloud of `points` points.

    Returns `starts` (points + 1, int64) and `views` (int32): views[starts[i]:starts[i + 1]] are the indices of the views
    that see point i, in the order of the images of dense/sparse.
    """
    data = np.fromfile(path, np.uint8)
    if len(data) < 8 or len(data) % 4:
        _fail(path, "is truncated")
    found = int(data[:8].view("<u8")[0])
    if found != points:
        _fail(path, f"is of {found} points, not {points}")
    words = data[8:].view("<u4")
    if len(words) < points:
        _fail(path, f"ends before point {len(words)} of {points}")
    starts, at, numbers = np.zeros(points + 1, np.int64), 0, words.tolist()
    for i in range(points):
        if at >= len(numbers):
            _fail(path, f"ends at point {i} of {points}")
        starts[i + 1] = starts[i] + numbers[at]
        at += 1 + numbers[at]
    if at != len(numbers):
        _fail(path, f"{points} points take {4 * at} bytes, but {4 * len(numbers)} follow")
    counts = np.ones(len(numbers), bool)
    counts[starts[:-1] + np.arange(points)] = False
    return starts, words[counts].astype(np.int32)


def view_names(dense: PathLike) -> List[str]:
    """The names of the views of a scene with depth maps, in order; without those that COLMAP's list cannot name (#...)."""
    return [os.fsdecode(name) for name in Path(dense, "stereo", "fusion.cfg").read_bytes().split(b"\n") if name]


def back_project(depth: ArrayLike, camera: Sequence[float], pose: ArrayLike) -> NDArray[np.float64]:
    """The world coordinates of the pixels of a depth map: (height, width, 3) float64, NaN where the depth is.

    depth: (height, width), z along the viewing axis; camera: fx, fy, cx, cy of this size; pose: [R | t], cam_from_world
    """
    depth, pose = np.asarray(depth, np.float64), np.asarray(pose, np.float64)
    fx, fy, cx, cy = camera
    y, x = np.mgrid[:depth.shape[0], :depth.shape[1]] + 0.5
    in_camera = np.stack([(x - cx) / fx * depth, (y - cy) / fy * depth, depth], 2)
    points: NDArray[np.float64] = (in_camera - pose[:3, 3]) @ pose[:3, :3]
    return points


def read_report(path: PathLike) -> Dict[str, Any]:
    """The report of a scene or pair, `report.json`: a dictionary."""
    try:
        report: Dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
        return report
    except ValueError as error:
        _fail(path, f"is not JSON: {error}")


def read_session(path: PathLike) -> List[Dict[str, Any]]:
    """The results of a session, `session.jsonl`: a dictionary for each scene with `scene`, `status` and `exit_code`.

    Where they are known also `output`, `points`, `seconds`, `preview`, and the numbers of `views`, `left_out` and
    `warnings`; of one that failed `error`. The report in `output` has the views and warnings themselves.
    """
    try:
        # Not splitlines, which divides texts at U+2028 and its like too.
        return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").split("\n") if line.strip()]
    except ValueError as error:
        _fail(path, f"is not JSON Lines: {error}")
