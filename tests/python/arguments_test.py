"""arguments_test.py PROGRAM SCENE EXAMPLES: what the calls of the module `reconstruct` are given: arrays of all kinds, cameras,
poses, options, paths. Each is taken, or refused by an error that says what it must be. SCENE is a small scene, EXAMPLES the folder of
the examples, which begin from what PROGRAM makes of it."""

import logging
import os
import subprocess
import sys
import unittest
from pathlib import Path

SKIPPED = 77
try:
    import numpy as np
except ImportError as missing:
    print(missing)
    sys.exit(SKIPPED)

import reconstruct
from reconstruct_test import Plane, texture

LEFT, RIGHT = texture()
FAULTS = (TypeError, ValueError)


def match(left, right, **options):
    return reconstruct.match(left, right, 16, device="cpu", **options).disparity


def unaligned(array):
    """A copy that begins at an odd address."""
    raw = np.empty(array.nbytes + 1, np.uint8)[1:]
    copy = raw.view(array.dtype).reshape(array.shape)
    copy[...] = array
    assert not copy.flags.aligned
    return copy


class Images(unittest.TestCase):
    def test_one_channel_is_grey(self):
        np.testing.assert_array_equal(match(LEFT[..., None], RIGHT[..., None]), match(LEFT, RIGHT))

    def test_16_bits_of_any_byte_order_and_address(self):
        left, right = (13 * image.astype(np.uint16) for image in (LEFT, RIGHT))
        expected = match(left, right)
        self.assertGreater(np.isfinite(expected).mean(), 0.5)
        for change in (lambda it: it.astype(">u2"), unaligned, lambda it: np.repeat(it, 2, 1)[:, ::2],
                       lambda it: it[::-1].copy()[::-1], lambda it: it.astype(">u2")[..., None]):
            np.testing.assert_array_equal(match(change(left), change(right)), expected)

    def test_wrong_arrays_are_refused_with_advice(self):
        colour = np.stack([LEFT] * 3, 2)
        wide = np.lib.stride_tricks.as_strided(LEFT, (80, 2**32 + 120), (0, 0))  # 120 in 32 bits
        wrong = {"floats": (LEFT / 255, ValueError, r"array of float64 .* by \(255 \* image\)"),
                 "four channels": (np.dstack([colour, LEFT]), ValueError, r"image\[\.\.\., :3\]"),
                 "channels first": (np.moveaxis(colour, 2, 0), ValueError, r"moveaxis\(image, 0, 2\)"),
                 "integers": (LEFT.astype(int), ValueError, r"int64 .* image\.astype\(numpy\.uint8\)"),
                 "16 bits of colours": (colour.astype(np.uint16), ValueError, "image >> 8"),
                 "truth values": (LEFT > 9, ValueError, "array of bool"),
                 "complex numbers": (LEFT.astype(complex), ValueError, "complex128"),
                 "texts": (np.full((80, 120), "a"), ValueError, "<U1"),
                 "one row": (LEFT[0], ValueError, r"shape \(120,\)"),
                 "two channels": (colour[..., :2], ValueError, r"shape \(80, 120, 2\)"),
                 "no pixels": (LEFT[:0], ValueError, "120x0 pixels"),
                 "more than 2^31 columns": (wide, ValueError, r"4294967416\); each side must be 1 to 16384"),
                 "16385 columns": (np.zeros((1, 16385), np.uint8), ValueError, "each side must be 1 to 16384"),
                 "a path": ("left.png", TypeError, "of type str; it must be an array.*run"),
                 "a path of bytes": (b"left.png", TypeError, "of type bytes"),
                 "nothing": (None, TypeError, "is None; it must be an array")}
        for name, (image, kind, text) in wrong.items():
            with self.subTest(name), self.assertRaisesRegex(kind, f"^left .*{text}"):
                match(image, RIGHT)
            with self.subTest(name), self.assertRaisesRegex(kind, "^right "):
                match(LEFT, image)

    def test_the_longest_side_is_that_of_the_library(self):
        image = np.zeros((8, 16384), np.uint8)
        self.assertEqual(match(image, image, method="bm").shape, image.shape)

    def test_results_are_written_where_the_caller_says(self):
        expected = match(LEFT, RIGHT)
        for out in (np.zeros((80, 120), np.float32), np.zeros((80, 240), np.float32)[:, ::2]):
            found = reconstruct.match(LEFT, RIGHT, 16, device="cpu", out=out)
            self.assertIs(found.disparity, out)
            np.testing.assert_array_equal(out, expected)
        read_only = np.zeros((80, 120), np.float32)
        read_only.flags.writeable = False
        for out, text in ((np.zeros((80, 120)), "out is an array of float64"), (np.zeros((80, 121), np.float32), r"shape \(80, 120\)"),
                          (read_only, "out is read-only"), ([[0.0]], "out is of type list")):
            with self.assertRaisesRegex(FAULTS, text):
                match(LEFT, RIGHT, out=out)

    def test_batches_equal_calls_one_by_one(self):
        other = texture(shift=9, seed=8)
        colour = [np.stack([np.stack([image, 255 - image // 2, image * 7], 2) for image in images]) for images in zip((LEFT, RIGHT), other)]
        grey = [np.stack(images) for images in zip((LEFT, RIGHT), other)]
        strided = [np.ascontiguousarray(np.moveaxis(images, 0, 2)) for images in grey]
        cases = {"grey": grey, "one channel": [images[..., None] for images in grey], "colours": colour, "lists": [list(images) for images in grey],
                 "16 bits": [13 * images.astype(np.uint16) for images in grey], "strides": [np.moveaxis(images, 2, 0) for images in strided]}
        for name, (left, right) in cases.items():
            for options in ({}, {"fill": True}):
                with self.subTest(name, options=options):
                    batch = reconstruct.match_batch(left, right, 16, device="cpu", **options)
                    ones = [reconstruct.match(*pair, 16, device="cpu", **options) for pair in zip(left, right)]
                    np.testing.assert_array_equal(batch.disparity, np.stack([one.disparity for one in ones]))
                    if options:
                        np.testing.assert_array_equal(batch.filled, np.stack([one.filled for one in ones]))
                    else:
                        self.assertIsNone(batch.filled)
        out = np.zeros((2, 80, 120), np.float32)
        self.assertIs(reconstruct.match_batch(*grey, 16, device="cpu", out=out).disparity, out)
        np.testing.assert_array_equal(out[1], match(*other))

    def test_wrong_batches_are_refused(self):
        batch = np.stack([LEFT, LEFT])
        wrong = {"an image": ((LEFT, LEFT), {}, r"left is an array of shape \(80, 120\); a batch is \(count, height, width\)"),
                 "another count": ((batch, batch[:1]), {}, "2 left and 1 right images"),
                 "no pairs": ((batch[:0], batch[:0]), {}, "left is empty"),
                 "floats": ((batch / 255, batch), {}, r"left\[0\] is an array of float64"),
                 "another size": (([LEFT, LEFT[:, :100]], [LEFT, LEFT[:, :100]]), {}, "pair 1: left has 100x80 pixels, that of pair 0 120x80"),
                 "a result of another shape": ((batch, batch), {"out": np.zeros((80, 120), np.float32)}, r"of shape \(2, 80, 120\)")}
        for name, (images, options, text) in wrong.items():
            with self.subTest(name), self.assertRaisesRegex(reconstruct.UsageError, text):
                reconstruct.match_batch(*images, 16, device="cpu", **options)
        with self.assertRaisesRegex(reconstruct.UsageError, "a batch of pairs is matched by match_batch"):
            match(batch[..., None], batch[..., None])

    def test_calls_do_not_grow_memory(self):
        left, right = texture(60, 80)
        device = reconstruct.Device("cpu", threads=1)
        resident = lambda: int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

        def work(count):
            for i in range(count):
                reconstruct.match(left, right, 16, device=device, fill=i % 2 == 0)
                for wrong in (left / 255, None):
                    with self.assertRaises(FAULTS):
                        reconstruct.match(wrong, right, 16, device=device)
                with self.assertRaises(reconstruct.UsageError):
                    reconstruct.match(left, right, 16, device=device, p1="x")

        work(100)
        before = resident()
        work(1000)
        # A leak of the disparities alone would be 19 MB.
        self.assertLess(resident() - before, 4 << 20)


class Views(Plane):
    def refuses(self, kind, text, reference, sources, **options):
        with self.assertRaisesRegex(kind, text):
            reconstruct.sweep(reference, sources, device="cpu", **options)

    def test_poses_are_checked(self):
        reference, source, _ = self.views()
        whole = np.vstack([source.pose, [0, 0, 0, 1]])
        for pose, kind, text in ((whole.T, ValueError, "pose of source 0 has the last row .* transposed, give pose.T"),
                                 (source.pose.T, ValueError, r"of shape \(4, 3\).* transposed"),
                                 (np.vstack([source.pose, [0, 0, 0, 2]]), ValueError, "last row .*it must be 0 0 0 1"),
                                 (np.vstack([source.pose, [0, 0, 1, 1]]), ValueError, "last row .*it must be 0 0 0 1"),
                                 (whole * np.nan, ValueError, "last row"), (source.pose * np.nan, ValueError, "orthonormal"),
                                 (np.eye(3), ValueError, r"of shape \(3, 3\); a pose is .* 3x4 or 4x4"),
                                 ("pose.txt", TypeError, "must be numbers"), (None, TypeError, "must be numbers, not None"),
                                 ([["a"] * 4] * 3, TypeError, "must be numbers"), (source.pose.astype(complex), TypeError, "must be numbers")):
            self.refuses(kind, text, reference, [source._replace(pose=pose)])
        maps = reconstruct.sweep(reference, [source._replace(pose=whole.astype(">f4"))], device="cpu", depth_min=2, depth_max=10)
        self.assertLess(abs(np.nanmedian(maps.depth) - 4), 0.01)

    def test_maps_are_written_where_the_caller_says(self):
        reference, *sources = self.views()
        bounds = {"device": "cpu", "depth_min": 2, "depth_max": 10}
        expected = reconstruct.sweep(reference, sources, **bounds)
        out = reconstruct.DepthMaps(*(np.zeros_like(it) for it in expected))
        found = reconstruct.sweep(reference, sources, out=out, **bounds)
        for a, b, c in zip(found, out, expected):
            self.assertIs(a, b)
            np.testing.assert_array_equal(b, c)
        found = reconstruct.sweep(reference, sources, out=(out.depth, None, None), **bounds)
        self.assertIs(found.depth, out.depth)
        np.testing.assert_array_equal(found.normal, expected.normal)
        for wrong, kind, text in ((out.depth, TypeError, "out is of type ndarray"), ((out.depth, out.normal), TypeError, "out is of type tuple"),
                                  ((out.depth, out.depth, None), ValueError, r"normal of out is an array .* of shape \(120, 160, 3\)"),
                                  ((out.depth.astype(float), None, None), ValueError, "depth of out is an array of float64")):
            self.refuses(kind, text, reference, sources, out=wrong)

    def test_views_and_cameras_are_checked(self):
        reference, source, _ = self.views()
        self.refuses(TypeError, "the sources are of type View; they must be a list", reference, source)
        self.refuses(TypeError, "the sources are of type ndarray", reference, source.image)
        self.refuses(TypeError, r"source 0 is of type ndarray; it must be a View, or a tuple \(image, camera, pose, mask\)", reference, [source.image])
        self.refuses(TypeError, "source 0 is of type tuple", reference, [(source.image, source.camera)])
        self.refuses(TypeError, "the reference is None", None, [source])
        self.refuses(ValueError, r"the camera of source 0 is of shape \(3,\); it must be fx, fy, cx, cy", reference, [source._replace(camera=(1, 2, 3))])
        self.refuses(TypeError, "the camera of source 0 must be numbers", reference, [source._replace(camera=("1", 2, 3, 4))])
        self.refuses(ValueError, "the mask of the reference", reference._replace(mask=np.ones((4, 5))), [source])

    def test_sources_and_maps_of_fusion_are_checked(self):
        views = [reconstruct.FusionView(np.full((self.HEIGHT, self.WIDTH), 4, np.float32), it.camera, it.pose) for it in self.views()]

        def refuses(kind, text, **changed):
            with self.assertRaisesRegex(kind, text):
                reconstruct.fuse([views[0]._replace(**changed), *views[1:]], device="cpu")

        for sources in ([1.0, 2.0], np.array([1.0]), [True, False], ["1"], 1, None):
            refuses(TypeError, "the sources of view 0 must be whole numbers", sources=sources)
        refuses(ValueError, "view 0 has the source 7", sources=np.array([1, 7]))
        refuses(ValueError, "the depth map of view 0 is an array of complex", depth=views[0].depth.astype(complex))
        refuses(ValueError, r"shape \(120, 160, 2\)", depth=np.dstack([views[0].depth] * 2))
        refuses(TypeError, "the depth map of view 0 is of type str", depth="depth.pfm")
        refuses(ValueError, r"the points of view 0 are an array of shape \(3,\)", points=[1, 2, 3])
        refuses(TypeError, "the points of view 0 must be numbers", points=[["a", "b", "c"]])
        refuses(ValueError, "the prior of view 0 is an array of complex", prior=views[0].depth.astype(complex))
        refuses(ValueError, "the prior of view 0 has 20x10 pixels and the depth map 160x120", prior=np.ones((10, 20)))
        refuses(ValueError, "the confidence of the prior of view 0 has 20x10 pixels", prior=views[0].depth, prior_confidence=np.ones((10, 20)))
        with self.assertRaisesRegex(ValueError, "--prior-kind has a meaning where views have priors only"):
            reconstruct.fuse(views, device="cpu", prior_kind="inverse")
        depth = views[0].depth
        whole = reconstruct.fuse(views, device="cpu")
        self.assertGreater(len(whole.cloud), 1000)
        for changed in (depth[..., None], depth.astype(">f4"), unaligned(depth), depth.astype(int)):
            found = reconstruct.fuse([views[0]._replace(depth=changed), *views[1:]], device="cpu")
            np.testing.assert_array_equal(found.cloud, whole.cloud)


class Options(unittest.TestCase):
    def test_typed_options_are_the_same_as_keywords(self):
        typed = reconstruct.PairOptions(max_disparity=16, p1=9, fill=True, speckle=0, method="sgm")
        expected = reconstruct.match(LEFT, RIGHT, 16, device="cpu", p1=9, fill=True, speckle=0, method="sgm")
        for found in (reconstruct.match(LEFT, RIGHT, options=typed, device="cpu"),
                      reconstruct.match(LEFT, RIGHT, options=reconstruct.PairOptions(max_disparity=64, p1=1, fill=True, speckle=0),
                                        max_disparity=16, p1=9, device="cpu")):  # keywords come first
            np.testing.assert_array_equal(found.disparity, expected.disparity)
            np.testing.assert_array_equal(found.filled, expected.filled)
        self.assertIn("max_disparity: End of the disparities, pixels", reconstruct.PairOptions.__doc__)
        self.assertIn("min_views: Number of source views", reconstruct.SceneOptions.__doc__)
        with self.assertRaisesRegex(TypeError, "max_dispartiy"):
            reconstruct.PairOptions(max_dispartiy=16)
        with self.assertRaisesRegex(TypeError, "options is of type dict.*by \\*\\*dictionary"):
            reconstruct.match(LEFT, RIGHT, options={"max_disparity": 16})

    def test_values_of_other_types(self):
        region = reconstruct.match(LEFT, RIGHT, 16, method="bm", roi=(0, 0, 64, 40), device="cpu").disparity
        again = reconstruct.match(LEFT, RIGHT, np.int64(16), method="bm", roi=np.array([0, 0, 64, 40]), device="cpu").disparity
        np.testing.assert_array_equal(region, again)
        for options, kind, text in (({"p1": {}}, TypeError, "p1 is of type dict"), ({"p1": b"9"}, TypeError, "p1 is of bytes"),
                                    ({"p1": 9.5}, ValueError, "--p1 is '9.5'; it must be a whole number"),
                                    ({"fill": "yes"}, ValueError, "it must be true or false"), ({"p1": ""}, ValueError, "empty value"),
                                    ({"threads": 1.5}, TypeError, "integer"), ({"device": b"cpu"}, TypeError, "device is of type bytes"),
                                    ({"device": ["cpu"]}, TypeError, "device is of type list"),
                                    ({"max_image_sides": 9}, ValueError, "did you mean 'max-image-size', in Python max_image_size")):
            with self.assertRaisesRegex(kind, text):
                reconstruct.match(LEFT, RIGHT, 16, **{"device": "cpu", **options})

    def test_paths(self):
        for scene, text in ((b"scene", "scene is of bytes: b'scene'; paths are str or os.PathLike: os.fsdecode"),
                            (["a", b"b"], r"scene\[1\] is of bytes"), (7, "scene is of type int"), (None, "scene is of type NoneType")):
            with self.assertRaisesRegex(TypeError, text):
                reconstruct.run(scene)
        with self.assertRaisesRegex(TypeError, "output is of bytes"):
            reconstruct.run("scene", output=b"out")


class Logging(Plane):
    def test_messages_and_warnings_go_to_the_logger(self):
        views = [(1000 * np.full((self.HEIGHT, self.WIDTH), 4, np.float32), it.camera, it.pose, None, None, None, (),
                  np.stack(np.meshgrid(np.linspace(-1, 1, 12), np.linspace(-1, 1, 9), [4]), -1).reshape(-1, 3)) for it in self.views()]
        with self.assertLogs("reconstruct", logging.WARNING) as logged:
            warnings = reconstruct.fuse(views, device="cpu").warnings
        self.assertEqual([record.getMessage() for record in logged.records], warnings)
        messages = []
        with self.assertLogs("reconstruct", logging.DEBUG) as logged:
            reconstruct.run(SCENE, dry_run=True, device="cpu", output=self.folder / "out",
                            message=lambda level, text: messages.append((level.upper(), text)))
        self.assertEqual([(record.levelname, record.getMessage()) for record in logged.records], messages)
        self.assertIn(("INFO", "working on the CPU, as asked"), messages)


class Example(Plane):
    def test_maps_of_a_run_are_fused_with_its_sparse_points(self):
        dense = self.folder / "dense"
        subprocess.run([PROGRAM, SCENE, "-o", dense, "--device", "cpu", "--quiet", "--scene-planes", "0"], check=True)
        sparse, views = reconstruct.io.read_points3D(dense), reconstruct.io.read_views(dense)
        self.assertGreater(len(sparse.position), 20)
        self.assertEqual(sparse.starts[-1], len(sparse.views))
        for index, view in enumerate(views):
            in_camera = sparse.seen_by(index) @ view.pose[:, :3].T + view.pose[:, 3]
            self.assertGreater(len(in_camera), 5)
            x = view.camera[0] * in_camera[:, 0] / in_camera[:, 2] + view.camera[2]
            y = view.camera[1] * in_camera[:, 1] / in_camera[:, 2] + view.camera[3]
            self.assertTrue(((x > -1) & (x < view.size[0] + 1) & (y > -1) & (y < view.size[1] + 1)).all())
        done = subprocess.run([sys.executable, Path(EXAMPLES, "fuse_again.py"), dense, self.folder / "cloud.npy"],
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        cloud = np.load(self.folder / "cloud.npy")
        self.assertGreater(len(cloud), 0.5 * len(reconstruct.io.read_cloud(dense / "fused.ply")))
        self.assertEqual(done.stdout, f"{len(cloud)} points\n")


if __name__ == "__main__":
    PROGRAM, SCENE, EXAMPLES = sys.argv[1:4]
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
