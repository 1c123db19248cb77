"""types_test.py WORK: the annotations of the module and of the examples agree with the code, by mypy; skipped without it."""

import importlib.util
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SKIPPED = 77
USER = """
import reconstruct
from typing import List
options = reconstruct.PairOptions(max_disparity=16, method="{method}")
names: List[str] = [view.name for view in reconstruct.io.read_views("dense")]
"""


def faults(*files, **more):
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", WORK / "cache", *files],
                          capture_output=True, text=True, cwd=ROOT / "tools/python", **more)
    return done.stdout + done.stderr


WORK = Path(sys.argv[1])
for needed in ("mypy", "numpy"):
    if importlib.util.find_spec(needed) is None:
        print(f"{needed} is not installed (python3-{needed}): the annotations are not checked")
        sys.exit(SKIPPED)
WORK.mkdir(parents=True, exist_ok=True)
examples = sorted((ROOT / "tools/examples").glob("*.py"))
if not examples or (found := faults("reconstruct", *examples)):
    sys.exit(found or "there are no examples")
# What users see of it: a value that an option does not take is a fault.
for method, is_right in (("bm", True), ("bn", False)):
    user = WORK / f"user_{method}.py"
    user.write_text(USER.format(method=method))
    if (found := faults(user)) and is_right or not found and not is_right:
        sys.exit(f"{user}: {found or 'no fault is found'}")
