#!/usr/bin/env python3
"""Priors made of true depths as networks see them, or lies: degrade_depth.py SCENE OUTPUT [--as KIND] [--seed N]

SCENE has the ground truth of reconstruct-render, or gt_depth/NAME.png in thousandths. OUTPUT gets a map of inverse
depths NAME.npy for each view, for --prior-maps. Kinds: network (a scale and a shift for each view, bends of 5 to 10 %,
blurred edges, two areas that are planes as windows and mirrors are, walls where nothing is), other (of another view),
mirrored, constant, noise. Needs python3-numpy, and python3-opencv for PNG."""

import argparse
import pathlib

import numpy as np


def read_depth(path):
    """COLMAP's array of a map, or a PNG of thousandths, unknown as NaN."""
    if path.suffix == ".png":
        import cv2

        depth = cv2.imread(str(path), cv2.IMREAD_UNCHANGED) / 1000
        return np.where(depth > 0, depth, np.nan)
    data = path.read_bytes()
    header = data.split(b"&", 3)
    width, height = int(header[0]), int(header[1])
    depth = np.frombuffer(header[3], "<f4").reshape(height, width).astype(float)
    return np.where(depth > 0, depth, np.nan)


def bend(rng, height, width):
    """A smooth field in [-1, 1]."""
    y, x = np.mgrid[0:height, 0:width]
    field = np.zeros((height, width))
    for _ in range(4):
        across, down = rng.uniform(-1.5, 1.5, 2)
        wave = np.cos(2 * np.pi * (across * x / width + down * y / height + rng.uniform()))
        field += rng.uniform(0.3, 1) * wave
    return field / np.abs(field).max()


def blurred(image, sigma):
    reach = int(3 * sigma) + 1
    window = np.exp(-0.5 * (np.arange(-reach, reach + 1) / sigma) ** 2)
    window /= window.sum()
    for axis in (0, 1):
        padded = np.pad(image, [(reach, reach) if i == axis else (0, 0) for i in (0, 1)], mode="edge")
        image = np.apply_along_axis(np.convolve, axis, padded, window, "valid")
    return image


def with_plane(rng, inverse):
    """Replaces a rectangle by the bilinear surface through its corners."""
    height, width = inverse.shape
    w, h = int(width * rng.uniform(0.08, 0.2)), int(height * rng.uniform(0.08, 0.2))
    x, y = rng.integers(0, width - w), rng.integers(0, height - h)
    u, v = np.linspace(0, 1, w)[None], np.linspace(0, 1, h)[:, None]
    top = (1 - u) * inverse[y, x] + u * inverse[y, x + w - 1]
    bottom = (1 - u) * inverse[y + h - 1, x] + u * inverse[y + h - 1, x + w - 1]
    inverse[y:y + h, x:x + w] = (1 - v) * top + v * bottom


def as_network(rng, depth):
    height, width = depth.shape
    far = np.nanmax(depth) * rng.uniform(0.9, 1.5)
    z = np.where(np.isnan(depth), far, depth) * (1 + rng.uniform(0.05, 0.1) * bend(rng, height, width))
    inverse = 1 / z
    with_plane(rng, inverse)
    with_plane(rng, inverse)
    inverse = blurred(inverse, width / 640 * rng.uniform(1.5, 3))
    scale, shift = np.exp(rng.uniform(-1, 1)), rng.uniform(-0.2, 0.2) * np.median(inverse)
    return scale * (inverse + shift)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scene", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    kinds = ("network", "other", "mirrored", "constant", "noise")
    parser.add_argument("--as", dest="kind", choices=kinds, default="network")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    photos = {path.stem: path.name for path in (options.scene / "images").iterdir()}
    maps = sorted((options.scene / "gt_depth").glob("*.bin")) or sorted((options.scene / "gt_depth").glob("*.png"))
    files = [path for path in maps if path.stem in photos]
    for i, file in enumerate(files):
        rng = np.random.default_rng([options.seed, i])
        other = files[(i + len(files) // 2) % len(files)]
        depth = read_depth(other if options.kind == "other" else file)
        if options.kind == "network":
            prior = as_network(rng, depth)
        elif options.kind == "constant":
            prior = np.full(depth.shape, 0.5)
        elif options.kind == "noise":
            prior = rng.uniform(0.1, 1, depth.shape)
        else:
            prior = 1 / (depth[:, ::-1] if options.kind == "mirrored" else depth)
        np.save(options.output / f"{photos[file.stem]}.npy", prior.astype(np.float32))


if __name__ == "__main__":
    main()
