"""cpp_reference_test.py WORK: doxygen makes the reference of the public headers without a warning, and it has the calls, the types
and their members with what the headers say of them. Skipped without doxygen."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORK = Path(sys.argv[1])
SKIPPED = 77
EXPECTED = {"namespacereconstruct.html": ["Matches a rectified pair", "The depth of a reference view by a plane sweep",
                                          "Checks depth maps across views", "Reconstructs scenes and rectified pairs"],
            "structreconstruct_1_1PairOptions.html": ["max_disparity", "End of the disparities, pixels", "enum class"],
            "structreconstruct_1_1SceneOptions.html": ["export_priors", "Number of source views that have to agree"],
            "structreconstruct_1_1FusionView.html": ["Sparse points that the view sees"],
            "classreconstruct_1_1Device.html": ["The CPU, or GPUs that are open"], "index.html": ["find_package"]}

if shutil.which("doxygen") is None:
    print("doxygen is not installed: the reference of the library is not made")
    sys.exit(SKIPPED)
shutil.rmtree(WORK, ignore_errors=True)
WORK.mkdir(parents=True)
done = subprocess.run(["doxygen", "tools/doxygen/Doxyfile"], cwd=ROOT, capture_output=True, text=True,
                      env={**os.environ, "RECON_REFERENCE": str(WORK), "RECON_VERSION": "1.2.3"})
if done.returncode != 0 or "warning" in done.stderr:
    sys.exit(f"doxygen ended with {done.returncode}\n{done.stderr}")
for page, texts in EXPECTED.items():
    shown = re.sub(r"<[^>]*>", "", (WORK / "html" / page).read_text(encoding="utf-8"))
    for text in texts:
        if text not in shown:
            sys.exit(f"{page} does not have '{text}'")
public = [path.stem for folder in ("src/api/public", "src/core/public") for path in (ROOT / folder).rglob("*.hpp")]
for name in public:
    if not list((WORK / "html").glob(f"{name.replace('_', '__')}_8hpp*.html")):
        sys.exit(f"the reference has no page of {name}.hpp")
print(f"{len(public)} headers, {len(list((WORK / 'html').glob('*.html')))} pages")
