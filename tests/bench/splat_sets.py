#!/usr/bin/env python3
"""Folders for gaussian-splatting that compare what its training starts from, with photos that nothing was made of.

  splat_sets.py SCENE OUTPUT --program reconstruct [--points 100000]

SCENE has a COLMAP model as text. Every eighth photo by name is held out, as the trainer's --eval does: points and depths
come from a run on the others, in OUTPUT/train. Beside it OUTPUT/sfm has the points of the model, OUTPUT/points those of
--export-points, OUTPUT/depths also depths, and OUTPUT/filled those of --export-filled. Then, in gaussian-splatting,

  python train.py -s OUTPUT/filled -d depths --eval --iterations 2000 --test_iterations 2000

prints the PSNR of the held out photos (without -d for sfm and points)."""

import argparse
import json
import pathlib
import shutil
import subprocess

HOLD_OUT = 8


def lines_of(path):
    return [line for line in path.read_text().splitlines() if not line.startswith("#")]


def name_of(view):
    return view[0].split(maxsplit=9)[9]


def write_scene(model, images, output, views, ids):
    """The scene of some views, with the points that one of them observes."""
    (output / "sparse").mkdir(parents=True)
    (output / "images").symlink_to(images.resolve())
    shutil.copy(model / "cameras.txt", output / "sparse")
    (output / "sparse/images.txt").write_text("".join(f"{pose}\n{points}\n" for pose, points in views))
    with open(output / "sparse/points3D.txt", "w") as file:
        for line in lines_of(model / "points3D.txt"):
            words = line.split()
            track = [pair for pair in zip(words[8::2], words[9::2]) if pair[0] in ids]
            if track or len(words) == 8:
                file.write(" ".join(words[:8] + [word for pair in track for word in pair]) + "\n")


def export(options, scene, *more):
    command = [options.program, scene, "--export-points", options.points, "--export-priors", "3dgs", *more]
    subprocess.run([str(word) for word in command], check=True)
    return scene / "dense/splat"


def write_set(output, whole, train, points, depths):
    """A folder of the trainer: cameras and images of all views, points and depths of those it is trained on. The trainer
    also opens the depths of photos that are held out, without using them."""
    model = output / "sparse/0"
    model.mkdir(parents=True)
    (output / "images").symlink_to((whole / "images").resolve())
    for file in ("cameras.bin", "images.bin"):
        shutil.copy(whole / "sparse/0" / file, model)
    shutil.copy(points, model)
    if depths:
        shutil.copytree(whole / "depths", output / "depths")
        shutil.copytree(train / "depths", output / "depths", dirs_exist_ok=True)
        scales = [json.loads((folder / "sparse/0/depth_params.json").read_text()) for folder in (whole, train)]
        (model / "depth_params.json").write_text(json.dumps({**scales[0], **scales[1]}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scene", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--program", default="reconstruct")
    parser.add_argument("--points", type=int, default=100000)
    options = parser.parse_args()
    model = options.scene / "sparse"
    model = model / "0" if (model / "0").is_dir() else model
    lines = lines_of(model / "images.txt")
    views = sorted(zip(lines[::2], lines[1::2]), key=name_of)
    trained = [view for i, view in enumerate(views) if i % HOLD_OUT]
    for folder, chosen in (("all", views), ("train", trained)):
        ids = {view[0].split()[0] for view in chosen}
        write_scene(model, options.scene / "images", options.output / folder, chosen, ids)
    sfm = options.output / "train/sparse/points3D.txt"
    whole = export(options, options.output / "all")
    train = export(options, options.output / "train")
    write_set(options.output / "sfm", whole, train, sfm, False)
    write_set(options.output / "points", whole, train, train / "sparse/0/points3D.bin", False)
    write_set(options.output / "depths", whole, train, train / "sparse/0/points3D.bin", True)
    train = export(options, options.output / "train", "--export-filled")
    write_set(options.output / "filled", whole, train, train / "sparse/0/points3D.bin", True)


if __name__ == "__main__":
    main()
