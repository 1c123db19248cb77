"""What sweeps take and give."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


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
