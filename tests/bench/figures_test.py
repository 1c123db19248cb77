"""figures_test.py PROGRAMS: tools/figures measures a small scene, with other programs beside, stores the results, and makes the page
of these."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = pathlib.Path(sys.argv.pop())
# A program that copies a cloud, if it is called as it should be, to where it belongs.
FAKE = """#!/bin/sh
case "$1 $2" in
  "help "*) echo "COLMAP 9.8.7 -- of a test";;
  "image_undistorter "*|"patch_match_stereo "*) ;;
  "stereo_fusion --workspace_path") cp "$CLOUD" "$3/fused.ply";;
  *" false")
    test -s "$1/images/00000015.jpg" && test -s "$1/cams/00000015_cam.txt" || exit 1
    cp "$1/pair.txt" "$1/cams/00000000_cam.txt" "$SEEN"
    mkdir "$1/HPM_MVS_plusplus" && cp "$CLOUD" "$1/HPM_MVS_plusplus/HPM_MVS_plusplus.ply";;
  *) echo "what is $1?"; exit 3;;
esac
"""


def figures(*words, code=0, **environment):
    done = subprocess.run([str(ROOT / "tools/figures"), *map(str, words)], capture_output=True, text=True,
                          env=os.environ | environment)
    if done.returncode != code:
        raise AssertionError(f"exit code {done.returncode} instead of {code}: {done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def spread(median, low=None, high=None):
    return {"median": median, "min": low or median, "max": high or median}


def row(size, program, on, seconds, **more):
    return {"size": size, "program": program, "on": on, "version": "1.2", "commands": [f"{program} SCENE -o WORK"], "runs": 3,
            "seconds": seconds, "resident": spread(2**30), "points": spread(123456), "f1_0.033": spread(0.9),
            "f1_0.065": spread(0.95)} | more


def results(*rows, **more):
    return {"scene": "scenes/facade.json", "version": "0.9 (0123456)", "date": "2026-01-02",
            "machine": {"name": "test", "cpu": "A CPU", "cores": 8, "gpu": "A GPU", "driver": "1.0"}, "missing": {},
            "rows": list(rows)} | more


class Page(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def page_of(self, *stored):
        for number, content in enumerate(stored):
            (self.folder / f"{number}.json").write_text(json.dumps(content))
        figures("--from", *(self.folder / f"{number}.json" for number in range(len(stored))), "--page", self.folder / "page.md")
        return (self.folder / "page.md").read_text()

    def test_the_committed_page_is_that_of_the_committed_results(self):
        stored = sorted((ROOT / "tests/bench/results").glob("figures-*.json"))
        self.assertTrue(stored)
        figures("--from", *stored, "--page", self.folder / "page.md")
        self.assertEqual((ROOT / "tools/docs/figures.md").read_text(), (self.folder / "page.md").read_text(),
                         "run: tools/figures --from tests/bench/results/figures-*.json")

    def test_says_what_ran_where_and_what_did_not(self):
        long = "reconstruct SCENE " + " ".join(f"--option-{i} value" for i in range(12))
        page = self.page_of(results(
            row(800, "reconstruct", "cuda", spread(1.234, 1.2, 1.3), commands=[long]), row(800, "COLMAP", "", spread(200.4)),
            {"size": 1600, "program": "COLMAP", "on": "", "version": "1.2", "failed": "it ended with 1"},
            missing={"OpenMVS": "not given"}))
        self.assertIn("0.9 (0123456), 2026-01-02; A CPU, 8 cores, A GPU (driver 1.0).", page)
        self.assertIn("| 800 | `reconstruct` | cuda | 1.23 (1.20–1.30) | 3 | 123,456 | 1.00 GiB | 0.9000 | 0.9500 |", page)
        self.assertIn("| 800 | COLMAP 1.2 | – | 200 | 3 |", page)
        self.assertIn("- OpenMVS: not given\n- COLMAP at 1600 px: it ended with 1\n", page)
        self.assertIn("    COLMAP SCENE -o WORK\n", page)
        code = [line for line in page.splitlines() if line.startswith("    ")]
        self.assertLessEqual(max(map(len, code)), 100)
        self.assertIn(long, " ".join(line.removesuffix("\\").strip() for line in code))

    def test_has_all_machines(self):
        page = self.page_of(results(row(800, "reconstruct", "cpu", spread(3))), results(missing={"reconstruct": "no GPU"}))
        self.assertEqual(page.count("\n## test\n"), 2)


class Measurement(unittest.TestCase):
    def test_of_a_small_scene_beside_other_programs(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            fake, cloud, results = folder / "fake", folder / "cloud.ply", folder / "figures-here.json"
            fake.write_text(FAKE)
            fake.chmod(0o755)
            cloud.write_text("ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\n"
                             "end_header\n0 1.99 2\n")
            (folder / "figures-old.json").write_text(json.dumps({
                "version": "old", "date": "", "machine": {"name": "old", "cpu": "", "cores": 1}, "missing": {}, "rows": []}))
            words = ["--programs", PROGRAMS, "--sizes", 128, "--repeats", 1, "--machine", "here", "--work", folder / "work",
                     "--results", results, "--page", folder / "page.md"]
            said = figures(*words, "--devices", "cpu-2", "--openmvs", folder, "--colmap", fake, "--hpm-mvs", fake,
                           CLOUD=str(cloud), SEEN=str(folder))
            stored = json.loads(results.read_text())
            rows = {row["program"]: row for row in stored["rows"]}
            own, colmap, hpm = rows["reconstruct"], rows["COLMAP"], rows["HPM-MVS++"]
            self.assertEqual(own["commands"], ["reconstruct SCENE -o WORK/dense --device cpu --threads 2"])
            self.assertGreater(own["points"]["median"], 5000)
            self.assertGreater(own["f1_0.065"]["median"], 0.5)
            self.assertGreater(own["resident"]["median"], 3e7)
            self.assertEqual((colmap["version"], len(colmap["commands"]), colmap["points"]["median"]), ("9.8.7", 3, 1))
            self.assertEqual(hpm["commands"], ["fake WORK false"])
            self.assertEqual(rows["OpenMVS"]["failed"], "InterfaceCOLMAP: No such file or directory", said)
            # MVSNet's files: of 16 views each with sources; the middle of an image of 128 pixels is at 63.5.
            pairs = (folder / "pair.txt").read_text().split("\n")
            self.assertEqual(pairs[0], "16")
            self.assertGreater(int(pairs[2].split()[0]), 5)
            self.assertIn(" 63.5\n", (folder / "00000000_cam.txt").read_text())
            for part in ("\n## here\n", "\n## old\n", "- OpenMVS at 128 px: InterfaceCOLMAP: No such file or directory\n"):
                self.assertIn(part, (folder / "page.md").read_text())
            # What is measured later stays beside what there is.
            figures(*words, "--devices", "cpu-1", "--sizes", 96)
            own = [(row["size"], row["on"]) for row in json.loads(results.read_text())["rows"] if row["program"] == "reconstruct"]
            self.assertEqual(own, [(96, "cpu-1"), (128, "cpu-2")])

    def test_refuses_what_it_cannot_do(self):
        self.assertIn("has no `reconstruct` that runs", figures("--programs", "/nowhere", code=1))
        self.assertIn("none of cuda, cpu, cpu-N", figures("--programs", PROGRAMS, "--devices", "gpu", code=1))


if __name__ == "__main__":
    unittest.main()
