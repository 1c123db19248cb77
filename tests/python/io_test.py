"""io_test.py PROGRAM: tools/python/reconstruct/io.py on files by hand, on damaged ones, and on the results of
PROGRAM for scenes/demo, whose cloud Open3D reads too where it is installed."""

import json
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SKIPPED = 77
sys.path.insert(0, str(ROOT / "tools/python"))
try:
    import numpy as np

    import reconstruct.io as rio
except ImportError as missing:
    if "numpy" not in str(missing):
        raise
    print(missing)
    sys.exit(SKIPPED)


def png(rows, kinds):
    """A grey PNG whose rows are filtered by the formulas of the specification, pixel by pixel."""
    raw, above = b"", [0] * len(rows[0])
    for row, kind in zip(rows, kinds):
        raw += bytes([kind])
        for x, value in enumerate(row):
            a, b, c = (row[x - 1] if x else 0), above[x], (above[x - 1] if x else 0)
            p = a + b - c
            paeth = a if abs(p - a) <= abs(p - b) and abs(p - a) <= abs(p - c) else b if abs(p - b) <= abs(p - c) else c
            raw += bytes([(value - [0, a, b, (a + b) // 2, paeth][kind]) % 256])
        above = row
    chunk = lambda kind, body: struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b"")


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def file(self, content):
        path = Path(self.folder.name, "file")
        path.write_bytes(content)
        return path

    def refuses(self, reader, content, text):
        with self.assertRaisesRegex(ValueError, text):
            reader(self.file(content))

    def test_depth_map(self):
        depth = rio.read_depth_map(self.file(b"3&2&1&" + struct.pack("<6f", 1, 2, 0, -3, float("inf"), 4)))
        np.testing.assert_array_equal(depth, [[1, 2, np.nan], [np.nan, np.nan, 4]])
        self.refuses(rio.read_depth_map, b"3&2&3&", "has 3 channels, not 1")
        self.refuses(rio.read_depth_map, b"3&2&1&" + bytes(20), "take 24 bytes, but 20 follow")
        self.refuses(rio.read_depth_map, b"3&-2&1&", "does not begin with")

    def test_normal_map(self):
        normals = rio.read_normal_map(self.file(b"1&2&3&" + struct.pack("<6f", 1, 0, 2, 0, 3, 0)))
        np.testing.assert_array_equal(normals[:, 0], [[1, 2, 3], [np.nan] * 3])

    def test_confidence_map(self):
        rows = [[random.randrange(256) for _ in range(17)] for _ in range(10)]
        found = rio.read_confidence_map(self.file(png(rows, [0, 1, 2, 3, 4, 4, 3, 2, 1, 0])))
        np.testing.assert_array_equal(found, np.array(rows, np.float32) / np.float32(255))
        self.refuses(rio.read_confidence_map, png(rows, [0] * 10).replace(b"\x08\0\0\0\0", b"\x08\2\0\0\0"), "not an 8-bit")
        self.refuses(rio.read_confidence_map, png(rows[:9], [0] * 9).replace(b"\0\0\0\x09\x08", b"\0\0\0\x0a\x08"), "take 180 bytes")
        huge = png(rows, [0] * 10).replace(b"\0\0\0\x11\0\0\0\x0a", b"\xff" * 8)
        self.refuses(rio.read_confidence_map, huge, "pixels take")
        fewer = png(rows, [0] * 10).replace(b"\0\0\0\x0a\x08", b"\0\0\0\x05\x08")
        self.refuses(rio.read_confidence_map, fewer, "take 90 bytes, not 91")  # no more is unpacked

    def test_pfm(self):
        image = rio.read_pfm(self.file(b"Pf\n2 2\n-1\n" + struct.pack("<4f", 3, float("inf"), 1, 2)))
        np.testing.assert_array_equal(image, [[1, 2], [3, np.nan]])
        np.testing.assert_array_equal(rio.read_pfm(self.file(b"Pf 1 1 1.0\n" + struct.pack(">f", 5))), [[5]])
        self.refuses(rio.read_pfm, b"Pf\n1 1\n1.2.3\n" + bytes(4), "no header")
        self.refuses(rio.read_pfm, b"PF\n1 1\n-1\n", "no header")

    def test_cloud(self):
        header = b"ply\nformat binary_little_endian 1.0\ncomment c\nelement vertex 2\nproperty double x\nproperty uchar views\nend_header\n"
        cloud = rio.read_cloud(self.file(header + struct.pack("<dBdB", 5651234.125, 3, 2, 255)))
        self.assertEqual(cloud["x"].tolist(), [5651234.125, 2])
        self.assertEqual(cloud["views"].tolist(), [3, 255])
        for_cloudcompare = rio.read_cloud(self.file(header.replace(b"views", b"scalar_views") + bytes(18)))
        self.assertEqual(for_cloudcompare.dtype.names, ("x", "views"))
        both = header.replace(b"uchar views", b"uchar views\nproperty uchar scalar_views")
        self.assertEqual(rio.read_cloud(self.file(both + bytes(20))).dtype.names, ("x", "views", "scalar_views"))
        self.refuses(rio.read_cloud, header + bytes(17), "take 18 bytes, but 17 follow")
        self.refuses(rio.read_cloud, header.replace(b"uchar", b"list uchar int"), "cannot read vertices with")
        self.refuses(rio.read_cloud, header.replace(b"binary_little_endian", b"ascii"), "not a binary")
        self.refuses(rio.read_cloud, header.replace(b"uchar views", b"uchar x"), "two properties of the same name")
        self.refuses(rio.read_cloud, header[:60], "truncated")

    def test_cloud_with_an_offset(self):
        header = (b"ply\nformat binary_little_endian 1.0\ncomment written by reconstruct   \ncomment offset 412300 5180000 -0.5\n"
                  b"element vertex 1\nproperty float x\nproperty float y\nproperty float z\nproperty uchar red\nend_header\n")
        cloud = rio.read_cloud(self.file(header + struct.pack("<3fB", 45.75, 0.125, 1, 7)))
        self.assertEqual(cloud[0].tolist(), (412345.75, 5180000.125, 0.5, 7))
        foreign = rio.read_cloud(self.file(header.replace(b"written", b"converted") + struct.pack("<3fB", 45.75, 0.125, 1, 7)))
        self.assertEqual(foreign[0].tolist(), (45.75, 0.125, 1, 7))
        self.refuses(rio.read_cloud, header.replace(b"-0.5", b"x") + bytes(13), "no three numbers in 'comment offset")

    def test_view_names(self):
        Path(self.folder.name, "stereo").mkdir()
        Path(self.folder.name, "stereo/fusion.cfg").write_bytes("a b.png\ncaf\xe9.png\nx\u2028y.png\n".encode("utf-8", "surrogateescape")
                                                                .replace(b"\xc3\xa9", b"\xe9"))
        self.assertEqual(rio.view_names(self.folder.name), ["a b.png", "caf\udce9.png", "x\u2028y.png"])

    def test_visibility(self):
        content = struct.pack("<QIIIIII", 3, 2, 7, 9, 0, 1, 4)
        starts, views = rio.read_visibility(self.file(content), 3)
        self.assertEqual((starts.tolist(), views.tolist()), ([0, 2, 2, 3], [7, 9, 4]))
        read = lambda path: rio.read_visibility(path, 3)
        self.refuses(read, struct.pack("<QIIIIII", 4, 2, 7, 9, 0, 1, 4), "is of 4 points, not 3")
        self.refuses(read, struct.pack("<QIIIIII", 3, 2, 7, 9, 0, 2, 4), "take 28 bytes, but 24 follow")
        self.refuses(read, struct.pack("<QIIII", 3, 4000000000, 7, 9, 0), "ends at point 1")
        self.refuses(lambda path: rio.read_visibility(path, 2**60), struct.pack("<QI", 2**60, 1), "ends before")


class Points(unittest.TestCase):
    """A model of two views and three points by hand."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.write("cameras.bin", struct.pack("<QIiQQ4d", 1, 1, 1, 8, 6, 5, 5, 4, 3))
        image = lambda number, name: struct.pack("<I7dI", number, 1, 0, 0, 0, 0, 0, 0, 1) + name + struct.pack("<Q", 0)
        self.write("images.bin", struct.pack("<Q", 2) + image(9, b"a.png\0") + image(4, b"b.png\0"))

    def write(self, name, content):
        (self.folder / name).write_bytes(content)

    @staticmethod
    def point(number, position, track):
        head = struct.pack("<Q3d3BdQ", number, *position, number, 20, 30, number / 4, len(track))
        return head + b"".join(struct.pack("<II", image, 0) for image in track)

    def test_points_and_the_views_that_see_them(self):
        tracks = [[4, 9], [], [9, 9]]
        self.write("points3D.bin", struct.pack("<Q", 3) + b"".join(self.point(i + 1, (i, 0.5, 2), it) for i, it in enumerate(tracks)))
        points = rio.read_points3D(self.folder)
        np.testing.assert_array_equal(points.position, [[0, 0.5, 2], [1, 0.5, 2], [2, 0.5, 2]])
        np.testing.assert_array_equal(points.colour, [[1, 20, 30], [2, 20, 30], [3, 20, 30]])
        np.testing.assert_array_equal(points.error, [0.25, 0.5, 0.75])
        self.assertEqual((points.starts.tolist(), points.views.tolist()), ([0, 2, 2, 4], [1, 0, 0, 0]))
        np.testing.assert_array_equal(points.seen_by(0), [[0, 0.5, 2], [2, 0.5, 2]])
        np.testing.assert_array_equal(points.seen_by(1), [[0, 0.5, 2]])
        self.write("points3D.bin", struct.pack("<Q", 0))
        self.assertEqual((rio.read_points3D(self.folder).position.shape, rio.read_points3D(self.folder).seen_by(0).shape), ((0, 3), (0, 3)))

    def test_damage_is_a_value_error(self):
        whole = struct.pack("<Q", 2) + self.point(1, (0, 0, 2), [4, 9]) + self.point(2, (0, 0, 2), [9])
        for content, text in ((whole[:-1], "8 bytes, but 7 follow"), (whole[:80], "items take"), (struct.pack("<Q", 2**61), "but 0 follow"),
                              (whole[:4], "in the middle"), (whole.replace(struct.pack("<II", 4, 0), struct.pack("<II", 5, 0)),
                                                             "observations in image 5, which images.bin does not have")):
            self.write("points3D.bin", content)
            with self.assertRaisesRegex(ValueError, f"points3D.bin: .*{text}"):
                rio.read_points3D(self.folder)


class Results(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.dense = Path(cls.folder.name)
        subprocess.run([PROGRAM, ROOT / "scenes/demo", "-o", cls.dense, "--device", "cpu", "--quality", "draft", "--quiet"],
                       check=True, stdout=subprocess.DEVNULL)

    def test_maps_belong_together(self):
        names = rio.view_names(self.dense)
        self.assertEqual(len(names), 9)
        for name in names:
            for kind in ("photometric", "geometric"):
                depth = rio.read_depth_map(self.dense / f"stereo/depth_maps/{name}.{kind}.bin")
                confidence = rio.read_confidence_map(self.dense / f"stereo/confidence_maps/{name}.{kind}.png")
                self.assertEqual(depth.shape, confidence.shape)
                self.assertGreater(np.isfinite(depth).mean(), 0.5)
                self.assertEqual(confidence[np.isnan(depth)].max(initial=0), 0)
                self.assertGreater(np.median(confidence[np.isfinite(depth)]), 0.5)
            normals = rio.read_normal_map(self.dense / f"stereo/normal_maps/{name}.geometric.bin")
            known = np.isfinite(normals[..., 0])
            self.assertFalse((known & np.isnan(depth)).any())
            self.assertGreater(known.sum(), 0.999 * np.isfinite(depth).sum())  # a depth without neighbours has none
            np.testing.assert_allclose(np.linalg.norm(normals[known], axis=1), 1, atol=1e-5)

    def test_cloud_has_the_views_that_see_its_points(self):
        cloud = rio.read_cloud(self.dense / "fused.ply")
        report = rio.read_report(self.dense / "report.json")
        self.assertEqual(len(cloud), report["points"])
        starts, views = rio.read_visibility(self.dense / "fused.ply.vis", len(cloud))
        np.testing.assert_array_equal(np.diff(starts), cloud["views"])
        self.assertEqual(sorted(set(views.tolist())), list(range(9)))
        try:
            import open3d
        except ImportError:
            return
        points = np.asarray(open3d.io.read_point_cloud(str(self.dense / "fused.ply")).points)
        np.testing.assert_array_equal(points, np.stack([cloud[axis] for axis in "xyz"], axis=1).astype(float))

    def test_depths_and_views_make_the_cloud(self):
        views = rio.read_views(self.dense)
        self.assertEqual([view.name for view in views], rio.view_names(self.dense))
        cloud = rio.read_cloud(self.dense / "fused.ply")
        points = np.stack([cloud[axis] for axis in "xyz"], 1).astype(float)
        starts, seen = rio.read_visibility(self.dense / "fused.ply.vis", len(cloud))
        for index, view in enumerate(views):
            depth = rio.read_depth_map(self.dense / f"stereo/depth_maps/{view.name}.geometric.bin")
            self.assertEqual(depth.shape, view.size[::-1])
            back = rio.back_project(depth, view.camera, view.pose)
            # A point lies where the depths of the views that see it are, at the pixel that it projects to.
            mine = points[[index in seen[starts[i]:starts[i + 1]] for i in range(len(cloud))]][::50]
            in_camera = mine @ view.pose[:, :3].T + view.pose[:, 3]
            fx, fy, cx, cy = view.camera
            x = np.floor(fx * in_camera[:, 0] / in_camera[:, 2] + cx).astype(int)
            y = np.floor(fy * in_camera[:, 1] / in_camera[:, 2] + cy).astype(int)
            # The mean of several views may lie a little outside of one of them.
            inside = (x >= 0) & (y >= 0) & (x < view.size[0]) & (y < view.size[1])
            self.assertGreater(inside.sum(), 20)
            self.assertGreater(inside.mean(), 0.99)
            distance = np.linalg.norm(back[y[inside], x[inside]] - mine[inside], axis=1) / in_camera[inside, 2]
            self.assertLess(np.nanquantile(distance, 0.9), 0.01)

    def test_views_are_those_of_a_model_wherever_it_is(self):
        views = rio.read_views(self.dense)
        splat = Path(self.folder.name, "splat")
        shutil.copytree(self.dense / "sparse", splat / "sparse/0")
        for folder in (self.dense / "sparse", splat, splat / "sparse/0", str(splat)):
            found = rio.read_views(folder)
            self.assertEqual([it.name for it in found], [it.name for it in views])
            np.testing.assert_array_equal(found[0].pose, views[0].pose)
        with self.assertRaisesRegex(FileNotFoundError, "no cameras.bin in it, in sparse/ or in sparse/0/"):
            rio.read_views(Path(self.folder.name, "images"))

    def test_damaged_models_are_value_errors(self):
        generator, refused = random.Random(2), 0
        folder = Path(self.folder.name, "damaged_model")
        (folder / "sparse").mkdir(parents=True)
        for damaged in ("cameras.bin", "images.bin"):
            for _ in range(40):
                for name in ("cameras.bin", "images.bin"):
                    (folder / "sparse" / name).write_bytes((self.dense / "sparse" / name).read_bytes())
                content = (self.dense / "sparse" / damaged).read_bytes()
                changed = bytearray(content[:generator.choice([100, len(content)])])
                for _ in range(3):
                    changed[generator.randrange(min(len(changed), 100))] = generator.randrange(256)
                (folder / "sparse" / damaged).write_bytes(changed)
                try:
                    rio.read_views(folder)
                except ValueError as error:
                    self.assertIn("damaged_model", str(error))
                    refused += 1
        self.assertGreater(refused, 30)

    def test_damage_is_a_value_error(self):
        points = len(rio.read_cloud(self.dense / "fused.ply"))
        view = rio.view_names(self.dense)[0]
        readers = {"fused.ply": rio.read_cloud, "fused.ply.vis": lambda path: rio.read_visibility(path, points),
                   f"stereo/depth_maps/{view}.geometric.bin": rio.read_depth_map,
                   f"stereo/confidence_maps/{view}.geometric.png": rio.read_confidence_map,
                   "report.json": rio.read_report}
        generator, damaged, refused = random.Random(1), self.dense / "damaged", 0
        for name, reader in readers.items():
            content = (self.dense / name).read_bytes()
            for _ in range(20):
                changed = bytearray(content[:generator.choice([300, len(content)])])
                for _ in range(3):
                    changed[generator.randrange(min(len(changed), 300))] = generator.randrange(256)
                damaged.write_bytes(changed)
                try:
                    reader(damaged)
                except ValueError as error:
                    self.assertIn("damaged", str(error))
                    refused += 1
        self.assertGreater(refused, 50)

    def test_session(self):
        path = self.dense / "session.jsonl"
        path.write_text(json.dumps({"scene": "a"}) + "\n" + json.dumps({"scene": "b"}) + "\n", encoding="utf-8")
        self.assertEqual([scene["scene"] for scene in rio.read_session(path)], ["a", "b"])
        # All that Python takes for the end of a line, as it stands between quotes.
        names = ["a\u2028b", "c\u2029d", "e\u0085f", "g\u000bh", "i\u001cj", "k\rl", "m\nn"]
        path.write_text("".join(json.dumps({"scene": name}, ensure_ascii=False) + "\n" for name in names), encoding="utf-8")
        self.assertEqual([scene["scene"] for scene in rio.read_session(path)], names)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
