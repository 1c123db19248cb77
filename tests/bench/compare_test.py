"""tools/compare-results finds what has become worse between two files of results, and nothing else."""

import copy
import json
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def spread(median, low, high):
    return {"median": median, "min": low, "max": high}


def row(size, program, seconds, f1):
    return {"size": size, "program": program, "on": "cpu", "commands": [], "runs": 3, "seconds": seconds, "f1_0.033": f1,
            "resident": spread(1000, 990, 1010), "points": spread(500, 500, 500)}


FIGURES = {"version": "1", "machine": {"cpu": "A"}, "rows": [
    row(800, "reconstruct", spread(10, 9.5, 10.5), spread(0.9, 0.9, 0.9)),
    row(1600, "reconstruct", spread(40, 39, 41), spread(0.95, 0.95, 0.95)),
    row(800, "COLMAP", spread(100, 99, 101), spread(0.8, 0.8, 0.8))]}
BENCH = {"benchmark": "x", "device": "D", "runs": [
    {"width": width, "cuda": {"steps_ms": {"cost": {"median": 1.0, "p10": 0.9, "p90": 1.1, "bytes": 5}}, "opencv_ms": {
        "median": 4.0, "p10": 3.9, "p90": 4.1}}, "ratio_to_opencv": {"median": 4.0, "p10": 3.8, "p90": 4.2}}
    for width in (640, 1920)]}


class Comparison(unittest.TestCase):
    def compare(self, old, change, *texts, code):
        new = copy.deepcopy(old)
        change(new)
        with tempfile.TemporaryDirectory() as name:
            files = [pathlib.Path(name) / it for it in ("old.json", "new.json")]
            for file, content in zip(files, (old, new)):
                file.write_text(json.dumps(content))
            done = subprocess.run([str(ROOT / "tools/compare-results"), *map(str, files)], capture_output=True, text=True)
        said = done.stdout + done.stderr
        self.assertEqual(done.returncode, code, said)
        for text in texts:
            self.assertIn(text, said)
        return said

    def test_a_change_above_both_spreads_is_a_regression_or_an_improvement(self):
        self.compare(FIGURES, lambda new: new["rows"][0].update(seconds=spread(11.2, 11.0, 11.3)),
                     "regression: rows / size 800, program reconstruct, on cpu / seconds: 10 to 11.2, 1.120 times, spreads 1 and 0.3",
                     "6 figures: 1 regressions, 0 improvements", code=1)
        self.compare(FIGURES, lambda new: new["rows"][1].update(seconds=spread(30, 29, 31)),
                     "improvement: rows / size 1600", "0 regressions, 1 improvements", code=0)

    def test_a_change_within_either_spread_is_none(self):
        for seconds in (spread(10.9, 10.8, 11.0), spread(12, 10, 14)):
            self.compare(FIGURES, lambda new, it=seconds: new["rows"][0].update(seconds=it), "0 regressions, 0 impr", code=0)

    def test_accuracy_is_to_be_high(self):
        self.compare(FIGURES, lambda new: new["rows"][1].update({"f1_0.033": spread(0.949, 0.949, 0.949)}),
                     "regression: rows / size 1600, program reconstruct, on cpu / f1_0.033", code=1)
        self.compare(FIGURES, lambda new: new["rows"][1].update({"f1_0.033": spread(0.9497, 0.9497, 0.9497)}), code=0)
        self.compare(FIGURES, lambda new: new["rows"][1].update({"f1_0.033": spread(0.96, 0.96, 0.96)}), "improvement: ", code=0)

    def test_other_programs_and_counts_do_not_count(self):
        self.compare(FIGURES, lambda new: new["rows"][2].update(seconds=spread(200, 199, 201)), "6 figures: 0 reg", code=0)
        self.compare(FIGURES, lambda new: new["rows"][0].update(points=spread(5, 5, 5)), "6 figures: 0 reg", code=0)

    def test_results_of_the_benchmarks(self):
        self.compare(BENCH, lambda new: new["runs"][1]["cuda"]["steps_ms"]["cost"].update(median=1.3, p10=1.2, p90=1.4),
                     "regression: runs / width 1920 / cuda / steps_ms / cost: 1 to 1.3", "4 figures: 1 regressions", code=1)
        self.compare(BENCH, lambda new: new["runs"][0]["ratio_to_opencv"].update(median=3.0, p10=2.9, p90=3.1),
                     "regression: runs / width 640 / ratio_to_opencv", code=1)
        self.compare(BENCH, lambda new: new["runs"][0]["cuda"]["opencv_ms"].update(median=9, p10=8, p90=10), code=0)

    def test_what_cannot_be_compared_is_said(self):
        self.compare(FIGURES, lambda new: new["rows"].pop(0), "only in OLD: 3 figures", code=0)
        self.compare(FIGURES, lambda new: new["machine"].update(cpu="B"), "of different machines", code=0)
        self.compare(FIGURES, lambda new: new["rows"][0].update(seconds=spread(10, 10, 10)), "of single runs", code=0)
        self.compare(FIGURES, lambda new: new.clear(), "no figure in common", code=2)


if __name__ == "__main__":
    unittest.main()
