"""Other programs as `tools/figures` runs them: on the photos and cameras of a rendered scene, with their defaults."""

import math
import os
import pathlib
import re
import shutil
import subprocess

SHARES, MARGINS = (0.01, 0.99), (0.75, 1.25)  # the depth range of COLMAP: of the sparse points of a view
MIN_ANGLE = 1  # degrees, of the rays of a point in two views that may be sources of each other
MAX_SOURCES = 20


def said_version(pattern, *words):
    """What a program says of its version, or nothing."""
    try:
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, errors="replace", timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = re.search(pattern, done.stdout + done.stderr)
    return found.group(1) if found else ""


class Program:
    """What turns the photos and cameras of a scene into a cloud, in an empty folder, by one or several commands."""
    name, cloud = "", ""  # as the page calls it; the file in the folder
    on, processors = "", None  # a device, and the processors that it may use; all by default
    version = ""

    def prepare(self, scene, work):
        """What it needs beside the scene; not measured."""


class Colmap(Program):
    name, cloud = "COLMAP", "fused.ply"

    def __init__(self, program):
        self.program = program
        self.version = said_version(r"COLMAP (\d[\w.-]*)", program, "help")

    def commands(self, scene, work):
        return [[self.program, "image_undistorter", "--image_path", scene / "images", "--input_path", scene / "sparse",
                 "--output_path", work],
                [self.program, "patch_match_stereo", "--workspace_path", work],
                [self.program, "stereo_fusion", "--workspace_path", work, "--output_path", work / self.cloud]]


class OpenMvs(Program):
    name, cloud = "OpenMVS", "dense.ply"

    def __init__(self, folder):
        self.folder = folder
        self.version = said_version(r"OpenMVS \w+ v([\w.]+)", folder / "DensifyPointCloud", "--help")

    def commands(self, scene, work):
        return [[self.folder / "InterfaceCOLMAP", "-w", work, "-i", scene, "-o", work / "scene.mvs", "--image-folder",
                 scene / "images"],
                [self.folder / "DensifyPointCloud", "-w", work, "-i", work / "scene.mvs", "-o", work / "dense.mvs"]]


class HpmMvs(Program):
    """HPM-MVS++: it takes MVSNet's files, whose cameras have the centre of the first pixel at 0, and knows images by numbers."""
    name, cloud = "HPM-MVS++", "HPM_MVS_plusplus/HPM_MVS_plusplus.ply"

    def __init__(self, program, version):
        self.program, self.version = program, version

    def prepare(self, scene, work):
        write_mvsnet(scene, work)

    def commands(self, scene, work):
        return [[self.program, work, "false"]]


def rows_of(path):
    return [line.split() for line in path.read_text().splitlines() if not line.startswith("#")]


def rotation_of(w, x, y, z):
    return [[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]


class View:
    def __init__(self, words, observations):
        self.rotation = rotation_of(*map(float, words[1:5]))
        self.translation = [float(word) for word in words[5:8]]
        self.camera, self.name = words[8], words[9]
        self.points = {int(word) for word in observations[2::3]} - {-1}
        self.centre = [-sum(self.rotation[j][i] * self.translation[j] for j in range(3)) for i in range(3)]

    def depth(self, point):
        return sum(a * b for a, b in zip(self.rotation[2], point)) + self.translation[2]


def angle(point, first, second):
    """Between the rays to a point, degrees."""
    a, b = ([c - p for c, p in zip(centre, point)] for centre in (first, second))
    cosine = sum(x * y for x, y in zip(a, b)) / (math.hypot(*a) * math.hypot(*b))
    return math.degrees(math.acos(max(-1.0, min(1.0, cosine))))


def shared_points(points, view, other):
    """How many points both views see; 0 where three quarters of them are seen at too small an angle."""
    angles = sorted(angle(points[it], view.centre, other.centre) for it in view.points & other.points)
    return len(angles) if angles and angles[len(angles) * 3 // 4] >= MIN_ANGLE else 0


def write_mvsnet(scene, folder):
    """The scene, whose cameras are of the model PINHOLE, as images/, cams/ and pair.txt; views have the numbers of their order."""
    cameras = {words[0]: [float(word) for word in words[4:8]] for words in rows_of(scene / "sparse/cameras.txt")}
    points = {int(words[0]): [float(word) for word in words[1:4]] for words in rows_of(scene / "sparse/points3D.txt") if words}
    lines = rows_of(scene / "sparse/images.txt")
    views = sorted((View(*pair) for pair in zip(lines[::2], lines[1::2])), key=lambda view: view.name)
    for name in ("images", "cams"):
        (folder / name).mkdir(parents=True)
    pairs = [f"{len(views)}"]
    for number, view in enumerate(views):
        os.symlink((scene / "images" / view.name).resolve(), folder / f"images/{number:08}.jpg")  # readers go by the content
        fx, fy, cx, cy = cameras[view.camera]
        depths = sorted(view.depth(points[it]) for it in view.points)
        near, far = (margin * depths[int(share * len(depths))] for share, margin in zip(SHARES, MARGINS))
        rows = [" ".join(map(repr, [*row, shift])) for row, shift in zip(view.rotation, view.translation)]
        (folder / f"cams/{number:08}_cam.txt").write_text("\n".join(
            ["extrinsic", *rows, "0 0 0 1", "", "intrinsic", f"{fx} 0 {cx - 0.5}", f"0 {fy} {cy - 0.5}", "0 0 1", "",
             f"{near} {(far - near) / 191} 192 {far}", ""]))
        shared = sorted((-shared_points(points, view, it), i) for i, it in enumerate(views) if it is not view)
        best = [(i, -count) for count, i in shared[:MAX_SOURCES] if count < 0]
        pairs += [str(number), " ".join([str(len(best)), *(f"{i} {count}" for i, count in best)])]
    (folder / "pair.txt").write_text("\n".join(pairs) + "\n")


def given(options):
    """The peers whose programs are given, and of the others why they do not run."""
    peers, missing = [], {}
    for peer, option, value, more in ((Colmap, "--colmap", options.colmap, []), (OpenMvs, "--openmvs", options.openmvs, []),
                                      (HpmMvs, "--hpm-mvs", options.hpm_mvs, [options.hpm_mvs_version])):
        if value:
            peers.append(peer(pathlib.Path(shutil.which(value) or value).resolve(), *more))
        else:
            missing[peer.name] = f"not given (`{option}`)"
    return peers, missing
