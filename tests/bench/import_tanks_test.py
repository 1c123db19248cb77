"""tools/import-tanks makes the model of scenes/demo again from its poses in a log."""

import pathlib
import sqlite3
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
IMAGES = ROOT / "scenes/demo/images"


def views():
    lines = [line.split() for line in (ROOT / "scenes/demo/sparse/images.txt").read_text().splitlines() if line[:1] != "#"]
    return {words[9]: [float(word) for word in words[1:8]] for words in lines[::2]}


def entry(number, pose, known=True):
    """An entry of a log: the camera's axes in the world as columns, and its place."""
    w, x, y, z, *t = pose
    r = [[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
         [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
         [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]
    rows = [[r[0][i], r[1][i], r[2][i], -sum(r[j][i] * t[j] for j in range(3))] for i in range(3)]
    return "\n".join([f"{number} {number if known else -1} 0", *(" ".join(map(str, row)) for row in rows), "0 0 0 1", ""])


class Import(unittest.TestCase):
    def run_on(self, log, *options, code=0):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.output = pathlib.Path(folder.name) / "sparse"
        (pathlib.Path(folder.name) / "log").write_text(log)
        done = subprocess.run([str(ROOT / "tools/import-tanks"), f"{folder.name}/log", str(IMAGES), str(self.output), *options],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def imported(self):
        lines = (self.output / "images.txt").read_text().splitlines()
        return {words[9]: words for words in map(str.split, lines[::2])}

    def test_poses_are_inverted_and_belong_to_images_by_name(self):
        expected = dict(sorted(views().items()))
        # Half turns too, where w is 0.
        expected["view00.jpg"], expected["view01.jpg"] = [0, 1, 0, 0, 1, 2, 3], [0, 0, 0.6, 0.8, 1, 2, 3]
        self.run_on("".join(entry(i, pose) for i, pose in enumerate(expected.values())))
        found = self.imported()
        self.assertEqual(list(found), list(expected))
        for number, (name, pose) in enumerate(expected.items(), 1):
            self.assertEqual(found[name][0], str(number))
            values = [float(word) for word in found[name][1:8]]
            sign = 1 if sum(a * b for a, b in zip(values[:4], pose[:4])) > 0 else -1
            for value, wanted in zip([sign * it for it in values[:4]] + values[4:], pose):
                self.assertAlmostEqual(value, wanted, 6)

    def test_the_camera_is_that_of_the_images(self):
        log = "".join(entry(i, pose) for i, pose in enumerate(views().values()))
        size = (ROOT / "scenes/demo/sparse/cameras.txt").read_text().split("\n")[-2].split()[2:4]
        self.run_on(log, "--focal", "500")
        middle = [str(int(word) / 2) for word in size]
        self.assertEqual((self.output / "cameras.txt").read_text().split(), ["1", "SIMPLE_RADIAL", *size, "500.0", *middle, "0"])

    def test_images_without_a_pose_are_left_out(self):
        self.assertIn("8 of 9", self.run_on("".join(entry(i, pose, i != 3) for i, pose in enumerate(views().values()))))
        self.assertEqual("".join(words[0] for words in self.imported().values()), "12356789")

    def test_images_have_the_numbers_of_a_database(self):
        log = "".join(entry(i, pose) for i, pose in enumerate(views().values()))
        with tempfile.TemporaryDirectory() as folder:
            for names, code in ((views(), 0), (["view00.jpg"], 1)):
                database = pathlib.Path(folder) / f"{code}.db"
                with sqlite3.connect(database) as connection:
                    connection.execute("CREATE TABLE images (image_id INTEGER, name TEXT, camera_id INTEGER)")
                    connection.executemany("INSERT INTO images VALUES (?, ?, 1)", [(50 - i, name) for i, name in enumerate(names)])
                said = self.run_on(log, "--database", str(database), code=code)
            self.assertIn("does not have view01.jpg", said)
            self.run_on(log, "--database", f"{folder}/0.db")
        self.assertEqual([words[0] for words in self.imported().values()], [str(50 - i) for i in range(9)])

    def test_what_is_no_log_of_these_images_is_refused(self):
        pose = [1, 0, 0, 0, 0, 0, 0]
        self.assertIn("has 8 poses", self.run_on("".join(entry(i, pose) for i in range(8)), code=1))
        self.assertIn("three numbers", self.run_on("1 2 3 4", code=1))
        self.assertIn("the pose of view00.jpg: the matrix is no motion",
                      self.run_on("".join(entry(i, pose).replace("1.0 ", "2.0 ").replace("1 0 0 0", "2 0 0 0")
                                          for i in range(9)), code=1))


if __name__ == "__main__":
    unittest.main()
