"""The depth maps of a run, checked and fused once more by other options: fuse_again.py DENSE OUT.npy [MIN_VIEWS]

DENSE is an output folder of `reconstruct`. Its maps are compared with its sparse points, and warnings of them are logged. OUT.npy
becomes the points, as numpy.load reads them: position, normal, colour, confidence, view_count.
"""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import List

import numpy as np

import reconstruct
from reconstruct import io


def given_views(dense: Path) -> List[reconstruct.FusionView]:
    sparse = io.read_points3D(dense)
    views = []
    for index, view in enumerate(io.read_views(dense)):
        maps = dense / "stereo"
        views.append(reconstruct.FusionView(
            depth=io.read_depth_map(maps / "depth_maps" / f"{view.name}.photometric.bin"), camera=view.camera, pose=view.pose,
            confidence=io.read_confidence_map(maps / "confidence_maps" / f"{view.name}.photometric.png"),
            points=sparse.seen_by(index)))
    return views


def main(arguments: List[str]) -> int:
    if len(arguments) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    logging.basicConfig(format="%(levelname)s: %(message)s")
    options = reconstruct.SceneOptions(min_fused_views=int(arguments[2]) if len(arguments) == 3 else None)
    try:
        fusion = reconstruct.fuse(given_views(Path(arguments[0])), device="auto", options=options)
    except reconstruct.Error as error:
        print(error, file=sys.stderr)
        return error.exit_code
    np.save(arguments[1], fusion.cloud)
    print(len(fusion.cloud), "points")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
