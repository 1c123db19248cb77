"""Views in the memory of a GPU, as a moving camera has them, by CuPy: live_views.py DENSE OUT.npy

DENSE is an output folder of `reconstruct`; its first undistorted images stand for those of the camera. OUT.npy becomes the depth map of the first.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import List

import cupy  # type: ignore
import cv2  # type: ignore
import numpy as np

import reconstruct
from reconstruct import io


def main(arguments: List[str]) -> int:
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    dense = Path(arguments[0])
    models = io.read_views(dense)
    # Views of one size: the first one, and up to four others.
    models = [it for it in models if it.size == models[0].size][:5]
    images = [cupy.asarray(cv2.imread(str(dense / "images" / it.name))[..., ::-1].copy()) for it in models]
    reference, *sources = [reconstruct.View(image, it.camera, it.pose) for image, it in zip(images, models)]
    width, height = models[0].size
    # Once, for all views of this size.
    sweeper = reconstruct.Sweeper(width, height, len(sources), channels=3)
    stream = cupy.cuda.Stream(non_blocking=True)
    out = reconstruct.DeviceDepthMaps(cupy.empty((height, width), cupy.float32))  # the depth alone
    least = float("inf")
    for _ in range(10):
        start = time.perf_counter()
        sweeper.sweep(reference, sources, out, stream)
        stream.synchronize()  # kernels of the same stream need not wait
        least = min(least, time.perf_counter() - start)
    print(f"{1e3 * least:.1f} ms, {float(cupy.isfinite(out.depth).mean()):.1%} of the pixels have a depth")
    np.save(arguments[1], cupy.asnumpy(out.depth))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
