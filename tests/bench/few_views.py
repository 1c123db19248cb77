#!/usr/bin/env python3
"""Scenes of a few neighbouring views, and how much of what they show is found.

  few_views.py cut SCENE OUTPUT --first I --count N    a scene of the views I to I + N - 1 by name, with its truth
  few_views.py evaluate SCENE WORKSPACE                recall and precision of the checked maps

SCENE has a COLMAP model as text in sparse/ and true depths in gt_depth/: NAME.bin as reconstruct-render writes them, or
NAME.png in thousandths of a scene unit. Recall: of the pixels with a true depth that another view shows (its true depth
there is the same within 1.5 %), the share that is right within 1 %. Precision: of the pixels that are filled and have a
true depth, the share that is right within 1 %. Needs python3-numpy and python3-opencv."""

import argparse
import pathlib
import shutil

import cv2
import numpy as np

from degrade_depth import read_depth

RIGHT, SAME = 0.01, 0.015


def lines_of(path):
    return [line for line in path.read_text().splitlines() if not line.startswith("#")]


def cut(options):
    """The model of some views, with the points that two of them observe."""
    source, output = options.scene, options.output
    lines = lines_of(source / "sparse/images.txt")
    views = sorted(zip(lines[::2], lines[1::2]), key=lambda view: view[0].split(maxsplit=9)[9])
    views = views[options.first:options.first + options.count]
    ids = {view[0].split()[0] for view in views}
    points = {}
    for line in lines_of(source / "sparse/points3D.txt"):
        words = line.split()
        track = [pair for pair in zip(words[8::2], words[9::2]) if pair[0] in ids]
        if len({view for view, _ in track}) >= 2:
            points[words[0]] = " ".join(words[:8] + [word for pair in track for word in pair])
    for folder in ("sparse", "images"):
        (output / folder).mkdir(parents=True, exist_ok=True)
    shutil.copy(source / "sparse/cameras.txt", output / "sparse")
    (output / "sparse/points3D.txt").write_text("\n".join(points.values()) + "\n")
    with open(output / "sparse/images.txt", "w") as file:
        for pose, observations in views:
            words = observations.split()
            words[2::3] = [point if point in points else "-1" for point in words[2::3]]
            file.write(f"{pose}\n{' '.join(words)}\n")
            name = pose.split(maxsplit=9)[9]
            (output / "images" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source / "images" / name, output / "images" / name)
    (output / "gt_depth").symlink_to((source / "gt_depth").resolve())


class View:
    def __init__(self, scene, line, cameras):
        words = line.split(maxsplit=9)
        self.name = words[9]
        w, x, y, z = (float(word) for word in words[1:5])
        self.rotation = np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                                  [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                                  [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])
        self.translation = np.array([float(word) for word in words[5:8]])
        self.truth = read_depth(next((scene / "gt_depth").glob(pathlib.Path(self.name).stem + ".*")))
        height, width = self.truth.shape
        model, camera_width, _, *parameters = cameras[words[8]]
        fx, *rest = (float(parameter) * width / float(camera_width) for parameter in parameters)
        self.fx, self.fy, self.cx, self.cy = [fx] + (rest if model == "PINHOLE" else [fx] + rest[:2])

    def points(self):
        v, u = np.indices(self.truth.shape) + 0.5
        rays = np.stack([(u - self.cx) / self.fx, (v - self.cy) / self.fy, np.ones_like(u)], -1)
        return (rays * self.truth[..., None] - self.translation) @ self.rotation

    def shows(self, points):
        """Whether the true depths of this view are those of the points that it would see there."""
        x, y, z = np.moveaxis(points @ self.rotation.T + self.translation, -1, 0)
        u, v = self.fx * x / z + self.cx, self.fy * y / z + self.cy
        height, width = self.truth.shape
        inside = (z > 0) & (u >= 0) & (u < width) & (v >= 0) & (v < height)
        column, line = (np.where(inside, it, 0).astype(int) for it in (u, v))
        return inside & (np.abs(self.truth[line, column] / z - 1) < SAME)


def evaluate(options):
    scene = options.scene
    cameras = {words[0]: words[1:] for words in map(str.split, lines_of(scene / "sparse/cameras.txt"))}
    views = [View(scene, line, cameras) for line in lines_of(scene / "sparse/images.txt")[::2]]
    shown = found = filled = right = 0
    for view in views:
        known = np.isfinite(view.truth)
        points = view.points()
        seen = known & np.any([other.shows(points) for other in views if other is not view], axis=0)
        depth = read_depth(options.workspace / f"stereo/depth_maps/{view.name}.geometric.bin").astype(np.float32)
        depth = cv2.resize(depth, view.truth.shape[::-1], interpolation=cv2.INTER_NEAREST)
        good = np.abs(depth / view.truth - 1) < RIGHT
        shown, found = shown + seen.sum(), found + (seen & good).sum()
        filled, right = filled + (known & np.isfinite(depth)).sum(), right + (known & good).sum()
    print(f"recall {found / shown:.4f}, precision {right / max(filled, 1):.4f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("cut")
    command.add_argument("scene", type=pathlib.Path)
    command.add_argument("output", type=pathlib.Path)
    command.add_argument("--first", type=int, default=0)
    command.add_argument("--count", type=int, required=True)
    command.set_defaults(run=cut)
    command = commands.add_parser("evaluate")
    command.add_argument("scene", type=pathlib.Path)
    command.add_argument("workspace", type=pathlib.Path)
    command.set_defaults(run=evaluate)
    options = parser.parse_args()
    with np.errstate(all="ignore"):
        options.run(options)


if __name__ == "__main__":
    main()
