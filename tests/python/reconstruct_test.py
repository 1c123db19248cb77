"""reconstruct_test.py PROGRAM SCENE: the module `reconstruct` computes what PROGRAM does, for a pair of random texture and
for SCENE, a small scene."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import typing
import unittest
from pathlib import Path

SKIPPED = 77
try:
    import numpy as np
except ImportError as missing:
    print(missing)
    sys.exit(SKIPPED)

import reconstruct


def write_pnm(path, image):
    """A binary PGM or PPM, also of 16 bits."""
    kind, white = (b"P6", 255) if image.ndim == 3 else (b"P5", 65535 if image.dtype == np.uint16 else 255)
    header = b"%s\n%d %d\n%d\n" % (kind, image.shape[1], image.shape[0], white)
    path.write_bytes(header + image.astype(image.dtype.newbyteorder(">")).tobytes())


def texture(height=80, width=120, shift=6, seed=7):
    """Left and right image; the right one shows at x what the left one shows at x + shift."""
    random = np.random.default_rng(seed)
    fine = random.integers(0, 128, (height, width + shift), np.uint8)
    coarse = np.kron(random.integers(0, 128, (height // 4 + 1, width // 4 + 4), np.uint8), np.ones((4, 4), np.uint8))
    both = fine + coarse[:height, :width + shift]
    return both[:, :width].copy(), both[:, shift:].copy()


class Test(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def program(self, *arguments):
        done = subprocess.run([PROGRAM, *map(str, arguments), "--device", "cpu"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)


def match(*given, **options):
    return reconstruct.match(*given, **options).disparity


class Match(Test):
    def of_program(self, left, right, *options):
        write_pnm(self.folder / "left.pnm", left)
        write_pnm(self.folder / "right.pnm", right)
        self.program(self.folder / "left.pnm", self.folder / "right.pnm", "--overwrite", "-o", self.folder / "dense", *options)
        return reconstruct.io.read_pfm(self.folder / "dense/disparity.pfm")

    def test_equals_the_program(self):
        left, right = texture()
        for options in ({}, {"method": "bm", "window": 9}, {"method": "bp"}, {"preset": "ad-census"},
                        {"min_disparity": -4, "fill": True, "p1": 9, "speckle": 0}):
            given = [f"--{name.replace('_', '-')}={str(value).lower()}" for name, value in options.items()]
            expected = self.of_program(left, right, "--max-disparity", 16, *given)
            found = match(left, right, max_disparity=16, device="cpu", **options)
            self.assertEqual((found.dtype, found.shape), (np.float32, left.shape))
            np.testing.assert_array_equal(found, expected, str(options))
            self.assertGreater(np.isfinite(found).mean(), 0.5)

    def test_equals_the_program_of_colours_and_16_bits(self):
        left, right = (np.stack([grey, 255 - grey // 2, grey ^ 85], 2) for grey in texture())
        expected = self.of_program(left, right, "--max-disparity", 16)
        np.testing.assert_array_equal(match(left, right, 16, device="cpu"), expected)
        left, right = (grey.astype(np.uint16) * 13 + 100 for grey in texture())
        expected = self.of_program(left, right, "--max-disparity", 16)
        np.testing.assert_array_equal(match(left, right, 16, device="cpu"), expected)

    def test_takes_arrays_of_any_layout(self):
        left, right = texture()
        expected = match(left, right, 16, device="cpu")
        wide = [np.pad(image, ((3, 2), (5, 9))) for image in (left, right)]
        for a, b in ([image[3:-2, 5:-9] for image in wide], [np.asfortranarray(image) for image in (left, right)],
                     [image[:, ::-1].copy()[:, ::-1] for image in (left, right)]):
            np.testing.assert_array_equal(match(a, b, 16, device="cpu"), expected)
        bgr = [np.stack([image, image // 2, image ^ 85], 2) for image in (left, right)]
        np.testing.assert_array_equal(match(bgr[0][..., ::-1], bgr[1][..., ::-1], 16, device="cpu"),
                                      match(bgr[0][..., ::-1].copy(), bgr[1][..., ::-1].copy(), 16, device="cpu"))

    def test_results_are_not_copied_and_stay(self):
        left, right = texture()
        found = match(left, right, 16, device="cpu")
        self.assertFalse(found.flags.owndata)
        before = found.copy()
        for _ in range(3):
            match(right, left, 16, device="cpu")
        np.testing.assert_array_equal(found, before)

    def test_filled_pixels(self):
        left, right = texture()
        disparity, filled = reconstruct.match(left, right, 16, device="cpu", fill=True)
        self.assertTrue(np.isfinite(disparity).all())
        self.assertEqual(sorted(np.unique(filled)), [0, 255])
        self.assertIsNone(reconstruct.match(left, right, 16, device="cpu").filled)

    def test_errors_have_names(self):
        left, right = texture()
        with self.assertRaisesRegex(reconstruct.UsageError, "right 120x79") as raised:
            match(left, right[1:], 16, device="cpu")
        self.assertIsInstance(raised.exception, ValueError)
        self.assertEqual(raised.exception.exit_code, 2)
        with self.assertRaisesRegex(reconstruct.UsageError, "--p1 is 'x'"):
            match(left, right, 16, device="cpu", p1="x")
        with self.assertRaisesRegex(reconstruct.UsageError, "there is no option 'max-dispartiy'; did you mean 'max-disparity', in Python max_disparity\\?"):
            match(left, right, device="cpu", max_dispartiy=16)
        with self.assertRaisesRegex(reconstruct.UsageError, "there is no option 'xyzzy'; names are those .* in Python max_disparity$"):
            match(left, right, 16, device="cpu", xyzzy=3)
        with self.assertRaisesRegex(reconstruct.UsageError, r"left is an array of float64 of shape \(80, 120\)"):
            match(left / 255, right, 16, device="cpu")
        with self.assertRaises(reconstruct.DeviceUnavailable):
            match(left, right, 16, device="cuda:99")
        small = reconstruct.Device("cpu", memory_limit=1000)
        with self.assertRaises(reconstruct.OutOfMemory) as raised:
            match(left, right, 16, device=small)
        self.assertIsInstance(raised.exception, MemoryError)
        self.assertIsInstance(raised.exception, reconstruct.Error)

    def test_ctrl_c_ends_it_and_other_threads_run(self):
        left, right = texture(1000, 1500)
        began, ticks = time.monotonic(), 0
        timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
        counting = threading.Event()

        def count():
            nonlocal ticks
            while not counting.wait(0.01):
                ticks += 1

        counter = threading.Thread(target=count)
        counter.start()
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            match(left, right, 256, device="cpu", method="pipeline", aggregation="aw")  # takes minutes
        counting.set()
        counter.join()
        self.assertLess(time.monotonic() - began, 10)
        self.assertGreater(ticks, 10)

    def test_threads_at_once(self):
        left, right = texture()
        expected, found = match(left, right, 16, device="cpu"), [None] * 4

        def work(i):
            found[i] = match(left, right, 16, device="cpu")

        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for disparity in found:
            np.testing.assert_array_equal(disparity, expected)

    def test_annotations_and_documentation(self):
        self.assertIn("max_disparity", typing.get_type_hints(reconstruct.match))
        for name in reconstruct.__all__:
            self.assertTrue(getattr(reconstruct, name).__doc__, name)
        self.assertIn("<reconstruct.Device CPU, 1 threads", repr(reconstruct.Device("cpu", threads=1)))
        self.assertRegex(reconstruct.version(), r"^\d+\.\d+\.\d+$")
        self.assertEqual(reconstruct.__version__, reconstruct.version())


class Plane(Test):
    """A textured plane at z = 4, seen by cameras beside each other: one pixel of disparity in ten of the focal length."""

    HEIGHT, WIDTH, CAMERA = 120, 160, (100, 100, 80, 60)

    def views(self, count=3):
        random = np.random.default_rng(3)
        wide = np.kron(random.integers(0, 256, (self.HEIGHT // 2, 100), np.uint8), np.ones((2, 2), np.uint8))
        return [reconstruct.View(wide[:, 10 * i:10 * i + self.WIDTH].copy(), self.CAMERA, self.pose(-0.4 * i)) for i in range(count)]

    @staticmethod
    def pose(x):
        return np.hstack([np.eye(3), [[x], [0], [0]]])


class Views(Plane):
    def test_sweep_finds_a_plane_whatever_the_form_of_its_input(self):
        reference, *sources = self.views()
        maps = reconstruct.sweep(reference, sources, device="cpu", depth_min=2, depth_max=10)
        self.assertEqual((maps.depth.shape, maps.normal.shape, maps.confidence.dtype),
                         ((self.HEIGHT, self.WIDTH), (self.HEIGHT, self.WIDTH, 3), np.float32))
        self.assertLess(abs(np.nanmedian(maps.depth) - 4), 0.01)
        self.assertGreater(np.isfinite(maps.depth).mean(), 0.8)
        matrix = np.array([[100, 0, 79.5], [0, 100, 59.5], [0, 0, 1]])  # as OpenCV counts
        colour = [np.asfortranarray(np.stack([view.image] * 3, 2)) for view in (reference, *sources)]
        poses = [np.vstack([view.pose, [0, 0, 0, 1]]) for view in (reference, *sources)]
        others = [(image, reconstruct.opencv_camera(matrix), pose) for image, pose in zip(colour, poses)]
        again = reconstruct.sweep(others[0], others[1:], device=reconstruct.Device("cpu", 1),
                                  options=reconstruct.SceneOptions(depth_min=2, depth_max=10))
        for a, b in zip(maps, again):
            np.testing.assert_array_equal(a, b)

    def test_masks(self):
        reference, *sources = self.views()
        mask = np.ones((self.HEIGHT, self.WIDTH), bool)
        mask[:, 50:60] = False
        depth = reconstruct.sweep(reference._replace(mask=mask), sources, device="cpu").depth
        self.assertTrue(np.isnan(depth[:, 50:60]).all())
        self.assertGreater(np.isfinite(depth[:, 70:90]).mean(), 0.8)

    def test_priors_fill_what_no_view_shows(self):
        def depth(view):  # of two walls, with a gap between them
            ray = (np.arange(self.WIDTH) + 0.5 - 80) / 100
            row = np.where(0.4 * view + 4 * ray < 0, 4, 5)
            return np.tile(row, (self.HEIGHT, 1)).astype(np.float32)

        hole = np.s_[40:60, 30:130]
        views, truth = [], depth(0)
        for i, it in enumerate(self.views()):
            known, prior = depth(i), 3 / depth(i) + 0.1
            known[hole] = np.nan
            views.append(reconstruct.FusionView(known, it.camera, it.pose, prior=prior))
        options = dict(device="cpu", max_hole=0)
        self.assertTrue(np.isnan(reconstruct.fuse([it._replace(prior=None) for it in views], **options).checked[0].depth[hole]).all())
        found = reconstruct.fuse(views, prior_kind="inverse", **options)
        self.assertEqual(found.warnings, [])
        right = np.abs(found.checked[0].depth[hole] / truth[hole] - 1) < 0.01
        self.assertGreater(right.mean(), 0.8)
        half = np.ones((60, 80), np.float32)  # of half the size, unsure of the hole
        half[20:30, 15:65] = 0
        unsure = reconstruct.fuse([it._replace(prior_confidence=half) for it in views], prior_kind="inverse", **options)
        self.assertTrue(np.isnan(unsure.checked[0].depth[42:58, 34:126]).all())

    def test_fusion_of_a_plane(self):
        views = self.views()
        maps = [reconstruct.sweep(view, [it for it in views if it is not view], device="cpu") for view in views]
        fusion = reconstruct.fuse([reconstruct.FusionView(it.depth, view.camera, view.pose, it.confidence, view.image)
                                   for it, view in zip(maps, views)], device="cpu")
        cloud = fusion.cloud
        self.assertGreater(len(cloud), 10000)
        np.testing.assert_allclose(cloud["position"][:, 2], 4, atol=0.05)
        np.testing.assert_allclose(cloud["normal"].mean(0), [0, 0, -1], atol=0.05)
        self.assertEqual(len(fusion.views), cloud["view_count"].sum())
        self.assertEqual(sorted(np.unique(fusion.views)), [0, 1, 2])
        self.assertEqual(len(fusion.checked), 3)
        # Doubles, whose rows are no floats.
        depths = [(it.depth.astype(np.float64), view.camera, view.pose) for it, view in zip(maps, views)]
        self.assertGreater(len(reconstruct.fuse(depths, device="cpu",
                                                options=reconstruct.SceneOptions(point_spacing=2)).cloud), 2000)

    def test_depths_that_do_not_fit_the_points_are_named(self):
        reference, source, other = self.views()
        grid = np.stack(np.meshgrid(np.linspace(-1, 1, 12), np.linspace(-1, 1, 9), [4]), -1).reshape(-1, 3)

        plane = np.full(np.asarray(reference.image).shape[:2], 4, np.float32)
        def warnings(scale, points):
            return reconstruct.fuse([reconstruct.FusionView(scale * plane, it.camera, it.pose, points=points)
                                     for it in (reference, source, other)], device="cpu").warnings
        self.assertEqual(warnings(1, grid), [])
        self.assertRegex(warnings(1000, grid)[0], "1000 times those of the sparse points .* divide them by 1000$")
        with self.assertRaisesRegex(reconstruct.UsageError, "the points of view 0"):
            warnings(1, grid.ravel())

    def test_fusion_equals_the_program(self):
        self.program(SCENE, "-o", self.folder / "dense", "--scene-planes", "0")
        dense = self.folder / "dense"
        names = reconstruct.io.view_names(dense)
        lines = (dense / "stereo/patch-match.cfg").read_text().splitlines()
        sources = {name: [names.index(it) for it in given.split(", ")] for name, given in zip(lines[::2], lines[1::2])}
        views = [reconstruct.FusionView(reconstruct.io.read_depth_map(dense / f"stereo/depth_maps/{it.name}.photometric.bin"),
                                        it.camera, it.pose,
                                        reconstruct.io.read_confidence_map(dense / f"stereo/confidence_maps/{it.name}.photometric.png"),
                                        sources=sources[it.name]) for it in reconstruct.io.read_views(dense)]
        fusion = reconstruct.fuse(views, device="cpu")
        expected = reconstruct.io.read_cloud(dense / "fused.ply")
        self.assertGreater(len(expected), 1000)
        self.assertEqual(len(fusion.cloud), len(expected))
        np.testing.assert_allclose(fusion.cloud["position"], np.stack([expected[it] for it in "xyz"], 1), rtol=1e-6)
        np.testing.assert_array_equal(fusion.cloud["view_count"], expected["views"])
        starts, seen = reconstruct.io.read_visibility(dense / "fused.ply.vis", len(expected))
        np.testing.assert_array_equal(fusion.views, seen)
        for name, maps in zip(names, fusion.checked):
            expected = reconstruct.io.read_depth_map(dense / f"stereo/depth_maps/{name}.geometric.bin")
            self.assertGreater((np.isfinite(maps.depth) == np.isfinite(expected)).mean(), 0.999)

    def test_errors_have_names(self):
        reference, source, _ = self.views()
        for call, text in ((lambda: reconstruct.sweep(reference, [], device="cpu"), "there are 0 sources"),
                           (lambda: reconstruct.sweep(reference, [source._replace(pose=np.eye(3))], device="cpu"), "a pose is"),
                           (lambda: reconstruct.sweep(reference, [source._replace(pose=2 * source.pose)], device="cpu"),
                            "source 0 has a pose whose rotation"),
                           (lambda: reconstruct.sweep(reference, [source._replace(camera=np.ones((3, 3)))], device="cpu"), "skew"),
                           (lambda: reconstruct.sweep(reference, [source], device="cpu", min_views=3), "--min-views has no effect"),
                           (lambda: reconstruct.fuse([(source.image[0], self.CAMERA, source.pose)]), "the depth map of view 0"),
                           (lambda: reconstruct.fuse([(source.image, self.CAMERA, source.pose)], device="cpu"), "there is 1 view")):
            with self.assertRaisesRegex(reconstruct.UsageError, text):
                call()
        with self.assertRaisesRegex(reconstruct.InputError, "no baseline"):
            reconstruct.sweep(reference, [reference], device="cpu")


class Run(Test):
    def setUp(self):
        super().setUp()
        self.scene = self.folder / "scene"
        shutil.copytree(SCENE, self.scene)
        self.options = {"device": "cpu", "planes": 24}

    def same_as_program(self, folder):
        self.program(self.scene, "--planes", 24, "-o", self.folder / "program")
        for name in ("fused.ply", "fused.ply.vis", "stereo/depth_maps/view00.png.geometric.bin",
                     "stereo/normal_maps/view03.png.geometric.bin", "sparse/cameras.bin", "previews/view01.png.png"):
            expected = self.folder / "program" / name
            if name.startswith("sparse") and not expected.exists():
                continue
            self.assertEqual((folder / name).read_bytes(), expected.read_bytes(), name)

    def test_equals_the_program_and_tells_how_far_it_is(self):
        steps, messages = {}, []
        result = reconstruct.run(self.scene, output=self.folder / "out", progress=lambda it: steps.update({it.step: it}),
                                 message=lambda level, text: messages.append((level, text)), **self.options)
        self.assertEqual(result["exit_code"], 0)
        self.assertGreater(result["scenes"][0]["points"], 0)
        for step in ("depth maps", "check across views", "fusion"):
            self.assertEqual(steps[step][1:3], (5, 5))
        self.assertIn(("info", "working on the CPU, as asked"), messages)
        self.same_as_program(self.folder / "out")

    def test_prints_nothing(self):
        code = "import reconstruct, sys; reconstruct.run(sys.argv[1], device='cpu', planes=24)"
        done = subprocess.run([sys.executable, "-c", code, str(self.scene)], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_ctrl_c_keeps_what_is_finished(self):
        def stop(progress):
            if progress.step == "depth maps" and progress.done == 2:
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.5)  # until the main thread has looked

        with self.assertRaises(KeyboardInterrupt):
            reconstruct.run(self.scene, output=self.folder / "out", progress=stop, stage="estimate", threads=1, **self.options)
        # The run may be further than its last report.
        self.assertGreaterEqual(len(list(self.folder.glob("out/stereo/depth_maps/*.photometric.bin"))), 2)
        messages = []
        reconstruct.run(self.scene, output=self.folder / "out", message=lambda level, text: messages.append(text), **self.options)
        self.assertTrue(any("finished and kept" in text for text in messages), messages)
        self.same_as_program(self.folder / "out")

    def test_a_callback_may_call_all_but_run(self):
        faults, sizes = [], []

        def call(progress):
            image = np.zeros((20, 40), np.uint8)
            sizes.append(match(image, image, max_disparity=8, method="bm", device="cpu", threads=1).shape)
            try:
                reconstruct.run(self.scene, output=self.folder / "nested", **self.options)
            except reconstruct.UsageError as error:
                faults.append(str(error))

        reconstruct.run(self.scene, output=self.folder / "out", progress=call, **self.options)
        self.assertIn((20, 40), sizes)
        self.assertEqual(len(faults), len(sizes))
        self.assertIn("a listener called run", faults[0])

    def test_what_a_callback_raises_ends_it(self):
        def fail(progress):
            raise LookupError("enough")

        with self.assertRaisesRegex(LookupError, "enough"):
            reconstruct.run(self.scene, progress=fail, **self.options)

    def test_errors_have_names(self):
        with self.assertRaisesRegex(reconstruct.InputError, "nothing"):
            reconstruct.run(self.folder / "nothing")
        with self.assertRaisesRegex(reconstruct.UsageError, "--quality is 'best'"):
            reconstruct.run(self.scene, quality="best")
        with self.assertRaisesRegex(reconstruct.UsageError, "belongs to the command line"):
            reconstruct.run(self.scene, quiet=True)

    def test_a_plan_and_a_pair(self):
        plan = reconstruct.run(self.scene, options=reconstruct.SceneOptions(dry_run=True, device="cpu"), planes=24)
        self.assertEqual(len(plan["scenes"][0]["views"]), 5)
        left, right = texture()
        for name, image in (("left.pgm", left), ("right.pgm", right)):
            write_pnm(self.folder / name, image)
        reconstruct.run([self.folder / "left.pgm", self.folder / "right.pgm"], output=self.folder / "pair", max_disparity=16,
                        device="cpu")
        np.testing.assert_array_equal(reconstruct.io.read_pfm(self.folder / "pair/disparity.pfm"),
                                      match(left, right, 16, device="cpu"))


if __name__ == "__main__":
    PROGRAM, SCENE = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
