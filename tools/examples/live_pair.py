"""Pairs in the memory of a GPU, as a live camera has them, by CuPy: live_pair.py LEFT.npy RIGHT.npy MAX_DISPARITY OUT.npy

The images are arrays of NumPy in files, (height, width) or (height, width, 3) of uint8; they stand for those of a camera.
"""

import sys
import time

import cupy  # type: ignore
import numpy as np

import reconstruct


def main() -> int:
    if len(sys.argv) != 5:
        print(__doc__)
        return 2
    left, right = (cupy.asarray(np.load(name)) for name in sys.argv[1:3])
    height, width = left.shape[:2]
    # Once, for all pairs of this size.
    matcher = reconstruct.Matcher(width, height, int(sys.argv[3]), channels=1 if left.ndim == 2 else 3)
    disparity = cupy.empty((height, width), cupy.float32)
    stream = cupy.cuda.Stream(non_blocking=True)
    least = float("inf")
    for _ in range(100):
        start = time.perf_counter()
        matcher.match(left, right, disparity, stream=stream)
        stream.synchronize()  # kernels of the same stream need not wait
        least = min(least, time.perf_counter() - start)
    print(f"{1e3 * least:.3f} ms, {float(cupy.isfinite(disparity).mean()):.1%} of the pixels have a disparity")
    np.save(sys.argv[4], cupy.asnumpy(disparity))
    return 0


if __name__ == "__main__":
    sys.exit(main())
